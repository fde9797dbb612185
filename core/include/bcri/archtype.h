/* SPDX-License-Identifier: MIT */
/*
 * archtype.h -- how a machine lays out C's atomic types, in one positive int.
 *
 * An archtype describes a machine instead of naming it in a table, so new machines need no entry.
 * It is part of every region's header and travels to other hosts. So the encoding below never
 * changes.
 *
 *    31 30..28 27..25  24    23..20   19..16   15..12   11..8    7..4     3..0
 *   +--+------+-------+-----+--------+--------+--------+--------+--------+--------+
 *   |0 |0 0 0 | float |order| double | float  |longlong| long   |  int   | short  |
 *   +--+------+-------+-----+--------+--------+--------+--------+--------+--------+
 *                                                                         3 2 1 0
 *   each type's four bits:  log2 of its alignment in a struct, log2 of its size  a a s s
 *   order:  0 least significant byte first, 1 most significant byte first, floats included
 *   float:  1 IEEE 754 binary32 (4 bytes) and binary64 (8 bytes); 0 and 2..7 are not archtypes
 *
 * char is always one signed byte, and a CCE's identity 16 bytes aligned to 4, on every machine. The
 * value 0 is no archtype (in public calls it means "mine"). Small numbers and most random ones are
 * not archtypes either.
 *
 * Examples: x86-64 Linux 0x02faffa5, s390x Linux 0x03faffa5, i386 Linux 0x02babaa5.
 *
 * Source: BCR guide, "The CDS Approach", for the purpose of archtypes; the encoding is this
 * project's. */
#ifndef BCRI_ARCHTYPE_H
#define BCRI_ARCHTYPE_H

#include <stdbool.h>

/* Region side of bcrT_CCE. */
enum { BCRI_CCE_SIZE_BYTES = 16, BCRI_CCE_ALIGN_BYTES = 4 };

/* The largest size and alignment that an archtype can give to a type other than bcrT_CCE. */
enum { BCRI_ARCHTYPE_SIZE_MAX = 8, BCRI_ARCHTYPE_ALIGN_MAX = 8 };

/* The archtype of this program's own ABI; always valid. Alignments are those of struct members (on
 * i386 a double alone is aligned to 8, in a struct to 4). */
int bcri_archtype_native(void);

/* Whether some machine could have this archtype. Sizes must not shrink from short to longlong and
 * from float to double, and each must be at least what C asks for. No alignment may exceed its
 * type's size, or arrays would not work. */
bool bcri_archtype_valid(int archtype);

/* Size and struct alignment in bytes of one bcrT_ type (flags removed) in a region of a valid
 * archtype. */
int bcri_archtype_size(int archtype, int type);
int bcri_archtype_align(int archtype, int type);

/* Whether the most significant byte comes first. */
bool bcri_archtype_bigendian(int archtype);

#endif

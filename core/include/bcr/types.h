/* SPDX-License-Identifier: MIT */
/*
 * bcr/types.h -- region and CCE IDs, and copy descriptors: what the copy routines understand.
 *
 * A copy descriptor says which items a copy moves between memory of the program's own (the user
 * side, laid out as this CCE's C compiler does) and a region (laid out as the region's archtype
 * says). bcr/desc.h makes one from a C struct, and bcr_descshow prints it. It is an array of int,
 * read as triples, up to and including the one that carries bcrT_END:
 *
 *     { adjust, type, repl,   adjust, type, repl,   ...   adjust, type | bcrT_END, repl }
 *
 *  adjust  bytes by which the user side's position moves, forwards or backwards, before anything
 *          else happens. It is added once, not once per repeat. It never concerns the region, whose
 *          items stand one after the other.
 *  type    one of the eight atomic types, or bcrT_NEST plus an offset; flags are ored to it.
 *  repl    how many such items, or how often the nested descriptor. 0 is legal; then nothing is
 *          aligned either.
 *
 * Positions. Each item is aligned, on its side, to that side's alignment of its type, counted from
 * the start of the buffer or of the region, whatever address that start has. Items of a C struct
 * written in order therefore need no adjust; the padding behind a struct's last member does:
 *
 *     struct point { double x, y; int colour; };
 *     int point_desc[] = {0, bcrT_DOUBLE, 2,  0, bcrT_INT, 1,  4, bcrT_CHAR | bcrT_END, 0};
 *
 * An adjust may lead behind the end of the buffer; the copy stops only when an item has to be found
 * or placed there. An adjust that leads before the buffer's start, or beyond INT_MAX, is an error
 * where it happens: -2, bcrE_DESC.
 *
 * Translation. Between different archtypes bytes are reversed and numbers change their size.
 * Integers keep their value and sign; a bcrT_CHAR is signed whatever this machine's char is. Floats
 * keep their value where they get wider, and are rounded to the nearest where they get narrower. A
 * number that does not fit on the other side (an integer outside its range, a finite float that
 * would become infinite) stops the copy with bcrE_RANGE: what came before it has been copied, and
 * nothing after it is written.
 *
 * CCE IDs. A bcrT_CCE is an int on the user side: a CCE ID of this process, or -1. What comes out of
 * a region is the same ID for the same CCE every time, and for an unknown CCE an ID that only fails
 * with bcrE_NOCCE. An int that is no CCE ID here stops the copy into a region with bcrE_NOCCE.
 *
 * Skips. The source is what the copy reads (the buffer in bcr_copyto, the region in bcr_copyfm), the
 * destination what it writes. A skipped item is aligned and must fit like any other:
 *
 *     (neither)                     read from the source, written to the destination
 *     bcrT_SKIP_FM                  the source's position moves past one item; the destination stays
 *     bcrT_SKIP_TO                  the destination's position moves past one item; the source stays
 *     bcrT_SKIP_FM | bcrT_SKIP_TO   both move; nothing is copied
 *
 * On a nested descriptor the two flags apply to everything in it, in addition to the flags found
 * there.
 *
 * Between two regions (bcr_copytofm) no side is the user's: adjusts move nothing, and a bcrT_CCE is
 * copied as it stands. So the descriptor that wrote a region with bcr_copyto copies it on.
 *
 * Nesting. bcrT_NEST + k, with k in triples, inserts repl times the descriptor that begins k triples
 * after this triple, in the same array. Nested descriptors usually stand behind the END of the one
 * that uses them, so k is positive; they keep their meaning when array parts are moved together:
 *
 *     int ten_points[] = {0, (bcrT_NEST + 1) | bcrT_END, 10,
 *                         0, bcrT_DOUBLE, 2,  0, bcrT_INT, 1,  4, bcrT_CHAR | bcrT_END, 0};
 *
 * What is refused. Before anything is copied, every triple that can be reached is looked at, also
 * those with repl 0. An unknown type or flag, a negative repl, a nested descriptor that begins before
 * the array's first triple, one that contains itself, more than 64 levels of nesting below the first,
 * and a descriptor whose END does not come within the array's first 65,536 triples give -2,
 * bcrE_DESC, and nothing is copied. Reading ends there: no triple behind the 65,536th is ever looked
 * at.
 *
 * What was found out about a descriptor is kept with the CCE, so that using it again is fast.
 * Descriptors are known by their content: programs may change them, or free and reuse their memory,
 * between calls.
 *
 * Source: BCR guide, "Copying/Translation Operations". */
#ifndef BCR_TYPES_H
#define BCR_TYPES_H

#ifndef BCR_API
#if defined(__GNUC__)
#define BCR_API __attribute__((visibility("default")))
#else
#define BCR_API
#endif
#endif

/* On a routine that gives a region: the compiler warns a caller who drops the ID. */
#ifndef BCR_MUST_USE
#if defined(__GNUC__)
#define BCR_MUST_USE __attribute__((warn_unused_result))
#else
#define BCR_MUST_USE
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A region ID. It points at the address of the region's data in this process, so **(T **)rgid is the
 * first T. The guide writes void **, which is the same type. */
typedef void **bcr_region;

/* A CCE ID: a small int, at least 1, that means something in this process only. The guide writes
 * int. */
typedef int bcr_cce_id;

/* The type word.  The numbers are part of the interface.
 *
 *    31  30   29    28       27     26..24  23                             0
 *   +--+---+----+-------+-------+--------+---------------------------------+
 *   |0 |END|NEST|SKIP_TO|SKIP_FM| 0  0  0|  atomic type: 1 to 8            |
 *   |  |   |    |       |       |        |  NEST: 2^23 + offset in triples |
 *   +--+---+----+-------+-------+--------+---------------------------------+
 *
 * bcrT_NEST contains the 2^23, so that `bcrT_NEST + offset` is right for negative offsets too, and
 * `bcrT_NEST | offset` for those that are not.
 *
 *                     user side                  region side
 *   bcrT_CHAR         signed char                1 byte, signed
 *   bcrT_SHORT ...    the C type of that name    as the region's archtype says
 *   bcrT_CCE          int, a CCE ID              16 bytes, aligned to 4; -1 travels as sixteen zero bytes
 */
enum {
    bcrT_CHAR = 1,
    bcrT_SHORT = 2,
    bcrT_INT = 3,
    bcrT_LONG = 4,
    bcrT_LONGLONG = 5,
    bcrT_FLOAT = 6,
    bcrT_DOUBLE = 7,
    bcrT_CCE = 8,

    bcrT_SKIP_FM = 1 << 27,
    bcrT_SKIP_TO = 1 << 28,
    bcrT_NEST = (1 << 29) + (1 << 23),
    bcrT_END = 1 << 30
};

/* Ready-made descriptors of one item each: {0, bcrT_INT | bcrT_END, 1} and so on. The repl argument
 * of the copy routines makes arrays of them. They are const. */
BCR_API extern const int bcrT_1CHAR[3];
BCR_API extern const int bcrT_1SHORT[3];
BCR_API extern const int bcrT_1INT[3];
BCR_API extern const int bcrT_1LONG[3];
BCR_API extern const int bcrT_1LONGLONG[3];
BCR_API extern const int bcrT_1FLOAT[3];
BCR_API extern const int bcrT_1DOUBLE[3];
BCR_API extern const int bcrT_1CCE[3];

/* The content of an error region (one for which bcr_rgerror returns more than 0), to be read with
 * bcr_copyfm into four ints:
 *
 *     int error[4];
 *     bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error);
 *
 *     error[0]  what went wrong: a bcrE_ code
 *     error[1]  the operation that failed: a bcr_op_ number
 *     error[2]  the CCE it was about; -1 if none
 *     error[3]  the cell of that CCE; for a failed start the ordinal it was to have
 */
BCR_API extern const int bcrT_1ERROR[9];

/* The content of an end region (one for which bcr_rgkind returns bcr_END), to be read with bcr_copyfm
 * into four ints:
 *
 *     int end[4];
 *     bcr_copyfm(bcrT_1END, 1, rgid, 0, end, sizeof end);
 *
 *     end[0]  the CCE that has ended
 *     end[1]  its ordinal; -1 if that is not known any more
 *     end[2]  how it has ended: a value of enum bcr_how in <bcr/program.h>
 *     end[3]  bcr_EXITED: its exit status; bcr_KILLED: the signal; else 0
 */
BCR_API extern const int bcrT_1END[6];

/* The beginning of a region of kind bcr_LINE, to be read with bcr_copyfm into three ints:
 *
 *     int line[3];
 *     bcr_copyfm(bcrT_1LINE, 1, rgid, 0, line, sizeof line);
 *
 *     line[0]  the ordinal of the CCE that has printed it
 *     line[1]  1: to stdout; 2: to stderr
 *     line[2]  1: the line goes on in the next region; else 0
 *
 * The bytes behind it, (const char *)*rgid + 12, bcr_rglen less 12 of them, are as they were printed.
 */
BCR_API extern const int bcrT_1LINE[3];

#ifdef __cplusplus
}
#endif

#endif

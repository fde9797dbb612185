/* SPDX-License-Identifier: MIT */
/* References: how shared memory names shared memory.
 *
 *   63           48 47            32 31                               0
 *   +--------------+----------------+----------------------------------+
 *   | 0 (tag room) | segment number | offset in the segment, 32-B units|
 *   +--------------+----------------+----------------------------------+
 *
 * Segments are mapped at different addresses in different processes, so nothing shared holds a
 * pointer. A segment number means one file for ever; the daemon gives the number out again, with
 * that file, when nothing names the segment any more (host.h). 32-byte units reach 128 GiB in a
 * segment. 0 names nothing (the header of the host segment lies there). The word that stores a
 * reference may use the 16 tag bits (a cell's ring entry, a slot's word); bcri_ref values that are
 * passed around have them clear. */
#ifndef BCRI_REF_H
#define BCRI_REF_H

#include <stdint.h>

typedef uint64_t bcri_ref;

#define BCRI_REF_NONE ((bcri_ref)0)
#define BCRI_REF_UNIT 32u
#define BCRI_REF_BITS 48
#define BCRI_REF_MASK ((UINT64_C(1) << BCRI_REF_BITS) - 1)
#define BCRI_SEG_MAX  65536u

static inline bcri_ref bcri_ref_make(uint32_t seg, uint64_t offset_bytes)
{
    return ((bcri_ref)seg << 32) | (offset_bytes / BCRI_REF_UNIT);
}
static inline uint32_t bcri_ref_seg(bcri_ref ref)
{
    return (uint32_t)(ref >> 32) & 0xffffu;
}
static inline uint64_t bcri_ref_offset(bcri_ref ref)
{
    return (ref & 0xffffffffu) * BCRI_REF_UNIT;
}

#endif

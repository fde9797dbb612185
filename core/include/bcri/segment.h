/* SPDX-License-Identifier: MIT */
/* Segments: sealed, reserved memory files, and where this process has mapped them.
 *
 * A segment is a memfd whose size is fixed for ever (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) and whose pages are
 * reserved by fallocate before anybody stores there, so that nobody meets SIGBUS. It has no name
 * anywhere. */
#ifndef BCRI_SEGMENT_H
#define BCRI_SEGMENT_H

#include <stdint.h>

#include "bcri/host.h"
#include "bcri/ref.h"

struct bcri_ctx;

/* Makes a memfd of `size_bytes` (a multiple of the page size), nothing reserved yet. Returns the
 * descriptor or -bcrE_NOMEM. */
int bcri_segment_create(uint64_t size_bytes);

/* Reserves pages, after comparing with what the machine and the control group still have, so that
 * the kernel does not kill somebody for our promise. Returns 0 or bcrE_NOMEM. */
int bcri_segment_reserve(int fd, uint64_t offset_bytes, uint64_t length_bytes);

/* Makes, reserves `reserve_bytes` from offset 0, maps and registers a segment in one go, or gets
 * one that is given out again; the descriptor is with the daemon afterwards. It reads as zero.
 * Returns 0; bcrE_NOMEM; bcrE_INTERNAL when the daemon does not answer. */
int bcri_segment_new(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes,
                     uint64_t reserve_bytes, uint32_t *seg_out);

/* A segment that bcri_segment_new has made is not needed after all, and nobody has heard of it: its
 * pages go, and the next of that kind and size that this CCE needs is this one. */
void bcri_segment_keep(struct bcri_ctx *ctx, uint32_t seg, enum bcri_seg_kind kind, uint64_t size_bytes);

/* The next of 2^`bits` sizes to a doubling that is at least `size`. Segments are given out again to
 * the same size only: so there must not be as many sizes as there are numbers. */
static inline uint64_t bcri_size_sort(uint64_t size, unsigned bits)
{
    if (size >> bits == 0)
        return size;
    const uint64_t step = UINT64_C(1) << (63 - (unsigned)__builtin_clzll(size) - bits);
    return (size + step - 1) & ~(step - 1);
}

/* Reserves more of a segment that this CCE made. Returns 0 or bcrE_NOMEM. */
int bcri_segment_extend(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes);

/* Gets CCE `owner` pages for cells (host.h), reserved and mapped here; `ref_out` of a sort of which
 * none are wanted is BCRI_REF_NONE. What could not be used goes back, or stays with another `owner`
 * until it ends. Returns 0 or a bcrE_ code. */
int bcri_segment_pages_take(struct bcri_ctx *ctx, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                            bcri_ref ref_out[BCRI_PAGE_SORTS]);

/* Gives runs of this CCE's back, which nobody will store into any more. */
void bcri_segment_pages_back(struct bcri_ctx *ctx, const bcri_ref ref[BCRI_PAGE_SORTS]);

/* Gives the pages of a range back at once; the range reads as zero afterwards and is no longer
 * reserved. Without a daemon to ask for the descriptor it still reads as zero, but keeps its
 * pages. */
void bcri_segment_discard(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes);

/* One thing less is needed in a segment whose maker has ended: counts `frees` up, and tells the
 * daemon if this is what it waits for. The daemon stores what it waits for, then looks at the
 * count; this counts, then looks at what is waited for: one of both sees the other. Whoever dies in
 * between is looked after, and all such segments with it (cells/reclaim.h). */
void bcri_segment_freed(struct bcri_ctx *ctx, uint32_t seg);

/* Takes the mapping away of a segment that nothing in this process names any more. */
void bcri_segment_unmap(struct bcri_ctx *ctx, uint32_t seg);

/* Maps segment `seg`, if it is not mapped yet, asking the daemon for it. Returns its base, or NULL
 * when there is no such segment, no room, or no daemon. */
void *bcri_segment_map(struct bcri_ctx *ctx, uint32_t seg);
/* The same for a descriptor at hand (borrowed). */
void *bcri_segment_map_fd(struct bcri_ctx *ctx, uint32_t seg, int fd, uint64_t size_bytes);
void bcri_segment_unmap_all(struct bcri_ctx *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Segments: sealed, reserved memory files, and where this process has mapped them.
 *
 * A segment is a memfd whose size is fixed for ever (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL).
 * Its pages are reserved by fallocate before any process stores there, so that no store raises
 * SIGBUS. It has no name in any file system. */
#ifndef BCRI_SEGMENT_H
#define BCRI_SEGMENT_H

#include <stdint.h>

#include "bcri/host.h"
#include "bcri/ref.h"

struct bcri_ctx;

/* Makes a memfd of `size_bytes` (a multiple of the page size), nothing reserved yet. Returns the
 * descriptor or -bcrE_NOMEM. */
int bcri_segment_create(uint64_t size_bytes);

/* Reserves pages. A large request is first compared with what the machine and the control groups
 * still have, so that the kernel does not kill a process for memory that it has promised us.
 * Returns 0 or bcrE_NOMEM. */
int bcri_segment_reserve(int fd, uint64_t offset_bytes, uint64_t length_bytes);

/* Makes a segment, or gets one that the daemon gives out again; reserves `reserve_bytes` from
 * offset 0, maps it and registers it. The daemon has the descriptor afterwards. The segment reads
 * as zero. Returns 0; bcrE_NOMEM; bcrE_INTERNAL when the daemon does not answer. */
int bcri_segment_new(struct bcri_ctx *ctx, enum bcri_seg_kind kind, uint64_t size_bytes,
                     uint64_t reserve_bytes, uint32_t *seg_out);

/* Takes back a segment that bcri_segment_new has made, that is not needed after all, and that no
 * other process knows. Its pages go, and this CCE uses it for the next segment of that kind and
 * size that it needs. */
void bcri_segment_keep(struct bcri_ctx *ctx, uint32_t seg, enum bcri_seg_kind kind, uint64_t size_bytes);

/* Rounds `size` up to one of 2^`bits` sizes per doubling. A segment is given out again for the same
 * size only, so the number of different sizes must be small. */
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
 * none are wanted is BCRI_REF_NONE. On failure this CCE's own pages go back; pages for another
 * `owner` stay with it until it ends. Returns 0 or a bcrE_ code. */
int bcri_segment_pages_take(struct bcri_ctx *ctx, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                            bcri_ref ref_out[BCRI_PAGE_SORTS]);

/* Gives back runs of this CCE into which no process will store any more. */
void bcri_segment_pages_back(struct bcri_ctx *ctx, const bcri_ref ref[BCRI_PAGE_SORTS]);

/* Gives the pages of a range back at once; the range then reads as zero and is no longer reserved.
 * If the daemon cannot give the descriptor, the range reads as zero too, but keeps its pages. */
void bcri_segment_discard(struct bcri_ctx *ctx, uint32_t seg, uint64_t offset_bytes, uint64_t length_bytes);

/* The caller has freed something in a segment whose maker has ended. This counts `frees` up, and
 * tells the daemon if that is the number for which it waits. The daemon stores that number and then
 * looks at the count; this routine counts and then looks at the number: one of the two sees the
 * other. If the caller dies in between, the daemon looks at all such segments when it repairs that
 * death (cells/reclaim.h). */
void bcri_segment_freed(struct bcri_ctx *ctx, uint32_t seg);

/* Unmaps a segment that nothing in this process names any more. */
void bcri_segment_unmap(struct bcri_ctx *ctx, uint32_t seg);

/* Maps segment `seg`, if it is not mapped yet, asking the daemon for it. Returns its base, or NULL
 * when there is no such segment, no room, or no daemon. */
void *bcri_segment_map(struct bcri_ctx *ctx, uint32_t seg);
/* The same for a descriptor at hand (borrowed). */
void *bcri_segment_map_fd(struct bcri_ctx *ctx, uint32_t seg, int fd, uint64_t size_bytes);
void bcri_segment_unmap_all(struct bcri_ctx *ctx);

#endif

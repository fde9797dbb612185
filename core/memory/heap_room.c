/* SPDX-License-Identifier: MIT */
/* Waiting for room in the comm heap (bcr_rgalloc_within): how the CCE that frees a block knows that it must
 * ring the owner, for no more than the load that each free has anyway.
 *
 * A free by another CCE makes the count of the block 0, then reads `magic` of the segment, to learn whether the
 * owner has ended, then marks the block's page. An owner that waits is a third answer there:
 *
 *              the first wait begins               the daemon, after the owner's death
 *     MAGIC <-------------------------> WANTED  ------------------------------------------> ENDED
 *              the last wait is over                    (also from MAGIC)
 *
 * Only the owner stores MAGIC and WANTED, and the daemon stores ENDED when the owner is no more. A freer that
 * reads WANTED leaves the fast path, marks the page, and rings the owner's bell.
 *
 *     freer                          owner
 *     1 count = 0                    a magic = WANTED in each segment
 *     2 read magic                   b membarrier: each other CCE passes a full fence
 *     3 mark = 1                     c look at the counts of all blocks, and try
 *     4 if WANTED: ring              d read the bell; look where pages are marked, and try;
 *                                      sleep while the bell is what was read; again from d
 *
 * Why no free is missed: if the freer's fence of b lies before its step 2, it reads WANTED and rings, and its mark is
 * stored before it rings; so the owner that has read the bell before the ring does not sleep, and one that has read it
 * after sees the mark in d. Else step 2, and so step 1, lies before b, and the owner's look c, which does
 * not need the mark, sees the count 0. A freer that the kernel refuses membarrier never takes the fast path, and fences
 * between 1 and 2 itself. An owner whom the kernel refuses it cannot rely on the others' fences, and looks
 * again from time to time.
 *
 * What is taken back is tried at once: while a call waits, blocks come back only in its tries, or in calls of
 * handlers that run meanwhile, behind which all waiting calls are tried again (bcri/wait_set.h). So it does
 * not matter if a freer dies after its step 1 and the owner has the block back before the daemon repairs, which
 * then rings nobody. If the owner has not, the daemon does the steps 2 to 4 from the freer's journal, as it
 * does for all that a dead CCE held.
 *
 * A magic that stays WANTED because its call was left by longjmp costs rings. */
#include "bcri/lock.h"
#include "heap_private.h"

static void set_magic(const struct bcri_heap *heap, uint32_t magic)
{
    for (const struct bcri_heap_seg *seg = heap->segs; seg != NULL; seg = seg->next)
        bcri_store(&seg->dir->magic, magic);
}

bool bcri_heap_room_wait(struct bcri_ctx *ctx)
{
    struct bcri_heap *const heap = ctx->heap;
    if (heap->room_waits++ == 0)
        set_magic(heap, BCRI_HEAP_WANTED);
    const bool fenced = bcri_fence_everybody(ctx);
    bcri_heap_collect(ctx);
    return fenced;
}

void bcri_heap_room_over(struct bcri_ctx *ctx)
{
    if (--ctx->heap->room_waits == 0)
        set_magic(ctx->heap, BCRI_HEAP_MAGIC);
}

bool bcri_heap_room_possible(const struct bcri_ctx *ctx, uint32_t length)
{
    const struct bcri_heap_area *area = ctx->heap != NULL ? ctx->heap->areas : NULL;
    while (area != NULL && (area->reserve || area->limit < bcri_heap_charge(length)))
        area = area->next;
    return area != NULL;
}

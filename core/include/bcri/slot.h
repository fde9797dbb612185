/* SPDX-License-Identifier: MIT */
/* Region IDs: slots of the CCE's own table in shared memory. From this table the daemon learns what
 * a dead CCE held.
 *
 * States of a slot, and who may move it:
 *   FREE -> LIVE      its CCE (rgalloc, a get that finds a region)
 *   FREE -> TICKET    its CCE: a get that waits by ticket at a cell's ring (cells/, head lock held)
 *   FREE|TICKET -> LISTED   the holder of both locks of the cell: the request waits in its list
 *   LISTED -> SERVED|FAILED the same: `given` holds the region, or the error code
 *   TICKET|SERVED -> LIVE   its CCE, without a lock: it has the region
 *   any -> FREE       its CCE, or enl after its death
 *   PUTWAIT -> PUTDONE|FAILED   the same for a waiting put: `word` and `key` name its region
 *   FREE|LIVE -> ORDERED   its CCE: an order to another host (cells/: order.h)
 *   ORDERED -> ANSWERED|FAILED|FREE   the agent
 *   LIVE -> KEPT      its CCE: it cannot map the region whose hold it gives up; enl drops that hold
 */
#ifndef BCRI_SLOT_H
#define BCRI_SLOT_H

#include <bcr/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"

enum bcri_slot_state {
    BCRI_SLOT_FREE = 0,
    BCRI_SLOT_LIVE,
    BCRI_SLOT_TICKET,
    BCRI_SLOT_LISTED,
    BCRI_SLOT_SERVED,
    BCRI_SLOT_FAILED,
    BCRI_SLOT_PUTWAIT,
    BCRI_SLOT_PUTDONE,
    BCRI_SLOT_KEPT,
    BCRI_SLOT_ORDERED,
    BCRI_SLOT_ANSWERED,
};
/* flags */
#define BCRI_SLOT_TO_DROP    2u /* LIVE, the daemon's: a hold that it could not drop yet (region.h) */
#define BCRI_SLOT_WRITE_LOCK 1u /* LIVE: a pending acqwl that was found ready; rgmod follows in bcr_rgwait */

static inline uint64_t bcri_slot_word(enum bcri_slot_state state, uint32_t flags, bcri_ref ref)
{
    return ((uint64_t)state << 56) | ((uint64_t)(flags & 0xffu) << 48) | (ref & BCRI_REF_MASK);
}
/* LIVE with no flag, for a `ref` whose tag bits are known to be clear. */
static inline uint64_t bcri_slot_live(bcri_ref ref)
{
    return (uint64_t)BCRI_SLOT_LIVE << 56 | ref;
}
/* Model: cell.inc */
static inline enum bcri_slot_state bcri_slot_state(uint64_t word)
{
    return (enum bcri_slot_state)(word >> 56);
}
static inline uint32_t bcri_slot_flags(uint64_t word)
{
    return (uint32_t)(word >> 48) & 0xffu;
}
static inline bcri_ref bcri_slot_region(uint64_t word)
{
    return word & BCRI_REF_MASK;
}
/* The region on which the slot itself has a hold, in any state; none for a request in a list, whose
 * word names its cell instead. */
static inline bcri_ref bcri_slot_hold_of(uint64_t word)
{
    enum bcri_slot_state state = bcri_slot_state(word);
    return state != BCRI_SLOT_LISTED && state != BCRI_SLOT_SERVED ? bcri_slot_region(word) : BCRI_REF_NONE;
}

/* Whether an ID still holds `region` after other invocations have run: one of them may have freed
 * it, and it may be in use again. */
static inline bool bcri_slot_holds(const struct bcri_slot_shm *slot, bcri_ref region)
{
    uint64_t word = bcri_load_acquire(&slot->word);
    return bcri_slot_state(word) == BCRI_SLOT_LIVE && bcri_slot_region(word) == region;
}

/* A free slot, taken off the stack of free ones (its word stays FREE until the caller sets it), or
 * NULL: no memory. The stack is private because its entries are used without a check, so no other
 * process may be able to store there. */
struct bcri_slot_shm *bcri_slot_grow(struct bcri_ctx *ctx);
static inline struct bcri_slot_shm *bcri_slot_take(struct bcri_ctx *ctx)
{
    struct bcri_slot_shm **top = ctx->slot_top, *slot = *top;
    if (bcri_unlikely(slot == NULL))
        return bcri_slot_grow(ctx);
    ctx->slot_top = top - 1;
    return slot;
}
/* Puts a slot whose word is FREE back on the stack. The stack is twice as large as the table, since
 * a slot may come back twice: after a wild write has made a free slot look live, and the program
 * has freed that ID again. */
static inline void bcri_slot_give(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    *++ctx->slot_top = slot;
}
/* The slot at which `rgid` points, whatever its state, or NULL if it points at none of this CCE's
 * slots. A slot of the chunk looked into last is found inline, others by going through the
 * chunks. */
struct bcri_slot_shm *bcri_slot_of_slow(struct bcri_ctx *ctx, bcr_region rgid);
static inline struct bcri_slot_shm *bcri_slot_of(struct bcri_ctx *ctx, bcr_region rgid)
{
    uintptr_t offset = (uintptr_t)rgid - ctx->slot_cached;
    if (bcri_likely(offset < ctx->slot_cached_bytes && offset % sizeof(struct bcri_slot_shm) == 0))
        return (struct bcri_slot_shm *)(void *)rgid;
    return bcri_slot_of_slow(ctx, rgid);
}
/* Where a slot of this CCE lies, for others. */
bcri_ref bcri_slot_ref_slow(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot);
/* The same if the slot lies in the chunk looked into last, else BCRI_REF_NONE. */
static inline bcri_ref bcri_slot_ref_cached(const struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    uintptr_t offset = (uintptr_t)slot - ctx->slot_cached;
    return bcri_likely(offset < ctx->slot_cached_bytes) ? ctx->slot_cached_ref + offset / BCRI_REF_UNIT
                                                        : BCRI_REF_NONE;
}
static inline bcri_ref bcri_slot_ref(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    const bcri_ref ref = bcri_slot_ref_cached(ctx, slot);
    return bcri_likely(ref != BCRI_REF_NONE) ? ref : bcri_slot_ref_slow(ctx, slot);
}

/* bcri_slot_of() and bcri_slot_ref() at once. The reference is written only if there is a slot. */
static inline struct bcri_slot_shm *bcri_slot_and_ref(struct bcri_ctx *ctx, bcr_region rgid,
                                                      bcri_ref *ref_out)
{
    uintptr_t offset = (uintptr_t)rgid - ctx->slot_cached;
    struct bcri_slot_shm *slot = (struct bcri_slot_shm *)(void *)rgid;
    if (bcri_likely(offset < ctx->slot_cached_bytes && offset % sizeof(struct bcri_slot_shm) == 0)) {
        if (rgid == NULL)
            __builtin_unreachable(); /* no chunk lies there */
        *ref_out = ctx->slot_cached_ref + offset / BCRI_REF_UNIT;
        return slot;
    }
    slot = bcri_slot_of_slow(ctx, rgid);
    if (slot != NULL)
        *ref_out = bcri_slot_ref(ctx, slot);
    return slot;
}
/* Makes the stack of free IDs anew, empty, for a table of `slots`. False: no memory, nothing has
 * changed. */
bool bcri_slot_room(struct bcri_ctx *ctx, size_t slots);

/* Walks all slots of a record (enl, tools): calls `visit` for each that is not FREE. */
void bcri_slot_each(struct bcri_ctx *ctx, uint32_t index,
                    void (*visit)(void *arg, struct bcri_slot_shm *slot, bcri_ref ref), void *arg);

/* Makes a slot of this CCE name `region`, whose data lies at `data` here. */
static inline void bcri_slot_name(struct bcri_slot_shm *slot, bcri_ref ref, uintptr_t data)
{
    bcri_store(&slot->data, data);
    bcri_step();
    bcri_store(&slot->word, bcri_slot_live(ref));
    bcri_step();
}

#endif

/* SPDX-License-Identifier: MIT */
/* Sending a block home when nothing stands in the way, inline in the public routines: returns.h tells how. */
#ifndef BCRI_RETURNS_FAST_H
#define BCRI_RETURNS_FAST_H

#include <string.h>

#include "bcri/region.h"
#include "bcri/returns.h"
#include "bcri/slot.h"

struct bcri_return_block; /* returns_private.h */
struct bcri_incoming;

/* Where a queue's head lies. */
struct bcri_return_head {
    struct bcri_return_queue_shm *queue;
    bcri_ref ref;
};

/* The way to one home. `entry` is where the next reference goes; equal to `link`: the block is full. */
struct bcri_way {
    _Atomic uint64_t *entry;
    _Atomic uint64_t *link;
    uint64_t where; /* word reference of `entry` */
    uint64_t lap;   /* shifted to its place */
    const struct bcri_identity_shm *home;
    uint64_t home_id;
    uint32_t home_index;
    struct bcri_return_block *oldest, *newest;
    struct bcri_return_head head;
};

/* What one CCE remembers of its ways home, and of those that lead to it. */
struct bcri_returns {
    struct bcri_way **way; /* by index of the home's record */
    uint32_t way_count;
    uint32_t seg; /* where cells are carved */
    uint64_t seg_bytes, seg_reserved, seg_used;
    struct bcri_return_cell_shm *queue_cell;
    bcri_ref queue_cell_ref;
    uint32_t queues_used;
    struct bcri_return_head *spare_heads; /* of ways whose homes have ended; room for one of each way */
    uint32_t spare_head_count, head_count, head_room;
    struct bcri_return_block *spare;
    /* as owner */
    struct bcri_incoming *incoming;
    uint32_t incoming_count, incoming_room, next;
    bcri_ref unmet; /* queues taken off the shared list that are not in `incoming` yet */
};

/* The part of an identity that tells one use of a record from the next. It changes only while nothing of the record is
 * named any more, so whoever holds a region from there may read it. */
static inline uint64_t bcri_identity_part(const struct bcri_identity_shm *id)
{
    uint64_t part;
    memcpy(&part, id->identity + 4, sizeof part);
    return part;
}

/* The way to `home` if it has room for one more, else NULL. Whether it is still that home's is asked when the count is 0. */
static inline struct bcri_way *bcri_way_at_hand(const struct bcri_returns *returns, uint32_t home)
{
    if (bcri_unlikely(returns == NULL || home >= returns->way_count))
        return NULL;
    struct bcri_way *way = returns->way[home];
    return bcri_likely(way != NULL && way->entry != way->link) ? way : NULL;
}
static inline bool bcri_way_leads_home(const struct bcri_way *way)
{
    return bcri_likely(bcri_load_acquire(&way->home->state) == BCRI_CCE_ALIVE &&
                       way->home_id == bcri_identity_part(way->home));
}

/* returns.c: the same when the home has ended between the looks. */
int bcri_returns_free_orphan(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref ref, uint32_t home);

/* Frees the region of a LIVE ID that is its only holder, and the ID, when the block is another CCE's; opens and closes the
 * journal. `ref`, `region`: what the ID names, count {1, 0} as seen by an acquire load; `way`: at hand for its home. Gives 0,
 * always: so whoever has nothing more to do can end in it. */
BCRI_INLINE int bcri_returns_free_alone(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bcri_ref slot_ref,
                                        bcri_ref ref, struct bcri_region_shm *region, struct bcri_way *way)
{
    struct bcri_journal_shm *const j = ctx->journal;
    const uint64_t value = way->lap | ref;
    bcri_store(&j->slot, slot_ref);
    bcri_store(&j->ret_value, value);
    bcri_store(&j->ret_entry, way->where);
    bcri_step();
    bcri_store(&j->op, BCRI_OP_SEND);
    bcri_step();
    bcri_store(&region->count, 0);
    if (bcri_unlikely(ctx->full_fence))
        atomic_thread_fence(memory_order_seq_cst);
    bcri_step();
    if (bcri_unlikely(!bcri_way_leads_home(way)))
        return bcri_returns_free_orphan(ctx, slot, ref, way->home_index);
    /* Release: the owner may write the header as soon as it reads this. */
    bcri_store_release(way->entry, value);
    way->entry++;
    way->where += sizeof(uint64_t);
    bcri_step();
    bcri_store(&slot->word, 0);
    bcri_step();
    bcri_store(&j->op, BCRI_OP_NONE);
    bcri_step();
    bcri_slot_give(ctx, slot);
    return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The owner's side of returns.h: finding the queues that lead here and reading them. */
#include "bcri/returns.h"

#include <stdlib.h>

#include "bcri/segment.h"
#include "returns_private.h"

/* After so many looks in vain the freer's state is worth a cache line: a dead one's queue is closed. */
enum { IDLE_LOOKS = 64 };

static void enter_block(struct bcri_incoming *in, struct bcri_return_cell_shm *cell)
{
    in->cell = cell;
    in->lap = bcri_load(&cell->lap);
    in->entry = &cell->entry[0];
    in->link = &cell->entry[BCRI_RETURN_ENTRIES];
}

/* What is sent here stands where the freer can write: a block is looked at only where it is one as far as its place goes. */
static struct bcri_return_cell_shm *block_at(struct bcri_ctx *ctx, bcri_ref ref)
{
    return bcri_at_has(ctx, ref, BCRI_RETURN_CELL_BYTES) ? bcri_at(ctx, ref) : NULL;
}

static bool add_incoming(struct bcri_ctx *ctx, struct bcri_return_queue_shm *queue, uint32_t seg)
{
    struct bcri_returns *returns = ctx->returns;
    if (returns->incoming_count == returns->incoming_room) {
        uint32_t room = returns->incoming_room != 0 ? returns->incoming_room * 2 : 8;
        struct bcri_incoming *list = realloc(returns->incoming, room * sizeof *list);
        if (list == NULL)
            return false;
        returns->incoming = list;
        returns->incoming_room = room;
    }
    struct bcri_return_cell_shm *cell = block_at(ctx, bcri_load(&queue->first));
    if (cell == NULL)
        return false;
    struct bcri_incoming *in = &returns->incoming[returns->incoming_count++];
    in->queue = queue;
    in->idle = 0;
    in->seg = seg;
    enter_block(in, cell);
    return true;
}

/* Puts the queues that were taken off the shared list on the private one; all of them or, memory being short, none. False:
 * none, they are `unmet` still. */
static bool meet_taken(struct bcri_ctx *ctx)
{
    struct bcri_returns *returns = ctx->returns;
    uint32_t before = returns->incoming_count;
    bcri_ref mark = BCRI_REF_NONE; /* met at step 1, 2, 4, ...: whoever meets it again goes in circles */
    uint64_t steps = 0;
    for (bcri_ref ref = returns->unmet; ref != BCRI_REF_NONE;) {
        struct bcri_return_queue_shm *queue =
            ref != mark && bcri_at_has(ctx, ref, sizeof *queue) ? bcri_at(ctx, ref) : NULL;
        if (queue == NULL || !add_incoming(ctx, queue, bcri_ref_seg(ref))) {
            ctx->damaged |= ref == mark;
            returns->incoming_count = before;
            return false;
        }
        steps++;
        if ((steps & (steps - 1)) == 0)
            mark = ref;
        ref = bcri_load(&queue->next);
    }
    returns->unmet = BCRI_REF_NONE;
    return true;
}

/* The shared list is taken whole, so that nothing in it, or in the owner's mind, names a queue that has been met: where its
 * segment has gone, another's queue may come to lie at the same place. */
static void meet_queues(struct bcri_ctx *ctx)
{
    struct bcri_returns *returns = bcri_returns_get(ctx);
    if (returns == NULL || (returns->unmet != BCRI_REF_NONE && !meet_taken(ctx)))
        return;
    /* Acquire: pairs with the push. */
    returns->unmet = atomic_exchange_explicit(&ctx->record->returns, BCRI_REF_NONE, memory_order_acq_rel);
    (void)meet_taken(ctx);
}

/* Goes on to the next block of the chain, if there is one. The freer uses the old one again after `consumed`. */
static bool next_block(struct bcri_ctx *ctx, struct bcri_incoming *in)
{
    uint64_t value = bcri_load_acquire(in->link);
    if (value >> BCRI_REF_BITS != in->lap)
        return false;
    struct bcri_return_cell_shm *cell = block_at(ctx, value & BCRI_REF_MASK);
    if (cell == NULL)
        return false;
    bcri_store_release(&in->cell->consumed, in->lap);
    enter_block(in, cell);
    return true;
}

static uint32_t read_batch(struct bcri_ctx *ctx, struct bcri_incoming *in, bcri_ref *refs, uint32_t most)
{
    uint32_t count = 0;
    while (count < most) {
        if (in->entry == in->link && !next_block(ctx, in))
            break;
        /* Acquire: pairs with the freer's store; what it did with the block is over. */
        uint64_t value = bcri_load_acquire(in->entry);
        if (value >> BCRI_REF_BITS != in->lap)
            break;
        in->entry++;
        bcri_ref ref = value & BCRI_REF_MASK;
        const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(ref)];
        if (bcri_likely(map->base != NULL))
            bcri_prefetch_write(map->base + bcri_ref_offset(ref));
        refs[count++] = ref;
    }
    in->idle = count != 0 ? 0 : in->idle + 1;
    return count;
}

/* True, and the queue is closed, if its freer is dead and repaired: nothing was there a moment ago, and what was
 * stored before the state became DEAD would have been seen by the look that follows here. */
static bool close_dead(struct bcri_ctx *ctx, struct bcri_incoming *in)
{
    struct bcri_record_shm *freer = bcri_record(ctx, in->queue->freer);
    if (freer == NULL)
        return false;
    uint32_t state = bcri_load_acquire(&freer->id.state);
    if (state != BCRI_CCE_DEAD && state != BCRI_CCE_FREE &&
        bcri_identity_part(&freer->id) == in->queue->freer_id)
        return false;
    if (bcri_load_acquire(in->entry) >> BCRI_REF_BITS == in->lap)
        return false;
    bcri_store_release(&in->queue->state, BCRI_RETURN_DRAINED);
    bcri_segment_freed(ctx, in->seg);
    return true;
}

uint32_t bcri_returns_collect(struct bcri_ctx *ctx, uint32_t most,
                              void (*take)(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count))
{
    struct bcri_returns *returns = ctx->returns;
    if (bcri_load(&ctx->record->returns) != BCRI_REF_NONE ||
        (returns != NULL && returns->unmet != BCRI_REF_NONE)) {
        meet_queues(ctx);
        returns = ctx->returns;
    }
    if (returns == NULL || returns->incoming_count == 0)
        return 0;
    uint32_t looks = returns->incoming_count;
    if (most != 0 && looks > BCRI_RETURN_POLLS)
        looks = BCRI_RETURN_POLLS;
    if (most == 0)
        returns->next =
            0; /* from the start without wrapping: a closed queue's place goes to one not yet looked at */
    uint32_t total = 0;
    for (; looks > 0 && (most == 0 || total < most); looks--) {
        if (returns->next >= returns->incoming_count)
            returns->next = 0;
        struct bcri_incoming *in = &returns->incoming[returns->next];
        bcri_ref refs[BCRI_RETURN_BATCH];
        uint32_t count;
        do {
            uint32_t want = most != 0 && most - total < BCRI_RETURN_BATCH ? most - total : BCRI_RETURN_BATCH;
            count = read_batch(ctx, in, refs, want);
            if (count != 0)
                take(ctx, refs, count);
            total += count;
        } while (count == BCRI_RETURN_BATCH && (most == 0 || total < most));
        if (bcri_unlikely(count == 0 && (most == 0 || in->idle % IDLE_LOOKS == 0)) && close_dead(ctx, in))
            *in = returns->incoming[--returns->incoming_count];
        else
            returns->next++;
    }
    return total;
}

/* Whether reading on beyond the block that is being read asks nobody. */
static bool next_is_mapped(const struct bcri_ctx *ctx, const struct bcri_incoming *in)
{
    uint64_t value = bcri_load_acquire(in->link);
    return value >> BCRI_REF_BITS != in->lap ||
           (uint32_t)value < ctx->map[bcri_ref_seg(value & BCRI_REF_MASK)].units;
}

void bcri_returns_glance(struct bcri_ctx *ctx,
                         void (*take)(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count))
{
    struct bcri_returns *returns = ctx->returns;
    if (returns == NULL || returns->incoming_count == 0)
        return;
    if (returns->next >= returns->incoming_count)
        returns->next = 0;
    struct bcri_incoming *in = &returns->incoming[returns->next++];
    if (bcri_unlikely((size_t)(in->link - in->entry) < BCRI_RETURN_GLANCE && !next_is_mapped(ctx, in)))
        return;
    bcri_ref refs[BCRI_RETURN_GLANCE];
    uint32_t count = read_batch(ctx, in, refs, BCRI_RETURN_GLANCE);
    if (count != 0)
        take(ctx, refs, count);
}

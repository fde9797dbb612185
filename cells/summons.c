/* SPDX-License-Identifier: MIT */
/* The queue of summonses: summons.h.
 *
 * Journal: whatever operation is open; aux SUMMONS names the owner (index + 1), and, in its upper half, for a fast put, what
 * `written` was. Of the owner's own doings: SLOW while it takes its lock; UNCHAIN, region and old, while it drops a block that
 * it has read: done if the count is, then taken_first = old. */
#include "bcri/summons.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/flow.h"
#include "bcri/heap.h"
#include "bcri/lock.h"
#include "bcri/sane.h"
#include "bcri/tx.h"

#define QUEUE struct bcri_summons_shm
#define BLOCK struct bcri_summons_block_shm

static void name(struct bcri_ctx *ctx, uint32_t owner)
{
    bcri_store(&ctx->journal->aux[BCRI_AUX_SUMMONS], owner + 1);
    bcri_step();
}

static void unname(struct bcri_ctx *ctx)
{
    bcri_step();
    bcri_store(&ctx->journal->aux[BCRI_AUX_SUMMONS], 0);
    bcri_step();
}

/* One of a chain. NULL: cannot be mapped, or a stray store has made it something else, or one that was dropped, so that no chain
 * goes in circles. */
static BLOCK *block_at(struct bcri_ctx *ctx, bcri_ref ref)
{
    const struct bcri_region_shm *header = bcri_at(ctx, ref);
    if (header == NULL)
        return NULL;
    if (header->length != sizeof(BLOCK) || bcri_load(&header->count) != BCRI_COUNT_ONE) {
        ctx->damaged = true;
        return NULL;
    }
    if (!bcri_region_sane(ctx, ref, header))
        return NULL;
    return (BLOCK *)(void *)bcri_header_data(ctx, ref, header);
}

/* ---- summoning */

static bool ring_has_room(QUEUE *queue)
{
    if (bcri_load(&queue->chain_first) != BCRI_REF_NONE)
        return false;
    uint64_t written = bcri_load(&queue->written);
    if (written < bcri_load(&queue->limit))
        return true;
    uint64_t limit = bcri_load_acquire(&queue->taken) + BCRI_SUMMONS_RING - 1;
    bcri_store(&queue->limit, limit);
    return written < limit;
}

bool bcri_summons_try(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    QUEUE *queue = &place->record->summons;
    name(ctx, place->owner);
    bcri_lock(ctx, &queue->lock);
    if (bcri_likely(ring_has_room(queue)))
        return true;
    bcri_summons_leave(ctx, place);
    return false;
}

void bcri_summons_leave(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    bcri_unlock(ctx, &place->record->summons.lock);
    unname(ctx);
}

void bcri_summons_let_go(struct bcri_ctx *ctx, const struct bcri_place *place, bool done)
{
    QUEUE *queue = &place->record->summons;
    bool asleep = done && bcri_load(&queue->asleep) != 0;
    if (asleep)
        bcri_store(&queue->asleep, 0);
    bcri_unlock(ctx, &queue->lock);
    if (asleep)
        bcri_bell_ring_for(place->record, place->ref);
    unname(ctx);
}

/* A block with one entry, which nobody knows yet; its count is 0 until a transaction links it. */
static int new_block(struct bcri_ctx *ctx, const struct bcri_place *place, bcri_ref *ref_out)
{
    struct bcri_region_shm *region;
    int error = bcri_heap_alloc_reserve(ctx, sizeof(BLOCK), ctx->archtype, ref_out, &region);
    if (error != 0)
        return error;
    if (bcri_unlikely(!bcri_region_sane(ctx, *ref_out, region))) {
        *ref_out = BCRI_REF_NONE; /* not given back: the next one may be whole */
        return bcrE_NOMEM;
    }
    BLOCK *block = (BLOCK *)(void *)bcri_header_data(ctx, *ref_out, region);
    bcri_store(&block->next, BCRI_REF_NONE);
    bcri_store(&block->entry[0], bcri_summons_entry(1, (uint32_t)place->number, bcri_current_cpu(),
                                                    bcri_mark_gen(bcri_load(&place->cell->t.mark))));
    return 0;
}

static int make_room(struct bcri_ctx *ctx, const struct bcri_place *place, struct bcri_summoning *summoning)
{
    QUEUE *queue = &place->record->summons;
    if (ring_has_room(queue))
        return 0;
    bcri_ref last = bcri_load(&queue->chain_last);
    if (last != BCRI_REF_NONE && bcri_load(&queue->chain_used) < BCRI_SUMMONS_BLOCK)
        return block_at(ctx, last) != NULL ? 0 : bcrE_NOMEM;
    if (last != BCRI_REF_NONE && block_at(ctx, last) == NULL)
        return bcrE_NOMEM;
    return new_block(ctx, place, &summoning->block);
}

int bcri_summons_begin(struct bcri_ctx *ctx, const struct bcri_place *place, bool due,
                       struct bcri_summoning *summoning)
{
    *summoning = (struct bcri_summoning){.due = due};
    if (bcri_likely(!due))
        return 0;
    if ((summoning->own = bcri_summons_own(ctx, place)) != NULL)
        return 0;
    QUEUE *queue = &place->record->summons;
    name(ctx, place->owner);
    bcri_lock(ctx, &queue->lock);
    int error = make_room(ctx, place, summoning);
    if (error != 0) {
        bcri_unlock(ctx, &queue->lock);
        unname(ctx);
        summoning->due = false;
    }
    return error;
}

/* Where in the queue's owner's record. */
#define TX_QUEUE(ctx, place, field, value) \
    BCRI_TX64((ctx), bcri_record_ref((ctx), (place)->owner), struct bcri_record_shm, summons.field, (value))

static void tx_ring(struct bcri_ctx *ctx, const struct bcri_place *place, uint32_t number, uint32_t gen)
{
    uint64_t t = bcri_load(&place->record->summons.written);
    const struct bcri_summons_shm *queue = &place->record->summons;
    size_t offset = (size_t)((const unsigned char *)bcri_summons_word(&place->record->summons, t) -
                             (const unsigned char *)queue);
    bcri_tx_add(ctx, BCRI_REDO_64, bcri_record_ref(ctx, place->owner),
                offsetof(struct bcri_record_shm, summons) + offset,
                bcri_summons_entry(bcri_summons_lap(t), number, bcri_current_cpu(), gen));
    TX_QUEUE(ctx, place, written, t + 1);
}

static bcri_ref data_ref(struct bcri_ctx *ctx, bcri_ref block)
{
    const struct bcri_region_shm *header = bcri_at_sure(ctx, block);
    return bcri_ref_make(bcri_ref_seg(block), (uint64_t)header->data_16 * 16);
}
static_assert(sizeof(BLOCK) > BCRI_REGION_INLINE, "the data of a block is aligned to BCRI_REF_UNIT");

static void tx_link_block(struct bcri_ctx *ctx, const struct bcri_place *place, bcri_ref block)
{
    bcri_ref last = bcri_load(&place->record->summons.chain_last);
    bcri_tx_add(ctx, BCRI_REDO_64, block, offsetof(struct bcri_region_shm, count), BCRI_COUNT_ONE);
    if (last != BCRI_REF_NONE) {
        BCRI_TX64(ctx, data_ref(ctx, last), BLOCK, next, block);
    } else {
        TX_QUEUE(ctx, place, chain_first, block);
        tx_ring(ctx, place, BCRI_SUMMONS_CHAIN, 0);
    }
    TX_QUEUE(ctx, place, chain_last, block);
    TX_QUEUE(ctx, place, chain_used, 1);
}

void bcri_tx_summon(struct bcri_ctx *ctx, const struct bcri_place *place,
                    const struct bcri_summoning *summoning)
{
    if (bcri_likely(!summoning->due) || summoning->own != NULL)
        return;
    const QUEUE *queue = &place->record->summons;
    uint32_t gen = bcri_mark_gen(bcri_load(&place->cell->t.mark));
    if (summoning->block != BCRI_REF_NONE) {
        tx_link_block(ctx, place, summoning->block);
    } else if (bcri_load(&queue->chain_first) == BCRI_REF_NONE) {
        tx_ring(ctx, place, (uint32_t)place->number, gen);
    } else {
        uint64_t used = bcri_load(&queue->chain_used);
        bcri_tx_add(ctx, BCRI_REDO_64, data_ref(ctx, bcri_load(&queue->chain_last)),
                    offsetof(BLOCK, entry) + (size_t)used * 8,
                    bcri_summons_entry(1, (uint32_t)place->number, bcri_current_cpu(), gen));
        TX_QUEUE(ctx, place, chain_used, used + 1);
    }
}

void bcri_summons_end(struct bcri_ctx *ctx, const struct bcri_place *place,
                      const struct bcri_summoning *summoning, bool done)
{
    if (bcri_likely(!summoning->due))
        return;
    if (summoning->own != NULL) {
        if (done)
            ctx->upward->summon(ctx, summoning->own);
        return;
    }
    if (!done && summoning->block != BCRI_REF_NONE)
        bcri_heap_free(ctx, summoning->block, bcri_at_sure(ctx, summoning->block));
    bcri_summons_let_go(ctx, place, done);
}

/* ---- the owner */

static void lock_own(struct bcri_ctx *ctx)
{
    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    name(ctx, ctx->index);
    bcri_lock(ctx, &ctx->record->summons.lock);
}

static void unlock_own(struct bcri_ctx *ctx)
{
    bcri_unlock(ctx, &ctx->record->summons.lock);
    unname(ctx);
    bcri_journal_close(ctx);
}

static void look_into_ring(struct bcri_ctx *ctx)
{
    ctx->summons_at = bcri_summons_word(&ctx->record->summons, ctx->summons_taken);
    ctx->summons_lap = bcri_summons_lap(ctx->summons_taken);
}

/* Whether the queue is as empty as its next entry says. */
static bool is_empty(const struct bcri_ctx *ctx)
{
    const QUEUE *queue = &ctx->record->summons;
    return ctx->summons_block == BCRI_REF_NONE && bcri_load(&queue->written) == ctx->summons_taken &&
           bcri_load(&queue->chain_first) == BCRI_REF_NONE && bcri_load(&queue->chain_last) == BCRI_REF_NONE;
}

/* A stray store has been there, and nobody can say what else is true: without this, the owner would watch an entry that nobody
 * writes. What the chains lead to stays held. */
static void make_empty(struct bcri_ctx *ctx)
{
    QUEUE *queue = &ctx->record->summons;
    ctx->damaged = true;
    bcri_store(&queue->chain_first, BCRI_REF_NONE);
    bcri_store(&queue->chain_last, BCRI_REF_NONE);
    bcri_store(&queue->chain_used, 0);
    bcri_store(&queue->taken_first, BCRI_REF_NONE);
    for (uint64_t t = ctx->summons_taken; t < ctx->summons_taken + BCRI_SUMMONS_RING; t++)
        bcri_store(bcri_summons_word(queue, t), (bcri_summons_lap(t) ^ 1) << 63);
    bcri_store(&queue->taken, ctx->summons_taken);
    bcri_store(&queue->written, ctx->summons_taken);
    bcri_store(&queue->limit, ctx->summons_taken);
    ctx->summons_block = BCRI_REF_NONE;
    look_into_ring(ctx);
}

bool bcri_summons_mark(struct bcri_ctx *ctx)
{
    lock_own(ctx);
    bool any = bcri_summons_any(ctx);
    if (bcri_unlikely(!any && !is_empty(ctx)))
        make_empty(ctx);
    bcri_store(&ctx->record->summons.asleep, !any);
    unlock_own(ctx);
    return !any;
}

/* `left` entries of `block`. A block that lies nowhere, or has none, by a stray store, is none. */
static void look_into_block(struct bcri_ctx *ctx, bcri_ref block, uint64_t left)
{
    BLOCK *at = block != BCRI_REF_NONE && left != 0 ? block_at(ctx, block) : NULL;
    ctx->summons_block = at != NULL ? block : BCRI_REF_NONE;
    if (at == NULL) {
        look_into_ring(ctx);
        return;
    }
    ctx->summons_left = left < BCRI_SUMMONS_BLOCK ? (uint32_t)left : BCRI_SUMMONS_BLOCK;
    ctx->summons_at = at->entry;
    ctx->summons_lap = 1;
}

static uint64_t entries_of(struct bcri_ctx *ctx, bcri_ref block)
{
    const BLOCK *at = block != BCRI_REF_NONE ? block_at(ctx, block) : NULL;
    return at != NULL && bcri_load(&at->next) != BCRI_REF_NONE ? BCRI_SUMMONS_BLOCK : ctx->summons_in_end;
}

/* The ring has been read up to the entry that says that the rest is in the chain. From here on there is nothing in the ring
 * that is older than the chain's last. */
static void take_chain(struct bcri_ctx *ctx)
{
    QUEUE *queue = &ctx->record->summons;
    bcri_ref own = bcri_record_ref(ctx, ctx->index);
    lock_own(ctx);
    bcri_ref first = bcri_load(&queue->chain_first);
    ctx->summons_in_end = (uint32_t)bcri_load(&queue->chain_used);
    ctx->summons_taken++;
    bcri_tx_begin(ctx);
    BCRI_TX64(ctx, own, struct bcri_record_shm, summons.taken_first, first);
    BCRI_TX64(ctx, own, struct bcri_record_shm, summons.taken, ctx->summons_taken);
    BCRI_TX64(ctx, own, struct bcri_record_shm, summons.chain_first, BCRI_REF_NONE);
    BCRI_TX64(ctx, own, struct bcri_record_shm, summons.chain_last, BCRI_REF_NONE);
    BCRI_TX64(ctx, own, struct bcri_record_shm, summons.chain_used, 0);
    bcri_tx_commit(ctx);
    unlock_own(ctx);
    look_into_block(ctx, first, entries_of(ctx, first));
}

static void drop_block(struct bcri_ctx *ctx, bcri_ref block, bcri_ref next)
{
    bcri_store(&ctx->journal->old, next);
    bcri_journal_open(ctx, BCRI_OP_UNCHAIN, BCRI_REF_NONE, block, BCRI_REF_NONE);
    bcri_region_drop(ctx, block);
    bcri_step();
    bcri_store(&ctx->record->summons.taken_first, next);
    bcri_step();
    bcri_count_settled(ctx);
    bcri_journal_close(ctx);
}

static void next_in_chain(struct bcri_ctx *ctx)
{
    if (--ctx->summons_left != 0) {
        ctx->summons_at++;
        return;
    }
    bcri_ref block = ctx->summons_block;
    const BLOCK *at = block_at(ctx, block);
    bcri_ref next = at != NULL ? bcri_load(&at->next) : BCRI_REF_NONE;
    drop_block(ctx, block, next);
    look_into_block(ctx, next, entries_of(ctx, next));
}

/* What the handler will probably look at first, if it is known where: the entry of its cell that is to be taken next, and the
 * region. Both at once, so that their ways here take the time of one. */
static void look_ahead(struct bcri_ctx *ctx, uint32_t number, bcri_ref hint)
{
    const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(hint)];
    if (hint != BCRI_REF_NONE && (uint32_t)hint < map->units)
        bcri_prefetch_write(map->base + bcri_ref_offset(hint));
    if (ctx->cells == NULL)
        return;
    uint64_t key = bcri_place_key(BCRI_SELF, (int)number);
    const struct bcri_place *place = bcri_place_entry(ctx, key);
    if (place->key == key && place->own)
        __builtin_prefetch((const void *)bcri_ring_at(place, bcri_load(&place->cell->h.head)));
}

bool bcri_summons_take(struct bcri_ctx *ctx, uint32_t *number_out, uint32_t *gen_out)
{
    uint64_t entry;
    for (;;) {
        entry = bcri_load_acquire(ctx->summons_at);
        if (entry >> 63 != ctx->summons_lap)
            return false;
        if (bcri_likely((uint32_t)(entry >> 32 & 0x7fffffffu) != BCRI_SUMMONS_CHAIN))
            break;
        take_chain(ctx);
    }
    if (bcri_unlikely(ctx->summons_block != BCRI_REF_NONE)) {
        next_in_chain(ctx);
    } else {
        QUEUE *queue = &ctx->record->summons;
        look_ahead(ctx, (uint32_t)(entry >> 32) & 0x7fffffffu,
                   bcri_load(&bcri_summons_line(queue, ctx->summons_taken)->hint));
        bcri_store_release(&queue->taken, ++ctx->summons_taken);
        look_into_ring(ctx);
    }
    *number_out = (uint32_t)(entry >> 32) & 0x7fffffffu;
    *gen_out = (uint32_t)entry & BCRI_MARK_GEN_MAX;
    ctx->last_cpu = (uint32_t)(entry >> 24) & 0xffu;
    return true;
}

/* ---- after a death */

/* `written` is moved after the entry is stored, and nobody else can have moved it while the lock is the dead one's. */
void bcri_summons_finish(struct bcri_ctx *enl, uint32_t index, const struct bcri_place *place)
{
    const struct bcri_journal_shm *j = &bcri_record(enl, index)->journal;
    QUEUE *queue = &place->record->summons;
    if (bcri_load_acquire(&queue->lock) == BCRI_TAG(index) &&
        (uint32_t)bcri_load(&queue->written) == (uint32_t)(bcri_load(&j->aux[BCRI_AUX_SUMMONS]) >> 32))
        bcri_summons_write(queue, place, UINT8_MAX, bcri_load(&j->region));
}

void bcri_summons_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_journal_shm *j = &bcri_record(enl, index)->journal;
    uint64_t named = bcri_load(&j->aux[BCRI_AUX_SUMMONS]);
    struct bcri_record_shm *owner = named != 0 ? bcri_record(enl, (uint32_t)named - 1) : NULL;
    if (owner != NULL) {
        if (bcri_load_acquire(&owner->summons.lock) == BCRI_TAG(index))
            bcri_store_release(&owner->summons.lock, 0);
        bcri_bell_ring(owner);
    }
    bcri_store(&j->aux[BCRI_AUX_SUMMONS], 0);
}

static void drop_chain(struct bcri_ctx *enl, _Atomic uint64_t *first)
{
    bcri_ref ref;
    while ((ref = bcri_load(first)) != BCRI_REF_NONE) {
        BLOCK *block = block_at(enl, ref);
        bcri_store(first, block != NULL ? bcri_load(&block->next) : BCRI_REF_NONE);
        if (block == NULL)
            return;
        bcri_region_drop(enl, ref);
        bcri_count_settled(enl);
    }
}

void bcri_summons_farewell(struct bcri_ctx *enl, uint32_t index)
{
    QUEUE *queue = &bcri_record(enl, index)->summons;
    drop_chain(enl, &queue->taken_first);
    drop_chain(enl, &queue->chain_first);
    bcri_store(&queue->chain_last, BCRI_REF_NONE);
    bcri_store(&queue->chain_used, 0);
}

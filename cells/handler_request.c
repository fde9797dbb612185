/* SPDX-License-Identifier: MIT */
/* Telling an owner of requests, and how the owner takes what it was told: handler_request.h. */
#include "bcri/handler_request.h"

#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/hooks.h"
#include "bcri/lookup.h"
#include "bcri/watermark.h"

#define REQUESTS struct bcri_requests_shm

#define LOOK        (UINT64_C(1) << 63)
#define NUMBER_MASK UINT64_C(0x7fffffff)

/* A request that makes a cell's count a multiple of this is told by the cell's bit as well. */
#define LOOK_EVERY (UINT64_C(1) << 30)

static uint64_t cell_in(uint64_t news)
{
    return news >> 32 & NUMBER_MASK;
}

/* ---- the owner */

/* Prefetches what the handler will probably look at first: the entry of its cell that is to be
 * taken next, and the region. Both are fetched at once, so that together they take the time of
 * one. */
static void look_ahead(struct bcri_ctx *ctx, uint32_t number, uint64_t hint)
{
    const bcri_ref region = hint & BCRI_REF_MASK;
    const struct bcri_mapping *map = &ctx->map[bcri_ref_seg(region)];
    ctx->last_cpu = (uint32_t)(hint >> 48) & 0xffu;
    if (region != BCRI_REF_NONE && (uint32_t)region < map->units)
        bcri_prefetch_write(map->base + bcri_ref_offset(region));
    if (ctx->cells == NULL)
        return;
    uint64_t key = bcri_resolved_key(BCRI_SELF, (int)number);
    const struct bcri_resolved *resolved = bcri_resolved_entry(ctx, key);
    if (resolved->key == key && resolved->own)
        __builtin_prefetch((const void *)bcri_ring_at(resolved, bcri_load(&resolved->cell->h.head)));
}

/* Model: handler_request.pml */
struct bcri_news bcri_requests_take(struct bcri_ctx *ctx)
{
    REQUESTS *requests = &ctx->record->requests;
    /* This comes first: the exchange has to claim the notifier's line, and the prefetches run
     * meanwhile. */
    const uint64_t told = cell_in(bcri_load_acquire(&requests->news));
    if (told != 0)
        look_ahead(ctx, (uint32_t)told - 1, bcri_load(&requests->hint));
    const uint64_t news = atomic_exchange_explicit(&requests->news, 0, memory_order_seq_cst);
    return (struct bcri_news){
        .number = (int)cell_in(news) - 1, .count = (uint32_t)news, .look = (news & LOOK) != 0};
}

/* Model: handler_request.pml */
uint64_t bcri_requests_take_bits(struct bcri_ctx *ctx, uint32_t word)
{
    _Atomic uint64_t *bits = &ctx->record->requests.bits[word];
    return bcri_load(bits) != 0 ? atomic_exchange_explicit(bits, 0, memory_order_seq_cst) : 0;
}

/* ---- notifiers */

/* Model: handler_request.pml */
static void set_bit(REQUESTS *requests, uint32_t number)
{
    const uint32_t bit = bcri_request_bit(number);
    atomic_fetch_or_explicit(&requests->bits[bit / 64], UINT64_C(1) << bit % 64, memory_order_seq_cst);
    bcri_step();
}

/* The first try assumes that there was no news: a notifier that loaded the word first would wait
 * twice for its line.
 * Model: handler_request.pml */
static void tell_news(REQUESTS *requests, uint32_t number, uint64_t count)
{
    const uint64_t named = (uint64_t)number + 1;
    bool bit_is_set = count % LOOK_EVERY == 0;
    uint64_t was = 0, is;
    if (bcri_unlikely(bit_is_set))
        set_bit(requests, number);
    do {
        const bool free = cell_in(was) == 0 || cell_in(was) == named;
        if (!free && !bit_is_set) {
            set_bit(requests, number);
            bit_is_set = true;
        }
        is = free ? (was & LOOK) | named << 32 | (uint32_t)count : was;
        if (bit_is_set)
            is |= LOOK;
    } while (!atomic_compare_exchange_strong_explicit(&requests->news, &was, is, memory_order_seq_cst,
                                                      memory_order_relaxed));
}

/* Only atomic read-modify-writes: a signal handler may have interrupted the owner while it takes its news, or another
 * waker.
 * Model: handler_request.pml */
void bcri_requests_tell_wake(struct bcri_ctx *ctx, uint32_t number)
{
    REQUESTS *const requests = &ctx->record->requests;
    set_bit(requests, number);
    atomic_fetch_or_explicit(&requests->news, LOOK, memory_order_seq_cst);
}

/* Model: handler_request.pml */
bool bcri_requests_tell(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bcri_ref hint)
{
    const uint64_t count = bcri_load(&resolved->cell->t.requests);
    if (resolved->own && ctx->hooks != NULL) {
        ctx->hooks->requested(ctx, (uint32_t)resolved->number, count);
        return false;
    }
    REQUESTS *requests = &resolved->record->requests;
    bcri_store(&requests->hint, (uint64_t)bcri_current_cpu() << 48 | hint);
    tell_news(requests, (uint32_t)resolved->number, count);
    bcri_step();
    if (bcri_likely(atomic_load_explicit(&requests->asleep, memory_order_seq_cst) == 0))
        return false;
    bcri_store(&requests->asleep, 0);
    return true;
}

/* Model: handler_request.pml */
void bcri_requests_told(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due)
{
    if (due && bcri_requests_tell(ctx, resolved, BCRI_REF_NONE))
        bcri_bell_ring_for(ctx, resolved->record, resolved->ref);
}

/* ---- after a death */

/* The bell is rung in any case: the dead notifier may have cleared `asleep` and not yet rung.
 * Model: handler_request.pml */
void bcri_requests_tell_again(struct bcri_ctx *enl, const struct bcri_resolved *resolved)
{
    const uint64_t state = bcri_load(&resolved->cell->t.state);
    if ((state & (BCRI_CELL_HIGH | BCRI_CELL_LOW | BCRI_CELL_WAKES)) == 0)
        return;
    if ((state & (BCRI_CELL_HIGH | BCRI_CELL_LOW)) != 0)
        (void)bcri_requests_tell(enl, resolved, BCRI_REF_NONE);
    bcri_bell_ring(enl, resolved->record);
}

/* No other CCE counts while the lock is the dead one's.
 * Model: handler_request.pml */
void bcri_request_finish(struct bcri_ctx *enl, uint32_t index, const struct bcri_resolved *resolved)
{
    const uint64_t before = bcri_load(&bcri_record(enl, index)->journal.old);
    if (bcri_load(&resolved->cell->t.requests) == before)
        bcri_store(&resolved->cell->t.requests, before + 1);
    bcri_requests_tell_again(enl, resolved);
}

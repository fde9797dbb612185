/* SPDX-License-Identifier: MIT */
/* Requests of a CCE's handlers: counted at their cell, told to its owner.
 *
 * Counting. t.requests of a marked cell (watermark.h) counts up by one for each operation that
 * meets the mark, in the same step in which that is done: under T while the mark is HIGH, under H
 * while it is LOW; who changes the mark holds both. The owner remembers how many of them it has
 * seen; what is between the two are the requests of which it has to start an invocation each. So
 * there is nothing that could be full, and what the dead have requested needs no repair but of one
 * count.
 *
 * Telling. Whoever has counted tells the owner, still under the cell's lock, by stores that may be
 * repeated, in the owner's record (struct bcri_requests_shm):
 *
 *   news   63 look at `bits` · 62..32 cell number + 1, or 0 · 31..0 low half of that cell's count
 *   bits   1,024 of them, one for each hash of a cell number: the counts of its cells are to be looked at
 *
 * If `news` names no cell, or this one, one CAS stores cell and count there: that is all the owner
 * needs, and the putters' line stays with the putters. If it names another cell: the bit is set,
 * then LOOK. The owner looks at one word: `news` is not 0. It takes `news` by an exchange with 0,
 * and if LOOK was set, each word of `bits`, before it reads a count.
 *   Why nothing is overlooked: count, bit, `news` are stored in this order, each released, and read in the opposite one, each
 *   acquired. `news` is changed by atomic read-modify-writes only, so it has one order: the notifier's stands before or behind the
 *   owner's exchange. Before: the exchange, or the one that took LOOK before it, sees the cell and its count, or LOOK and so
 *   the bit. If it finds the bit gone, another exchange of the owner's has taken it, which acquired the count with it. Behind: `news` is
 *   not 0, and the owner looks again.
 *   A count has 64 bits, the half in `news` 32. The owner adds what that half is ahead of the same half of what it has seen. It
 *   could be ahead by more than 2^31 if the owner has not looked for very long, and so each 2^30th request sets bit and LOOK as well.
 *
 * Sleeping. An owner that is about to sleep stores asleep = 1, then looks at `news`; a notifier
 * changes `news`, then looks at `asleep`. All four are sequentially consistent, so one of the two
 * sees the other; a notifier that sees it clears it and rings.
 *
 * The owner's own. What the owner does at its own cells is counted in the same way; it tells itself
 * at once (hooks.h).
 *
 * Deaths. Of a notifier: a transaction has counted or has not (tx.h); of a fast put or get the
 * journal says what the count was (put_fast.h, get_fast.h). In both cases the lock of the cell is
 * still the dead one's, and repair tells again and rings. Of the owner: nothing is left. Cells that
 * are closed have told everything: that is done under their locks. What is told late of a cell
 * number, by a bit or by `news`, finds no handler or a count that has been seen. Model:
 * test/spin/handler_request.pml. */
#ifndef BCRI_HANDLER_REQUEST_H
#define BCRI_HANDLER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/resolved.h"
#include "bcri/tx.h"
#include "bcri/watermark.h"

/* ---- the owner */

/* Whether there is news: the one load that the beginning of each call makes. */
static inline bool bcri_requests_any(const struct bcri_ctx *ctx)
{
    return bcri_load_acquire(&ctx->record->requests.news) != 0;
}

/* What was told. `number` has counted `count` requests, or is -1; `look`: bcri_requests_take_bits
 * tells where else. */
struct bcri_news {
    int number;
    uint32_t count; /* its low half */
    bool look;
};
struct bcri_news bcri_requests_take(struct bcri_ctx *ctx);
uint64_t bcri_requests_take_bits(struct bcri_ctx *ctx, uint32_t word);

/* Under which bit of all a cell is. */
#define BCRI_REQUEST_BITS_LOG2 10u
static_assert(BCRI_REQUEST_WORDS * 64 == 1u << BCRI_REQUEST_BITS_LOG2, "one bit for each hash");
static inline uint32_t bcri_request_hash(uint32_t number)
{
    return number * UINT32_C(2654435769);
}
static inline uint32_t bcri_request_bit(uint32_t number)
{
    return bcri_request_hash(number) >> (32 - BCRI_REQUEST_BITS_LOG2);
}

/* About to sleep: whoever has news from now on rings. False: there is some. */
static inline bool bcri_requests_sleep(struct bcri_ctx *ctx)
{
    atomic_store_explicit(&ctx->record->requests.asleep, 1, memory_order_seq_cst);
    return atomic_load_explicit(&ctx->record->requests.news, memory_order_seq_cst) == 0;
}

/* ---- notifiers: under the locks of the cell */

/* Whether an addition meets the mark, that leaves `queued` regions in the cell. Under the tail lock
 * at least. */
static inline bool bcri_addition_requests(const struct bcri_resolved *resolved, uint64_t queued)
{
    return (bcri_load(&resolved->cell->t.state) & BCRI_CELL_HIGH) != 0 && queued != 0 &&
           queued >= (uint64_t)(int64_t)bcri_watermark_of(resolved->cell);
}
/* Whether a get does, that finds `queued` and takes or reads. Under the head lock at least. */
static inline bool bcri_get_requests(const struct bcri_resolved *resolved, uint64_t queued, bool takes)
{
    if ((bcri_load(&resolved->cell->h.state) & BCRI_CELL_LOW) == 0)
        return false;
    int64_t mark = bcri_watermark_of(resolved->cell);
    return mark == 0 ? queued == 0 : takes && queued <= (uint64_t)-mark;
}

/* Counts one in the running transaction, if it is due. */
static inline void bcri_tx_request(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due)
{
    if (due)
        BCRI_TX64(ctx, resolved->ref, struct bcri_cell_shm, t.requests,
                  bcri_load(&resolved->cell->t.requests) + 1);
}

/* Tells the owner what the cell has counted. `hint`: the region that was put. True: the owner is to
 * be rung, if need be after the lock of the cell was let go. */
bool bcri_requests_tell(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bcri_ref hint);
/* Tells it, and rings if need be, once the transaction is done in which it was due. */
void bcri_requests_told(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due);

/* ---- after a death: enl */

/* Both under the cell's locks, or the one that it was: the dead one's still, or enl's in its place.
 * tell_again: what may not have been told of a cell that was changed by transactions, and rings.
 * finish: the same after a fast put or get that has met the mark and is done: counts it, if it was
 * not. */
void bcri_requests_tell_again(struct bcri_ctx *enl, const struct bcri_resolved *resolved);
void bcri_request_finish(struct bcri_ctx *enl, uint32_t index, const struct bcri_resolved *resolved);

#endif

/* SPDX-License-Identifier: MIT */
/* Requests of a CCE's handlers: counted at their cell, told to its owner. The notifier is the CCE
 * whose put or get makes the request.
 *
 * Counting. t.requests of a cell with a watermark (watermark.h) counts up by one for each operation
 * that meets the watermark, in the same step as the operation itself: under T if the watermark is
 * HIGH, under H if it is LOW; a change of the watermark needs both. The owner remembers how many
 * requests it has seen; it has to start one invocation for each request beyond those. So nothing
 * can be full, and after a death repair has at most one count to complete.
 *
 * Telling. The notifier that has counted tells the owner, still under the cell's lock, by stores
 * into the owner's record that may be repeated (struct bcri_requests_shm):
 *
 *   news   63 look at `bits` (LOOK) · 62..32 cell number + 1, or 0 · 31..0 low half of that cell's
 *          count
 *   bits   1,024 of them, one for each hash of a cell number: the owner must look at the counts of
 *          the cells with that hash
 *
 * If `news` names no cell, or this one, one CAS stores cell and count there: that is all the owner
 * needs, and the line of the cell's tail stays with the putters. If `news` names another cell, the
 * notifier sets the bit, then LOOK. The owner looks at one word, whether `news` is 0. It takes
 * `news` by an exchange with 0, and if LOOK was set also each word of `bits`, before it reads a
 * count.
 *   Why the owner misses nothing: the notifier stores count, bit, `news` in this order, each as a
 *   release; the owner reads them in the opposite order, each as an acquire. Only atomic
 *   read-modify-writes change `news`, so their order is total: the notifier's comes before or after
 *   the owner's exchange. Before: that exchange, or the one before it that took LOOK, sees the cell
 *   and its count, or LOOK and so the bit. If the bit is gone, an earlier exchange of the owner has
 *   taken it and acquired the count with it. After: `news` is not 0, and the owner looks again.
 *   A count has 64 bits, the half in `news` 32. The owner adds the distance between that half and
 *   the same half of the count that it has seen. The distance could exceed 2^31 if the owner has
 *   not looked for very long, so each 2^30th request sets bit and LOOK as well.
 *
 * Sleeping. An owner that is about to sleep stores asleep = 1, then looks at `news`; a notifier
 * changes `news`, then looks at `asleep`. All four are sequentially consistent, so one of the two
 * sees the other; a notifier that sees asleep = 1 clears it and rings.
 *
 * The owner's own operations at its cells are counted in the same way; it tells itself at once
 * (hooks.h).
 *
 * Wakes (bcr_wake) request a handler, too. They are counted elsewhere (wakes.h), by any thread and signal
 * handler of the owner at any time, and told by bit and LOOK alone: count, bit, LOOK, in this order, so the
 * same argument holds. Their caller rings in any case.
 *
 * Deaths. Of a notifier: a transaction has counted or it has not (tx.h); for a fast put or get the
 * journal says what the count was (put_steps.h, get_steps.h). In both cases the dead notifier still
 * holds the lock of the cell, and repair tells the owner again and rings it. Of the owner: nothing
 * is left. A cell that is closed has nothing left to tell, since the telling is done under its
 * locks. If a bit or `news` still names its number later, the owner finds no handler there, or a
 * count that it has seen already. Model: test/spin/handler_request.pml. */
#ifndef BCRI_HANDLER_REQUEST_H
#define BCRI_HANDLER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/tx.h"
#include "bcri/watermark.h"

/* ---- the owner */

/* Whether there is news: the one load at the beginning of each call. */
static inline bool bcri_requests_any(const struct bcri_ctx *ctx)
{
    return bcri_load_acquire(&ctx->record->requests.news) != 0;
}

/* What the owner was told. `number` is a cell that has counted `count` requests, or -1. `look`:
 * there are more, which bcri_requests_take_bits names. */
struct bcri_news {
    int number;
    uint32_t count; /* its low half */
    bool look;
};
struct bcri_news bcri_requests_take(struct bcri_ctx *ctx);
uint64_t bcri_requests_take_bits(struct bcri_ctx *ctx, uint32_t word);

/* The bit in `bits` that stands for a cell number. */
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

/* The owner is about to sleep: a notifier that tells it something from now on rings. False: there
 * is news already.
 * Model: handler_request.pml */
static inline bool bcri_requests_sleep(struct bcri_ctx *ctx)
{
    atomic_store_explicit(&ctx->record->requests.asleep, 1, memory_order_seq_cst);
    return atomic_load_explicit(&ctx->record->requests.news, memory_order_seq_cst) == 0;
}

/* ---- notifiers: under the locks of the cell */

/* Whether an addition that leaves `queued` regions in the cell meets the watermark. Under the tail
 * lock at least. */
static inline bool bcri_addition_requests(const struct bcri_resolved *resolved, uint64_t queued)
{
    return (bcri_load(&resolved->cell->t.state) & BCRI_CELL_HIGH) != 0 && queued != 0 &&
           queued >= (uint64_t)(int64_t)bcri_watermark_of(resolved->cell);
}
/* Whether a get that finds `queued` regions meets the watermark; `takes`: it takes one, or else it
 * reads. Under the head lock at least. */
static inline bool bcri_get_requests(const struct bcri_resolved *resolved, uint64_t queued, bool takes)
{
    if ((bcri_load(&resolved->cell->h.state) & BCRI_CELL_LOW) == 0)
        return false;
    int64_t watermark = bcri_watermark_of(resolved->cell);
    return watermark == 0 ? queued == 0 : takes && queued <= (uint64_t)-watermark;
}

/* If a request is due, counts it in the running transaction.
 * Model: handler_request.pml */
static inline void bcri_tx_request(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due)
{
    if (due)
        BCRI_TX64(ctx, resolved->ref, struct bcri_cell_shm, t.requests,
                  bcri_load(&resolved->cell->t.requests) + 1);
}

/* Tells the owner what the cell has counted. `hint`: the region that was put. True: the caller must
 * ring the owner; it may release the lock of the cell first. */
bool bcri_requests_tell(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bcri_ref hint);
/* After a transaction in which a request was due: tells the owner, and rings it if it sleeps. */
void bcri_requests_told(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool due);

/* ---- wakes: without a lock, by any thread or signal handler of the owner, after it has counted one (wakes.h) */

/* Tells the owner, the calling process itself, to look at the wakes of cell `number`. */
void bcri_requests_tell_wake(struct bcri_ctx *ctx, uint32_t number);

/* ---- after a death: the daemon, while the dead CCE, or the daemon in its place, has the locks */

/* After transactions have changed the cell, under both its locks: tells the owner what it may not
 * have been told, and rings it. */
void bcri_requests_tell_again(struct bcri_ctx *enl, const struct bcri_resolved *resolved);
/* After a fast put or get that has met the watermark and is done, under its one lock: counts the
 * request if the dead CCE did not, then tells the owner and rings it. */
void bcri_request_finish(struct bcri_ctx *enl, uint32_t index, const struct bcri_resolved *resolved);

#endif

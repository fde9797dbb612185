/* SPDX-License-Identifier: MIT */
/* Wakes: how often bcr_wake was called for each cell of this CCE, private to its process.
 *
 * Any thread and any signal handler may count a wake at any time, also while the CCE's thread grows or frees cells. So
 * the words lie in a table by cell number whose parts never move and are not freed while the CCE lives, and a wake is
 * one fetch-and-add:
 *
 *   word   63 the CCE has a cell of this number · 62 the cell has a handler · 61..0 wakes, ever
 *   taken  how many of them are over; the CCE's own, like all that follows
 *
 * The old value tells the waker whether there was a cell: if not, its count is none of the next cell's, since opening
 * begins with what the word says then. It also tells whether the cell had a handler. bcr_handler sets that bit in one
 * step with reading the count: a wake is in the count that it reads, or its waker sees the bit and requests the handler.
 *
 * A wake that no handler gets waits for a get. `called` counts such wakes and all others after their word, `over` what
 * has become of them; while the two are equal there is nothing to look for, which is the one comparison of a get that
 * waits. A waker that has counted rings the bell, so the CCE sleeps only if it has looked after that (bell.h). */
#ifndef BCRI_WAKES_H
#define BCRI_WAKES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/ctx.h"

#define BCRI_WAKE_CELL    (UINT64_C(1) << 63)
#define BCRI_WAKE_HANDLER (UINT64_C(1) << 62)
#define BCRI_WAKE_COUNT   (BCRI_WAKE_HANDLER - 1)

struct bcri_wake {
    _Atomic uint64_t word;
    uint64_t taken;
};

/* Words for the cells [first, first + count), none of which is open yet. 0 or bcrE_NOMEM. The cells of a CCE that
 * begins: cell 0. */
int bcri_wakes_make(struct bcri_ctx *ctx, uint32_t first, uint32_t count);
void bcri_wakes_fini(struct bcri_ctx *ctx);

/* There are cells of these numbers from now on; there are none any more, and what was not taken is dropped. */
void bcri_wakes_open(struct bcri_ctx *ctx, uint32_t first, uint32_t count);
void bcri_wakes_close(struct bcri_ctx *ctx, uint32_t first, uint32_t count);

/* The wakes of cell `number`, NULL if it never had words. Any thread and signal handler may call. */
struct bcri_wake *bcri_wake_at(const struct bcri_ctx *ctx, int number);

/* The cell has a handler, or has none any more. Each returns the number of wakes that were not taken, and takes
 * them. */
uint64_t bcri_wake_handled(struct bcri_ctx *ctx, int number);
uint64_t bcri_wake_unhandled(struct bcri_ctx *ctx, int number);
/* Takes those that have come since, for its handler. */
uint64_t bcri_wake_take_all(struct bcri_ctx *ctx, int number);

/* Whether there may be a wake for a get. */
static inline bool bcri_wakes_any(const struct bcri_ctx *ctx)
{
    return atomic_load_explicit(&ctx->wakes.called, memory_order_seq_cst) != ctx->wakes.over;
}
/* Whether there is one at this cell. */
static inline bool bcri_wake_is_due(const struct bcri_wake *wake)
{
    const uint64_t word = bcri_load_acquire(&wake->word);
    return (word & (BCRI_WAKE_CELL | BCRI_WAKE_HANDLER)) == BCRI_WAKE_CELL &&
           (word & BCRI_WAKE_COUNT) != wake->taken;
}
/* A get is woken. */
static inline void bcri_wake_take(struct bcri_ctx *ctx, struct bcri_wake *wake)
{
    wake->taken++;
    ctx->wakes.over++;
}

#endif

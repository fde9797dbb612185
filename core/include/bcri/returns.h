/* SPDX-License-Identifier: MIT */
/* Ways home for freed blocks: one queue per (freer, owner) pair, single producer, single consumer, plain stores.
 *
 * The freer writes lap-tagged references, eight to a line; the owner reads them when its lists run dry. No atomic
 * instruction on either side, and a death at any point can be finished exactly: the freer journals the place and the
 * value (ret_entry, ret_value) before it stores, and storing the same value at the same place twice changes nothing.
 * A queue is a chain of blocks that grows while the owner does not collect, and shrinks to a few that circulate.
 * Queues lie in segments that the freer made (BCRI_SEG_RETURNS) and that outlive it until the owner has drained them. */
#ifndef BCRI_RETURNS_H
#define BCRI_RETURNS_H

#include "bcri/ctx.h"
#include "bcri/ref.h"

/* Sends block `ref` (count 0) home to CCE `home`. Called from bcri_region_drop with the count journal in state
 * BCRI_CW_LAST. If memory for a queue is refused the block stays where it is and the owner is told to look for it. */
void bcri_returns_send(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref);

/* Owner: takes what has come home, at most `most` blocks (0: all), handing each to `take`. Returns how many. */
uint32_t bcri_returns_collect(struct bcri_ctx *ctx, uint32_t most,
                              void (*take)(struct bcri_ctx *ctx, bcri_ref ref));

/* enl: finishes the send that CCE `index` had open when it died. */
void bcri_returns_repair(struct bcri_ctx *enl, uint32_t index);

void bcri_returns_fini(struct bcri_ctx *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* What is queued in a cell, under both its locks: the region in `first`, the chain `front`, the
 * ring, the chain `back`, in this order. Most are in the ring; a node holds each region of the two
 * chains (overflow.h). addition.h adds to it.
 *
 * Routines with tx in their names stand between bcri_tx_begin and bcri_tx_commit. */
#ifndef BCRI_QUEUE_H
#define BCRI_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

static inline uint32_t bcri_cell_flags(const struct bcri_resolved *resolved)
{
    return (uint32_t)bcri_load(&resolved->cell->h.state);
}

/* Gives the cell the flags `flags`, in the state of both its ends. */
void bcri_tx_flags(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint32_t flags);

enum bcri_source { BCRI_FROM_NOWHERE, BCRI_FROM_FIRST, BCRI_FROM_FRONT, BCRI_FROM_RING, BCRI_FROM_BACK };
bcri_ref bcri_queue_first(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                          enum bcri_source *from_out);
uint64_t bcri_queue_length(const struct bcri_resolved *resolved);

/* Takes the first region out, which lies at `from`. FRONT or BACK needs the leaf lock. */
void bcri_tx_unqueue(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_source from);

/* Whether the ring has room for one more entry: see `limit` in cell.h. Waiting tickets are in the
 * list. */
bool bcri_ring_has_room(const struct bcri_resolved *resolved);
void bcri_tx_ring_store(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region);

/* Moves one region from `back`, `front` or `first` into a free entry of the ring, in a transaction
 * of its own. False: there is none to move, or no room. */
bool bcri_queue_into_ring(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

#endif

/* SPDX-License-Identifier: MIT */
/* A cell's watermark: which operations on the cell request the handler of its owner
 * (handler_request.h).
 *
 *   watermark > 0    an addition that leaves at least that many regions queued, by any CCE: a put, a
 *               write, a put that has waited for room, an error region, a region that goes back to
 *               the head since its taker has died
 *   watermark = 0    a get, read or lock that finds nothing queued, whether it waits or not
 *   watermark < 0    a get that takes, or a write lock, and finds at most |watermark| queued, before it
 *               removes one
 *
 * Each such operation requests once, in the same step in which it is done: after a death both are
 * there or neither is. A get that waits requests when it is registered. An operation that fails has
 * not requested, except a get that finds nothing in its time.
 *
 * The watermark lies in the cell (line T), and as a flag in the state of both lines: HIGH for a
 * watermark above 0, LOW for the others. The owner writes both in one transaction under both locks.
 * The watermark goes with the area. */
#ifndef BCRI_WATERMARK_H
#define BCRI_WATERMARK_H

#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"

/* The int by which every CCE names itself (cces.h). */
#define BCRI_SELF 1

static inline int32_t bcri_watermark_of(const struct bcri_cell_shm *cell)
{
    return (int32_t)bcri_load(&cell->t.watermark);
}

/* Sets the watermark of an own cell. If the cell has one already, its requests go on counting.
 * Regions that are queued already request nothing. Returns 0, bcrE_NOCELL, bcrE_INTERNAL. */
int bcri_watermark_set(struct bcri_ctx *ctx, int cell, int32_t watermark);
/* Removes the watermark: nothing is counted any more. Returns the same. */
int bcri_watermark_clear(struct bcri_ctx *ctx, int cell);

/* The word that counts an own cell's requests; NULL: there is no such cell. Valid as long as the
 * cell exists. */
const _Atomic uint64_t *bcri_watermark_counter(struct bcri_ctx *ctx, int cell);

#endif

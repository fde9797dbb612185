/* SPDX-License-Identifier: MIT */
/* A cell's water mark (not to be confused with that of a write lock's taker): which operations on
 * it request the handler of its owner (handler_request.h).
 *
 *   mark > 0    an addition that leaves at least that many regions queued, whoever does it: a put, a write, a put that has
 *               waited for room, an error region, a region that goes back to the head since its taker has died
 *   mark = 0    a get, read or lock that finds nothing queued, whether it waits or not
 *   mark < 0    a get that takes, or a write lock, and finds at most |mark| queued, before it removes one
 *
 * Each such operation requests once, in the same step in which it is done: after a death both are
 * there or neither is. A get that waits requests when it is registered. An operation that fails has
 * not requested, but for a get that finds nothing in its time.
 *
 * The mark lies in the cell (line T), and as a flag in the state of both lines: HIGH for a mark
 * above 0, LOW for the others. It is written by the owner, under both locks, by one transaction; it
 * goes with the area. */
#ifndef BCRI_WATERMARK_H
#define BCRI_WATERMARK_H

#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"

/* The int by which every CCE names itself (cces.h). */
#define BCRI_SELF 1

static inline int32_t bcri_watermark_of(const struct bcri_cell_shm *cell)
{
    return (int32_t)bcri_load(&cell->t.mark);
}

/* Marks an own cell, also one that is marked already: its requests go on counting. Regions that are
 * queued already request nothing. Returns 0, bcrE_NOCELL, bcrE_INTERNAL. */
int bcri_watermark_set(struct bcri_ctx *ctx, int cell, int32_t mark);
/* Takes the mark away: nothing is counted any more. The same. */
int bcri_watermark_clear(struct bcri_ctx *ctx, int cell);

/* Where an own cell's requests are counted; NULL: there is no such cell. Stays where it is as long
 * as there is the cell. */
const _Atomic uint64_t *bcri_watermark_counter(struct bcri_ctx *ctx, int cell);

#endif

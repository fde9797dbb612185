/* SPDX-License-Identifier: MIT */
/* A cell's water mark (not to be confused with that of a write lock's taker): when an operation on it summons the handler of
 * its owner.
 *
 *   mark > 0    an addition that leaves at least that many regions queued, whoever does it: a put, a write, a put that has
 *               waited for room, an error region, a region that goes back to the head since its taker has died
 *   mark = 0    a get, read or lock that finds nothing queued, whether it waits or not
 *   mark < 0    a get that takes, or a write lock, and finds at most |mark| queued, before it removes one
 *
 * Each such operation summons once, in the same step in which it is done: after a death both are there or neither is. A get
 * that waits summons when it is registered. An operation that fails has not summoned, but for a get that finds nothing in
 * its time.
 *
 * The mark lies in the cell (line T), with a generation that tells this installation of a handler from earlier ones, and as
 * a flag in the state of both lines: HIGH for a mark above 0, LOW for the others. It is written by the owner, under both
 * locks, by one transaction; it goes with the area. */
#ifndef BCRI_MARK_H
#define BCRI_MARK_H

#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"

/* The int by which every CCE names itself (cces.h). */
#define BCRI_SELF 1

/* Generations run from 1 to this, and again. */
#define BCRI_MARK_GEN_MAX 0xffffffu

static inline uint64_t bcri_mark_word(int32_t mark, uint32_t gen)
{
    return (uint64_t)gen << 32 | (uint32_t)mark;
}
static inline int32_t bcri_mark_of(uint64_t word)
{
    return (int32_t)(uint32_t)word;
}
static inline uint32_t bcri_mark_gen(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* Marks an own cell, also one that is marked already (the new generation tells the two apart). Regions that are queued
 * already summon nobody. Returns 0 and the generation that summonses carry from now on; bcrE_NOCELL, bcrE_INTERNAL. */
int bcri_mark_set(struct bcri_ctx *ctx, int cell, int32_t mark, uint32_t *gen_out);

/* Takes the mark away. Summonses that are in the owner's queue stay there. 0; bcrE_NOCELL, bcrE_INTERNAL. */
int bcri_mark_clear(struct bcri_ctx *ctx, int cell);

#endif

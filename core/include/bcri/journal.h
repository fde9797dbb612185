/* SPDX-License-Identifier: MIT */
/* What operations write into their CCE's journal (record.h), and its first and
 * last step. The meaning of an operation's phases is told at the operation. */
#ifndef BCRI_JOURNAL_H
#define BCRI_JOURNAL_H

#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"

/* put_held: whether the cell's own hold on a region that the putter keeps is counted. While the
 * putter takes that hold back, the count journal decides. */
enum { BCRI_HELD_NOT = 0, BCRI_HELD, BCRI_HELD_DROPPING, BCRI_HELD_DROPPED };

/* Flags beside a phase. */
#define BCRI_PHASE_GIVES \
    0x100u /* PUT: the ID's hold goes to the cell; no hold of the cell's own is counted */
#define BCRI_PHASE_RINGS    0x200u  /* PUT: `old` is a sleep flag */
#define BCRI_PHASE_LOCKS    0x400u  /* TAKE: a write lock */
#define BCRI_PHASE_SOLE     0x800u  /* READ: the cell was the only holder */
#define BCRI_PHASE_REQUESTS 0x1000u /* PUT, TAKE, READ: requests a handler; `old` counted before */
#define BCRI_PHASE(word)    ((word)&0xffu)

/* Operation and phase in one store. */
static inline uint64_t bcri_doing(enum bcri_op op, uint32_t phase)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint64_t)op << 32 | phase;
#else
    return (uint64_t)phase << 32 | op;
#endif
}

static inline void bcri_journal_open(struct bcri_ctx *ctx, enum bcri_op op, bcri_ref cell, bcri_ref region,
                                     bcri_ref slot)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_store(&j->cell, cell);
    bcri_store(&j->region, region);
    bcri_store(&j->slot, slot);
    bcri_store(&j->put_held, BCRI_HELD_NOT);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(op, 0));
    bcri_step();
}
/* Names the cell that the operation locks beside its first one. */
static inline void bcri_journal_second(struct bcri_ctx *ctx, bcri_ref cell)
{
    bcri_store(&ctx->journal->cell2, cell);
    bcri_step();
}
static inline void bcri_journal_phase(struct bcri_ctx *ctx, uint32_t phase)
{
    bcri_step();
    bcri_store(&ctx->journal->phase, phase);
    bcri_step();
}
static inline void bcri_journal_close(struct bcri_ctx *ctx)
{
    bcri_step();
    bcri_store(&ctx->journal->op, BCRI_OP_NONE);
    bcri_step();
}

#endif

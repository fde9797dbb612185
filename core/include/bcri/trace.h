/* SPDX-License-Identifier: MIT */
/* What every CCE always records: counters, and a ring of its last operations. They are in its
 * record in shared memory, so that the daemon and tools can read them while it runs and after its
 * death. Recording costs a few plain stores to lines that only this CCE writes. */
#ifndef BCRI_TRACE_H
#define BCRI_TRACE_H

#include <stdint.h>

#include "bcri/clock.h"
#include "bcri/ctx.h"

enum bcri_counter {
    BCRI_COUNT_ALLOC,
    BCRI_COUNT_FREE,
    BCRI_COUNT_PUT,
    BCRI_COUNT_GET,
    BCRI_COUNT_READ,
    BCRI_COUNT_ZAP,
    BCRI_COUNT_TIMEOUT, /* gets whose time ran out */
    BCRI_COUNT_FULL,    /* puts that found no room in time */
    BCRI_COUNT_COPY,    /* regions copied because they were shared */
    BCRI_COUNT_WAIT,    /* operations that had to wait */
    BCRI_COUNT_SLEEP,   /* times asleep */
    BCRI_COUNT_FAILED,  /* operations that failed for another reason */
    BCRI_COUNT_UNTOLD,  /* errors for which cell 0 had no room */
};
static_assert(BCRI_COUNT_UNTOLD < BCRI_COUNTERS, "counters of a record");

enum bcri_trace_op {
    BCRI_TRACE_PUT = 1,
    BCRI_TRACE_WRITE,
    BCRI_TRACE_GET,
    BCRI_TRACE_READ,
    BCRI_TRACE_LOCK,
    BCRI_TRACE_ZAP,
};

static inline void bcri_counted(struct bcri_ctx *ctx, enum bcri_counter counter)
{
    _Atomic uint64_t *word = &ctx->record->counters[counter];
    bcri_store(word, bcri_load(word) + 1);
}

static inline uint64_t bcri_trace_head(uint32_t seq, uint32_t what)
{
    return (uint64_t)what << 32 | seq;
}

/* Every so many records refresh the coarse time, because reading it costs as much as a whole
 * record. */
#define BCRI_TRACE_CLOCK_EVERY 64u

/* Whether the record of this sequence number refreshes it. */
static inline bool bcri_trace_looks_at_clock(uint32_t seq)
{
    return bcri_unlikely(seq % BCRI_TRACE_CLOCK_EVERY == 0);
}

/* Writes the next record, whose sequence number is `seq`. */
static inline void bcri_trace_write(struct bcri_ctx *ctx, uint32_t seq, enum bcri_trace_op op, int result,
                                    uint32_t peer, uint32_t cell, uint32_t bytes, bcri_ref region)
{
    volatile struct bcri_trace_shm *trace =
        &ctx->trace[seq % BCRI_TRACE_RECORDS]; /* else gcc packs what it stores first */
    ctx->trace_seq = seq;
    /* The stores below overwrite a record after the head of the record before it was stored: a tool
     * that sees any of them also sees that head. */
    atomic_thread_fence(memory_order_release);
    trace->cell = cell;
    trace->bytes = bytes;
    trace->region = region;
    trace->time_ns = ctx->coarse_ns;
    bcri_store_release(&trace->head, bcri_trace_head(seq, (uint32_t)op | (uint32_t)result << 8 | peer << 16));
}
static inline void bcri_trace(struct bcri_ctx *ctx, enum bcri_trace_op op, int result, uint32_t peer,
                              uint32_t cell, uint32_t bytes, bcri_ref region)
{
    const uint32_t seq = ctx->trace_seq + 1;
    if (bcri_trace_looks_at_clock(seq))
        ctx->coarse_ns = bcri_clock_coarse_ns();
    bcri_trace_write(ctx, seq, op, result, peer, cell, bytes, region);
}

#endif

/* SPDX-License-Identifier: MIT */
/* One doorbell per CCE, and the futex calls.
 *
 * A CCE that is about to sleep stores sleeping = 1, fences, reads `bell`, looks once more at
 * everything it waits for, and futex-waits for `bell` to change. Whoever makes something true for
 * it stores that first, then rings: fences, counts `bell` up, and wakes if `sleeping` was set.
 * Either the sleeper's second look sees the change, or the ringer sees `sleeping`. A CCE that is
 * awake costs the ringer no system call. Death of the ringer between store and ring: enl rings for
 * it (cells/repair.c). Model: test/spin/bell.pml.
 *
 * A CCE with many requests wants to know which was served. So a ringer leaves beside the bell, at
 * rung_for[n % 4] for ring number n, that number and half of the cell's reference. It is a hint:
 * who reads another number there, since the ringer is not there yet, or has died, or has no cell to
 * tell, looks at all of its requests.
 *
 * A ticket at a cell's ring needs no bell until its waiter sleeps: it marks the ring's entry
 * (cells/). */
#ifndef BCRI_BELL_H
#define BCRI_BELL_H

#include <stdint.h>
#include <sys/rseq.h>

#include "bcri/ctx.h"

/* Waits while *word == expected, until `deadline_ns` of the monotonic clock (UINT64_MAX: for ever).
 * May return early. */
void bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);
void bcri_futex_wake(_Atomic uint32_t *word, int32_t most);

/* What ring number `number` leaves. */
static inline uint64_t bcri_rung_for(uint32_t number, bcri_ref cell)
{
    return (uint64_t)number << 32 | (uint32_t)cell;
}

/* Rings the CCE of `record`; `cell` is where a request of it was answered, or none. */
static inline void bcri_bell_ring_for(struct bcri_record_shm *record, bcri_ref cell)
{
    uint32_t number = atomic_fetch_add_explicit(&record->bell.bell, 1, memory_order_seq_cst);
    if (cell != BCRI_REF_NONE)
        bcri_store_release(&record->bell.rung_for[number % BCRI_RUNG_FOR], bcri_rung_for(number, cell));
    if (atomic_load_explicit(&record->bell.sleeping, memory_order_seq_cst))
        bcri_futex_wake(&record->bell.bell, 1);
}
static inline void bcri_bell_ring(struct bcri_record_shm *record)
{
    bcri_bell_ring_for(record, BCRI_REF_NONE);
}

/* The same for the CCE of record `index`, if there is one. */
void bcri_bell_ring_index(struct bcri_ctx *ctx, uint32_t index, bcri_ref cell);

/* The processor this thread runs on, modulo 256, without a system call: a hint. The C library
 * registers a restartable- sequence area per thread, in which the kernel keeps the number. */
uint32_t bcri_current_cpu_slow(void);
/* The same, not modulo 256, where the kernel keeps it, else negative: for a thread it is always the
 * one or the other. */
static inline int32_t bcri_kept_cpu(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    int32_t cpu;
    __asm__ volatile("movl %%fs:%c2(%1), %0"
                     : "=r"(cpu)
                     : "r"(__rseq_offset), "i"(offsetof(struct rseq, cpu_id)));
    return cpu;
#elif defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__)
    const struct rseq *area =
        (const struct rseq *)(const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);
    return (int32_t) * (const volatile uint32_t *)&area->cpu_id;
#else
    return -1;
#endif
}
static inline uint32_t bcri_current_cpu(void)
{
    const int32_t cpu = bcri_kept_cpu();
    return bcri_likely(cpu >= 0) ? (uint8_t)cpu : bcri_current_cpu_slow();
}

#endif

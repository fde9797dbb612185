/* SPDX-License-Identifier: MIT */
/* One doorbell per CCE, and the futex calls.
 *
 * A CCE that is about to sleep reads `bell`, stores `sleeping`, fences, looks once more at
 * everything it waits for, and futex-waits while `bell` is what it has read. The ringer is the CCE
 * that makes something true which the sleeper waits for. It stores that first and then rings: it
 * fences, counts `bell` up, and wakes the sleeper if `sleeping` is set. Either the sleeper's second
 * look sees the change, or the ringer sees `sleeping`. A CCE that is awake costs the ringer no
 * system call. If the ringer dies between its store and its ring, the daemon rings for it
 * (cells/recovery/journal_repair.c). Model: test/spin/bell.pml.
 *
 * A thread that waits for descriptors too sleeps in epoll instead, where no futex can wake it. It
 * waits there for an eventfd besides its own descriptors, stores SLEEPS_IN_EPOLL, and compares
 * `bell` itself, as the kernel does in futex-wait. A ringer that finds SLEEPS_IN_EPOLL writes the
 * eventfd; it leaves `sleeping` as it is, so that the daemon can ring again for a ringer that dies
 * before the write. A group has at most one such sleeper. Its eventfd exists before its record is
 * known to any other, and each process of the group that may ring has it (ctx->bell_fd).
 * docs/states/doorbell.md.
 *
 * A CCE that sleeps in a poll of its own has armed a descriptor (SLEEPS_IN_POLL, wakefd.h).
 *
 * A CCE with many requests wants to know which one was served. So the ringer stores beside the
 * bell, at rung_for[n % 4] for ring number n, that number and the low half of the cell's reference.
 * It is a hint. The CCE may read another number there, because the ringer has not stored yet, has
 * died, or has no cell to name; then it looks at all of its requests.
 *
 * A waiter with a ticket at a cell's ring needs no bell until it sleeps: then it sets the sleep
 * flag in the ring's entry (cells/). */
#ifndef BCRI_BELL_H
#define BCRI_BELL_H

#include <stdint.h>
#include <sys/rseq.h>

#include "bcri/ctx.h"

/* Waits while *word == expected, until `deadline_ns` of the monotonic clock (UINT64_MAX: for ever).
 * May return early. */
void bcri_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns);
void bcri_futex_wake(_Atomic uint32_t *word, int32_t most);

/* What the ringer stores in rung_for at ring number `number`. */
static inline uint64_t bcri_rung_for(uint32_t number, bcri_ref cell)
{
    return (uint64_t)number << 32 | (uint32_t)cell;
}

/* Wakes the CCE of `record`, which sleeps in that way. */
void bcri_bell_wake(const struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t sleeping);

/* Counts the bell of `record` up, and says why. Returns how its CCE sleeps. */
static inline uint32_t bcri_bell_count(struct bcri_record_shm *record, bcri_ref cell)
{
    uint32_t number = atomic_fetch_add_explicit(&record->bell.bell, 1, memory_order_seq_cst);
    if (cell != BCRI_REF_NONE)
        bcri_store_release(&record->bell.rung_for[number % BCRI_RUNG_FOR], bcri_rung_for(number, cell));
    return atomic_load_explicit(&record->bell.sleeping, memory_order_seq_cst);
}

/* Rings the CCE of `record`. `cell` is the cell where one of its requests was served, or
 * BCRI_REF_NONE. */
static inline void bcri_bell_ring_for(const struct bcri_ctx *ctx, struct bcri_record_shm *record,
                                      bcri_ref cell)
{
    const uint32_t sleeping = bcri_bell_count(record, cell);
    if (sleeping != BCRI_AWAKE)
        bcri_bell_wake(ctx, record, sleeping);
}
static inline void bcri_bell_ring(const struct bcri_ctx *ctx, struct bcri_record_shm *record)
{
    bcri_bell_ring_for(ctx, record, BCRI_REF_NONE);
}

/* The same for the CCE of record `index`, if there is one. */
static inline void bcri_bell_ring_index(struct bcri_ctx *ctx, uint32_t index, bcri_ref cell)
{
    struct bcri_record_shm *record = bcri_record(ctx, index);
    if (record != NULL)
        bcri_bell_ring_for(ctx, record, cell);
}

/* After a sleep on the futex: the CCE is awake. `before` is what `sleeping` was before it. If a descriptor was armed
 * then (wakefd.h), it becomes readable: whoever rang meanwhile has woken the futex instead. */
void bcri_bell_awake(struct bcri_ctx *ctx, uint32_t before);

/* Notes for tools what this CCE is about to sleep for: `count` requests, the first of them at `slot`
 * (NULL: unknown); or, with BCRI_NOTE_ROOM for the count, room in its comm heap, with BCRI_NOTE_TEAM the other
 * members of its team. */
enum { BCRI_NOTE_ROOM = -1, BCRI_NOTE_TEAM = -2 };
void bcri_sleep_note(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot, int count, uint64_t deadline_ns);

/* Says, after that note, that this CCE has looked at all that it waits for since it read `seen` from its bell,
 * and now sleeps. Whoever reads this of another CCE, and then the same bell, knows that nobody has made true
 * what it waits for: that would have rung. */
static inline void bcri_sleep_rests(const struct bcri_ctx *ctx, uint32_t seen)
{
    const uint64_t sleeps = bcri_load(&ctx->record->sleep.sleeps);
    bcri_store_release(&ctx->bell->rests, sleeps << 32 | seen);
}

/* For the sleeper in epoll, which has looked at everything it waits for since it read `seen` from
 * its `bell`. begin: true: it may sleep, and a ring from now on makes ctx->bell_fd readable. end:
 * after its sleep, or when begin has returned false. The sleeper watches ctx->bell_fd edge-triggered
 * (EPOLLET), so that epoll_wait itself takes the ring away, and the descriptor is never read. A ring
 * that comes late costs the next sleep. */
bool bcri_bell_epoll_begin(struct bcri_ctx *ctx, uint32_t seen);
void bcri_bell_epoll_end(struct bcri_ctx *ctx);

/* The processor on which this thread runs, modulo 256: a hint. bcri_current_cpu() needs no system
 * call where the C library registers a restartable-sequence area per thread, in which the kernel
 * keeps the number. This routine is for threads without one. */
uint32_t bcri_current_cpu_slow(void);
/* The number that the kernel keeps for this thread, not modulo 256; negative if it keeps none.
 * Which of the two holds never changes during a thread's life. */
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

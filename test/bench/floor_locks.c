/* SPDX-License-Identifier: MIT */
/*
 * floor_locks.c -- a bare test-and-set lock in shared memory: one exchange to take it, one store to
 * release it.
 *
 * It repairs nothing and favours the process that has the line; that is the floor.  With C11's default order (sequential
 * consistency, what atomic_flag does when nothing is said) the store costs as much as the exchange
 * on x86-64;
 * with acquire and release it costs nothing.  Both are measured, since "a test-and-set lock" may mean either.
 *
 * Contended, both sides go on until one has done its count, so that neither finishes alone, and
 * every acquisition counts. */
#include "floors.h"

static inline void take(struct floor_word_shm *lock)
{
    while (atomic_exchange(&lock->value, 1) != 0)
        while (atomic_load_explicit(&lock->value, memory_order_relaxed) != 0)
            continue;
}

static inline void release(struct floor_word_shm *lock)
{
    atomic_store(&lock->value, 0);
}

void floor_lock_own(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *lock = &floor_area(pair)->lock;
    if (pair->side != 0)
        return;
    for (long i = 0; i < turn->count; i++) {
        take(lock);
        release(lock);
    }
    turn->op_count = turn->count;
}

void floor_lock_own_acqrel(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *lock = &floor_area(pair)->lock;
    if (pair->side != 0)
        return;
    for (long i = 0; i < turn->count; i++) {
        while (atomic_exchange_explicit(&lock->value, 1, memory_order_acquire) != 0)
            continue;
        atomic_store_explicit(&lock->value, 0, memory_order_release);
    }
    turn->op_count = turn->count;
}

void floor_lock_contended(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *lock = &floor_area(pair)->lock, *stop = &floor_area(pair)->stop;
    long done = 0;
    while (done < turn->count && atomic_load_explicit(&stop->value, memory_order_relaxed) == 0) {
        take(lock);
        release(lock);
        done++;
    }
    atomic_store_explicit(&stop->value, 1, memory_order_relaxed);
    turn->op_count = done;
}

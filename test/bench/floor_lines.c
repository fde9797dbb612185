/* SPDX-License-Identifier: MIT */
/*
 * floor_lines.c -- the least a message can take: a cache line, a yield, or a futex from one process
 * to another.
 *
 * Ping-pongs: side 0 writes a number, side 1 answers it.  Each side counts the messages it sent, so the time per
 * operation is one way.  Release stores and acquire loads: what any hand-over of data needs. */
#include <sched.h>

#include "floors.h"

static inline uint64_t see(const struct floor_word_shm *word)
{
    return atomic_load_explicit(&word->value, memory_order_acquire);
}

static inline void say(struct floor_word_shm *word, uint64_t value)
{
    atomic_store_explicit(&word->value, value, memory_order_release);
}

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void floor_two_lines(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *mine = &floor_area(pair)->word[pair->side];
    struct floor_word_shm *other = &floor_area(pair)->word[!pair->side];
    uint64_t count = (uint64_t)turn->count;

    for (uint64_t i = 1; i <= count; i++) {
        if (pair->side == 0)
            say(mine, i);
        while (see(other) != i)
            continue;
        if (pair->side == 1)
            say(mine, i);
    }
    turn->op_count = turn->count;
}

void floor_one_line(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *word = &floor_area(pair)->word[0];
    uint64_t count = (uint64_t)turn->count, own = (uint64_t)pair->side;

    for (uint64_t i = 0; i < count; i++) {
        while (see(word) != 2 * i + own)
            continue;
        say(word, 2 * i + own + 1);
    }
    turn->op_count = turn->count;
}

void floor_one_line_pause(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *word = &floor_area(pair)->word[0];
    uint64_t count = (uint64_t)turn->count, own = (uint64_t)pair->side;

    for (uint64_t i = 0; i < count; i++) {
        while (see(word) != 2 * i + own)
            cpu_pause();
        say(word, 2 * i + own + 1);
    }
    turn->op_count = turn->count;
}

void floor_yield(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_word_shm *mine = &floor_area(pair)->word[pair->side];
    struct floor_word_shm *other = &floor_area(pair)->word[!pair->side];
    uint64_t count = (uint64_t)turn->count;

    for (uint64_t i = 1; i <= count; i++) {
        if (pair->side == 0)
            say(mine, i);
        while (see(other) != i)
            sched_yield();
        if (pair->side == 1)
            say(mine, i);
    }
    turn->op_count = turn->count;
}

static void futex_send(struct floor_futex_shm *line, uint32_t value)
{
    atomic_store_explicit(&line->value, value, memory_order_release);
    bench_futex_wake(&line->value);
}

static void futex_await(struct floor_futex_shm *line, uint32_t value)
{
    while (atomic_load_explicit(&line->value, memory_order_acquire) != value)
        bench_futex_wait(&line->value, value - 1);
}

void floor_futex(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_futex_shm *mine = &floor_area(pair)->futex[pair->side];
    struct floor_futex_shm *other = &floor_area(pair)->futex[!pair->side];
    uint32_t count = (uint32_t)turn->count;

    for (uint32_t i = 1; i <= count; i++) {
        if (pair->side == 0)
            futex_send(mine, i);
        futex_await(other, i);
        if (pair->side == 1)
            futex_send(mine, i);
    }
    turn->op_count = turn->count;
}

void floor_futex_slept(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_futex_shm *mine = &floor_area(pair)->futex[pair->side];
    struct floor_futex_shm *other = &floor_area(pair)->futex[!pair->side];
    uint32_t count = (uint32_t)turn->count;
    int64_t total_ns = 0;

    for (uint32_t i = 1; i <= count; i++) {
        for (int step = 0; step < 2; step++) {
            if (step == pair->side) {
                bench_busy_ns(FLOOR_SLEEP_NS);
                mine->sent_ns = bench_now_ns();
                futex_send(mine, i);
            } else {
                futex_await(other, i);
                total_ns += bench_now_ns() - other->sent_ns;
            }
        }
    }
    turn->op_count = turn->count;
    turn->timed_ns = (double)total_ns;
}

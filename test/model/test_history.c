/* SPDX-License-Identifier: MIT */
/* Several threads at once on the same cells; each cell's history must be one that could have
 * happened in some order. And the checker itself, on histories that are known to be good and
 * bad. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cce.h"
#include "history.h"

/* ---- the checker ---- */

static struct history made(int nrgns, int start_count, int count, const struct history_op *ops)
{
    struct history history = {.nrgns = nrgns, .start_count = start_count, .count = count};
    for (int i = 0; i < start_count; i++)
        history.start[i] = 100 + i;
    memcpy(history.op, ops, (size_t)count * sizeof *ops);
    return history;
}

TEST(the_checker_knows_good_histories_from_bad_ones)
{
    const struct {
        int nrgns, start, count, good;
        struct history_op op[4];
    } cases[] = {
        {9, 0, 2, 1, {{HISTORY_PUT, 1, 1, 2}, {HISTORY_TAKE, 1, 3, 4}}},
        {9, 0, 2, 0, {{HISTORY_TAKE, 1, 1, 2}, {HISTORY_PUT, 1, 3, 4}}}, /* before it was put */
        {9, 0, 2, 1, {{HISTORY_TAKE, 1, 1, 4}, {HISTORY_PUT, 1, 2, 3}}}, /* meanwhile */
        {9, 1, 2, 1, {{HISTORY_TAKE, 100, 1, 2}, {HISTORY_EMPTY, 0, 3, 4}}},
        {9, 1, 2, 0, {{HISTORY_EMPTY, 0, 1, 2}, {HISTORY_TAKE, 100, 3, 4}}},
        {9, 2, 2, 0, {{HISTORY_TAKE, 101, 1, 2}, {HISTORY_TAKE, 100, 3, 4}}}, /* out of order */
        {9, 2, 2, 1, {{HISTORY_TAKE, 101, 1, 4}, {HISTORY_TAKE, 100, 2, 3}}},
        {9, 1, 2, 0, {{HISTORY_TAKE, 100, 1, 4}, {HISTORY_TAKE, 100, 2, 3}}}, /* twice */
        {1, 1, 2, 0, {{HISTORY_PUT, 1, 1, 2}, {HISTORY_TAKE, 100, 3, 4}}},    /* beyond the bound */
        {1, 1, 2, 1, {{HISTORY_PUT, 1, 1, 4}, {HISTORY_TAKE, 100, 2, 3}}},
        {2, 1, 1, 0, {{HISTORY_FULL, 1, 1, 2}}},
        {2, 1, 3, 1, {{HISTORY_FULL, 1, 1, 6}, {HISTORY_PUT, 2, 2, 3}, {HISTORY_TAKE, 100, 4, 5}}},
        {9, 3, 3, 1, {{HISTORY_WRITE, 1, 1, 2}, {HISTORY_LENGTH, 1, 3, 4}, {HISTORY_READ, 1, 5, 6}}},
        {9, 3, 2, 0, {{HISTORY_WRITE, 1, 1, 4}, {HISTORY_LENGTH, 0, 2, 3}}}, /* seen empty */
        {9, 3, 3, 1, {{HISTORY_ZAP, 0, 1, 6}, {HISTORY_LENGTH, 3, 2, 3}, {HISTORY_EMPTY, 0, 4, 5}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct history history = made(cases[i].nrgns, cases[i].start, cases[i].count, cases[i].op);
        if (history_is_linearizable(&history) != cases[i].good) {
            history_print(&history);
            FAIL("case %zu: wanted %d", i, cases[i].good);
        }
    }
}

/* ---- the cells ---- */

enum { THREADS = 3, CELLS = 2, OPS = 6 };

struct worker {
    struct bcri_ctx *ctx;
    uint64_t rng;
    int number, next_value, owner, refused_writes;
    struct history history[CELLS];
};

static struct worker worker[THREADS];
static int cell_number[CELLS]; /* each an area of its own */
static pthread_barrier_t barrier;
static int windows, bound[CELLS];

/* Under TSan the clock must not order what the threads do. */
static _Atomic uint64_t clock_;
static uint64_t now(void)
{
#if defined(__SANITIZE_THREAD__)
    return atomic_fetch_add_explicit(&clock_, 1, memory_order_relaxed);
#else
    return atomic_fetch_add(&clock_, 1);
#endif
}

static void note(struct worker *w, int cell, enum history_what what, int value, uint64_t called)
{
    struct history *history = &w->history[cell];
    history->op[history->count++] =
        (struct history_op){.what = what, .value = value, .called = called, .returned = now()};
}

static int fresh(struct worker *w)
{
    return w->number * 1000000 + w->next_value++;
}

static void put(struct worker *w, int cell, bool write)
{
    int value = fresh(w);
    bcr_region rgid = number(value);
    CHECK_INT(bcr_putwait((int)test_rand_below(&w->rng, 2)), 0);
    uint64_t called = now();
    if (bcr_put(!write, rgid, w->owner, cell_number[cell], bcr_FREE) == 0) {
        note(w, cell, write ? HISTORY_WRITE : HISTORY_PUT, value, called);
        return;
    }
    CHECK_INT(bcr_errno, bcrE_FULL);
    /* A full cell holds something to replace, but for the moment in which its room goes from a take
     * to a put that waits. Such a write has never been. */
    w->refused_writes += write;
    if (!write)
        note(w, cell, HISTORY_FULL, value, called);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static void put_both(struct worker *w)
{
    int value = fresh(w), cells[2 * CELLS];
    bcr_region rgid = number(value);
    for (int i = 0; i < CELLS; i++) {
        cells[2 * i] = w->owner;
        cells[2 * i + 1] = cell_number[i];
    }
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    uint64_t called = now();
    CHECK_INT(bcr_writem(rgid, CELLS, cells, bcr_FREE), 0);
    for (int i = 0; i < CELLS; i++)
        note(w, i, HISTORY_WRITE, value, called);
}

static void get(struct worker *w, int cell, bool take)
{
    bool pend = test_rand_below(&w->rng, 2);
    uint64_t called = now();
    bcr_region rgid = bcr_get(take, w->owner, cell_number[cell], pend ? bcr_PENDING : 0);
    if (rgid == NULL) {
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
        note(w, cell, HISTORY_EMPTY, 0, called);
        return;
    }
    if (pend && bcr_rgwait(rgid, (int)test_rand_below(&w->rng, 2), 1) == 0)
        return; /* cancelled: it never was */
    note(w, cell, take ? HISTORY_TAKE : HISTORY_READ, peek(rgid), called);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static void one_op(struct worker *w)
{
    int cell = (int)test_rand_below(&w->rng, CELLS);
    uint64_t called = now();
    switch (test_rand_below(&w->rng, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: put(w, cell, false); break;
    case 4: put(w, cell, true); break;
    case 5:
    case 6:
    case 7: get(w, cell, true); break;
    case 8: get(w, cell, false); break;
    case 9:
        CHECK_INT(bcr_zap(w->owner, cell_number[cell]), 0);
        note(w, cell, HISTORY_ZAP, 0, called);
        break;
    case 10: note(w, cell, HISTORY_LENGTH, bcr_celllen(w->owner, cell_number[cell]), called); break;
    default: put_both(w);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    as(w->ctx);
    w->owner = name(w->ctx, one);
    for (int window = 0; window < windows; window++) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < OPS; i++)
            one_op(w);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* Starts a window: nothing, or some regions, in each cell. */
static void prepare(uint64_t *rng, struct history *start)
{
    for (int cell = 0; cell < CELLS; cell++) {
        CHECK_INT(bcr_zap(bcr_cce, cell_number[cell]), 0);
        start[cell] = (struct history){.nrgns = bound[cell]};
        int count = (int)test_rand_below(rng, 4) * (int)test_rand_below(rng, 4);
        for (int i = 0; i < count && i < bound[cell]; i++) {
            CHECK_INT(bcr_enq(number(-1 - i), bcr_cce, cell_number[cell], bcr_FREE), 0);
            start[cell].start[start[cell].start_count++] = -1 - i;
        }
    }
}

static void check(struct history *history)
{
    for (int cell = 0; cell < CELLS; cell++) {
        for (int i = 0; i < THREADS; i++) {
            struct history *part = &worker[i].history[cell];
            memcpy(&history[cell].op[history[cell].count], part->op,
                   (size_t)part->count * sizeof part->op[0]);
            history[cell].count += part->count;
            part->count = 0;
        }
        /* What is left, in its order, belongs to the history. */
        uint64_t called = now();
        int last = bcr_celllen(bcr_cce, cell_number[cell]);
        history[cell].op[history[cell].count++] = (struct history_op){HISTORY_LENGTH, last, called, now()};
        for (int i = 0; i < last && i < 8; i++) {
            called = now();
            int value = take(bcr_cce, cell_number[cell]);
            history[cell].op[history[cell].count++] = (struct history_op){HISTORY_TAKE, value, called, now()};
        }
        if (!history_is_linearizable(&history[cell])) {
            history_print(&history[cell]);
            FAIL("the history of cell %d can not have happened", cell_number[cell]);
        }
    }
}

static void run(int bound0, int bound1, int rounds)
{
    uint64_t rng = test_seed();
    begin();
    bound[0] = bound0;
    bound[1] = bound1;
    grow(0, 0, 1 << 16);
    pthread_t thread[THREADS];
    for (int cell = 0; cell < CELLS; cell++) /* with unused cells beside it its ring is short */
        cell_number[cell] = grow(bound[cell] > 9 ? 20 : 1, bound[cell], 0);
    windows = rounds;
    CHECK_INT(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.ctx = join(), .rng = rng + (uint64_t)i, .number = i + 1};
        CHECK_INT(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    }
    for (int window = 0; window < windows; window++) {
        struct history start[CELLS];
        prepare(&rng, start);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        check(start);
        if (window % 64 == 0)
            audit();
    }
    int refused_writes = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        refused_writes += worker[i].refused_writes;
    }
    CHECK(refused_writes <= rounds / 100 + 1); /* of about THREADS * OPS / 12 a round */
    end();
}

TEST_TIMEOUT(histories_of_cells_with_room_are_linearizable, 1200)
{
    run(60, 60, (int)test_scale(1500, 100000));
}

TEST_TIMEOUT(histories_of_cells_with_little_room_are_linearizable, 1200)
{
    run(1, 3, (int)test_scale(1500, 20000)); /* puts wait a millisecond here */
}

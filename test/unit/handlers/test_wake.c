/* SPDX-License-Identifier: MIT */
/* bcr_wake: what it ends, what it requests, and what it leaves alone; then threads that wake at any time. */
#include <pthread.h>
#include <sched.h>

#include <bcr/program.h>

#include "bcri/self.h"
#include "bcri/wakes.h"
#include "cce.h"
#include "told.h"

enum { CELL = 1, OTHER = 2, HANDLED = 3, ANSWER = 4 };

static void start(void)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
}

static void note(int cell)
{
    say("%d ", cell);
}

static void no_wake_is_left(void)
{
    CHECK(!bcri_wakes_any(one));
}

TEST(only_an_own_cell_can_be_woken)
{
    start();
    FAILS(bcr_wake(5), bcrE_NOCELL);
    FAILS(bcr_wake(-1), bcrE_NOCELL);
    FAILS(bcr_wake(1 << 30), bcrE_NOCELL);
    bcr_errno = bcrE_FULL;
    CHECK_INT(bcr_wake(0), 0);
    CHECK_INT(bcr_errno, bcrE_FULL);
    FAILS_NULL(bcr_deq(bcr_cce, 0, bcr_BLOCK), bcrE_WOKEN);
    no_wake_is_left();
    end();
}

TEST(each_wake_ends_the_next_get_that_would_wait)
{
    start();
    CHECK_INT(bcr_wake(CELL), 0);
    CHECK_INT(bcr_wake(CELL), 0);
    FAILS_NULL(bcr_deq(bcr_cce, CELL, 0), bcrE_TIMEOUT); /* does not wait */
    FAILS_NULL(bcr_deq(bcr_cce, OTHER, 1), bcrE_TIMEOUT);
    FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    FAILS_NULL(bcr_read(bcr_cce, CELL, 100000), bcrE_WOKEN);
    FAILS_NULL(bcr_deq(bcr_cce, CELL, 1), bcrE_TIMEOUT);
    CHECK_INT(bcr_wake(CELL), 0);
    FAILS_NULL(bcr_acqwl(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    CHECK_INT(bcr_wake(CELL), 0);
    FAILS_NULL(bcr_acqrl(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    int value;
    CHECK_INT(bcr_wake(CELL), 0);
    FAILS(bcr_recv(&value, sizeof value, bcrT_1INT, 1, bcr_cce, CELL, 1, bcr_BLOCK), bcrE_WOKEN);
    no_wake_is_left();
    end();
}

TEST(a_get_that_finds_a_region_leaves_the_wake_to_the_next)
{
    start();
    CHECK_INT(bcr_wake(CELL), 0);
    CHECK_INT(bcr_enq(number(7), bcr_cce, CELL, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, CELL, bcr_BLOCK)), 7);
    FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    no_wake_is_left();
    end();
}

TEST(a_pending_get_goes_on_unless_it_is_to_be_cancelled)
{
    start();
    bcr_region list[] = {bcr_deq(bcr_cce, CELL, bcr_PENDING), bcr_deq(bcr_cce, OTHER, bcr_PENDING)};
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_rgwait(list[1], 0, 0), 0);
    CHECK_INT(bcr_rgwait(list[0], 1, 0), 0);
    FAILS(bcr_rgwait(list[1], bcr_BLOCK, 0), bcrE_WOKEN);
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_rgwaitm(2, list, 0, 0), 0);
    FAILS(bcr_rgwaitm(2, list, bcr_BLOCK, 0), bcrE_WOKEN);
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_enq(number(3), bcr_cce, CELL, bcr_FREE), 0);
    CHECK_INT(bcr_rgwaitm(2, list, bcr_BLOCK, 1), 1); /* it is served */
    CHECK_INT(value_of(list[0]), 3);
    FAILS(bcr_rgwait(list[1], bcr_BLOCK, 1), bcrE_WOKEN);
    FAILS(bcr_rgwait(list[1], 0, 0), bcrE_RGID);
    list[0] = bcr_deq(bcr_cce, CELL, bcr_PENDING);
    list[1] = bcr_deq(bcr_cce, OTHER, bcr_PENDING);
    CHECK_INT(bcr_wake(CELL), 0);
    FAILS(bcr_rgwaitm(2, list, bcr_BLOCK, 1), bcrE_WOKEN);
    FAILS(bcr_rgwait(list[0], 0, 0), bcrE_RGID);
    FAILS(bcr_rgwait(list[1], 0, 0), bcrE_RGID);
    no_wake_is_left();
    end();
}

TEST(each_wake_requests_the_handler_once_whatever_its_watermark)
{
    static const int watermarks[] = {1, 5, 0, -3};
    start();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(bcr_handler(HANDLED, note, watermarks[i], 0, 0), 0);
        CHECK_INT(bcr_wake(HANDLED), 0);
        SAID(""); /* by itself it runs none */
        CHECK_INT(bcr_wake(HANDLED), 0);
        CHECK_INT(bcr_allow(0), 0);
        SAID("3 3 ");
        CHECK_INT(bcr_allow(0), 0);
        SAID("");
    }
    CHECK_INT(bcr_wake(CELL), 0); /* has none */
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    no_wake_is_left();
    end();
}

TEST(a_handler_gets_the_wakes_that_are_left_and_its_removal_drops_them)
{
    start();
    CHECK_INT(bcr_wake(HANDLED), 0);
    CHECK_INT(bcr_handler(HANDLED, note, 1, 0, 0), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("3 ");
    CHECK_INT(bcr_priority(1, 1), 0); /* bcr_handler runs none now */
    CHECK_INT(bcr_wake(HANDLED), 0);
    CHECK_INT(bcr_handler(HANDLED, NULL, 0, 0, 0), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    FAILS_NULL(bcr_deq(bcr_cce, HANDLED, 1), bcrE_TIMEOUT);
    no_wake_is_left();
    end();
}

TEST(a_new_cell_of_the_number_has_no_old_wakes)
{
    start();
    const int base = grow(2, 10, 1000);
    CHECK_INT(bcr_wake(base), 0);
    CHECK_INT(bcr_wake(base + 1), 0);
    CHECK_INT(bcr_handler(base + 1, note, 1, 0, 0), 0);
    CHECK_INT(bcr_cafree(base), 0);
    no_wake_is_left();
    FAILS(bcr_wake(base), bcrE_NOCELL);
    CHECK_INT(grow(2, 10, 1000), base);
    FAILS_NULL(bcr_deq(bcr_cce, base, 1), bcrE_TIMEOUT);
    FAILS_NULL(bcr_deq(bcr_cce, base + 1, 1), bcrE_TIMEOUT);
    CHECK_INT(bcr_wake(base), 0);
    FAILS_NULL(bcr_deq(bcr_cce, base, bcr_BLOCK), bcrE_WOKEN);
    const int far_off = bcr_cagrow(1 << 30, 300, 0, 0, 0, 10, 0);
    CHECK_INT(far_off, 1 << 30);
    CHECK_INT(bcr_wake(far_off + 299), 0);
    FAILS(bcr_wake(far_off + 300), bcrE_NOCELL);
    FAILS_NULL(bcr_deq(bcr_cce, far_off + 299, bcr_BLOCK), bcrE_WOKEN);
    no_wake_is_left();
    end();
}

static void wait_at_other(int cell)
{
    (void)cell;
    CHECK_PTR(bcr_deq(bcr_cce, OTHER, bcr_BLOCK), NULL);
    CHECK_INT(bcr_errno, bcrE_WOKEN);
    say("woken ");
}

TEST(of_several_invocations_that_wait_each_wake_ends_one_wait)
{
    start();
    CHECK_INT(bcr_handler(HANDLED, wait_at_other, 1, 0, 0), 0);
    for (int i = 0; i < 20; i++) /* more than the scheduler looks at in every turn */
        CHECK_INT(bcr_wake(HANDLED), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("woken ");
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("woken woken ");
    for (int i = 0; i < 17; i++)
        CHECK_INT(bcr_wake(OTHER), 0);
    CHECK_INT(bcr_allow(0), 0);
    told[0] = '\0';
    no_wake_is_left();
    end();
}

/* ---- threads ---- */

enum { WAKERS = 3, ROUNDS = 20000 };

static _Atomic int running;
static _Atomic long refused;
static long ran;

struct waker {
    pthread_t thread;
    int cell, rounds;
};

static void *wake_again_and_again(void *arg)
{
    const struct waker *const waker = arg;
    bcri_self_set(one);
    for (int i = 0; i < waker->rounds; i++) {
        if (bcr_wake(waker->cell) != 0) {
            CHECK_INT(bcr_errno, bcrE_NOCELL);
            refused++;
        }
        if (i % 64 == 0)
            sched_yield();
    }
    running--;
    return NULL;
}

static void begin_wakers(struct waker *wakers, int cell, int rounds)
{
    running = WAKERS;
    refused = 0;
    for (int i = 0; i < WAKERS; i++) {
        wakers[i] = (struct waker){.cell = cell, .rounds = rounds};
        CHECK_INT(pthread_create(&wakers[i].thread, NULL, wake_again_and_again, &wakers[i]), 0);
    }
}

static void end_wakers(struct waker *wakers)
{
    for (int i = 0; i < WAKERS; i++)
        CHECK_INT(pthread_join(wakers[i].thread, NULL), 0);
}

TEST_TIMEOUT(threads_wake_a_getter_as_often_as_they_call, 120)
{
    struct waker wakers[WAKERS];
    start();
    begin_wakers(wakers, CELL, ROUNDS);
    for (int i = 0; i < WAKERS * ROUNDS; i++)
        FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    end_wakers(wakers);
    FAILS_NULL(bcr_deq(bcr_cce, CELL, 1), bcrE_TIMEOUT);
    no_wake_is_left();
    end();
}

static void count_run(int cell)
{
    (void)cell;
    if (++ran == (long)WAKERS * ROUNDS)
        CHECK_INT(bcr_enq(number(1), bcr_cce, ANSWER, bcr_FREE), 0);
}

TEST_TIMEOUT(threads_request_a_handler_as_often_as_they_call, 120)
{
    struct waker wakers[WAKERS];
    start();
    ran = 0;
    begin_wakers(wakers, HANDLED, ROUNDS / 2);
    CHECK_INT(bcr_handler(HANDLED, count_run, 1, 0, 0), 0); /* some may be there already */
    end_wakers(wakers);
    begin_wakers(wakers, HANDLED, ROUNDS / 2);
    CHECK_INT(value_of(bcr_deq(bcr_cce, ANSWER, bcr_BLOCK)), 1);
    end_wakers(wakers);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(ran, WAKERS * ROUNDS);
    no_wake_is_left();
    end();
}

TEST_TIMEOUT(a_get_is_served_or_woken_and_nothing_is_lost, 120)
{
    struct waker wakers[WAKERS];
    long woken = 0, served = 0;
    start();
    begin_wakers(wakers, CELL, ROUNDS / 4);
    while (woken < WAKERS * (ROUNDS / 4)) {
        if (woken % 3 == 0 && served <= woken) {
            as(two);
            CHECK_INT(bcr_enq(number(1), one_of_two, CELL, bcr_FREE), 0);
            as(one);
        }
        bcr_region region = bcr_deq(bcr_cce, CELL, bcr_BLOCK);
        if (region != NULL) {
            CHECK_INT(value_of(region), 1);
            served++;
        } else {
            CHECK_INT(bcr_errno, bcrE_WOKEN);
            woken++;
        }
    }
    end_wakers(wakers);
    CHECK(served > 0);
    CHECK_INT(bcr_zap(bcr_cce, CELL), 0);
    no_wake_is_left();
    end();
}

TEST_TIMEOUT(cells_may_be_freed_and_grown_meanwhile, 120)
{
    struct waker wakers[WAKERS];
    start();
    const int base = grow(1, 10, 0);
    long taken = 0;
    begin_wakers(wakers, base, ROUNDS);
    while (running != 0) {
        while (bcri_wakes_any(one) && taken % 5 != 4) {
            FAILS_NULL(bcr_deq(bcr_cce, base, bcr_BLOCK), bcrE_WOKEN);
            taken++;
        }
        taken++;
        CHECK_INT(bcr_cafree(base), 0);
        CHECK_INT(grow(1, 10, 0), base);
    }
    end_wakers(wakers);
    CHECK_INT(bcr_cafree(base), 0);
    no_wake_is_left();
    CHECK(refused < WAKERS * ROUNDS);
    end();
}

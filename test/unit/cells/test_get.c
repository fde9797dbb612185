/* SPDX-License-Identifier: MIT */
/* bcr_get, bcr_read, bcr_deq: taking and sharing the first region of a cell, at once, in time, or
 * never. */
#include "cce.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "bcri/clock.h"

TEST(read_shares_the_first_region_and_leaves_it)
{
    begin();
    int cell = grow(1, 4, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    bcr_region first = bcr_read(bcr_cce, cell, 0);
    bcr_region again = bcr_read(bcr_cce, cell, bcr_BLOCK);
    CHECK(first != again);
    CHECK_PTR(*first, *again);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 2);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(value_of(bcr_read(bcr_cce, cell, 0)), 2);
    CHECK_INT(value_of(first), 1);
    CHECK_INT(value_of(again), 1);
    end();
}

TEST(any_qlike_but_0_takes)
{
    begin();
    int cell = grow(1, 4, 1024);
    CHECK_INT(bcr_put(-1, number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_put(99, number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_get(-7, bcr_cce, cell, 0)), 1);
    CHECK_INT(value_of(bcr_get(0, bcr_cce, cell, 0)), 2);
    CHECK_INT(value_of(bcr_get(2, bcr_cce, cell, 0)), 2);
    end();
}

TEST(what_one_CCE_reads_another_reads_at_its_own_address)
{
    begin();
    int cell = grow(1, 4, 1024);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    bcr_region mine = bcr_read(bcr_cce, cell, 0);
    as(two);
    bcr_region theirs = bcr_read(one_of_two, cell, 0);
    CHECK_INT(peek(theirs), 5);
    as(one);
    CHECK_INT(value_of(mine), 5);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    as(two);
    CHECK_INT(value_of(theirs), 5);
    end();
}

TEST(an_empty_cell_gives_nothing_and_says_TIMEOUT)
{
    begin();
    int cell = grow(1, 4, 1024);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_read(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqwl(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqrl(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_deq(bcr_cce, 0, 0), bcrE_TIMEOUT);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(time_is_milliseconds_and_never_up_early)
{
    begin();
    int cell = grow(1, 4, 1024);
    const int msecs[] = {1, 2, 7, 30};
    for (size_t i = 0; i < sizeof msecs / sizeof msecs[0]; i++) {
        uint64_t wanted_ns = (uint64_t)msecs[i] * BCRI_NS_PER_MS;
        uint64_t start_ns = bcri_clock_ns();
        FAILS_NULL(bcr_deq(bcr_cce, cell, msecs[i]), bcrE_TIMEOUT);
        CHECK(bcri_clock_ns() - start_ns >= wanted_ns);
        start_ns = bcri_clock_ns();
        FAILS_NULL(bcr_read(bcr_cce, cell, msecs[i]), bcrE_TIMEOUT);
        CHECK(bcri_clock_ns() - start_ns >= wanted_ns);
        start_ns = bcri_clock_ns();
        FAILS_NULL(bcr_acqwl(bcr_cce, cell, msecs[i]), bcrE_TIMEOUT);
        CHECK(bcri_clock_ns() - start_ns >= wanted_ns);
        start_ns = bcri_clock_ns();
        FAILS_NULL(bcr_acqrl(bcr_cce, cell, msecs[i]), bcrE_TIMEOUT);
        CHECK(bcri_clock_ns() - start_ns >= wanted_ns);
    }
    end();
}

/* A get that ran out of time has taken nothing and will not: the next put is there for others. */
TEST(a_get_whose_time_is_up_takes_nothing_later)
{
    begin();
    int cell = grow(1, 4, 1024);
    for (int i = 0; i < 10; i++) {
        FAILS_NULL(bcr_deq(bcr_cce, cell, i % 2), bcrE_TIMEOUT);
        FAILS_NULL(bcr_read(bcr_cce, cell, i % 2), bcrE_TIMEOUT);
    }
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(pending_gets(one), 0);
    end();
}

TEST(a_waiter_between_others_whose_time_is_up_leaves_their_order_alone)
{
    begin();
    int cell = grow(1, 4, 1024);
    bcr_region first = bcr_deq(bcr_cce, cell, bcr_PENDING);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 1), bcrE_TIMEOUT);
    bcr_region second = bcr_deq(bcr_cce, cell, bcr_PENDING);
    FAILS_NULL(bcr_read(bcr_cce, cell, 1), bcrE_TIMEOUT);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(second, 0, 0), 1);
    CHECK_INT(bcr_rgwait(first, 0, 0), 1);
    CHECK_INT(value_of(first), 1);
    CHECK_INT(value_of(second), 2);
    end();
}

TEST(a_get_with_time_left_returns_with_the_region)
{
    begin();
    int cell = grow(1, 4, 1024);
    struct bcri_ctx *three = join();
    struct later *later = later_get(three, 1, name(three, one), cell, 1000000);
    CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0);
    struct outcome outcome = result(later);
    CHECK_INT(outcome.returned, 0);
    CHECK_INT(outcome.value, 3);
    end();
}

TEST(success_leaves_bcr_errno_alone)
{
    begin();
    int cell = grow(1, 4, 1024);
    bcr_errno = 1234;
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(rgid, 0, 1), 0);
    CHECK_INT(bcr_cafree(cell), 0);
    CHECK_INT(bcr_errno, 1234);
    end();
}

TEST(a_CCEs_get_comes_after_its_own_earlier_puts)
{
    begin();
    as(two);
    int cell = grow(1, 100, 100 * 64);
    as(one);
    grow(0, 0, 8192);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_write(number(i), two_of_one, cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_read(two_of_one, cell, 0)), i);
    }
    end();
}

/* Many producers and consumers: each region arrives once, and each producer's regions in their
 * order. */
enum { SIDES = 3 };
struct side {
    struct bcri_ctx *ctx;
    int id, cell, rounds;
    int *seen; /* of consumers: times each value came */
};

static void *produce(void *arg)
{
    struct side *side = arg;
    as(side->ctx);
    bcr_cce_id owner = name(side->ctx, one);
    for (int i = 0; i < side->rounds; i++)
        CHECK_INT(bcr_enq(number(side->id * side->rounds + i), owner, side->cell, bcr_FREE), 0);
    return NULL;
}

static void *consume(void *arg)
{
    struct side *side = arg;
    as(side->ctx);
    bcr_cce_id owner = name(side->ctx, one);
    int last[SIDES] = {-1, -1, -1};
    for (int i = 0; i < side->rounds; i++) {
        int value = value_of(bcr_deq(owner, side->cell, bcr_BLOCK));
        int producer = value / side->rounds;
        CHECK(value > last[producer]);
        last[producer] = value;
        side->seen[value]++;
    }
    return NULL;
}

static void three_and_three(int nrgns, int rounds)
{
    begin();
    int cell = grow(1, nrgns, 0);
    struct side sides[2 * SIDES];
    pthread_t threads[2 * SIDES];
    static int seen[SIDES][SIDES * 100000];
    for (int i = 0; i < 2 * SIDES; i++) {
        sides[i] = (struct side){.ctx = join(), .id = i, .cell = cell, .rounds = rounds};
        sides[i].seen = i >= SIDES ? seen[i - SIDES] : NULL;
    }
    for (int i = 0; i < 2 * SIDES; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, i < SIDES ? produce : consume, &sides[i]), 0);
    for (int i = 0; i < 2 * SIDES; i++)
        pthread_join(threads[i], NULL);
    for (int value = 0; value < SIDES * rounds; value++)
        CHECK_INT(seen[0][value] + seen[1][value] + seen[2][value], 1);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end();
}

TEST_TIMEOUT(three_producers_and_three_consumers_lose_nothing, 120)
{
    three_and_three(100, (int)test_scale(2000, 100000));
}

TEST_TIMEOUT(three_producers_and_three_consumers_with_room_for_two_lose_nothing, 120)
{
    three_and_three(2, (int)test_scale(500, 20000));
}

TEST_TIMEOUT(three_producers_and_three_consumers_without_any_room_lose_nothing, 120)
{
    three_and_three(0, (int)test_scale(500, 20000));
}

/* ---- signals never end a call ---- */

static void nothing(int signal)
{
    (void)signal;
}

static int wait_for_one(struct bcri_ctx *ctx, void *arg)
{
    struct sigaction action = {.sa_handler = nothing};
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096) > 0);
    int owner = group_name(ctx, one->index), cell = *(int *)arg;
    CHECK_INT(bcr_enq(number(0), owner, cell, bcr_FREE), 0); /* ready */
    CHECK_INT(value_of(bcr_deq(owner, cell + 1, bcr_BLOCK)), 5);
    return 0;
}

TEST(signals_do_not_end_a_wait)
{
    begin();
    int cell = grow(2, 2, 1024);
    uint32_t index;
    pid_t pid = group_fork(group, wait_for_one, &cell, &index);
    CHECK_INT(value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK)), 0);
    for (int i = 0; i < 200; i++)
        CHECK_INT(kill(pid, SIGUSR1), 0);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(group_bury(group, pid, index), 0);
    end();
}

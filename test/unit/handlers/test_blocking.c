/* SPDX-License-Identifier: MIT */
/* Handlers that wait: in gets, for locks, for pending gets and for several. */
#include "blocking.h"

static void get_one(int cell)
{
    (void)cell;
    say("waits ");
    say("got%d ", value_of(bcr_deq(bcr_cce, DATA, bcr_BLOCK)));
}

TEST(a_handler_waits_in_get_and_the_main_program_goes_on)
{
    start(2, 10, 4096, get_one);
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("waits ");
    put(DATA, 7); /* to the waiting get; seen when an invocation stops */
    CHECK_INT(bcr_allow(0), 0);
    SAID("got7 ");
    end();
}

enum { WAITS = 12 }; /* more than are polled at a time */
static int waits_begun;

static void wait_at_a_cell_of_its_own(int cell)
{
    const int turn = waits_begun++;
    (void)cell;
    if (turn == WAITS - 1)
        for (int i = 0; i < 3; i++) { /* no invocation looks before the next one waits */
            as(two);
            CHECK_INT(bcr_enq(number(i), one_of_two, DATA + i, bcr_FREE), 0);
            as(one);
        }
    say("got%d ", value_of(bcr_deq(bcr_cce, DATA + turn, bcr_BLOCK)));
}

TEST(waits_that_are_over_before_the_bell_tells_of_them_are_seen)
{
    start(2 + WAITS, 40, 16384, wait_at_a_cell_of_its_own);
    for (int i = 0; i < WAITS; i++)
        request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got0 got1 got2 ");
    for (int i = 3; i < WAITS; i++)
        put(DATA + i, i);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got3 got4 got5 got6 got7 got8 got9 got10 got11 ");
    end();
}

static void wait_in_turn(int cell)
{
    (void)cell;
    say("got%d ", value_of(bcr_deq(bcr_cce, DATA + waits_begun++, bcr_BLOCK)));
}

static void put_of_two(int i)
{
    as(two);
    CHECK_INT(bcr_enq(number(i), one_of_two, DATA + i, bcr_FREE), 0);
    as(one);
}

enum { POLLED = 8 };

static void wait_when_the_first_is_served(int cell)
{
    if (waits_begun == POLLED)
        put_of_two(0); /* without a ring: the first wait is polled, until this one begins */
    wait_in_turn(cell);
}

TEST(a_wait_that_is_over_when_the_bell_is_to_tell_of_it_is_seen)
{
    start(2 + POLLED + 1, 40, 16384, wait_when_the_first_is_served);
    for (int i = 0; i <= POLLED; i++)
        request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got0 ");
    for (int i = 1; i <= POLLED; i++)
        put(DATA + i, i);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got1 got2 got3 got4 got5 got6 got7 got8 ");
    end();
}

/* A putter has rung and been stopped before it could say for which cell, so where it says so there
 * is what an earlier ring was for. */
TEST(a_ring_that_does_not_say_yet_for_which_cell_it_is_serves_any)
{
    enum { ALL = POLLED + BCRI_RUNG_FOR + 1 };
    start(2 + ALL, 40, 16384, wait_in_turn);
    for (int i = 0; i < ALL; i++)
        request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    for (int i = 0; i < (int)BCRI_RUNG_FOR; i++) {
        put_of_two(i);
        CHECK_INT(bcr_allow(0), 0);
    }
    SAID("got0 got1 got2 got3 ");
    const uint32_t number = bcri_load(&one->bell->bell);
    _Atomic uint64_t *said = &one->bell->rung_for[number % BCRI_RUNG_FOR];
    const uint64_t earlier = bcri_load(said);
    CHECK(earlier != 0);
    put_of_two((int)BCRI_RUNG_FOR);
    CHECK_UINT(bcri_load(&one->bell->bell), number + 1);
    CHECK(bcri_load(said) != earlier);
    bcri_store(said, earlier);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got4 ");
    for (int i = (int)BCRI_RUNG_FOR + 1; i < ALL; i++)
        put(DATA + i, i);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got5 got6 got7 got8 got9 got10 got11 got12 ");
    end();
}

static void get_for_a_while(int cell)
{
    (void)cell;
    FAILS_NULL(bcr_deq(bcr_cce, DATA, 3), bcrE_TIMEOUT);
    put(DATA + 1, 1);
}

TEST(time_is_up_for_a_handler_while_the_main_program_waits)
{
    start(3, 10, 4096, get_for_a_while);
    for (int i = 0; i < 5; i++)
        request(HOME);
    for (int i = 0; i < 5; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, DATA + 1, bcr_BLOCK)), 1);
    end();
}

TEST(time_is_up_for_the_main_program_while_handlers_wait)
{
    start(3, 10, 4096, get_one);
    request(HOME);
    request(HOME);
    FAILS_NULL(bcr_deq(bcr_cce, DATA + 1, 2), bcrE_TIMEOUT);
    SAID("waits waits ");
    end();
}

static void get_for_an_hour(int cell)
{
    (void)cell;
    say("got%d ", value_of(bcr_deq(bcr_cce, DATA, 3600 * 1000)));
}

TEST(a_short_wait_that_begins_behind_long_ones_is_over_first)
{
    enum { LONG = 5 };
    start(3, 10, 4096, get_for_an_hour);
    for (int i = 0; i < LONG; i++)
        request(HOME);
    FAILS_NULL(bcr_deq(bcr_cce, DATA + 1, 2), bcrE_TIMEOUT);
    SAID("");
    for (int i = 0; i < LONG; i++)
        put(DATA, i);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got0 got1 got2 got3 got4 ");
    end();
}

static void lock_it(int cell)
{
    (void)cell;
    bcr_region rgid = bcr_acqwl(bcr_cce, DATA, bcr_BLOCK);
    **(int **)rgid += 1;
    say("locked%d ", **(int **)rgid);
    CHECK_INT(bcr_allow(0), 0); /* the others wait for the lock */
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, DATA), 0);
}

TEST(handlers_wait_for_a_lock_one_after_the_other)
{
    start(2, 10, 4096, lock_it);
    put(DATA, 0);
    bcr_region rgid = bcr_acqwl(bcr_cce, DATA, 0);
    for (int i = 0; i < 4; i++)
        request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, DATA), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("locked1 locked2 locked3 locked4 ");
    end();
}

static void wait_for_pending(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell + 1, bcr_PENDING);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 0);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    say("got%d ", value_of(rgid));
}

TEST(a_handler_waits_in_rgwait)
{
    start(2, 10, 4096, wait_for_pending);
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    put(DATA, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got3 ");
    end();
}

enum { SEVERAL = 20 };

static void wait_for_several(int cell)
{
    bcr_region rgids[SEVERAL];
    (void)cell;
    for (int i = 0; i < SEVERAL; i++)
        CHECK((rgids[i] = bcr_deq(bcr_cce, DATA + i, bcr_PENDING)) != NULL);
    int first = bcr_rgwaitm(SEVERAL, rgids, bcr_BLOCK, 0);
    say("%d ", first);
    CHECK_INT(bcr_rgwait(rgids[first - 1], 0, 0), 1);
    say("got%d ", value_of(rgids[first - 1]));
    rgids[first - 1] = rgids[first % SEVERAL];
    CHECK_INT(bcr_rgwaitm(SEVERAL, rgids, 2, 1), 0); /* all are cancelled */
    say("cancelled ");
}

TEST(a_handler_waits_in_rgwaitm)
{
    start(DATA + SEVERAL, 100, 1 << 16, wait_for_several);
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    put(DATA + 13, 5);
    CHECK_INT(bcr_allow(0), 0);
    SAID("14 got5 ");
    FAILS_NULL(bcr_deq(bcr_cce, HOME + 999, 0), bcrE_NOCELL);
    while (pending_gets(one) != 0)
        CHECK_INT(bcr_allow(0), 0);
    SAID("cancelled ");
    end();
}

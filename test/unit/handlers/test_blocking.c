/* SPDX-License-Identifier: MIT */
/* Handlers that wait: in gets, locks, waits for several, puts into full cells; very many at once;
 * and their deaths. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bcri/scheduler.h"
#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { HOME = 1, DATA = 2 };

static void request(int cell)
{
    struct bcri_ctx *self = bcri_self();
    as(two);
    CHECK_INT(bcr_enq(number(cell), one_of_two, cell, bcr_FREE), 0);
    as(self);
}

static void start(int cells, int nrgns, int nbytes, void (*handler)(int))
{
    begin();
    CHECK_INT(grow(cells, nrgns, nbytes), HOME);
    CHECK_INT(bcr_handler(HOME, handler, 1, 0, 0), 0);
}

static void put(int cell, int value)
{
    CHECK_INT(bcr_enq(number(value), bcr_cce, cell, bcr_FREE), 0);
}

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
        for (int i = 0; i < 3; i++) { /* nobody looks before the next one waits */
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
        put_of_two(0); /* rings nobody: the first wait is polled, until this one begins */
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

/* ---- one ID, several invocations ---- */

static bcr_region shared;
static void (*use_shared)(void);

/* Not before the main program waits for it, and has gone to sleep. */
static void use_shared_later(int cell)
{
    (void)cell;
    FAILS_NULL(bcr_deq(bcr_cce, DATA, 20), bcrE_TIMEOUT);
    use_shared();
}

static void begin_sharing(void (*use)(void))
{
    start(3, 10, 4096, use_shared_later);
    use_shared = use;
    shared = bcr_get(1, bcr_cce, DATA + 1, bcr_PENDING);
    request(HOME);
}

static void free_it(void)
{
    CHECK_INT(bcr_rgfree(shared), 0);
}

static void cancel_it(void)
{
    CHECK_INT(bcr_rgwait(shared, 0, 1), 0);
}

static void cancel_it_as_one_of_several(void)
{
    CHECK_INT(bcr_rgwaitm(1, &shared, 0, 1), 0);
}

static void take_it_and_free_it(void)
{
    put(DATA + 1, 5);
    CHECK_INT(bcr_rgwait(shared, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(shared), 5);
}

TEST(a_wait_for_an_id_that_another_invocation_frees_fails)
{
    void (*const uses[])(void) = {free_it, cancel_it, cancel_it_as_one_of_several, take_it_and_free_it};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        for (int failfree = 0; failfree < 2; failfree++)
            for (int forever = 0; forever < 2; forever++) {
                begin_sharing(uses[i]);
                FAILS(bcr_rgwait(shared, forever ? bcr_BLOCK : 200, failfree), bcrE_RGID);
                end();
            }
}

TEST(a_wait_for_several_says_which_id_another_invocation_has_freed)
{
    begin_sharing(free_it);
    bcr_region of[] = {bcr_get(1, bcr_cce, DATA + 1, bcr_PENDING), shared};
    CHECK_INT(bcr_rgwaitm(2, of, bcr_BLOCK, 1), 2);
    FAILS(bcr_rgwait(shared, 0, 0), bcrE_RGID);
    CHECK_INT(bcr_rgfree(of[0]), 0);
    end();
}

static void free_a_stale_id(void)
{
    (void)bcr_rgfree(shared);
}

TEST(a_get_whose_request_a_stale_id_cancels_ends)
{
    begin_sharing(free_a_stale_id);
    /* The handler begins here. Even if its time is up at once, the main program goes first, until
     * it waits. */
    CHECK_INT(bcr_celllen(bcr_cce, DATA), 0);
    CHECK_INT(bcr_rgfree(shared), 0); /* the next get, below, has this ID, though nobody is told */
    FAILS_NULL(bcr_get(1, bcr_cce, DATA + 1, bcr_BLOCK), bcrE_RGID);
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

/* ---- puts into full cells of another */

static int full;

static void put_there(int cell)
{
    (void)cell;
    CHECK_INT(bcr_enq(number(5), two_of_one, full, bcr_FREE), 0);
    say("put ");
}

static void fill_two(void)
{
    as(two);
    full = bcr_cagrow(0, 0, 0, 0, 2, 1, 0);
    CHECK(full > 0);
    CHECK_INT(bcr_enq(number(4), bcr_cce, full, bcr_FREE), 0);
    as(one);
}

/* Takes the first of two's full cells, and returns its value. */
static int drain(void)
{
    as(two);
    int value = take(bcr_cce, full);
    as(one);
    return value;
}

TEST(a_handler_waits_in_a_put_into_a_full_cell)
{
    start(1, 10, 1 << 16, put_there);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(waiting_puts_at(two_of_one, full), 1);
    CHECK_INT(drain(), 4);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put ");
    CHECK_INT(drain(), 5);
    end();
}

static void put_shared(int cell)
{
    (void)cell;
    CHECK_INT(bcr_enq(shared, two_of_one, full, bcr_FREE), 0);
    say("put ");
}

static void put_shared_to_both(int cell)
{
    const int cells[] = {two_of_one, full, two_of_one, full + 1};
    (void)cell;
    CHECK_INT(bcr_putm(1, shared, 2, cells, bcr_FREE), 0);
    say("put ");
}

/* The ID is nobody's, a region's or a get's by the time the put has found room. */
TEST(a_put_that_waits_leaves_an_id_alone_that_another_invocation_has_freed)
{
    for (int to_both = 0; to_both < 2; to_both++)
        for (int next = 0; next < 3; next++) {
            start(2, 10, 1 << 16, to_both ? put_shared_to_both : put_shared);
            fill_two();
            shared = number(5);
            request(HOME);
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(bcr_rgfree(shared), 0);
            bcr_region again = next == 1   ? number(6)
                               : next == 2 ? bcr_get(1, bcr_cce, DATA, bcr_PENDING)
                                           : NULL;
            CHECK_PTR(again, next == 0 ? NULL : (void *)shared);
            CHECK_INT(drain(), 4);
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(drain(), 5);
            if (to_both) {
                CHECK_INT(bcr_allow(0), 0);
                full++;
                CHECK_INT(drain(), 5);
            }
            CHECK_INT(bcr_allow(0), 0);
            SAID("put ");
            bcr_region one_more = number(7), and_another = number(8);
            CHECK(one_more != and_another && one_more != again && and_another != again);
            CHECK_INT(value_of(one_more) + value_of(and_another), 15);
            if (next == 1)
                CHECK_INT(value_of(again), 6);
            if (next == 2) {
                put(DATA, 9);
                CHECK_INT(bcr_rgwait(again, 0, 0), 1);
                CHECK_INT(value_of(again), 9);
            }
            end();
        }
}

TEST(what_others_look_up_meanwhile_does_not_mislead_a_put_that_waits)
{
    enum { LOOKED_AT = 700 };
    start(LOOKED_AT, 1000, 1 << 18, put_there);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    for (int cell = HOME; cell < LOOKED_AT; cell++)
        CHECK_INT(bcr_celllen(bcr_cce, cell), cell == HOME);
    as(two);
    CHECK_INT(take(bcr_cce, full), 4);
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put ");
    CHECK_INT(drain(), 5);
    end();
}

static void put_to_both(int cell)
{
    const int cells[] = {two_of_one, full, bcr_cce, cell + 1};
    CHECK_INT(bcr_putm(1, number(6), 2, cells, bcr_FREE), 0);
    say("put to both ");
}

TEST(a_handler_waits_in_putm)
{
    start(2, 10, 1 << 16, put_to_both);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, DATA), 6); /* there was room */
    CHECK_INT(drain(), 4);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put to both ");
    CHECK_INT(drain(), 6);
    end();
}

static void put_and_fail(int cell)
{
    (void)cell;
    bcr_region rgid = number(1);
    FAILS(bcr_enq(rgid, two_of_one, full, bcr_FREE), bcrE_NOCELL);
    say("no cell%d ", value_of(rgid));
}

TEST(a_put_that_waits_ends_with_its_cell)
{
    start(1, 10, 1 << 16, put_and_fail);
    as(two);
    full = bcr_cagrow(0, 0, 0, 0, 1, 0, 0); /* no room for any */
    as(one);
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(waiting_puts_at(two_of_one, full), 1);
    as(two);
    CHECK_INT(bcr_cafree(full), 0);
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    SAID("no cell1 ");
    end();
}

/* ---- many */

static int begun, ended, *order;

static void wait_in_own_cell(int cell)
{
    int mine = DATA + begun++;
    (void)cell;
    CHECK_INT(value_of(bcr_deq(bcr_cce, mine, bcr_BLOCK)), mine);
    order[ended++] = mine;
}

TEST_TIMEOUT(many_wait_each_for_its_own_and_each_goes_on_when_its_own_came, 120)
{
    enum { MANY = 1000 };
    uint64_t seed = test_seed();
    start(DATA + MANY, MANY + 10, 1 << 20, wait_in_own_cell);
    CHECK((order = calloc(MANY, sizeof *order)) != NULL);
    int cells[MANY];
    for (int i = 0; i < MANY; i++) {
        request(HOME);
        cells[i] = DATA + i;
    }
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(begun, MANY);
    CHECK_INT(ended, 0);
    for (int i = 0; i < MANY; i++) {
        int k = i + (int)test_rand_below(&seed, (uint64_t)(MANY - i)), cell = cells[k];
        cells[k] = cells[i];
        put(cell, cell);
        CHECK_INT(bcr_allow(0), 0);
        CHECK_INT(ended, i + 1);
        CHECK_INT(order[i], cell);
    }
    free(order);
    end();
}

static void wait_in_line(int cell)
{
    (void)cell;
    begun++;
    int value = value_of(bcr_deq(bcr_cce, DATA, bcr_BLOCK));
    CHECK_INT(value, ended++); /* they go on in the order in which they were served */
}

/* In a process of 32 bits a thousand handlers can wait at once. */
enum { WIDE = sizeof(void *) > 4 };

TEST_TIMEOUT(a_hundred_thousand_wait_at_once, 200)
{
    const int many = !WIDE ? 1000 : test_is_instrumented() ? 3000 : 100000;
    start(2, 200, 1 << 20, wait_in_line);
    for (int i = 0; i < many; i++) {
        request(HOME);
        if (i % 100 == 99) {
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(bcr_zap(bcr_cce, HOME), 0);
        }
    }
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(begun, many);
    CHECK_INT(pending_gets(one), many);
    for (int i = 0; i < many; i++) {
        put(DATA, i);
        if (i % 10000 == 9999)
            CHECK_INT(bcr_allow(0), 0);
    }
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(ended, many);
    end();
}

/* It wakes up for that; a get that nobody answers is as good as any other wait. */
TEST_TIMEOUT(a_cce_that_waits_gives_the_memory_of_stacks_back_that_many_needed_once, 120)
{
    const int many = 60;
    start(3, 200, 1 << 20, wait_in_line);
    const struct bcri_scheduler *sched = one->handlers.sched;
    for (int again = 0; again < 2; again++) {
        begun = ended = 0;
        for (int i = 0; i < many; i++)
            request(HOME);
        CHECK_INT(bcr_allow(0), 0);
        CHECK_INT(bcr_zap(bcr_cce, HOME), 0);
        CHECK_INT(begun, many);
        CHECK(sched->stacks.touched >= (uint64_t)many);
        for (int i = 0; i < many; i++)
            put(DATA, i);
        CHECK_INT(bcr_allow(0), 0);
        CHECK_INT(ended, many);
        while (sched->stacks.touched > BCRI_STACKS_KEPT + 1)
            FAILS_NULL(bcr_deq(bcr_cce, DATA + 1, 400), bcrE_TIMEOUT);
    }
    end();
}

/* ---- others' threads */

enum { ROUNDS = WIDE ? 3000 : 1000 }; /* most of them wait with their answers */

/* Where the other CCE finds what the handlers answer. */
enum { ANSWERS = 1 };

static void echo(int cell)
{
    int value = take(bcr_cce, cell);
    value += value_of(bcr_deq(bcr_cce, DATA, bcr_BLOCK));
    CHECK_INT(bcr_enq(number(value), two_of_one, ANSWERS, bcr_FREE), 0);
}

static void *feed_rounds(void *arg)
{
    (void)arg;
    as(two);
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(bcr_enq(number(i), one_of_two, HOME, bcr_FREE), 0);
        CHECK_INT(bcr_enq(number(1), one_of_two, DATA, bcr_FREE), 0);
        if (i % 7 == 0)
            sum += value_of(bcr_deq(bcr_cce, ANSWERS, bcr_BLOCK));
    }
    for (int i = 0; i < ROUNDS - (ROUNDS + 6) / 7; i++)
        sum += value_of(bcr_deq(bcr_cce, ANSWERS, bcr_BLOCK));
    CHECK_INT(sum, (long)ROUNDS * (ROUNDS - 1) / 2 + ROUNDS);
    CHECK_INT(bcr_enq(number(0), one_of_two, DATA + 1, bcr_FREE), 0);
    return NULL;
}

TEST_TIMEOUT(handlers_wait_for_another_cce_that_is_at_work, 120)
{
    pthread_t other;
    start(3, 100, 1 << 20, echo);
    as(two);
    CHECK_INT(grow(1, 100, 0), ANSWERS);
    as(one);
    CHECK_INT(pthread_create(&other, NULL, feed_rounds, NULL), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, DATA + 1, bcr_BLOCK)), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    end();
}

/* ---- deaths */

struct victim {
    int home, data; /* at `one` */
};

static struct victim *victim;

static void wait_and_hold(int cell)
{
    bcr_region held = number(cell);
    begun++;
    switch (begun % 4) {
    case 0: CHECK(bcr_deq(victim->home, victim->data, bcr_BLOCK) != NULL); break;
    case 1: CHECK(bcr_deq(bcr_cce, DATA, bcr_BLOCK) != NULL); break;
    case 2: bcr_enq(held, victim->home, victim->data + 1, bcr_NOFREE); break;
    default: CHECK(bcr_acqwl(victim->home, victim->data + 2, bcr_BLOCK) != NULL); break;
    }
}

static int suspend_many(struct bcri_ctx *ctx, void *arg)
{
    enum { MANY = WIDE ? 4000 : 1000 };
    victim = arg;
    victim->home = group_name(ctx, one->index);
    CHECK_INT(bcr_cagrow(HOME, 0, 0, 0, 2, 100, 1 << 20), HOME);
    CHECK_INT(bcr_handler(HOME, wait_and_hold, 1, 0, 0), 0);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, HOME, bcr_FREE), 0);
        CHECK_INT(bcr_allow(0), 0);
        CHECK_INT(bcr_zap(bcr_cce, HOME), 0);
    }
    CHECK_INT(begun, MANY);
    raise(SIGKILL);
    return 1;
}

TEST_TIMEOUT(the_death_of_a_cce_with_thousands_of_waiting_handlers_leaves_nothing, 120)
{
    struct victim at;
    uint32_t index;
    begin();
    at.data = grow(3, 1, 1 << 16);
    CHECK_INT(bcr_enq(number(1), bcr_cce, at.data + 1, bcr_FREE), 0); /* full */
    uint64_t before = audit();
    pid_t pid = group_fork(group, suspend_many, &at, &index);
    CHECK(WIFSIGNALED(group_bury(group, pid, index)));
    CHECK_UINT(audit(), before);
    CHECK_INT(waiting_puts(at.data), 0);
    CHECK_INT(take(bcr_cce, at.data + 1), 1);
    FAILS_NULL(bcr_deq(bcr_cce, at.data + 1, 0), bcrE_TIMEOUT);
    end();
}

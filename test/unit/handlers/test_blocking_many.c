/* SPDX-License-Identifier: MIT */
/* Very many handlers that wait at once, and the death of the CCE that has them. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bcri/scheduler.h"
#include "blocking.h"

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

/* It wakes up for that; a get without an answer is as good as any other wait. */
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

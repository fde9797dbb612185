/* SPDX-License-Identifier: MIT */
/* bcr_get with others at work meanwhile, and signals. What a get gives is tested in
 * ../../behaviour. */
#include "cce.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* end() counts the IDs. */
TEST(a_get_that_gives_nothing_keeps_no_ID)
{
    begin();
    const int cell = grow(1, 4, 1024);
    for (int msec = 0; msec < 2; msec++) {
        FAILS_NULL(bcr_deq(bcr_cce, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_read(bcr_cce, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_acqwl(bcr_cce, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_deq(bcr_cce, cell + 1, msec), bcrE_NOCELL);
        FAILS_NULL(bcr_read(77, cell, msec), bcrE_NOCCE);
    }
    CHECK_INT(pending_gets(one), 0);
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

/* ---- to and fro ---- */

struct pass {
    int peer, in, out, rounds;
};

static void *pass_on(void *arg)
{
    struct pass *pass = arg;
    as(two);
    for (int i = 0; i < pass->rounds; i++) {
        bcr_region rgid = bcr_deq(bcr_cce, pass->in, bcr_BLOCK);
        CHECK(rgid != NULL);
        ++**(int **)rgid;
        CHECK_INT(bcr_enq(rgid, pass->peer, pass->out, bcr_FREE), 0);
    }
    return NULL;
}

TEST_TIMEOUT(two_threads_pass_a_region_to_and_fro, 120)
{
    begin();
    struct pass pass = {.peer = one_of_two, .rounds = 20000, .out = grow(1, 4, 1 << 16)};
    as(two);
    pass.in = grow(1, 4, 0);
    as(one);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, pass_on, &pass), 0);
    bcr_region rgid = number(0);
    for (int i = 0; i < pass.rounds; i++) {
        CHECK_INT(bcr_enq(rgid, two_of_one, pass.in, bcr_FREE), 0);
        rgid = bcr_deq(bcr_cce, pass.out, bcr_BLOCK);
        CHECK(rgid != NULL);
    }
    pthread_join(thread, NULL);
    CHECK_INT(value_of(rgid), pass.rounds);
    end();
}

/* SPDX-License-Identifier: MIT */
/* bcr_wakefd and bcr_wakeon: what makes the descriptor readable, and what does not. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <bcr/program.h>

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { CELL = 1, OTHER = 2, HANDLED = 3, EMPTY = 4 };

static int fd;

/* Without a time: for what has happened already. */
static bool readable(void)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

static void arm(void)
{
    CHECK_INT(bcr_wakefd(), fd);
    CHECK(!readable());
}

static void start(void)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    fd = bcr_wakefd();
    CHECK(fd > 2);
    CHECK(!readable());
}

static void put_there(int cell)
{
    as(two);
    CHECK_INT(bcr_enq(number(1), one_of_two, cell, bcr_FREE), 0);
    as(one);
}

static void note(int cell)
{
    CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)), 0);
    say("%d ", cell);
}

static void empty(int cell)
{
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
}

TEST(a_put_is_told_of_where_bcr_wakeon_says_so)
{
    start();
    put_there(CELL);
    CHECK(!readable());
    CHECK_INT(bcr_wakeon(CELL, 1), 0);
    CHECK(!readable()); /* what is there is no change */
    put_there(OTHER);
    CHECK(!readable());
    put_there(CELL);
    CHECK(readable());
    arm();                                                       /* although there are regions */
    CHECK_INT(bcr_write(number(2), bcr_cce, CELL, bcr_FREE), 0); /* its own */
    CHECK(readable());
    arm();
    for (int i = 0; i < 20; i++) { /* more than the cell's ring has */
        put_there(CELL);
        CHECK(readable());
        arm();
    }
    as(two);
    CHECK_INT(bcr_rgfree(bcr_deq(one_of_two, CELL, 0)), 0); /* a get is none */
    as(one);
    CHECK(!readable());
    CHECK_INT(bcr_wakeon(CELL, 0), 0);
    put_there(CELL);
    CHECK(!readable());
    empty(CELL);
    empty(OTHER);
    end();
}

TEST(only_own_cells_can_be_named)
{
    start();
    FAILS(bcr_wakeon(5, 1), bcrE_NOCELL);
    FAILS(bcr_wakeon(-1, 0), bcrE_NOCELL);
    CHECK_INT(bcr_wakeon(0, 1), 0);
    CHECK_INT(bcr_wakeon(0, 0), 0);
    const int base = grow(1, 10, 0);
    CHECK_INT(bcr_wakeon(base, 1), 0);
    CHECK_INT(bcr_cafree(base), 0);
    CHECK_INT(grow(1, 10, 0), base);
    put_there(base);
    CHECK(!readable());
    empty(base);
    end();
}

TEST(a_request_of_a_handler_is_told_of)
{
    start();
    CHECK_INT(bcr_handler(HANDLED, note, 1, 0, 0), 0);
    put_there(HANDLED);
    CHECK(readable());
    arm();
    CHECK_INT(bcr_allow(0), 0);
    SAID("3 ");
    CHECK(!readable());
    CHECK_INT(bcr_enq(number(1), bcr_cce, HANDLED, bcr_FREE), 0); /* by itself */
    CHECK(readable());
    arm();
    CHECK_INT(bcr_allow(0), 0);
    SAID("3 ");
    CHECK_INT(bcr_handler(HANDLED, note, 2, 0, 0), 0);
    CHECK_INT(bcr_wakeon(HANDLED, 1), 0); /* below the watermark, too */
    put_there(HANDLED);
    CHECK(readable());
    arm();
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    put_there(HANDLED);
    CHECK(readable());
    CHECK_INT(bcr_allow(0), 0);
    SAID("3 ");
    empty(HANDLED);
    end();
}

TEST(a_pending_get_is_told_of_when_it_is_done)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    bcr_region before = bcr_deq(bcr_cce, CELL, bcr_PENDING); /* waits by ticket */
    fd = bcr_wakefd();
    CHECK(!readable());
    put_there(CELL);
    CHECK(readable());
    CHECK_INT(bcr_rgwait(before, 0, 0), 1);
    CHECK_INT(value_of(before), 1);
    bcr_region after = bcr_deq(bcr_cce, CELL, bcr_PENDING);
    arm();
    bcr_region later = bcr_read(bcr_cce, OTHER, bcr_PENDING);
    put_there(OTHER);
    CHECK(readable());
    CHECK_INT(bcr_rgwait(later, 0, 0), 1);
    CHECK_INT(value_of(later), 1);
    arm();
    put_there(CELL);
    CHECK(readable());
    CHECK_INT(value_of(bcr_rgwait(after, 0, 0) == 1 ? after : NULL), 1);
    empty(OTHER);
    as(two);
    const int base = grow(1, 10, 0);
    as(one);
    later = bcr_deq(two_of_one, base, bcr_PENDING);
    arm();
    as(two);
    CHECK_INT(bcr_cafree(base), 0);
    as(one);
    CHECK(readable());
    FAILS(bcr_rgwait(later, 0, 0), bcrE_NOCELL);
    end();
}

static void wait_a_while(int cell)
{
    (void)cell;
    bcr_region region = bcr_deq(bcr_cce, EMPTY, 30);
    say(region != NULL ? "region " : "time ");
    if (region != NULL)
        CHECK_INT(bcr_rgfree(region), 0);
}

TEST(what_an_invocation_waits_for_is_told_of_and_its_deadline)
{
    struct pollfd look = {.events = POLLIN};
    start();
    look.fd = fd;
    CHECK_INT(bcr_handler(HANDLED, wait_a_while, 1, 0, 0), 0);
    for (int armed_before = 0; armed_before < 2; armed_before++) {
        CHECK_INT(bcr_wake(HANDLED), 0);
        CHECK(armed_before == 0 ? readable() : true);
        if (armed_before == 0) {
            arm();
            CHECK_INT(bcr_allow(0), 0); /* it begins to wait after the arming */
        } else {
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(bcr_wakefd(), fd);
        }
        SAID("");
        while (told[0] == '\0') {
            CHECK_INT(poll(&look, 1, -1), 1);
            CHECK_INT(bcr_wakefd(), fd);
            CHECK_INT(bcr_allow(0), 0);
        }
        SAID("time ");
    }
    CHECK_INT(bcr_wake(HANDLED), 0);
    CHECK_INT(bcr_wakefd(), fd);
    CHECK_INT(bcr_allow(0), 0);
    put_there(EMPTY);
    CHECK_INT(poll(&look, 1, -1), 1);
    CHECK_INT(bcr_wakefd(), fd);
    CHECK_INT(bcr_allow(0), 0);
    CHECK(strcmp(told, "region ") == 0 || strcmp(told, "time ") == 0); /* of a slow machine */
    empty(EMPTY);
    end();
}

TEST(a_wake_is_told_of)
{
    start();
    CHECK_INT(bcr_wake(CELL), 0);
    CHECK(readable());
    arm();
    FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
    end();
}

TEST(what_came_while_a_call_slept_is_not_lost)
{
    start();
    CHECK_INT(bcr_wakeon(CELL, 1), 0);
    one->cpus = 1;      /* sleeps soon */
    while (!readable()) /* until a get has slept: a busy machine gives it no time for that */
        CHECK_PTR(bcr_deq(bcr_cce, OTHER, 50), NULL);
    arm();
    CHECK_INT(bcr_handler(HANDLED, note, 1, 0, 0), 0);
    while (!readable())
        CHECK_PTR(bcr_deq(bcr_cce, OTHER, 50), NULL);
    end();
}

/* ---- many puts at once ---- */

enum { PUTTERS = 2, ROUNDS = 20000 };

struct putter {
    pthread_t thread;
    struct bcri_ctx *ctx;
    bcr_cce_id home;
};

static void *put_again_and_again(void *arg)
{
    const struct putter *const putter = arg;
    bcri_self_set(putter->ctx);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(bcr_enq(number(i), putter->home, CELL + i % 2, bcr_FREE), 0);
        if (i % 16 == 0)
            sched_yield();
    }
    return NULL;
}

TEST_TIMEOUT(of_many_puts_none_leaves_the_owner_in_its_poll, 120)
{
    struct putter putters[PUTTERS];
    start();
    CHECK_INT(bcr_wakeon(CELL, 1), 0);
    CHECK_INT(bcr_wakeon(OTHER, 1), 0);
    for (int i = 0; i < PUTTERS; i++) {
        struct bcri_ctx *const ctx = i == 0 ? two : join();
        putters[i] = (struct putter){.ctx = ctx, .home = name(ctx, one)};
        as(one);
        CHECK_INT(pthread_create(&putters[i].thread, NULL, put_again_and_again, &putters[i]), 0);
    }
    long taken = 0, polls = 0;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    while (taken < (long)PUTTERS * ROUNDS) {
        CHECK_INT(poll(&look, 1, -1), 1); /* for ever, if a put has told nobody */
        polls++;
        CHECK_INT(bcr_wakefd(), fd);
        for (int cell = CELL; cell <= OTHER; cell++)
            for (bcr_region region; (region = bcr_deq(bcr_cce, cell, 0)) != NULL; taken++)
                CHECK_INT(bcr_rgfree(region), 0);
    }
    CHECK(polls <= taken + 1);
    for (int i = 0; i < PUTTERS; i++)
        CHECK_INT(pthread_join(putters[i].thread, NULL), 0);
    end();
}

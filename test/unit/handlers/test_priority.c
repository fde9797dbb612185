/* SPDX-License-Identifier: MIT */
/* Who runs when: bcr_priority, bcr_allow, bcr_block, and the rule of bcri/scheduler.h. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

/* Cell c's handler says "c(" when it starts and ")c" when it ends, and does in between what the
 * test wants. */
static void (*within[64])(int cell);

static void act(int cell)
{
    say("%d( ", cell);
    if (within[cell] != NULL)
        within[cell](cell);
    say(")%d ", cell);
}

static void handle(int cell, int activep, int blockp)
{
    CHECK_INT(bcr_handler(cell, act, 1, activep, blockp), 0);
}

static void request(int cell)
{
    struct bcri_ctx *self = bcri_self();
    as(two);
    CHECK_INT(bcr_enq(number(cell), one_of_two, cell, bcr_FREE), 0);
    as(self);
}

enum { CELLS = 40, DATA = 30 }; /* cells from DATA on have no handlers */

static void start(void)
{
    begin();
    CHECK_INT(grow(CELLS, 5000, 1 << 20), 1);
}

static void feed(int cell)
{
    request(cell);
}

static int eat(int cell)
{
    return value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK));
}

static void a_call(void)
{
    FAILS_NULL(bcr_deq(bcr_cce, DATA + 9, 0), bcrE_TIMEOUT);
}

TEST(the_highest_priority_starts_first_then_what_came_first)
{
    start();
    CHECK_INT(bcr_priority(10, 0), 0);
    handle(1, 1, 0);
    handle(2, 2, 0);
    handle(3, 3, 0);
    handle(4, 2, 0);
    request(1);
    request(2);
    request(4);
    request(3);
    request(2);
    a_call();
    SAID(""); /* 10 shuts them out */
    CHECK_INT(bcr_allow(2), 0);
    SAID("3( )3 2( )2 4( )4 2( )2 ");
    CHECK_INT(bcr_allow(0), 0);
    SAID("1( )1 ");
    end();
}

TEST(the_main_program_is_interrupted_by_its_own_priority_and_higher_ones)
{
    start();
    CHECK_INT(bcr_priority(5, 5), 0);
    handle(1, 4, 0);
    handle(2, 5, 0);
    handle(3, 6, 0);
    request(1);
    a_call();
    SAID("");
    request(2);
    a_call();
    SAID("2( )2 ");
    request(3);
    a_call();
    SAID("3( )3 ");
    CHECK_INT(bcr_priority(4, 0), 0); /* lowering it lets in what waits */
    SAID("1( )1 ");
    end();
}

static void put_and_call(int cell)
{
    request(cell + 1);
    a_call();
    a_call();
}

TEST(handlers_are_interrupted_by_higher_priorities_only)
{
    start();
    CHECK_INT(bcr_priority(5, 0), 0);
    handle(1, 5, 0);
    handle(2, 5, 0);
    within[1] = put_and_call;
    request(1);
    a_call();
    SAID("1( )1 ");
    a_call(); /* what came while the main program was interrupted waits for its next call */
    SAID("2( )2 ");
    handle(2, 6, 0);
    request(1);
    a_call();
    SAID("1( 2( )2 )1 ");
    handle(2, 4, 0);
    request(1);
    a_call();
    a_call();
    SAID("1( )1 ");
    CHECK_INT(bcr_allow(0), 0);
    SAID("2( )2 ");
    end();
}

static void request_both_and_call(int cell)
{
    request(cell + 1);
    request(cell + 2);
    a_call();
    say("on ");
}

TEST(an_interrupted_handler_goes_on_before_new_ones_of_its_priority)
{
    start();
    CHECK_INT(bcr_priority(5, 0), 0);
    handle(1, 5, 0);
    handle(2, 5, 0); /* requested while 1 runs */
    handle(3, 6, 0); /* interrupts it */
    within[1] = request_both_and_call;
    request(1);
    a_call();
    SAID("1( 3( )3 on )1 ");
    CHECK_INT(bcr_allow(5), 0);
    SAID("2( )2 ");
    end();
}

static void lower_and_call(int cell)
{
    request(cell + 1);
    a_call();
    say("lower %d ", cell);
    CHECK_INT(bcr_priority(2, 0), 0);
    say("raise %d ", cell);
    CHECK_INT(bcr_priority(7, 0), 0);
    request(cell + 1);
    a_call();
}

TEST(an_invocation_changes_its_own_priority_only)
{
    start();
    handle(1, 7, 0);
    handle(2, 3, 0);
    within[1] = lower_and_call;
    request(1);
    a_call();
    SAID("1( lower 1 2( )2 raise 1 )1 2( )2 ");
    request(1); /* the next one begins with the handler's */
    a_call();
    SAID("1( lower 1 2( )2 raise 1 )1 2( )2 ");
    FAILS(bcr_priority(-1, 0), bcrE_ARG);
    FAILS(bcr_priority(0, -1), bcrE_ARG);
    FAILS(bcr_priority(INT_MIN, INT_MAX), bcrE_ARG);
    CHECK_INT(bcr_priority(INT_MAX, INT_MAX), 0);
    end();
}

static void block(int cell)
{
    CHECK_INT(eat(DATA + cell), DATA + cell);
}

static void feed_one(int cell)
{
    (void)cell;
    feed(DATA + 1);
}

TEST(while_one_is_blocked_its_blockp_and_higher_ones_run)
{
    start();
    handle(1, 5, 3);
    handle(2, 2, 0);
    handle(3, 3, 0);
    within[1] = block;
    within[3] = feed_one;
    request(1);
    request(2);
    request(3);
    CHECK_INT(bcr_allow(0), 0);
    /* 2 and the main program would have had to wait for 1 for ever. */
    SAID("1( 3( )3 )1 2( )2 ");
    end();
}

static void feed_both(int cell)
{
    feed_one(cell);
    feed(DATA);
}

TEST(the_one_that_blocked_last_decides_what_runs)
{
    start();
    handle(1, 6, 0);
    handle(2, 1, 0);
    within[1] = block;
    within[2] = feed_both;
    CHECK_INT(bcr_priority(9, 5), 0);
    request(1);
    request(2);
    CHECK_INT(eat(DATA), DATA); /* blocked at 5: 1 runs, blocks at 0: 2 runs, and both can go on */
    SAID("1( 2( )2 ");
    CHECK_INT(bcr_allow(6), 0);
    SAID(")1 ");
    end();
}

static void feed_one_request_3(int cell)
{
    feed_one(cell);
    request(3);
}

static void block_request_4(int cell)
{
    block(cell);
    request(4);
}

static void feed_main(int cell)
{
    (void)cell;
    feed(DATA);
}

TEST(who_is_blocked_no_longer_decides_nothing)
{
    start();
    handle(1, 6, 0);
    handle(2, 1, 0);
    handle(3, 4, 0);
    handle(4, 5, 0);
    within[1] = block_request_4;
    within[2] = feed_one_request_3;
    within[4] = feed_main;
    CHECK_INT(bcr_priority(9, 5), 0);
    request(1);
    request(2);
    CHECK_INT(eat(DATA), DATA);
    SAID("1( 2( )2 )1 4( )4 "); /* 3 has 4, and the main program is blocked at 5 */
    CHECK_INT(bcr_allow(0), 0);
    SAID("3( )3 ");
    end();
}

static void allow_low(int cell)
{
    request(cell + 1);
    CHECK_INT(bcr_allow(2), 0);
}

TEST(an_invocation_in_allow_goes_on_though_another_is_blocked_higher)
{
    start();
    handle(1, 6, 0);
    handle(2, 2, 0);
    within[1] = allow_low;
    within[2] = feed_main;
    CHECK_INT(bcr_priority(9, 5), 0);
    request(1);
    CHECK_INT(eat(DATA), DATA);
    SAID("1( 2( )2 "); /* the main program has 9, 1 has 2 meanwhile */
    CHECK_INT(bcr_allow(0), 0);
    SAID(")1 ");
    end();
}

static void allow_with(int cell)
{
    request(cell + 1);
    request(cell + 2);
    CHECK_INT(bcr_allow(-7), 0); /* the caller's own: 4 */
}

TEST(a_negative_priority_allows_at_the_callers_own)
{
    start();
    handle(1, 4, 0);
    handle(2, 3, 0);
    handle(3, 4, 0);
    within[1] = allow_with;
    request(1);
    CHECK_INT(bcr_allow(INT_MIN), 0);
    SAID("1( 3( )3 )1 2( )2 ");
    CHECK_INT(bcr_allow(INT_MAX), 0);
    SAID("");
    end();
}

TEST(allow_does_not_wait_for_those_that_are_blocked)
{
    start();
    handle(1, 0, 0);
    within[1] = block;
    request(1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1( ");
    CHECK_INT(bcr_allow(0), 0);
    feed(DATA + 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID(")1 ");
    end();
}

static int depth, deepest;

static void allow_deeper(int cell)
{
    int here = ++depth;
    if (here < 1000)
        request(cell);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(depth, here); /* the innermost returns first */
    deepest = here > deepest ? here : deepest;
    depth--;
}

TEST_TIMEOUT(allow_in_a_handler_in_allow_goes_a_thousand_deep, 60)
{
    start();
    CHECK_INT(bcr_handler(1, allow_deeper, 1, 0, 0), 0);
    request(1);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(depth, 0);
    CHECK_INT(deepest, 1000);
    end();
}

static int runs;

static void again(int cell)
{
    if (++runs < 100)
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
}

TEST(handlers_that_keep_calling_each_other_do_not_shut_out_the_main_program)
{
    start();
    CHECK_INT(bcr_handler(1, again, 1, 0, 0), 0);
    request(1);
    for (int i = 1; i <= 10; i++) {
        a_call();
        CHECK_INT(runs, i);
    }
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(runs, 100);
    end();
}

static void block_for_ever(int cell)
{
    say("for ever%d ", cell);
    bcr_block();
    FAIL("bcr_block returned");
}

TEST(a_handler_may_block_for_ever_and_the_others_go_on)
{
    start();
    handle(2, 1, 1);
    CHECK_INT(bcr_handler(1, block_for_ever, 1, 1, 1), 0);
    request(1);
    request(2);
    request(1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("for ever1 2( )2 for ever1 ");
    request(2);
    a_call();
    SAID("2( )2 ");
    end();
}

static int block_alone(struct bcri_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    bcr_block();
    return 1;
}

TEST(block_without_handlers_sleeps_for_ever)
{
    begin();
    uint32_t index;
    pid_t pid = group_fork(group, block_alone, NULL, &index);
    const struct bcri_record_shm *record = bcri_record(group_enl(group), index);
    while (atomic_load(&record->bell.sleeping) == 0)
        sched_yield();
    kill(pid, SIGKILL);
    CHECK(WIFSIGNALED(group_bury(group, pid, index)));
    end();
}

TEST(without_handlers_allow_and_priority_do_nothing)
{
    begin();
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(bcr_allow(-1), 0);
    CHECK_INT(bcr_priority(3, 3), 0);
    CHECK_INT(bcr_allow(INT_MAX), 0);
    end();
}

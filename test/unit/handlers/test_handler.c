/* SPDX-License-Identifier: MIT */
/* bcr_handler: marks, requests, several handlers, their coming and going. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "cce.h"
#include "told.h"

static void tell(int cell)
{
    say("%d ", cell);
}

static void take_one(int cell)
{
    say("took %d ", take(bcr_cce, cell));
}

static void take_and_forget(int cell)
{
    CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)), 0);
}

static void answer(int cell)
{
    CHECK_INT(bcr_enq(number(cell * 10), bcr_cce, cell, bcr_FREE), 0);
}

static void put_here(int cell, int value)
{
    CHECK_INT(bcr_enq(number(value), bcr_cce, cell, bcr_FREE), 0);
}

static void put_there(int cell, int value)
{
    as(two);
    CHECK_INT(bcr_enq(number(value), one_of_two, cell, bcr_FREE), 0);
    as(one);
}

static void start(int cells)
{
    begin();
    CHECK_INT(grow(cells, 1000, 1 << 20), 1);
}

TEST(a_put_that_reaches_the_mark_calls_the_handler_at_the_next_call)
{
    start(2);
    CHECK_INT(bcr_handler(1, tell, 3, 0, 0), 0);
    put_here(1, 1);
    put_here(1, 2);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    put_here(1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    put_here(1, 4); /* each that leaves so many */
    put_here(2, 4);
    SAID("1 ");
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(take(bcr_cce, 1), 2);
    CHECK_INT(take(bcr_cce, 1), 3);
    put_here(1, 5);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    end();
}

TEST(cells_take_turns_whichever_CCE_has_requested)
{
    static const char *const each = "1 2 3 ";
    start(3);
    for (int cell = 1; cell <= 3; cell++)
        CHECK_INT(bcr_handler(cell, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 40; i++) {
        put_there(1, i);
        put_here(2, i);
        put_here(2, i);
        put_there(3, i);
    }
    CHECK_INT(bcr_priority(0, 0), 0);
    for (int i = 0; i < 40; i++)
        CHECK(strncmp(told + (size_t)i * strlen(each), each, strlen(each)) == 0);
    for (int i = 0; i < 40; i++)
        CHECK(strncmp(told + 40 * strlen(each) + 2 * (size_t)i, "2 ", 2) == 0);
    CHECK_UINT(strlen(told), 40 * 8);
    end();
}

static int twice;

static void twice_itself(int cell)
{
    say("%d ", cell);
    if (twice-- > 0) {
        put_here(cell, 0);
        put_here(2, 0);
    }
}

TEST(what_a_handler_does_at_its_own_cells_comes_in_the_order_in_which_it_does_it)
{
    start(2);
    CHECK_INT(bcr_handler(1, twice_itself, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 0, 0), 0);
    twice = 3;
    put_here(1, 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 2 1 2 1 2 ");
    end();
}

TEST(requests_of_ones_own_are_dropped_with_their_handler)
{
    start(2);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    put_here(1, 1);
    put_here(2, 1);
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    SAID("2 ");
    put_here(1, 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    end();
}

static void answer_and_say(int cell)
{
    say("asked ");
    answer(cell);
}

TEST(gets_of_ones_own_ask_whether_they_wait_or_not_and_whatever_they_want)
{
    start(1);
    CHECK_INT(bcr_handler(1, answer_and_say, 0, 0, 0), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, 1, bcr_BLOCK)), 10);
    SAID("asked ");
    bcr_region rgid = bcr_read(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(value_of(rgid), 10);
    SAID("asked ");
    CHECK_INT(take(bcr_cce, 1), 10);
    SAID("");
    rgid = bcr_acqwl(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(peek(rgid), 10);
    SAID("asked ");
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, 1), 0);
    CHECK_INT(take(bcr_cce, 1), 10);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT);
    SAID("");
    rgid = bcr_read(bcr_cce, 1, 0); /* begins with what the get before has asked for */
    CHECK_INT(value_of(rgid), 10);
    SAID("asked ");
    CHECK_INT(bcr_zap(bcr_cce, 1), 0);
    end();
}

TEST(puts_of_others_call_the_handler_too)
{
    start(1);
    CHECK_INT(bcr_handler(1, take_one, 1, 0, 0), 0);
    put_there(1, 7);
    put_there(1, 8);
    SAID(""); /* not before this CCE calls something */
    CHECK_INT(bcr_allow(0), 0);
    SAID("took 7 took 8 ");
    put_there(1, 9);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT); /* the handler came first */
    SAID("took 9 ");
    end();
}

TEST(a_replacement_counts_as_a_put)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_write(number(1), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 ");
    CHECK_INT(bcr_handler(1, tell, 2, 0, 0), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, 1, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    end();
}

TEST(a_mark_of_zero_turns_a_cell_into_a_demand)
{
    start(1);
    CHECK_INT(bcr_handler(1, answer, 0, 0, 0), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, 1, bcr_BLOCK)), 10);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT); /* a look requests as well */
    CHECK_INT(take(bcr_cce, 1), 10);
    bcr_region rgid = bcr_acqwl(bcr_cce, 1, bcr_BLOCK);
    CHECK_INT(peek(rgid), 10);
    CHECK_INT(bcr_rlswl(rgid, bcr_cce, 1), 0);
    CHECK_INT(value_of(bcr_read(bcr_cce, 1, 0)), 10);
    CHECK_INT(bcr_celllen(bcr_cce, 1), 1);
    end();
}

TEST(a_mark_below_zero_calls_the_handler_when_a_take_finds_few)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, -2, 0, 0), 0);
    for (int i = 0; i < 4; i++)
        put_here(1, i);
    CHECK_INT(value_of(bcr_read(bcr_cce, 1, 0)), 0); /* takes nothing */
    CHECK_INT(take(bcr_cce, 1), 0);                  /* finds 4 */
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, 1), 2); /* finds 2 */
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    CHECK_INT(take(bcr_cce, 1), 3);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_TIMEOUT);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 ");
    end();
}

TEST(the_main_program_waits_for_what_a_handler_puts)
{
    start(2);
    CHECK_INT(bcr_handler(2, answer, 0, 0, 0), 0);
    for (int i = 0; i < 100; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, 2, bcr_BLOCK)), 20);
    end();
}

TEST(several_cells_have_handlers_of_their_own)
{
    enum { CELLS = 300 };
    start(CELLS);
    for (int cell = 1; cell <= CELLS; cell++)
        CHECK_INT(bcr_handler(cell, tell, 1, 0, 0), 0);
    static const int cells[] = {300, 1, 77, 1};
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 4; i++) {
        put_there(cells[i], 1);
        CHECK(bcr_celllen(bcr_cce, cells[i]) > 0); /* sees it */
    }
    CHECK_INT(bcr_priority(0, 0), 0);
    SAID("300 1 77 1 ");
    end();
}

TEST(a_removed_handler_is_not_called_for_earlier_puts)
{
    start(1);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(1, 1), 0);
    for (int i = 0; i < 40; i++) /* more than the queue's ring holds */
        put_there(1, i);
    CHECK_INT(bcr_priority(1, 1), 0); /* they are taken from the queue, and wait */
    put_there(1, 40);
    CHECK_INT(bcr_handler(1, NULL, 0, -5, -5), 0);
    CHECK_INT(bcr_priority(0, 0), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    put_there(1, 41);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    /* Nor for those that were there before it came again. */
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    put_there(1, 42);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0);
    CHECK_INT(bcr_handler(1, NULL, 0, 0, 0), 0); /* none is there: nothing to remove */
    end();
}

static void tell_new(int cell)
{
    say("new%d ", cell);
}

TEST(a_handler_that_replaces_another_inherits_its_requests)
{
    start(2);
    CHECK_INT(bcr_priority(9, 9), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 3, 0), 0);
    CHECK_INT(bcr_handler(2, tell, 1, 5, 0), 0);
    put_there(1, 1);
    put_there(2, 1);
    put_there(1, 2);
    CHECK_INT(bcr_handler(1, tell_new, 1, 5, 0), 0);
    CHECK_INT(bcr_allow(5), 0);
    SAID("new1 2 new1 ");
    /* Also those that are in the queue under the old mark. */
    put_there(1, 3);
    CHECK_INT(bcr_handler(1, tell, 2, 4, 0), 0);
    CHECK_INT(bcr_allow(5), 0);
    SAID("");
    CHECK_INT(bcr_allow(4), 0);
    SAID("1 ");
    end();
}

static void become(int cell)
{
    say("become%d ", cell);
    CHECK_INT(bcr_handler(cell, tell_new, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(cell + 1, tell, 1, 0, 0), 0);
    put_here(cell, 1);
    put_here(cell + 1, 1);
}

TEST(a_handler_may_install_handlers_and_replace_itself)
{
    start(2);
    CHECK_INT(bcr_handler(1, become, 1, 0, 0), 0);
    put_there(1, 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("become1 new1 2 ");
    end();
}

static void retire(int cell)
{
    say("last%d ", cell);
    CHECK_INT(bcr_handler(cell, NULL, 0, 0, 0), 0);
}

TEST(a_handler_may_remove_itself)
{
    start(1);
    CHECK_INT(bcr_handler(1, retire, 1, 0, 0), 0);
    put_there(1, 1);
    put_there(1, 2);
    put_there(1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("last1 ");
    end();
}

TEST(handlers_go_with_their_cells)
{
    start(3);
    int base = grow(2, 10, 4096);
    CHECK_INT(bcr_handler(base + 1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(1, tell, 1, 0, 0), 0);
    CHECK_INT(bcr_priority(7, 7), 0);
    put_there(base + 1, 1);
    CHECK_INT(take(bcr_cce, base + 1), 1);
    put_there(1, 1);
    CHECK_INT(bcr_cafree(base), 0);
    CHECK_INT(grow(2, 10, 4096), base);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    put_there(base + 1, 2); /* the new cell has none */
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_handler(base + 1, tell_new, 1, 0, 0), 0);
    put_there(base + 1, 3);
    CHECK_INT(bcr_allow(0), 0);
    SAID("new5 ");
    end();
}

TEST(error_regions_call_the_handler_of_cell_0)
{
    start(1);
    one->flags |= bcr_errors;
    CHECK_INT(bcr_handler(0, tell, 1, 0, 0), 0);
    const int cells[] = {bcr_cce, 999};
    FAILS(bcr_putm(1, number(1), 1, cells, bcr_FREE), bcrE_NOCELL);
    CHECK_INT(bcr_allow(0), 0);
    SAID("0 ");
    end();
}

TEST(a_handler_needs_a_cell_of_ones_own_and_priorities_from_0_on)
{
    start(1);
    FAILS(bcr_handler(1, tell, 1, -1, 0), bcrE_ARG);
    FAILS(bcr_handler(1, tell, 1, 0, -1), bcrE_ARG);
    FAILS(bcr_handler(1, tell, 1, INT_MIN, INT_MIN), bcrE_ARG);
    FAILS(bcr_handler(2, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(-1, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(INT_MAX, tell, 1, 0, 0), bcrE_NOCELL);
    FAILS(bcr_handler(2, NULL, 1, 0, 0), bcrE_NOCELL);
    put_here(1, 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_handler(1, tell, INT_MAX, INT_MAX, INT_MAX), 0);
    CHECK_INT(bcr_handler(1, tell, INT_MIN, 0, INT_MAX), 0);
    CHECK_INT(take(bcr_cce, 1), 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 ");
    end();
}

static void fail_and_tell(int cell)
{
    CHECK_INT(bcr_errno, bcrE_OK);
    FAILS(bcr_zap(bcr_cce, 77), bcrE_NOCELL);
    CHECK_INT(bcr_errno, bcrE_NOCELL);
    say("%d ", cell);
    FAILS_NULL(bcr_deq(bcr_cce, 2, 1), bcrE_TIMEOUT); /* others run meanwhile */
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
}

TEST(bcr_errno_is_each_invocations_own)
{
    start(2);
    CHECK_INT(bcr_handler(1, fail_and_tell, 1, 0, 0), 0);
    put_there(1, 1);
    put_there(1, 2);
    put_there(1, 3);
    FAILS(bcr_zap(bcr_cce, 999), bcrE_NOCELL);
    bcr_errno = bcrE_FULL;
    FAILS_NULL(bcr_deq(bcr_cce, 2, 20), bcrE_TIMEOUT);
    bcr_errno = bcrE_FULL;
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(bcr_errno, bcrE_FULL);
    SAID("1 1 1 ");
    put_there(1, 4); /* now one runs in bcr_allow */
    bcr_errno = bcrE_BUSY;
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(bcr_errno, bcrE_BUSY);
    SAID("1 ");
    end();
}

static void *call_from_thread(void *arg)
{
    (void)arg;
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    return NULL;
}

static void wait_once(int cell)
{
    say("begins%d ", cell);
    say("got%d ", value_of(bcr_deq(bcr_cce, 2, bcr_BLOCK)));
}

TEST(any_thread_may_run_them_and_go_on_with_them)
{
    pthread_t other;
    start(2);
    CHECK_INT(bcr_handler(1, wait_once, 1, 0, 0), 0);
    put_there(1, 1);
    CHECK_INT(bcr_allow(0), 0);
    put_here(2, 5);
    SAID("begins1 ");
    CHECK_INT(pthread_create(&other, NULL, call_from_thread, NULL), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    SAID("got5 ");
    put_there(1, 1);
    CHECK_INT(pthread_create(&other, NULL, call_from_thread, NULL), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    SAID("begins1 ");
    put_here(2, 6);
    CHECK_INT(bcr_allow(0), 0);
    SAID("got6 ");
    end();
}

/* ---- ends that are none ---- */

static jmp_buf elsewhere;

static void jump(int cell)
{
    (void)cell;
    longjmp(elsewhere, 1);
}

TEST(after_a_longjmp_out_of_a_handler_calls_fail_with_a_code)
{
    if (test_is_instrumented())
        SKIP("a sanitizer ends the process at a longjmp between stacks");
    void *volatile region;
    start(2);
    CHECK_INT(bcr_handler(1, jump, 1, 0, 0), 0);
    region = number(3);
    put_there(1, 1);
    if (setjmp(elsewhere) == 0)
        bcr_allow(0);
    int cells[] = {1, 1};
    bcr_region rgid = region, list[1] = {rgid};
    FAILS(bcr_allow(0), bcrE_LONGJMP);
    FAILS(bcr_priority(1, 1), bcrE_LONGJMP);
    FAILS(bcr_handler(1, tell, 1, 0, 0), bcrE_LONGJMP);
    FAILS(bcr_block(), bcrE_LONGJMP);
    FAILS_NULL(bcr_deq(bcr_cce, 1, 0), bcrE_LONGJMP);
    FAILS_NULL(bcr_deq(bcr_cce, 2, bcr_BLOCK), bcrE_LONGJMP);
    FAILS_NULL(bcr_acqwl(bcr_cce, 1, 0), bcrE_LONGJMP);
    FAILS(bcr_enq(rgid, bcr_cce, 1, bcr_FREE), bcrE_LONGJMP);
    FAILS(bcr_putm(1, rgid, 1, cells, bcr_FREE), bcrE_LONGJMP);
    FAILS(bcr_zap(bcr_cce, 1), bcrE_LONGJMP);
    FAILS(bcr_rgwait(rgid, 0, 0), bcrE_LONGJMP);
    FAILS(bcr_rgwaitm(1, list, 0, 0), bcrE_LONGJMP);
    CHECK_INT(value_of(rgid), 3);
}

static pid_t fork_quietly(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0 && freopen("/dev/null", "w", stderr) == NULL)
        _exit(9);
    return pid;
}

static void fork_here(int cell)
{
    pid_t pid = fork_quietly();
    if (pid == 0) {
        if (cell == 2)
            return; /* to a scheduler that is not the child's */
        bcr_errno = 0;
        _exit(bcr_allow(0) == -1 && bcr_errno == bcrE_FORK ? 5 : 6);
    }
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    say("%d ", WEXITSTATUS(status));
}

TEST(a_fork_in_a_handler_harms_nobody)
{
    start(2);
    CHECK_INT(bcr_handler(1, fork_here, 1, 0, 0), 0);
    CHECK_INT(bcr_handler(2, fork_here, 1, 0, 0), 0);
    put_there(1, 1);
    put_there(2, 1);
    CHECK_INT(bcr_allow(0), 0);
    SAID("5 1 ");
    end();
}

static void leave_now(int cell)
{
    exit(cell + 40);
}

/* A leak check would not find its way among the threads that the fork has left behind. */
static void at_exit(int status, void *arg)
{
    (void)arg;
    _exit(status);
}

static int exit_in_handler(struct bcri_ctx *ctx, void *arg)
{
    (void)ctx;
    CHECK_INT(on_exit(at_exit, arg), 0);
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 2, 10, 4096), 1);
    CHECK_INT(bcr_handler(2, leave_now, 1, 0, 0), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, 2, bcr_FREE), 0);
    bcr_block();
    return 1;
}

TEST(exit_in_a_handler_ends_the_process_with_that_status)
{
    begin();
    uint32_t index;
    pid_t pid = group_fork(group, exit_in_handler, NULL, &index);
    int status = group_bury(group, pid, index);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 42);
    end();
}

static void *live_in_handlers(void *arg)
{
    (void)arg;
    as(two);
    CHECK_INT(bcr_handler(100, take_and_forget, 1, 0, 0), 0);
    bcr_block();
    return NULL;
}

TEST(a_cce_that_has_run_what_woke_it_sleeps_again)
{
    pthread_t other;
    start(1);
    as(two);
    CHECK_INT(bcr_cagrow(100, 0, 0, 0, 1, 10, 0), 100);
    as(one);
    CHECK_INT(pthread_create(&other, NULL, live_in_handlers, NULL), 0);
    for (int i = 0; i < 5; i++) {
        while (bcri_load_acquire(&two->bell->sleeping) == 0 ||
               bcri_load_acquire(&two->record->requests.asleep) == 0)
            sched_yield();
        CHECK_INT(bcr_enq(number(i), two_of_one, 100, bcr_FREE), 0);
        while (bcr_celllen(two_of_one, 100) != 0)
            sched_yield();
    }
}

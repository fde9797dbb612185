/* SPDX-License-Identifier: MIT */
/* What a handler may do to its process: fail, change threads, jump out, fork, exit. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "handler_calls.h"

static void take_and_forget(int cell)
{
    CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)), 0);
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

/* SPDX-License-Identifier: MIT */
/* bcr_wake in a signal handler, at the instructions of each call that waits. The call ends, once, and not later than by
 * that. A second thread wakes a call that sleeps before its instruction has come; so none is waited for in vain. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include <bcr/program.h>

#include "bcri/self.h"
#include "bcri/wakes.h"
#include "cce.h"

#if defined(__x86_64__)

enum { CELL = 1, OTHER = 2, HANDLED = 3, BESIDE = 4, TRAP_FLAG = 0x100 };

static int woken_cell;
static long at, steps; /* wake behind this instruction; those that have passed */
static _Atomic bool stepping, woke, over;

static void wake_once(void)
{
    if (!atomic_exchange(&woke, true) && bcr_wake(woken_cell) != 0)
        abort();
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (stepping && ++steps == at)
        wake_once();
    if (!stepping || steps >= at)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void *wake_a_sleeper(void *arg)
{
    (void)arg;
    bcri_self_set(one);
    while (!over && atomic_load(&one->bell->sleeping) == BCRI_AWAKE)
        sched_yield();
    if (!over)
        wake_once();
    return NULL;
}

/* Whether the call had not ended before its instruction `at`. */
static bool woken_at(long instruction, void (*call)(void))
{
    pthread_t thread;
    at = instruction;
    steps = 0;
    woke = over = false;
    CHECK_INT(pthread_create(&thread, NULL, wake_a_sleeper, NULL), 0);
    stepping = true;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    call();
    stepping = false;
    over = true;
    CHECK_INT(pthread_join(thread, NULL), 0);
    if (!woke) /* the call has ended without */
        FAIL("the call has not waited");
    CHECK(!bcri_wakes_any(one));
    return steps >= at;
}

/* One instruction in each stretch of `stride`: a call has some thousand in this build, and each is stepped through for
 * each that comes behind it. `outbox` only stands for itself: a CCE that has ordered something elsewhere does not yield
 * before it sleeps (bcri_yield_turns), which makes the calls short. */
static void at_its_instructions(int cell, void (*call)(void))
{
    static char outbox;
    const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    CHECK_INT(sigaction(SIGTRAP, &action, NULL), 0);
    woken_cell = cell;
    one->cpus = 1;
    one->outbox = (struct bcri_outbox *)(void *)&outbox;
    (void)woken_at(LONG_MAX, call); /* what is done once is done */
    (void)woken_at(LONG_MAX, call);
    const long stride = 1 + steps / (long)test_scale(12, 1000);
    uint64_t random = test_seed();
    for (long begin = 0; woken_at(begin + 1 + (long)test_rand_below(&random, (uint64_t)stride), call);)
        begin += stride;
    one->outbox = NULL;
    CHECK(steps > 200);
}

static void get(void)
{
    FAILS_NULL(bcr_deq(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
}
static void get_within(void)
{
    FAILS_NULL(bcr_deq(bcr_cce, CELL, 1000000), bcrE_WOKEN);
}
static void read_it(void)
{
    FAILS_NULL(bcr_read(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
}
static void lock_it(void)
{
    FAILS_NULL(bcr_acqwl(bcr_cce, CELL, bcr_BLOCK), bcrE_WOKEN);
}

static bcr_region pending[2];

static void wait_for_one(void)
{
    FAILS(bcr_rgwait(pending[0], bcr_BLOCK, 0), bcrE_WOKEN);
}
static void wait_for_two(void)
{
    FAILS(bcr_rgwaitm(2, pending, bcr_BLOCK, 0), bcrE_WOKEN);
}
static void wait_and_cancel(void)
{
    pending[0] = bcr_deq(bcr_cce, CELL, bcr_PENDING);
    FAILS(bcr_rgwait(pending[0], bcr_BLOCK, 1), bcrE_WOKEN);
}

static void start(void)
{
    begin();
    CHECK_INT(grow(4, 10, 1 << 16), CELL);
}

TEST_TIMEOUT(a_get_is_woken_at_any_instruction, 300)
{
    start();
    at_its_instructions(CELL, get);
    at_its_instructions(CELL, get_within);
    at_its_instructions(CELL, read_it);
    at_its_instructions(CELL, lock_it);
    end();
}

TEST_TIMEOUT(a_wait_for_pending_gets_is_woken_at_any_instruction, 300)
{
    start();
    at_its_instructions(CELL, wait_and_cancel);
    pending[0] = bcr_deq(bcr_cce, CELL, bcr_PENDING);
    pending[1] = bcr_deq(bcr_cce, OTHER, bcr_PENDING);
    at_its_instructions(CELL, wait_for_one);
    at_its_instructions(OTHER, wait_for_two);
    CHECK_INT(bcr_rgfree(pending[0]), 0);
    CHECK_INT(bcr_rgfree(pending[1]), 0);
    end();
}

static void answer(int cell)
{
    (void)cell;
    CHECK_INT(bcr_enq(number(1), bcr_cce, CELL, bcr_FREE), 0);
}

static void get_answer(void)
{
    CHECK_INT(value_of(bcr_deq(bcr_cce, CELL, bcr_BLOCK)), 1);
}

TEST_TIMEOUT(a_handler_is_requested_at_any_instruction, 300)
{
    start();
    CHECK_INT(bcr_handler(HANDLED, answer, 1, 0, 0), 0);
    at_its_instructions(HANDLED, get_answer);
    end();
}

static void wait_beside(int cell)
{
    (void)cell;
    for (;;)
        CHECK_PTR(bcr_deq(bcr_cce, BESIDE, bcr_BLOCK), NULL);
}

TEST_TIMEOUT(where_handlers_run_and_wait_a_get_is_woken_at_any_instruction, 300)
{
    start();
    CHECK_INT(bcr_handler(HANDLED, wait_beside, 1, 0, 0), 0);
    at_its_instructions(CELL, get);
    CHECK_INT(bcr_wake(HANDLED), 0);
    CHECK_INT(bcr_allow(0), 0);
    at_its_instructions(CELL, get);
    at_its_instructions(CELL, wait_and_cancel);
    end();
}

#else

TEST(a_wake_at_its_instructions)
{
    SKIP("single-stepping is written for x86-64");
}

#endif

/* SPDX-License-Identifier: MIT */
/* A signal after each instruction of the program, in BCR or not: its handler enters wherever it may, and puts, takes
 * and allocates there. Nothing of the program's own is disturbed, in the midst of malloc or between two calls, and
 * while it is in a call the signal handler is refused. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <bcr/program.h>

#include "cce.h"

#if defined(__x86_64__)

enum { MAIN = 1, SIGNALS = 2, HANDLED = 3, BEHIND = 4, TRAP_FLAG = 0x100 };

static long entered, refused, ran;
static bool stepping;

/* Of a cell, if the program has one. */
static void run_handler(int cell)
{
    ran++;
    CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)), 0);
}

static void in_section(void)
{
    const int value = (int)(entered % 1000);
    bcr_region region = bcr_rgalloc(8 + 16 * (value % 50), 0);
    if (region == NULL || bcr_put_within(1, region, bcr_cce, SIGNALS, bcr_FREE, 0) != 0 ||
        bcr_get(1, bcr_cce, BEHIND, 0) != NULL || bcr_errno != bcrE_TIMEOUT)
        abort();
    const int copydesc[] = {0, bcrT_CHAR, 1 + value % 5, 0, bcrT_CHAR | bcrT_END, 1};
    char text[16] = "";
    if (bcr_send(text, sizeof text, copydesc, 1, bcr_cce, SIGNALS, 1, 0) < 0 ||
        bcr_recv(text, sizeof text, copydesc, 1, bcr_cce, SIGNALS, 1, 0) < 0 || bcr_zap(bcr_cce, BEHIND) != 0)
        abort();
    region = bcr_deq(bcr_cce, SIGNALS, 0);
    if (region == NULL || bcr_rgfree(region) != 0)
        abort();
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    const int before = bcr_errno;
    (void)info;
    (void)number;
    if (!stepping) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    if (bcr_sigenter() == 0) {
        in_section();
        entered++;
        if (bcr_sigleave() != 0)
            abort();
    } else {
        if (bcr_errno != bcrE_INSIDE)
            abort();
        bcr_errno = before;
        refused++;
    }
}

/* From here on, until `stepping` is cleared. */
static void step(void)
{
    const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    CHECK_INT(sigaction(SIGTRAP, &action, NULL), 0);
    entered = refused = ran = 0;
    stepping = true;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static void allocate(void)
{
    for (int i = 1; i < 20; i++) {
        char *text = malloc((size_t)i * 700);
        memset(text, 7, (size_t)i * 700);
        text = realloc(text, (size_t)i * 1400);
        free(text);
    }
}

static void all_calls(void)
{
    int value = 5;
    bcr_region region = number(1), other = number(2);
    CHECK_INT(bcr_put(1, region, bcr_cce, MAIN, bcr_FREE), 0);
    CHECK_INT(bcr_put(1, other, bcr_cce, MAIN, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgmod(other), 0);
    CHECK_INT(bcr_celllen(bcr_cce, MAIN), 2);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, MAIN, 0)), 1);
    CHECK_INT(value_of(bcr_get(0, bcr_cce, MAIN, 0)), 2);
    CHECK_INT(bcr_write(other, bcr_cce, MAIN, bcr_FREE), 0);
    bcr_region lock = bcr_acqwl(bcr_cce, MAIN, 0);
    CHECK(lock != NULL);
    CHECK_INT(bcr_rlswl(lock, bcr_cce, MAIN), 0);
    lock = bcr_acqrl(bcr_cce, MAIN, 0);
    CHECK_INT(bcr_rlsrl(lock), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, MAIN, 0)), 2);
    FAILS_NULL(bcr_deq(bcr_cce, MAIN, 0), bcrE_TIMEOUT);
    bcr_region pending = bcr_deq(bcr_cce, MAIN, bcr_PENDING);
    CHECK_INT(bcr_send(&value, sizeof value, bcrT_1INT, 1, bcr_cce, MAIN, 1, 0) >= 2, 1);
    CHECK_INT(bcr_rgwaitm(1, &pending, 0, 0), 1);
    CHECK_INT(value_of(pending), 5);
    CHECK_INT(bcr_send(&value, sizeof value, bcrT_1INT, 1, bcr_cce, MAIN, 1, 0) >= 2, 1);
    CHECK_INT(bcr_recv(&value, sizeof value, bcrT_1INT, 1, bcr_cce, MAIN, 1, 0) >= 2, 1);
    CHECK_INT(bcr_putdone(0), 1);
    CHECK_INT(bcr_zap(bcr_cce, MAIN), 0);
    FAILS(bcr_rgfree(NULL), bcrE_RGID);
    CHECK(bcr_heapleft() > 0);
    const int base = bcr_cagrow(0, 1, 1, 1, 1, 10, 1000);
    CHECK(base > 0);
    CHECK_INT(bcr_cafree(base), 0);
}

TEST_TIMEOUT(a_signal_after_each_instruction_of_malloc_may_put, 120)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), MAIN);
    step();
    allocate();
    stepping = false;
    CHECK(entered > 1000);
    CHECK_INT(refused, 0);
    CHECK_INT(bcr_celllen(bcr_cce, SIGNALS), 0);
    end();
}

TEST_TIMEOUT(a_signal_after_each_instruction_of_each_call_is_refused_or_harmless, 240)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), MAIN);
    for (int round = 0; round < 3; round++) {
        step();
        all_calls();
        stepping = false;
        CHECK(entered > 100); /* before and behind the calls */
        CHECK(refused > 1000);
        CHECK_INT(bcr_celllen(bcr_cce, SIGNALS), 0);
    }
    end();
}

TEST_TIMEOUT(so_it_is_where_handlers_run, 240)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), MAIN);
    CHECK_INT(bcr_handler(HANDLED, run_handler, 1, 0, 0), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, HANDLED, bcr_FREE), 0); /* makes the stacks */
    CHECK_INT(bcr_allow(0), 0);
    step();
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, HANDLED, bcr_FREE), 0);
        FAILS_NULL(bcr_deq(bcr_cce, MAIN, 1), bcrE_TIMEOUT);
    }
    all_calls();
    stepping = false;
    CHECK_INT(ran, 3);
    CHECK(entered > 100);
    CHECK(refused > 1000);
    end();
}

#else

TEST(a_signal_after_each_instruction)
{
    SKIP("single-stepping is written for x86-64");
}

#endif

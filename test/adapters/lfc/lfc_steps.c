/* SPDX-License-Identifier: MIT */
/* lfc_steps.c -- SIGIO at the instructions of LFC's routines: lfc_steps PLACES SEED [own]
 *
 * Process 0 steps through each routine, and after one instruction the signal comes, while packets lie in its cell, its own and
 * those of process 1, if there is one, which goes on sending. Then the signal comes once more, outside of LFC, so that all
 * own packets have been given to upcalls: each once and in order, none in the midst of a routine, none while interrupts
 * are disabled. PLACES instructions of each routine are tried, one in each stretch of it; 0: all. LFC's own signals are to be
 * far away: -lfc-interval=10000000. With "own" the program has a handler of its own, which polls.
 *
 * What goes wrong ends it with status 3 and a sentence. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "lfc_private.h"

static const char *routine = "the start"; /* that is stepped through */
static long at, steps; /* the signal comes behind this instruction; those that have passed */

#define MUST(condition)                                                                                    \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            dprintf(STDERR_FILENO, "lfc_steps: line %d, %s, instruction %ld: not %s\n", __LINE__, routine, \
                    at, #condition);                                                                       \
            _exit(3);                                                                                      \
        }                                                                                                  \
    } while (0)

static uint32_t sent[2], received[2]; /* by process 0 and 1; packets are numbered */
static volatile sig_atomic_t is_stepping, has_come, in_handler, is_enough;
static void *kept; /* a packet that an upcall has kept */
static void (*handler)(int);
static int inside_before, disabled_before; /* of LFC, when the signal came */

int lfc_upcall(unsigned src, void *packet, unsigned size, lfc_upcall_flags_t flags)
{
    uint32_t number;
    MUST(src < 2 && size >= sizeof number && lfc_intr_status() == 0);
    if (size > sizeof number) { /* the last one */
        is_enough = 1;
        return 0;
    }
    memcpy(&number, packet, sizeof number);
    MUST(number == received[src] && (flags & LFC_UPCALL_MCAST) == 0);
    MUST(!in_handler || (inside_before == 0 && disabled_before == 0));
    received[src]++;
    if (kept != NULL)
        return 0;
    kept = packet;
    return 1;
}

static void own_handler(int number)
{
    const int error = errno, code = bcr_errno;
    (void)number;
    if (lfc_intr_status() != 0)
        lfc_poll();
    errno = error;
    bcr_errno = code;
}

static void on_sigio(int number)
{
    MUST(!in_handler);
    inside_before = lfc_self.inside;
    disabled_before = lfc_self.disabled;
    in_handler = 1;
    handler(number);
    in_handler = 0;
}

/* SIGIO is blocked here, so it comes when the program goes on. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (is_stepping && ++steps == at) {
        has_come = 1;
        raise(SIGIO);
    }
#if defined(__x86_64__)
    if (!is_stepping || has_come)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#else
    (void)context;
#endif
}

static void launch_last(unsigned dest)
{
    uint32_t *packet = lfc_send_alloc(1);
    packet[0] = packet[1] = 0;
    lfc_ucast_launch(dest, packet, 2 * sizeof *packet, 1);
}

static void launch(unsigned dest, int upcalls_allowed)
{
    uint32_t *packet = lfc_send_alloc(upcalls_allowed);
    *packet = sent[lfc_my_proc()]++;
    lfc_ucast_launch(dest, packet, sizeof *packet, upcalls_allowed);
}

/* ---- what is stepped through ---- */

static void poll_(void)
{
    lfc_poll();
}
static void launch_with_upcalls(void)
{
    launch(0, 1);
}
static void launch_without(void)
{
    launch(0, 0);
}
/* The cell has no room, so the first of them takes what is there. */
static void launch_two(void)
{
    launch(0, 0);
    launch(0, 0);
}
static void disable_and_enable(void)
{
    lfc_intr_disable();
    const uint32_t now = received[0] + received[1];
    for (volatile int i = 0; i < 10; i++)
        ;
    MUST(received[0] + received[1] == now);
    lfc_intr_enable();
}
static void free_kept(void)
{
    void *packet = kept;
    if (packet == NULL)
        return;
    kept = NULL;
    lfc_packet_free(packet);
}
static void add(void)
{
    static unsigned sum;
    MUST(lfc_fetch_and_add(0, 0) == sum++);
}
static void allocate(void)
{
    void *block = lfc_malloc(100);
    MUST(block != NULL);
    lfc_free(block);
}

static void compute(void)
{
    errno = 77;
    bcr_errno = 78;
    for (volatile int i = 0; i < 20; i++)
        ;
    MUST(errno == 77 && bcr_errno == 78);
}

static void call_bcr(void)
{
    MUST(bcr_deq(lfc_self.own, CELL_STATS, 0) == NULL && bcr_errno == bcrE_TIMEOUT);
}

static const struct {
    const char *name;
    void (*call)(void);
    unsigned ready; /* packets that lie in the cell before */
} routines[] = {
    {"lfc_poll", poll_, 3},
    {"lfc_poll of an empty cell", poll_, 0},
    {"lfc_ucast_launch with upcalls", launch_with_upcalls, 2},
    {"lfc_ucast_launch", launch_without, 2},
    {"lfc_ucast_launch into a full cell", launch_two, 3},
    {"lfc_intr_disable and lfc_intr_enable", disable_and_enable, 2},
    {"lfc_packet_free", free_kept, 2},
    {"lfc_fetch_and_add", add, 2},
    {"lfc_malloc and lfc_free", allocate, 2},
    {"what the program does", compute, 2},
    {"a call of BCR", call_bcr, 2}, /* the last: it is not for a handler of the program's own */
};

/* Whether the routine had not ended before its instruction `at`. */
static bool comes_at(long instruction, void (*call)(void), unsigned ready)
{
    at = instruction;
    steps = 0;
    has_come = 0;
    for (unsigned i = 0; i < ready; i++)
        launch(0, 0);
    is_stepping = 1;
#if defined(__x86_64__)
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
#endif
    call();
    is_stepping = 0;
    raise(SIGIO);
    MUST(received[0] == sent[0]);
    return has_come != 0;
}

static void step_through(void (*call)(void), unsigned ready, long places, uint64_t *random)
{
    (void)comes_at(INT32_MAX, call, ready); /* what is done once is done */
    (void)comes_at(INT32_MAX, call, ready);
    const long stride = places == 0 ? 1 : 1 + steps / places;
    MUST(steps > 20);
    for (long begin = 0;; begin += stride) {
        *random = *random * UINT64_C(6364136223846793005) + 1;
        if (!comes_at(begin + 1 + (long)((*random >> 33) % (uint64_t)stride), call, ready))
            return;
    }
}

int main(int argc, char **argv)
{
    lfc_init(&argc, argv);
    MUST(argc >= 3 && lfc_nr_procs() <= 2);
    const long places = strtol(argv[1], NULL, 10);
    uint64_t random = strtoull(argv[2], NULL, 10);
    lfc_start();
    if (lfc_my_proc() == 1) {
        while (!is_enough) {
            launch(0, 1);
            lfc_timer_delta(10000); /* steps are slow: there is to be room for process 0 */
            lfc_poll();
        }
        launch_last(0);
        return lfc_exit(), 0;
    }
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, before;
    sigaddset(&action.sa_mask, SIGIO);
    lfc_intr_enable();
    MUST(sigaction(SIGTRAP, &action, NULL) == 0 && sigaction(SIGIO, NULL, &before) == 0);
    handler = argc == 3 ? before.sa_handler : own_handler;
    before.sa_handler = on_sigio;
    MUST(sigaction(SIGIO, &before, NULL) == 0);
    for (size_t i = 0; i < sizeof routines / sizeof routines[0] - (argc > 3); i++) {
        routine = routines[i].name;
        step_through(routines[i].call, routines[i].ready, places, &random);
        printf("%s: %ld instructions\n", routine, steps);
    }
    routine = "the end";
    if (lfc_nr_procs() == 2) {
        launch_last(1);
        while (!is_enough)
            lfc_poll();
        MUST(received[1] > 0);
    }
    free_kept();
    lfc_exit();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* sys_signals [HOST] -- CCEs whose signal handlers put and take while their main programs do, and allocate.
 *
 *   root            sends SIGUSR1 to the two workers for as long as they work; counts what comes from them
 *   worker 1, 2     (2 on machine HOST) main program: malloc and free, puts to its own cells, to the root's and the other
 *                   worker's, gets; with SYS_SIGNALS_HANDLERS set a cell has a handler, too. SIGALRM and SIGUSR1: puts a number into
 *                   its own cell and into the root's, or counts that it was refused; on a stack of 64 KiB
 *
 * The root prints "done" when every number that was put has come, once and in its order. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

enum { WORKERS = 2, ROUNDS = 1500, ENOUGH = 300, ROOM = 64 };
enum { CRIES = 1, SIGNALLED, MAINS = SIGNALLED + WORKERS, COUNTS = MAINS + WORKERS, ROOT_CELLS = COUNTS };
enum { GO = 1, OWN, OWN_SIGNALLED, HANDLED, FROM_OTHER, WORKER_CELLS = FROM_OTHER };

struct counts {
    int worker;
    int from_signals, from_main, own_from_signals;
    int entered, refused, ran; /* signal handlers, and the handler of a cell */
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_signals: CCE %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    exit(1);
}

static bcr_region number(int value)
{
    bcr_region region = bcr_rgalloc(sizeof value, 0);
    must(region != NULL, "bcr_rgalloc");
    **(int **)region = value;
    return region;
}

static int taken(bcr_region region)
{
    must(region != NULL, "a get");
    const int value = **(int **)region;
    must(bcr_rgfree(region) == 0, "bcr_rgfree");
    return value;
}

/* ---- a worker */

static bcr_cce_id other;
static struct counts counts; /* changed by signal handlers and the main program, each member by one of them */
static volatile sig_atomic_t over;
static volatile sig_atomic_t alarmed = 1; /* the last alarm has come, and the main program sets the next */
static int own_seen;                      /* the next number of a signal handler in the own cell */

/* Whether there was room: nothing waits here. */
static bool put_at_once(int value, bcr_cce_id cce, int cell)
{
    bcr_region region = bcr_rgalloc(sizeof value, 0);
    if (region == NULL)
        return false;
    **(int **)region = value;
    if (bcr_put_within(1, region, cce, cell, bcr_FREE, 0) == 0)
        return true;
    must(bcr_errno == bcrE_FULL, "a signal handler's put");
    must(bcr_rgfree(region) == 0, "bcr_rgfree");
    return false;
}

static void take_own(void)
{
    for (bcr_region region; (region = bcr_deq(bcr_cce, OWN_SIGNALLED, 0)) != NULL;)
        must(taken(region) == own_seen++, "what its signal handlers have put, in its order");
}

static void on_signal(int signal)
{
    const int before = bcr_errno, system_before = errno;
    if (signal == SIGALRM)
        alarmed = 1;
    if (over)
        return;
    if (bcr_sigenter() != 0) {
        must(bcr_errno == bcrE_INSIDE, "a refusal");
        bcr_errno = before;
        counts.refused++;
        return;
    }
    counts.entered++;
    counts.own_from_signals += put_at_once(counts.own_from_signals, bcr_cce, OWN_SIGNALLED);
    counts.from_signals += put_at_once(counts.from_signals, bcr_enlistor, SIGNALLED + bcr_cceord - 1);
    if (counts.entered % 3 == 0)
        take_own();
    if (counts.entered % 50 == 0) {
        const int base = bcr_cagrow(0, 1, 1, 0, 0, 4, 300000);
        must(base > 0 && bcr_cafree(base) == 0, "an area in a signal handler");
    }
    if (counts.entered % 7 == 0)
        must(bcr_deq(other, FROM_OTHER, 0) == NULL, "a get that is not allowed");
    must(bcr_sigleave() == 0, "bcr_sigleave");
    must(bcr_errno == before && errno == system_before, "the errors of the program");
}

static void handler(int cell)
{
    must(taken(bcr_deq(bcr_cce, cell, 0)) >= 0, "what has requested it");
    must(bcr_sigenter() < 0 && bcr_errno == bcrE_INSIDE, "bcr_sigenter in a handler of a cell");
    counts.ran++;
}

static void watch_signals(void)
{
    static char stack[65536];
    const stack_t small = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask); /* each may interrupt the other's handler */
    must(sigaltstack(&small, NULL) == 0, "sigaltstack");
    action.sa_flags &= ~SA_ONSTACK; /* of the second, which may come within the first */
    must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    action.sa_flags |= SA_ONSTACK;
    must(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
}

/* However slow the machine is, the program goes on between two alarms. */
static void set_alarm(void)
{
    static const struct itimerval soon = {.it_value.tv_usec = 300};
    if (alarmed) {
        alarmed = 0;
        must(setitimer(ITIMER_REAL, &soon, NULL) == 0, "a timer");
    }
}

static void allocate(int round)
{
    char *text[20];
    for (int i = 0; i < 20; i++) {
        const size_t length = (size_t)(round * 7 + i * i * 31) % 5000 + 1;
        must((text[i] = malloc(length)) != NULL, "malloc");
        memset(text[i], i, length);
        must((text[i] = realloc(text[i], length + 100)) != NULL, "realloc");
    }
    for (int i = 0; i < 20; i++)
        free(text[(i * 7) % 20]);
}

static void work(bool with_handlers)
{
    int said = 0, heard = 0;
    bcr_cce_id own = bcr_cce;
    must(bcr_cagrow(GO, 0, 2, 0, 0, 4, 0) == GO, "bcr_cagrow");
    must(bcr_cagrow(OWN_SIGNALLED, 1, 0, 0, 0, ROOM, 0) == OWN_SIGNALLED, "bcr_cagrow");
    must(bcr_cagrow(HANDLED, 0, 2, 0, 0, ROOM, 1 << 20) == HANDLED, "bcr_cagrow");
    must(!with_handlers || bcr_handler(HANDLED, handler, 1, 0, 0) == 0, "bcr_handler");
    must(bcr_send(&own, sizeof own, bcrT_1CCE, 1, bcr_enlistor, CRIES, 1, 0) >= 2, "the birthcry");
    must(bcr_enq(number((int)getpid()), bcr_enlistor, CRIES, bcr_FREE) == 0, "its process");
    must(bcr_recv(&other, sizeof other, bcrT_1CCE, 1, bcr_cce, GO, 1, bcr_BLOCK) >= 2, "the other's ID");
    watch_signals();
    for (int round = 0; round < ROUNDS || counts.entered < ENOUGH; round++) {
        set_alarm();
        do /* so some alarms come in the midst of malloc, others in the midst of calls */
            allocate(round);
        while (round % 4 == 1 && !alarmed);
        must(bcr_enq(number(round), bcr_enlistor, MAINS + bcr_cceord - 1, bcr_FREE) == 0, "a put");
        must(bcr_enq(number(round), bcr_cce, OWN, bcr_FREE) == 0, "a put to itself");
        must(taken(bcr_deq(bcr_cce, OWN, 0)) == round, "its get");
        counts.from_main++;
        if (with_handlers)
            must(bcr_enq(number(round), bcr_cce, HANDLED, bcr_FREE) == 0, "a request");
        if (round % 4 == 0 && round < ROUNDS) {
            must(bcr_enq(number(said++), other, FROM_OTHER, bcr_FREE) == 0, "a put to the other");
            must(taken(bcr_deq(bcr_cce, FROM_OTHER, bcr_BLOCK)) == heard++, "what the other has put");
        }
    }
    over = 1;
    counts.worker = bcr_cceord - 1;
    must(!with_handlers || (bcr_allow(0) == 0 && counts.ran > 0), "handlers of cells");
    take_own();
    must(own_seen == counts.own_from_signals, "all that its signal handlers have put is there");
    bcr_region region = bcr_rgalloc(sizeof counts, 0);
    must(region != NULL, "bcr_rgalloc");
    memcpy(*region, &counts, sizeof counts);
    must(bcr_enq(region, bcr_enlistor, COUNTS, bcr_FREE) == 0, "the counts");
    (void)taken(bcr_deq(bcr_cce, GO, bcr_BLOCK)); /* the root may still send signals */
}

/* ---- the root */

static struct {
    bcr_cce_id id;
    pid_t pid;
    int from_signals, from_main;
    bool is_done;
    struct counts counts;
} workers[WORKERS];

static void hear(int i)
{
    bcr_region region;
    while ((region = bcr_deq(bcr_cce, SIGNALLED + i, 0)) != NULL)
        must(taken(region) == workers[i].from_signals++, "what signal handlers have put, in its order");
    while ((region = bcr_deq(bcr_cce, MAINS + i, 0)) != NULL) {
        must(taken(region) == workers[i].from_main++, "what main programs have put, in its order");
        if (!workers[i].is_done && workers[i].from_main % 3 == 0)
            must(kill(workers[i].pid, SIGUSR1) == 0, "a signal");
    }
}

static void hear_counts(int msec)
{
    bcr_region region = bcr_deq(bcr_cce, COUNTS, msec);
    if (region == NULL)
        return;
    struct counts of;
    memcpy(&of, *region, sizeof of);
    must(bcr_rgfree(region) == 0 && of.worker >= 0 && of.worker < WORKERS, "counts");
    workers[of.worker].counts = of;
    workers[of.worker].is_done = true;
}

static void enlist(int i, const char *machine, const char *program)
{
    must(bcr_enlist(machine, -1, i + 1, program, NULL, 0) == 0, "bcr_enlist");
    must(bcr_recv(&workers[i].id, sizeof workers[i].id, bcrT_1CCE, 1, bcr_cce, CRIES, 1, bcr_BLOCK) >= 2,
         "a birthcry");
    workers[i].pid = taken(bcr_deq(bcr_cce, CRIES, bcr_BLOCK));
}

static void lead(const char *program, const char *machine)
{
    must(bcr_cagrow(CRIES, 0, 1, 0, 0, 2 * WORKERS, 0) == CRIES, "bcr_cagrow");
    must(bcr_cagrow(SIGNALLED, 0, ROOT_CELLS - 1, 0, 0, ROOM, 1 << 20) == SIGNALLED, "bcr_cagrow");
    enlist(0, NULL, program);
    enlist(1, machine, program);
    for (int i = 0; i < WORKERS; i++)
        must(bcr_send(&workers[1 - i].id, sizeof workers[i].id, bcrT_1CCE, 1, workers[i].id, GO, 1, 0) >= 2,
             "an ID");
    while (!workers[0].is_done || !workers[1].is_done) {
        hear(0);
        hear(1);
        hear_counts(1);
    }
    for (int i = 0; i < WORKERS; i++) {
        const struct counts *of = &workers[i].counts;
        hear(i);
        must(workers[i].from_signals == of->from_signals && workers[i].from_main == of->from_main,
             "all has come that was put");
        must(of->entered >= ENOUGH && of->from_signals > 0, "signal handlers could call");
        must(bcr_enq(number(0), workers[i].id, GO, bcr_FREE) == 0, "the end");
        fprintf(stderr,
                "worker %d: %d entered, %d refused; %d from signal handlers, %d from main programs, %d ran\n",
                i + 1, of->entered, of->refused, of->from_signals, of->from_main, of->ran);
    }
    puts("done");
}

int main(int argc, char **argv)
{
    must(bcr_init(bcr_user_ca, NULL) == 0, "bcr_init");
    if (bcr_enlistor == -1)
        lead(argv[0], argc > 1 ? argv[1] : NULL);
    else
        work(getenv("SYS_SIGNALS_HANDLERS") != NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * progress -- programs that compute, and call BCR in a signal handler only.
 *
 *     worker: computes, allocates, frees     SIGALRM: how far it is  --write-->  a cell of the watcher for each worker
 *                                                     to go on?      <---------  a cell of the worker
 *
 * A computation that was written without BCR is not to be changed in its depths.  A timer interrupts it, perhaps in the
 * midst of malloc, and the signal handler tells how far it is and looks whether to stop.
 */
#define _XOPEN_SOURCE 700
#include "args.h"
#include "must.h"

#include <bcr/program.h>
#include <signal.h>
#include <sys/time.h>

static const char USAGE[] = "usage: progress [workers [reports]]     (2 workers, 20 reports of each)\n"
                            "Watches programs that compute, by what their signal handlers tell.\n";

/* The watcher's cells, two for each worker: its ID comes into one, how far it is into the other. */
enum { CRY = 1, REPORT = 2, CELLS = 2 };
enum { STOP = 1 }; /* a worker's cell */
enum { MAX_WORKERS = 50, REGION_BYTES = 64, EVERY_USEC = 2000 };

/* --- a worker --- */

struct report {
    long steps; /* done so far */
};

static volatile sig_atomic_t steps, stop, failed;

static void tell_steps(void)
{
    bcr_region region = bcr_rgalloc(REGION_BYTES, 0);
    if (region == NULL)
        return; /* the watcher still has the last ones; the next signal comes soon */
    *(struct report *)*region = (struct report){.steps = steps};
    if (bcr_put_within(0, region, bcr_enlistor, REPORT + CELLS * (bcr_cceord - 1), bcr_FREE, 0) == 0)
        return;
    if (bcr_errno != bcrE_DEAD) /* the watcher ends when it has told all to stop */
        failed = bcr_errno;
    bcr_rgfree(region);
}

static void look_whether_to_stop(void)
{
    bcr_region region = bcr_deq(bcr_cce, STOP, 0);
    if (region == NULL)
        return;
    stop = 1;
    if (bcr_rgfree(region) < 0)
        failed = bcr_errno;
}

static void on_alarm(int number)
{
    const int before = bcr_errno;
    (void)number;
    if (stop)
        return;
    if (bcr_sigenter() == 0) {
        tell_steps();
        look_whether_to_stop();
        bcr_sigleave();
    } else {                /* the worker is in BCR itself; the next signal comes soon */
        bcr_errno = before; /* which the worker may be about to look at */
    }
}

/* Nothing here knows of BCR. */
static void compute(void)
{
    struct link {
        struct link *next;
        char text[];
    } *first = NULL;
    for (size_t length = 1; length < 4000; length += length / 4 + 1) {
        struct link *link = malloc(sizeof *link + length);
        must_hold(link != NULL, "there is memory");
        *link = (struct link){.next = first};
        first = link;
    }
    while (first != NULL) {
        struct link *next = first->next;
        free(first);
        first = next;
    }
}

static void work(void)
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval.tv_usec = EVERY_USEC, .it_value.tv_usec = EVERY_USEC};
    must(bcr_cagrow(STOP, 0, 1, 0, 0, 1, 4096), "grow its cell");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRY + CELLS * (bcr_cceord - 1), 1, 0),
         "tell its ID");
    must_hold(sigaction(SIGALRM, &action, NULL) == 0, "SIGALRM has a handler");
    must_hold(setitimer(ITIMER_REAL, &often, NULL) == 0, "there is a timer");
    while (!stop) {
        compute();
        steps = steps + 1;
    }
    if (failed != 0)
        must_end("do what a signal handler does", bcr_strerror(failed));
}

/* --- the watcher --- */

static void watch(int worker, bcr_cce_id id, int reports)
{
    struct report last = {0};
    for (int i = 0; i < reports; i++) {
        bcr_region region =
            must_have(bcr_deq(bcr_cce, REPORT + CELLS * worker, bcr_BLOCK), "see the newest report");
        const struct report report = *(struct report *)*region;
        must(bcr_rgfree(region), "free a report");
        must_hold(report.steps >= last.steps, "reports come in their order");
        last = report;
    }
    must(bcr_send(&worker, sizeof worker, bcrT_1INT, 1, id, STOP, 1, 0), "tell a worker to stop");
    printf("progress: worker %d has told %d times how far it is\n", worker + 1, reports);
}

static void lead(const char *program, int workers, int reports)
{
    bcr_cce_id ids[MAX_WORKERS] = {0};
    must(bcr_cagrow(CRY, 0, CELLS * workers, 0, 0, CELLS * workers, 4096), "grow its cells");
    must(bcr_enlist(NULL, -workers, 1, program, NULL, bcr_FREE), "enlist the workers");
    for (int i = 0; i < workers; i++)
        must_copy(bcr_recv(&ids[i], sizeof ids[i], bcrT_1CCE, 1, bcr_cce, CRY + CELLS * i, 1, bcr_BLOCK),
                  "hear from a worker");
    for (int i = 0; i < workers; i++)
        watch(i, ids[i], reports);
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const int workers = args_number(argc, argv, 1, "workers", 2, 1, MAX_WORKERS);
    const int reports = args_number(argc, argv, 2, "reports", 20, 1, 100000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0], workers, reports);
    else
        work();
    return EXIT_SUCCESS;
}

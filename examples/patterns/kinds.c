/* SPDX-License-Identifier: MIT */
/*
 * kinds -- one program on machines of several kinds: other byte orders, word sizes, alignments.
 *
 *     root: a job ----> [ JOBS ] worker, one on each machine that the program has
 *           [ RESULTS ] <---- a result, with how this machine represents it
 *
 * Nothing here knows which machines there are, or what they are.  Both sides say once what their structs consist of;
 * bcr_send makes a region in the representation of the sender, and bcr_recv copies it into that of the receiver.
 */
#include "args.h"
#include "must.h"
#include <string.h>

static const char USAGE[] = "usage: kinds     (enl --hosts FILE kinds)\n"
                            "Has a job done on each machine of the program, of whatever kind it is.\n";

enum { JOBS = 1, RESULTS = 2, REGION_BYTES = 256, MACHINE_CHARS = 256, MACHINES_MAX = 100 };

struct job {
    bcr_cce_id worker; /* whom it is for; sent to it, it learns its own ID in passing */
    short number;
    double factor;
    long count;
    long long offset;
};
static const int JOB[] = {bcrD_STRUCT(struct job, (CCE, worker), (SHORT, number), (DOUBLE, factor),
                                      (LONG, count), (LONGLONG, offset))};

struct result {
    bcr_cce_id worker;
    short number;
    char order[8]; /* text is bytes everywhere */
    int long_bytes, job_bytes;
    double value;
};
static const int RESULT[] = {bcrD_STRUCT(struct result, (CCE, worker), (SHORT, number), (CHAR, order, 8),
                                         (INT, long_bytes), (INT, job_bytes), (DOUBLE, value))};

static double work(const struct job *job)
{
    return (double)(job->offset + job->count) * job->factor;
}

static void be_worker(void)
{
    const unsigned one = 1;
    struct job job = {.worker = bcr_cce};
    must(bcr_cagrow(JOBS, 0, 1, 0, 0, 1, 4 * REGION_BYTES), "grow its cell");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, RESULTS, 1, 0), "tell its ID");
    must_copy(bcr_recv(&job, sizeof job, JOB, 1, bcr_cce, JOBS, 1, bcr_BLOCK), "take a job");
    must_hold(job.worker == bcr_cce, "a CCE's ID, too, means the same everywhere");
    struct result result = {.worker = bcr_cce,
                            .number = job.number,
                            .long_bytes = sizeof(long),
                            .job_bytes = sizeof(struct job),
                            .value = work(&job)};
    strcpy(result.order, *(const char *)&one == 1 ? "little" : "big");
    must(bcr_send(&result, sizeof result, RESULT, 1, bcr_enlistor, RESULTS, 1, 0), "send a result");
}

static void lead(const char *program)
{
    static char machine[MACHINES_MAX][MACHINE_CHARS];
    bcr_cce_id worker[MACHINES_MAX];
    int machines = 0;
    must(bcr_cagrow(JOBS, 0, 2, 0, 0, MACHINES_MAX, 4 * MACHINES_MAX * REGION_BYTES), "grow its cells");
    while (machines < MACHINES_MAX &&
           must(bcr_host(machines, machine[machines], MACHINE_CHARS), "ask for a machine") > 0) {
        must(bcr_enlist(machine[machines], -1, machines + 1, program, NULL, bcr_FREE), "enlist a worker");
        must_copy(bcr_recv(&worker[machines], sizeof worker[0], bcrT_1CCE, 1, bcr_cce, RESULTS, 1, bcr_BLOCK),
                  "hear from a worker");
        machines++;
    }
    struct job job = {.factor = -0.375, .count = -1000000, .offset = 1LL << 40};
    for (int i = 0; i < machines; i++) {
        job.worker = worker[i];
        job.number = (short)(-1 - i);
        must(bcr_send(&job, sizeof job, JOB, 1, worker[i], JOBS, 1, 0), "send a job");
    }
    for (int i = 0; i < machines; i++) {
        struct result result;
        must_copy(bcr_recv(&result, sizeof result, RESULT, 1, bcr_cce, RESULTS, 1, bcr_BLOCK),
                  "take a result");
        const size_t at = (size_t)(-1 - result.number);
        must_hold(at < (size_t)machines && result.worker == worker[at],
                  "each result is of the worker that had the job");
        must_hold(result.value == work(&job), "each machine has computed with the same numbers");
        printf("kinds: %s: the %s end first, a long of %d bytes, a job of %d\n", machine[at], result.order,
               result.long_bytes, result.job_bytes);
    }
    printf("kinds: %d machine%s computed the same\n", machines, machines == 1 ? "" : "s");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 0, USAGE);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0]);
    else
        be_worker();
    return EXIT_SUCCESS;
}

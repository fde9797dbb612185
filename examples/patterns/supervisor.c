/* SPDX-License-Identifier: MIT */
/*
 * supervisor -- notices which worker has died, enlists another in its place, and gives that one its task again.
 *
 *     supervisor: bcr_rgwaitm over ----> a pending get at its own cell of results
 *                                  `---> a pending get at the LIFE cell of each worker
 *
 * Nobody ever puts anything into a LIFE cell.  So a get that waits there ends with bcrE_DEAD, when its worker does, and
 * in no other way.  That needs no time-out and no message that says "I am alive".
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <signal.h>

static const char USAGE[] =
    "usage: enl --onfail isolate supervisor [workers [tasks]]     (3 workers, 40 tasks)\n"
    "Has tasks done by workers of which some are killed at work.  Without `onfail isolate`\n"
    "the first of them ends the whole program.\n";

enum { CRIES = 1, RESULTS = 2 };       /* the supervisor's cells */
enum { TASK = 1, LIFE = 2 /* out */ }; /* a worker's cells */
enum { MAX_WORKERS = 100, MOST_ATTEMPTS = 3, FATAL = 7, REGION_BYTES = 64 };
enum { PATIENCE_MSEC = 60000 }; /* for the birthcry of a worker, on however busy a machine */

struct task {
    int number, attempt; /* number 0: there are no more */
};
struct result {
    int ord, number;
    long square;
};
struct cry {
    bcr_cce_id cce;
    int ord;
};
static const int CRY[] = {bcrD_STRUCT(struct cry, (CCE, cce), (INT, ord))};

/* --- a worker --- */

static struct task take_task(void)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, TASK, bcr_BLOCK), "take a task");
    const struct task task = *(struct task *)*region;
    must(bcr_rgfree(region), "free a task");
    return task;
}

static void work(void)
{
    const struct cry me = {.cce = bcr_cce, .ord = bcr_cceord};
    must(bcr_cagrow(TASK, 0, 1, 1, 0, 1, 4096), "grow its cells");
    must(bcr_send(&me, sizeof me, CRY, 1, bcr_enlistor, CRIES, 1, 0), "tell its ID");
    for (struct task task; (task = take_task()).number != 0;) {
        if (task.number % FATAL == 0 && task.attempt == 1)
            raise(SIGKILL); /* what one would rather not plan for */
        bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a result");
        *(struct result *)*region = (struct result){
            .ord = bcr_cceord, .number = task.number, .square = (long)task.number * task.number};
        must(bcr_enq(region, bcr_enlistor, RESULTS, bcr_FREE), "report a result");
    }
}

/* --- the supervisor --- */

struct worker {
    bcr_cce_id cce;
    int ord;
    bcr_region life; /* the pending get at its LIFE cell */
    struct task task;
};

static struct {
    const char *program;
    int workers, tasks;
    struct worker worker[MAX_WORKERS];
    bcr_region result; /* the pending get at RESULTS */
    int enlisted, given, finished, deaths;
    long sum;
} boss;

/* Gives a task to a worker.  It may be dead by now: then its life tells, and the task is still its task. */
static void give(struct worker *worker, struct task task)
{
    worker->task = task;
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a task");
    *(struct task *)*region = task;
    if (bcr_enq(region, worker->cce, TASK, bcr_FREE) == 0)
        return;
    if (bcr_errno != bcrE_DEAD)
        must_end("give a task", bcr_strerror(bcr_errno));
    must(bcr_rgfree(region), "free a task"); /* a put that fails leaves the region with its caller */
}

static void give_next(struct worker *worker)
{
    worker->task.number = 0;
    if (boss.given < boss.tasks)
        give(worker, (struct task){.number = ++boss.given, .attempt = 1});
}

/* Waits for the birthcry of this worker.  False if none comes, or if the worker has died since. */
static bool is_born(struct worker *worker)
{
    for (;;) {
        struct cry from;
        const int copied = bcr_recv(&from, sizeof from, CRY, 1, bcr_cce, CRIES, 1, PATIENCE_MSEC);
        if (copied < 0 && bcr_errno == bcrE_TIMEOUT)
            return false;
        must_copy(copied, "hear from a worker");
        worker->cce = from.cce;
        if (from.ord == worker->ord)
            break;
        give(worker, (struct task){0}); /* one that was given up too early: it is sent home */
    }
    worker->life = bcr_deq(worker->cce, LIFE, bcr_PENDING);
    if (worker->life == NULL && bcr_errno != bcrE_DEAD)
        must_end("watch a worker", bcr_strerror(bcr_errno));
    return worker->life != NULL;
}

static void hire(struct worker *worker)
{
    do {
        worker->ord = ++boss.enlisted;
        must(bcr_enlist(NULL, -1, worker->ord, boss.program, NULL, bcr_FREE), "enlist a worker");
    } while (!is_born(worker));
}

static void await_result(void)
{
    boss.result = must_have(bcr_deq(bcr_cce, RESULTS, bcr_PENDING), "wait for results");
}

static void take_result(void)
{
    const struct result result = *(struct result *)*boss.result;
    must(bcr_rgfree(boss.result), "free a result");
    await_result();
    boss.finished++;
    boss.sum += result.square;
    for (int i = 0; i < boss.workers; i++)
        if (boss.worker[i].ord == result.ord)
            give_next(&boss.worker[i]);
}

static void replace(struct worker *worker)
{
    must_hold(bcr_rgwait(worker->life, 0, 0) < 0 && bcr_errno == bcrE_DEAD, "a life ends by death only");
    /* What it has put before it died is there by now.  So its last result is not waited for a second time. */
    while (must(bcr_rgwait(boss.result, 0, 0), "look for results") == 1)
        take_result();
    boss.deaths++;
    struct task task = worker->task;
    hire(worker);
    must_hold(++task.attempt <= MOST_ATTEMPTS, "a task that kills every worker is not tried for ever");
    if (task.number != 0)
        give(worker, task);
}

static void supervise(void)
{
    for (int i = 0; i < boss.workers; i++) {
        hire(&boss.worker[i]);
        give_next(&boss.worker[i]);
    }
    await_result();
    while (boss.finished < boss.tasks) {
        bcr_region first_of[1 + MAX_WORKERS] = {boss.result};
        for (int i = 0; i < boss.workers; i++)
            first_of[1 + i] = boss.worker[i].life;
        const int ready = must(bcr_rgwaitm(1 + boss.workers, first_of, bcr_BLOCK, 0), "wait") - 1;
        if (ready > 0)
            replace(&boss.worker[ready - 1]);
        else if (must(bcr_rgwait(boss.result, 0, 0), "take a result") == 1)
            take_result();
    }
}

static void dismiss(struct worker *worker)
{
    give(worker, (struct task){0});
    must_hold(bcr_rgwait(worker->life, bcr_BLOCK, 0) < 0 && bcr_errno == bcrE_DEAD,
              "a life ends by death only");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    boss.program = argv[0];
    boss.workers = args_number(argc, argv, 1, "workers", 3, 1, MAX_WORKERS);
    boss.tasks = args_number(argc, argv, 2, "tasks", 40, 1, 1000);
    must_init(0, argv[0]);
    if (bcr_enlistor >= 0) {
        work();
        return EXIT_SUCCESS;
    }

    must(bcr_cagrow(CRIES, 0, 2, 0, 0, 2 * boss.workers, 4 * (boss.workers + 4) * REGION_BYTES),
         "grow its cells");
    supervise();
    for (int i = 0; i < boss.workers; i++)
        dismiss(&boss.worker[i]);
    printf("supervisor: %d tasks done, %d workers died at work and were replaced\n", boss.finished,
           boss.deaths);
    long sum = 0;
    for (long i = 1; i <= boss.tasks; i++)
        sum += i * i;
    must_hold(boss.sum == sum, "every task is done, and once");
    must_hold(boss.deaths == boss.tasks / FATAL, "every death is noticed, once");
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/*
 * supervisor -- notices which worker has died, starts another in its place, and gives that one its task again.
 *
 *     supervisor: bcr_deq of NEWS <---- results of the workers
 *                                 <---- for each worker that has ended, a region of kind bcr_END (bcr_watch of bcr_STARTED)
 *
 * The region that tells of an end comes behind all that the worker has put.  So no result of a dead worker is waited for,
 * none is overlooked, and no message has to say "I am alive".  Workers are told of that never came up, too.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"

#include <bcr/program.h>
#include <signal.h>

static const char USAGE[] =
    "usage: enl --onfail isolate supervisor [workers [tasks]]     (3 workers, 40 tasks)\n"
    "Has tasks done by workers of which some are killed at work.  Without `onfail isolate`\n"
    "the first of them ends the whole program.\n";

enum { NEWS = 1 }; /* the supervisor's cell */
enum { TASK = 1 }; /* a worker's cell */
enum { MAX_WORKERS = 100, MOST_ATTEMPTS = 3, FATAL = 7, REGION_BYTES = 64 };

struct task {
    int number, attempt; /* number 0: there are no more */
};
struct result {
    int ord, number; /* number 0: of no task; the worker can be given its first one */
    long square;
};

/* --- a worker --- */

static struct task take_task(void)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, TASK, bcr_BLOCK), "take a task");
    const struct task task = *(struct task *)*region;
    must(bcr_rgfree(region), "free a task");
    return task;
}

static void report(int number)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a result");
    *(struct result *)*region =
        (struct result){.ord = bcr_cceord, .number = number, .square = (long)number * number};
    must(bcr_enq(region, bcr_enlistor, NEWS, bcr_FREE), "report a result");
}

static void work(void)
{
    must(bcr_cagrow(TASK, 0, 1, 0, 0, 1, 4096), "grow its cell");
    report(0);
    for (struct task task; (task = take_task()).number != 0;) {
        if (task.number % FATAL == 0 && task.attempt == 1)
            raise(SIGKILL); /* what one would rather not plan for */
        report(task.number);
    }
}

/* --- the supervisor --- */

struct worker {
    bcr_cce_id cce;
    int ord;
    struct task task; /* number 0: it has none */
};

static struct {
    const char *program;
    int workers, tasks;
    struct worker worker[MAX_WORKERS];
    int started, given, finished, deaths;
    long sum;
} boss;

static void hire(struct worker *worker)
{
    worker->ord = ++boss.started;
    const struct bcr_startspec spec = {
        .size = sizeof spec, .core = -1, .count = 1, .ordinal = worker->ord, .program = boss.program};
    must(bcr_start(&spec, &worker->cce), "start a worker");
}

static struct worker *worker_by(int ord)
{
    int i = 0;
    while (i < boss.workers && boss.worker[i].ord != ord)
        i++;
    must_hold(i < boss.workers, "news are of a worker");
    return &boss.worker[i];
}

/* Gives a worker its task.  It may be dead by now: then its end will be told, and the task is still its task. */
static void give(const struct worker *worker)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a task");
    *(struct task *)*region = worker->task;
    if (bcr_enq(region, worker->cce, TASK, bcr_FREE) == 0)
        return;
    must_hold(bcr_errno == bcrE_DEAD, "only to the dead nothing can be given");
    must(bcr_rgfree(region), "free a task"); /* a put that fails leaves the region with its caller */
}

/* A worker has done its task, or is new and gets that of the one before it. */
static void take_result(const struct result *result)
{
    struct worker *worker = worker_by(result->ord);
    if (result->number != 0) {
        worker->task = (struct task){0};
        boss.finished++;
        boss.sum += result->square;
    }
    if (worker->task.number == 0 && boss.given < boss.tasks)
        worker->task = (struct task){.number = ++boss.given, .attempt = 1};
    give(worker);
}

/* Whether a worker has gone home.  One that has died is replaced. */
static int has_gone(bcr_region region)
{
    int end[4];
    must_copy(bcr_copyfm(bcrT_1END, 1, region, 0, end, sizeof end), "read how a worker has ended");
    if (end[2] == bcr_EXITED && end[3] == 0)
        return 1;
    struct worker *worker = worker_by(end[1]);
    boss.deaths++;
    must_hold(++worker->task.attempt <= MOST_ATTEMPTS,
              "a task that kills every worker is not tried for ever");
    hire(worker);
    return 0;
}

static void supervise(void)
{
    must(bcr_watch(bcr_STARTED, NEWS), "watch all that it starts");
    for (int i = 0; i < boss.workers; i++)
        hire(&boss.worker[i]);
    for (int working = boss.workers; working > 0;) {
        bcr_region news = must_have(bcr_deq(bcr_cce, NEWS, bcr_BLOCK), "wait for news");
        if (bcr_rgkind(news) == bcr_END)
            working -= has_gone(news);
        else
            take_result(*news);
        must(bcr_rgfree(news), "free news");
    }
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

    must(bcr_cagrow(NEWS, 0, 1, 0, 0, 2 * boss.workers, 4 * (boss.workers + 4) * REGION_BYTES),
         "grow its cell");
    supervise();
    printf("supervisor: %d tasks done, %d workers died at work and were replaced\n", boss.finished,
           boss.deaths);
    long sum = 0;
    for (long i = 1; i <= boss.tasks; i++)
        sum += i * i;
    must_hold(boss.sum == sum, "every task is done, and once");
    must_hold(boss.deaths == boss.tasks / FATAL, "every death is noticed, once");
    return EXIT_SUCCESS;
}

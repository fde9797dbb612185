/* SPDX-License-Identifier: MIT */
/*
 * supervisor -- notices which worker has died, enlists another in its place, and gives that one its task again.
 *
 *     supervisor: bcr_deq of RESULTS <---- results of the workers
 *                                    <---- for each worker that has ended, a region of kind bcr_END (bcr_watch)
 *
 * The region that tells of an end comes behind all that the worker has put.  So no result of a dead worker is waited for,
 * none is overlooked, and no message has to say "I am alive".
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

enum { CRIES = 1, RESULTS = 2 }; /* the supervisor's cells */
enum { TASK = 1 };               /* a worker's cell */
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
    must(bcr_cagrow(TASK, 0, 1, 0, 0, 1, 4096), "grow its cell");
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
    struct task task;
};

static struct {
    const char *program;
    int workers, tasks;
    struct worker worker[MAX_WORKERS];
    int enlisted, given, finished, deaths;
    long sum;
} boss;

/* Gives a task to a worker.  It may be dead by now: its end is told, and the task is still its task. */
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

/* Waits for the birthcry of this worker.  False if none comes. */
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
            return true;
        give(worker, (struct task){0}); /* one that was given up too early: it is sent home */
    }
}

static void hire(struct worker *worker)
{
    do {
        worker->ord = ++boss.enlisted;
        must(bcr_enlist(NULL, -1, worker->ord, boss.program, NULL, bcr_FREE), "enlist a worker");
    } while (!is_born(worker));
    must(bcr_watch(worker->cce, RESULTS), "watch a worker"); /* that it has died already is told, too */
}

static void take_result(bcr_region region)
{
    const struct result result = *(struct result *)*region;
    must(bcr_rgfree(region), "free a result");
    boss.finished++;
    boss.sum += result.square;
    for (int i = 0; i < boss.workers; i++)
        if (boss.worker[i].ord == result.ord)
            give_next(&boss.worker[i]);
}

/* The worker of which that region tells; NULL: of none that works still. */
static struct worker *ended(bcr_region region)
{
    int end[4];
    must_copy(bcr_copyfm(bcrT_1END, 1, region, 0, end, sizeof end), "read of an end");
    must(bcr_rgfree(region), "free what tells of an end");
    for (int i = 0; i < boss.workers; i++)
        if (boss.worker[i].cce == end[0])
            return &boss.worker[i];
    return NULL;
}

static void replace(struct worker *worker)
{
    struct task task = worker->task;
    boss.deaths++;
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
    while (boss.finished < boss.tasks) {
        bcr_region region = must_have(bcr_deq(bcr_cce, RESULTS, bcr_BLOCK), "wait for news");
        struct worker *dead = NULL;
        if (bcr_rgkind(region) != bcr_END)
            take_result(region);
        else if ((dead = ended(region)) != NULL)
            replace(dead);
    }
}

static void dismiss(void)
{
    for (int i = 0; i < boss.workers; i++)
        give(&boss.worker[i], (struct task){0});
    for (int i = 0; i < boss.workers; i++)
        must_hold(ended(must_have(bcr_deq(bcr_cce, RESULTS, bcr_BLOCK), "wait for ends")) != NULL,
                  "each of them is told once");
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
    dismiss();
    printf("supervisor: %d tasks done, %d workers died at work and were replaced\n", boss.finished,
           boss.deaths);
    long sum = 0;
    for (long i = 1; i <= boss.tasks; i++)
        sum += i * i;
    must_hold(boss.sum == sum, "every task is done, and once");
    must_hold(boss.deaths == boss.tasks / FATAL, "every death is noticed, once");
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/*
 * locks -- several CCEs update one shared table under write locks and look at it under read locks.
 *
 * A cell that holds the table's region is its lock: who takes the region out has the write lock, who reads it
 * from the cell has a read lock, and no CCE ever sees another one's half-done work.  If that failed anywhere,
 * updates would be lost or a reader would find the accounts out of balance; both are checked.
 */
#include "args.h"
#include "must.h"
#include <string.h>

static const char USAGE[] = "usage: locks [nCCEs [rounds]]     (4 CCEs beside the root, 1000 rounds)\n"
                            "Several CCEs move money between the accounts of one shared table.\n";

enum { DONE = 1, TABLE = 2 }; /* the root's cells: one that others put into, one that others lock */
enum { ACCOUNTS = 100 };

struct table {
    long updates;           /* all that were made */
    long balance[ACCOUNTS]; /* the sum is always 0 */
    long updates_by[];      /* those of each CCE, by ordinal from 1 */
};

/* What a worker is told at its birth, and what it tells at its end. */
struct task {
    int workers, rounds;
};
struct report {
    int ord, reads, unbalanced;
};
static const int TASK[] = {0, bcrT_INT | bcrT_END, 2};
static const int REPORT[] = {0, bcrT_INT | bcrT_END, 3};
enum { TASK_BYTES = 64 };

static int table_bytes(int workers)
{
    return (int)(sizeof(struct table) + (size_t)workers * sizeof(long));
}

static bool is_balanced(const struct table *table)
{
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += table->balance[i];
    return sum == 0;
}

static void move_money(struct table *table, int ord)
{
    const long amount = rand() % 1000;
    table->balance[rand() % ACCOUNTS] -= amount;
    table->balance[rand() % ACCOUNTS] += amount;
    table->updates++;
    table->updates_by[ord - 1]++;
}

static void work(void)
{
    struct task task;
    bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its task");
    must_copy(bcr_copyfm(TASK, 1, birth, 0, &task, sizeof task), "read its task");
    must(bcr_rgfree(birth), "free its task");

    /* A write lock on a table that readers still look at gives this CCE a copy, from its own comm heap.  Each
     * copy lives until its last reader lets go: at most one per worker, the table itself and the next one. */
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, (task.workers + 4) * (table_bytes(task.workers) + 64)),
         "grow its comm heap");

    srand((unsigned)bcr_cceord);
    struct report report = {.ord = bcr_cceord};
    for (int round = 0; round < task.rounds; round++) {
        bcr_region table = must_have(bcr_acqwl(bcr_enlistor, TABLE, bcr_BLOCK), "get the write lock");
        move_money(*table, bcr_cceord);
        if (round % 3 == 0) {
            must(bcr_wl2rl(table, bcr_enlistor, TABLE), "turn its write lock into a read lock");
        } else {
            must(bcr_rlswl(table, bcr_enlistor, TABLE), "release the write lock");
            table = must_have(bcr_acqrl(bcr_enlistor, TABLE, bcr_BLOCK), "get a read lock");
        }
        report.reads++;
        report.unbalanced += !is_balanced(*table);
        must(bcr_rlsrl(table), "release the read lock");
    }

    bcr_region done = must_have(bcr_rgalloc(TASK_BYTES, 0), "allocate its report");
    must_copy(bcr_copyto(REPORT, 1, done, 0, &report, sizeof report), "write its report");
    must(bcr_enq(done, bcr_enlistor, DONE, bcr_FREE), "send its report");
}

/* The table starts behind its write lock, which is released only when it is ready. */
static void offer_table(int workers)
{
    const int bytes = table_bytes(workers);
    bcr_region table = must_have(bcr_rgalloc(bytes, 0), "allocate the table");
    memset(*table, 0, (size_t)bytes);
    must(bcr_rlswl(table, bcr_cce, TABLE), "offer the table");
}

static void enlist_workers(const char *program, struct task task)
{
    bcr_region birth = must_have(bcr_rgalloc(TASK_BYTES, 0), "allocate the task");
    must_copy(bcr_copyto(TASK, 1, birth, 0, &task, sizeof task), "write the task");
    must(bcr_enlist(NULL, -task.workers, 1, program, birth, bcr_FREE), "enlist the workers");
}

static struct report take_report(void)
{
    struct report report;
    bcr_region done = must_have(bcr_deq(bcr_cce, DONE, bcr_BLOCK), "take a report");
    must_copy(bcr_copyfm(REPORT, 1, done, 0, &report, sizeof report), "read a report");
    must(bcr_rgfree(done), "free a report");
    return report;
}

static void lead(const char *program, struct task task)
{
    must(bcr_cagrow(DONE, 0, 1, 0, 1, task.workers + 1, 2 * table_bytes(task.workers) + 4096),
         "grow its cells");
    offer_table(task.workers);
    enlist_workers(program, task);

    long reads = 0, unbalanced = 0;
    for (int i = 0; i < task.workers; i++) {
        const struct report report = take_report();
        reads += report.reads;
        unbalanced += report.unbalanced;
    }

    bcr_region region = must_have(bcr_acqrl(bcr_cce, TABLE, bcr_BLOCK), "read the table");
    const struct table *table = *region;
    const long made = (long)task.workers * task.rounds;
    printf("locks: %d CCEs, %d updates each: %ld made, %ld in the table\n", task.workers, task.rounds, made,
           table->updates);
    printf("locks: %ld read locks: the accounts were out of balance %ld times\n", reads, unbalanced);
    must_hold(table->updates == made, "no update is lost");
    for (int i = 0; i < task.workers; i++)
        must_hold(table->updates_by[i] == task.rounds, "each CCE's updates are all there");
    must_hold(unbalanced == 0 && is_balanced(table), "nobody sees a half-done update");
    must(bcr_rlsrl(region), "release the read lock");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const struct task task = {.workers = args_number(argc, argv, 1, "nCCEs", 4, 1, 1000),
                              .rounds = args_number(argc, argv, 2, "rounds", 1000, 1, 1000000)};
    must_init(bcr_user_ca, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0], task);
    else
        work();
    return EXIT_SUCCESS;
}

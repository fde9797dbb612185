/* SPDX-License-Identifier: MIT */
/*
 * nring1 -- the smallest program here: a ring of CCEs that passes one region round.
 *
 *     root 0  <--  1  <--  2  <--  ...  <--  n-1        enlistor <-- enlisted
 *        |_____________________________________^
 *
 * Each CCE enlists the next one and passes the region back to its enlistor, whose ID it knows from birth.
 * So a single ID has to travel: that of the last CCE, to the root, which closes the ring.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] = "usage: nring1 [nCCEs [passes]]     (4 CCEs, 1000 passes)\n"
                            "Passes a region round a ring of CCEs, each of which adds its number to it.\n";

enum { RING = 1, LAST = 2 }; /* every CCE's cells: the region's way round; the last CCE's ID, to the root */

/* What a CCE is born with.  A CCE ID is an int here, but in a region it has another form: see bcrT_CCE. */
struct task {
    int to_enlist; /* CCEs that are still missing */
    int passes;
    bcr_cce_id root;
};
static const int TASK[] = {0, bcrT_INT, 2, 0, bcrT_CCE | bcrT_END, 1};
enum { TASK_BYTES = 64 }; /* more than it takes, and the most that a birth region may have */

static void take_task(struct task *task)
{
    bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its birth region");
    must_copy(bcr_copyfm(TASK, 1, birth, 0, task, sizeof *task), "read its task");
    must(bcr_rgfree(birth), "free its birth region");
}

static void enlist_next(const char *program, struct task task)
{
    bcr_region birth = must_have(bcr_rgalloc(TASK_BYTES, 0), "allocate a birth region");
    task.to_enlist--;
    must_copy(bcr_copyto(TASK, 1, birth, 0, &task, sizeof task), "write a task");
    must(bcr_enlist(NULL, -1, bcr_cceord + 1, program, birth, bcr_FREE), "enlist the next CCE");
}

static void send_id(bcr_cce_id to)
{
    bcr_region id = must_have(bcr_rgalloc(TASK_BYTES, 0), "allocate a region for its ID");
    must_copy(bcr_copyto(bcrT_1CCE, 1, id, 0, &bcr_cce, sizeof bcr_cce), "write its ID");
    must(bcr_enq(id, to, LAST, bcr_FREE), "send its ID to the root");
}

static int take_id(void)
{
    bcr_cce_id cce;
    bcr_region id = must_have(bcr_deq(bcr_cce, LAST, bcr_BLOCK), "take the last CCE's ID");
    must_copy(bcr_copyfm(bcrT_1CCE, 1, id, 0, &cce, sizeof cce), "read the last CCE's ID");
    must(bcr_rgfree(id), "free the last CCE's ID");
    return cce;
}

/* The root sends the region off, and keeps it when it has come back for the last time: what is in it then. */
static long pass_round(bool root, bcr_cce_id next, int passes)
{
    if (root) {
        bcr_region region = must_have(bcr_rgalloc(sizeof(long), 0), "allocate the region");
        **(long **)region = 0;
        must(bcr_enq(region, next, RING, bcr_FREE), "send the region off");
    }
    for (int pass = 1;; pass++) {
        bcr_region region = must_have(bcr_deq(bcr_cce, RING, bcr_BLOCK), "take the region");
        must(bcr_rgmod(region), "make the region its own"); /* others might hold it too; here nobody does */
        **(long **)region += bcr_cceord + 1;
        const long sum = **(long **)region;
        if (root && pass == passes)
            must(bcr_rgfree(region), "free the region");
        else
            must(bcr_enq(region, next, RING, bcr_FREE), "pass the region on");
        if (pass == passes)
            return sum;
    }
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const int cces = args_number(argc, argv, 1, "nCCEs", 4, 1, 10000);
    const int passes = args_number(argc, argv, 2, "passes", 1000, 1, 1000000);
    struct task task = {.to_enlist = cces - 1, .passes = passes};

    must_init(bcr_user_ca, argv[0]);
    const bool root = bcr_enlistor < 0;
    must(bcr_cagrow(RING, 0, 2, 0, 0, 4, 4096), "grow its cells"); /* before another CCE can know its ID */
    if (root)
        task.root = bcr_cce;
    else
        take_task(&task);

    if (task.to_enlist > 0)
        enlist_next(argv[0], task);
    else
        send_id(task.root);

    const long sum = pass_round(root, root ? take_id() : bcr_enlistor, task.passes);
    if (root) {
        printf("nring1: %d CCEs, %d passes: their numbers, from 1, add up to %ld\n", cces, passes, sum);
        must_hold(sum == (long)passes * cces * (cces + 1) / 2, "the region met every CCE once in each pass");
    }
    return EXIT_SUCCESS;
}

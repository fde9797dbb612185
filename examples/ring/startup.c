/* SPDX-License-Identifier: MIT */
/*
 * startup.c -- see startup.h.
 */
#include "startup.h"
#include "must.h"
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MSEC = 60000 }; /* from one birthcry to the next */

static const int TASK[] = {0, bcrT_INT | bcrT_END, 5}; /* struct ring_task */

/* A CCE and its place, counted from the root. */
struct place {
    bcr_cce_id cce;
    int ord;
};
static const int PLACE[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 1};

/* What an error region says: bcrT_1ERROR. */
struct failure {
    int code, operation, cce, ord;
};

static void send_place(struct place place, bcr_cce_id to)
{
    bcr_region region = must_have(bcr_rgalloc(RING_START_BYTES, 0), "allocate a region to start with");
    must_copy(bcr_copyto(PLACE, 1, region, 0, &place, sizeof place), "write a place in the ring");
    must(bcr_enq(region, to, RING_START, bcr_FREE), "send a place in the ring");
}

static struct place read_place(bcr_region region)
{
    struct place place;
    must_copy(bcr_copyfm(PLACE, 1, region, 0, &place, sizeof place), "read a place in the ring");
    must(bcr_rgfree(region), "free a place in the ring");
    return place;
}

static const char *machine_of(const struct strings *machines, int ord)
{
    return machines->item[(ord - 1) % machines->count];
}

static void enlist_all(const char *program, const struct ring_task *task, const struct strings *machines)
{
    bcr_region birth = must_have(bcr_rgalloc(RING_START_BYTES, 0), "allocate the task");
    must_copy(bcr_copyto(TASK, 1, birth, 0, task, sizeof *task), "write the task");
    for (int ord = 1; ord < task->cces;) {
        /* One call for as many as follow each other on one machine. */
        const char *machine = machine_of(machines, ord);
        int count = 1;
        while (ord + count < task->cces && strcmp(machine_of(machines, ord + count), machine) == 0)
            count++;
        char what[300];
        snprintf(what, sizeof what, "enlist CCE %d of the ring on machine %s", ord, machine);
        must(bcr_enlist(machine, -count, ord, program, birth, bcr_NOFREE), what);
        ord += count;
    }
    must(bcr_rgfree(birth), "free the task");
}

static _Noreturn void end_for_failed_start(bcr_region region)
{
    struct failure failure = {0};
    must_hold(bcr_rgerror(region) > 0, "after its birth region, cell 0 gets error regions only");
    must_copy(bcr_copyfm(bcrT_1ERROR, 1, region, 0, &failure, sizeof failure), "read an error region");
    fprintf(stderr, "CCE %d of the ring did not start: %s\n", failure.ord, bcr_strerror(failure.code));
    exit(EXIT_FAILURE);
}

/* The IDs of all CCEs, by ordinal.  A birthcry and the report of a failed start come into different cells;
 * pending gets wait for both at once. */
static int *await_birthcries(int cces)
{
    int *ids = calloc((size_t)cces, sizeof *ids);
    if (ids == NULL)
        must_end("collect the birthcries", "out of memory");
    ids[0] = bcr_cce;

    bcr_region failure = must_have(bcr_deq(bcr_cce, 0, bcr_PENDING), "ask for error regions");
    for (int missing = cces - 1; missing > 0; missing--) {
        bcr_region cry = must_have(bcr_deq(bcr_cce, RING_START, bcr_PENDING), "ask for a birthcry");
        bcr_region either[] = {failure, cry};
        const int which = must(bcr_rgwaitm(2, either, PATIENCE_MSEC, 0), "wait for a birthcry");
        if (which == 0)
            must_end("start the ring", "a CCE was enlisted, but has not sent its birthcry");
        if (which == 1)
            end_for_failed_start(failure);
        const struct place from = read_place(cry);
        must_hold(from.ord > 0 && from.ord < cces && ids[from.ord] == 0, "each CCE cries once");
        ids[from.ord] = from.cce;
    }
    must(bcr_rgfree(failure), "cancel the get for error regions");
    return ids;
}

int start_ring(const char *program, const struct ring_task *task, const struct strings *machines)
{
    enlist_all(program, task, machines);
    int *ids = await_birthcries(task->cces);
    for (int ord = 1; ord < task->cces; ord++) {
        const int next_ord = (ord + 1) % task->cces;
        send_place((struct place){.cce = ids[next_ord], .ord = next_ord}, ids[ord]);
    }
    const int next = ids[1 % task->cces];
    free(ids);
    return next;
}

struct ring_task take_ring_task(void)
{
    struct ring_task task;
    bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its task");
    must_copy(bcr_copyfm(TASK, 1, birth, 0, &task, sizeof task), "read its task");
    must(bcr_rgfree(birth), "free its task");
    return task;
}

int join_ring(void)
{
    send_place((struct place){.cce = bcr_cce, .ord = bcr_cceord}, bcr_enlistor);
    const struct place next =
        read_place(must_have(bcr_deq(bcr_cce, RING_START, bcr_BLOCK), "take its place"));
    return next.cce;
}

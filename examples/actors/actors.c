/* SPDX-License-Identifier: MIT */
/*
 * actors -- CCEs that live in their handlers: a pipeline, and a fan-out behind it.
 *
 *                                            ,--> worker 1 --.
 *     root --> stage 1 --> ... --> stage n --+--> worker 2 --+--> root
 *                                            `--> worker 3 --'
 *
 * Every main program here, the root's too, sets up its handlers and then blocks for ever.  Stages and workers are
 * one and the same actor: it takes an item, does its work, and puts the item to the next of those it was told of.
 *
 * Cells have little room.  So an actor whose neighbour is slow is held up in its put, and then the one before it:
 * the root, which feeds items as fast as it can, goes no faster than the slowest worker.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] =
    "usage: actors [stages [workers [items]]]     (3 stages, 4 workers, 10000 items)\n"
    "Items go through a pipeline and a fan-out of CCEs that only have handlers.\n";

/* Everybody's cells, in two areas: full ITEMS must not keep a LINK out. */
enum { CRY = 1, LINK = 2, READY = 3, ITEMS = 4, RESULTS = 5 };
enum { ROOM = 4 /* items in a cell */, MAX_STAGES = 32, MAX_WORKERS = 32, REGION_BYTES = 64 };
enum { STOP = -1 }; /* in place of a serial number */

/* Priorities.  While an item's handler is held up in its put, no second one is started: what it has while it waits
 * is above what requests have.  So items stay in their order.  The root takes results before it does anything else,
 * also while it is held up in feeding. */
enum { ORDINARY = 0, ABOVE_ORDINARY = 1 };

/* A birthcry: who I am. */
struct cry {
    bcr_cce_id cce;
    int ord;
};
static const int CRY_TYPE[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 1};

/* Where an actor puts its items, in turn: cell `cell` of each of `count` CCEs.  The others are -1. */
struct link {
    int cell, count, next[MAX_WORKERS];
};
static const int LINK_TYPE[] = {0, bcrT_INT, 2, 0, bcrT_CCE | bcrT_END, MAX_WORKERS};
enum { LINK_BYTES = 2 * 8 + 16 * MAX_WORKERS };

/* Read and written in place: all CCEs of one host represent data alike. */
struct item {
    int serial; /* or STOP */
    int hops, by /* ordinal of its worker */;
    unsigned value;
};

static unsigned work_on(unsigned value, int ord)
{
    return value * 2654435761u + (unsigned)ord;
}

static struct item *item_in(bcr_region region)
{
    return *region;
}

static void grow_cells(int control_regions, int heap_bytes)
{
    must(bcr_cagrow(CRY, 0, 3, 0, 0, control_regions, heap_bytes), "grow its cells");
    must(bcr_cagrow(ITEMS, 0, 1, 0, 0, ROOM, 0), "grow its cell for items");
    must(bcr_cagrow(RESULTS, 0, 1, 0, 0, ROOM, 0), "grow its cell for results");
}

/* --- stages and workers --- */

static struct link mine;

static void put_item(bcr_region region, bcr_cce_id next)
{
    must(bcr_enq(region, next, mine.cell, bcr_FREE), "pass an item on");
}

/* Tells all who come next, then ends.  Nothing is lost: in every cell STOP stands behind the last item. */
static _Noreturn void stop(bcr_region region)
{
    for (int i = 1; i < mine.count; i++)
        must(bcr_enq(region, mine.next[i], mine.cell, bcr_NOFREE), "pass the end on");
    put_item(region, mine.next[0]);
    exit(EXIT_SUCCESS);
}

/* Runs once for each item that is put into the cell. */
static void on_item(int cell)
{
    static int turn;
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take an item");
    if (item_in(region)->serial == STOP)
        stop(region);
    must(bcr_rgmod(region), "make an item its own");
    item_in(region)->value = work_on(item_in(region)->value, bcr_cceord);
    item_in(region)->by = bcr_cceord;
    item_in(region)->hops++;
    put_item(region, mine.next[turn++ % mine.count]); /* held up here if the next one is slow */
}

/* Nobody sends items before this CCE has said that it is ready for them. */
static void on_link(int cell)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take its link");
    must_copy(bcr_copyfm(LINK_TYPE, 1, region, 0, &mine, sizeof mine), "read its link");
    must(bcr_handler(ITEMS, on_item, 1, ORDINARY, ABOVE_ORDINARY), "install its handler");
    must(bcr_enq(region, bcr_enlistor, READY, bcr_FREE), "say that it is ready");
}

static void be_actor(void)
{
    const struct cry me = {.cce = bcr_cce, .ord = bcr_cceord};
    grow_cells(1, 4096);
    must(bcr_handler(LINK, on_link, 1, ORDINARY, ORDINARY), "install a handler");
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate its birthcry");
    must_copy(bcr_copyto(CRY_TYPE, 1, region, 0, &me, sizeof me), "write its birthcry");
    must(bcr_enq(region, bcr_enlistor, CRY, bcr_FREE), "send its birthcry");
    bcr_block();
}

/* --- the root --- */

static struct {
    int stages, workers, items;
    int actor[1 + MAX_STAGES + MAX_WORKERS]; /* CCE IDs by ordinal: stages, then workers */
    int cried, ready, back, gone;
    int last_of[1 + MAX_STAGES + MAX_WORKERS]; /* serial number of the last item that each worker gave back */
} root;

static int actors(void)
{
    return root.stages + root.workers;
}

static void send_link(int ord)
{
    struct link link = {.cell = ITEMS, .count = 1};
    for (int i = 0; i < MAX_WORKERS; i++)
        link.next[i] = -1;
    if (ord < root.stages) {
        link.next[0] = root.actor[ord + 1];
    } else if (ord == root.stages) {
        link.count = root.workers;
        for (int i = 0; i < root.workers; i++)
            link.next[i] = root.actor[root.stages + 1 + i];
    } else {
        link.cell = RESULTS;
        link.next[0] = bcr_cce;
    }
    bcr_region region = must_have(bcr_rgalloc(LINK_BYTES, 0), "allocate a link");
    must_copy(bcr_copyto(LINK_TYPE, 1, region, 0, &link, sizeof link), "write a link");
    must(bcr_enq(region, root.actor[ord], LINK, bcr_FREE), "send a link");
}

static void on_cry(int cell)
{
    struct cry from;
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a birthcry");
    must_copy(bcr_copyfm(CRY_TYPE, 1, region, 0, &from, sizeof from), "read a birthcry");
    must(bcr_rgfree(region), "free a birthcry");
    root.actor[from.ord] = from.cce;
    if (++root.cried == actors())
        for (int ord = 1; ord <= actors(); ord++)
            send_link(ord);
}

static void feed(int serial)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate an item");
    *item_in(region) = (struct item){.serial = serial, .value = (unsigned)serial};
    must(bcr_enq(region, root.actor[1], ITEMS, bcr_FREE), "feed an item");
}

/* The last one that is ready sets it all going.  This handler is held up in its puts most of the time; results
 * are taken meanwhile. */
static void on_ready(int cell)
{
    must(bcr_rgfree(must_have(bcr_deq(bcr_cce, cell, 0), "hear that one is ready")), "free a region");
    if (++root.ready < actors())
        return;
    for (int serial = 0; serial < root.items; serial++)
        feed(serial);
    feed(STOP);
}

static void check_item(const struct item *item)
{
    const int by = root.stages + 1 + item->serial % root.workers;
    unsigned value = (unsigned)item->serial;
    for (int ord = 1; ord <= root.stages; ord++)
        value = work_on(value, ord);
    must_hold(item->hops == root.stages + 1 && item->value == work_on(value, by),
              "each item went through every stage once, in their order, and through one worker");
    must_hold(item->by == by, "the workers had items in turn");
    must_hold(item->serial > root.last_of[by], "what goes one way arrives once, and in its order");
    root.last_of[by] = item->serial;
}

static _Noreturn void finish(void)
{
    printf("actors: %d stages, %d workers: %d items fed, %d back, each once and in order\n", root.stages,
           root.workers, root.items, root.back);
    must_hold(root.back == root.items, "no item is lost");
    exit(EXIT_SUCCESS);
}

static void on_result(int cell)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a result");
    const struct item *item = item_in(region);
    const bool stopped = item->serial == STOP;
    if (!stopped) {
        check_item(item);
        root.back++;
    }
    must(bcr_rgfree(region), "free a result");
    if (stopped && ++root.gone == root.workers)
        finish();
}

static void lead(const char *program)
{
    /* Items that exist at one time: those in cells, one that each actor works on, and one being fed. */
    const int items = (actors() + 1) * (ROOM + 1) + 1;
    for (int ord = 1; ord <= actors(); ord++)
        root.last_of[ord] = -1;
    grow_cells(2 * actors(), 2 * (items * REGION_BYTES + actors() * (LINK_BYTES + 64)));
    must(bcr_handler(CRY, on_cry, 1, ORDINARY, ORDINARY), "install a handler");
    must(bcr_handler(READY, on_ready, 1, ORDINARY, ORDINARY), "install a handler");
    must(bcr_handler(RESULTS, on_result, 1, ABOVE_ORDINARY, ABOVE_ORDINARY), "install a handler");
    must(bcr_enlist(NULL, -actors(), 1, program, NULL, bcr_FREE), "enlist the actors");
    bcr_block();
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 3, USAGE);
    root.stages = args_number(argc, argv, 1, "stages", 3, 1, MAX_STAGES);
    root.workers = args_number(argc, argv, 2, "workers", 4, 1, MAX_WORKERS);
    root.items = args_number(argc, argv, 3, "items", 10000, 1, 100000000);

    must_init(bcr_user_ca | bcr_handlers, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0]);
    else
        be_actor();
    return EXIT_FAILURE; /* not reached: bcr_block does not return */
}

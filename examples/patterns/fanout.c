/* SPDX-License-Identifier: MIT */
/*
 * fanout -- one publisher, and subscribers each of which holds it up as much as was agreed with it, and no other one.
 *
 *                     ,--> [ FEED ] thorough: must have every item; the publisher waits for it
 *     publisher ------+--> [ FEED ] sleepy: nobody waits for it; what finds its cell full is not for it
 *                     `--> [ FEED ] leaver: goes away in the middle; the publisher strikes it off
 *
 * Each subscriber has a cell with little room.  bcr_putwait says before each put how long the publisher waits for
 * room there, and bcr_errno says afterwards what became of it.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] =
    "usage: fanout [items]     (1000 items)\n"
    "Publishes items to three subscribers, of which each takes them at its own pace.\n";

enum { CRIES = 1 };          /* the publisher's cell */
enum { FEED = 1, WAKE = 2 }; /* a subscriber's cells, in two areas: a full FEED must not keep WAKE out */
enum { THOROUGH, SLEEPY, LEAVER, SUBSCRIBERS };
enum { ROOM = 8 /* items in a FEED */, END = -1 /* in place of an item */, REGION_BYTES = 64 };

/* --- the subscribers --- */

/* The next item; END if none comes in time. */
static int take_item(int msec)
{
    bcr_region region = bcr_deq(bcr_cce, FEED, msec);
    if (region == NULL && bcr_errno == bcrE_TIMEOUT)
        return END;
    const int item = **(int **)must_have(region, "take an item");
    must(bcr_rgfree(region), "free an item");
    return item;
}

static void be_thorough(int items)
{
    for (int i = 1; i <= items; i++)
        must_hold(take_item(bcr_BLOCK) == i, "who is waited for gets every item, in order");
    must_hold(take_item(bcr_BLOCK) == END, "and then the end");
}

static void be_sleepy(void)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, WAKE, bcr_BLOCK), "wait until all is over");
    must(bcr_rgfree(region), "free a region");
    for (int i = 1; i <= ROOM; i++)
        must_hold(take_item(0) == i, "who takes nothing has the first items, as many as there is room for");
    must_hold(take_item(0) == END, "and no others");
}

static void be_leaver(void)
{
    for (int i = 1; i <= 3; i++)
        must_hold(take_item(bcr_BLOCK) == i, "who leaves has had items until then");
}

struct cry {
    bcr_cce_id cce;
    int ord;
};
static const int CRY[] = {bcrD_STRUCT(struct cry, (CCE, cce), (INT, ord))};

static void subscribe(int items)
{
    const struct cry me = {.cce = bcr_cce, .ord = bcr_cceord};
    must(bcr_cagrow(FEED, 0, 1, 0, 0, ROOM, 0), "grow its cell for items");
    must(bcr_cagrow(WAKE, 0, 1, 0, 0, 1, 4096), "grow its cell to be woken by");
    must(bcr_send(&me, sizeof me, CRY, 1, bcr_enlistor, CRIES, 1, 0), "tell its ID");
    if (bcr_cceord == THOROUGH)
        be_thorough(items);
    else if (bcr_cceord == SLEEPY)
        be_sleepy();
    else
        be_leaver();
}

/* --- the publisher --- */

static struct subscriber {
    bcr_cce_id cce;
    int patience_msec; /* how long a put waits for room: bcr_BLOCK or 0 */
    bool gone;
    int got, missed;
} subscriber[SUBSCRIBERS] = {[THOROUGH] = {.patience_msec = bcr_BLOCK},
                             [SLEEPY] = {.patience_msec = 0},
                             [LEAVER] = {.patience_msec = bcr_BLOCK}};

static void give(struct subscriber *to, bcr_region item)
{
    must(bcr_putwait(to->patience_msec), "say how long it waits");
    if (bcr_enq(item, to->cce, FEED, bcr_NOFREE) == 0)
        to->got++;
    else if (bcr_errno == bcrE_FULL)
        to->missed++;
    else if (bcr_errno == bcrE_DEAD)
        to->gone = true; /* also if it left while this put waited */
    else
        must_end("give an item", bcr_strerror(bcr_errno));
}

/* All subscribers share one region: nothing is copied. */
static void publish(int item)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate an item");
    **(int **)region = item;
    for (struct subscriber *to = subscriber; to < subscriber + SUBSCRIBERS; to++)
        if (!to->gone)
            give(to, region);
    must(bcr_rgfree(region), "free an item");
}

static void lead(const char *program, int items)
{
    /* Alive at a time: what fits into the cells, what each subscriber looks at, and the item that is being put. */
    must(bcr_cagrow(CRIES, 0, 1, 0, 0, SUBSCRIBERS, 2 * (SUBSCRIBERS * (ROOM + 1) + 2) * REGION_BYTES),
         "grow its cells");
    bcr_region birth = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a birth region");
    **(int **)birth = items;
    must(bcr_enlist(NULL, -SUBSCRIBERS, 0, program, birth, bcr_FREE), "enlist the subscribers");
    for (int i = 0; i < SUBSCRIBERS; i++) {
        struct cry from;
        must_copy(bcr_recv(&from, sizeof from, CRY, 1, bcr_cce, CRIES, 1, bcr_BLOCK),
                  "hear from a subscriber");
        subscriber[from.ord].cce = from.cce;
    }

    for (int i = 1; i <= items; i++)
        publish(i);
    publish(END);
    bcr_region wake = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a region");
    must(bcr_enq(wake, subscriber[SLEEPY].cce, WAKE, bcr_FREE), "wake the sleepy one");

    printf("fanout: %d items: the thorough one got %d, the sleepy one %d, the leaver %d\n", items,
           subscriber[THOROUGH].got - 1, subscriber[SLEEPY].got, subscriber[LEAVER].got);
    must_hold(subscriber[THOROUGH].got == items + 1 && subscriber[THOROUGH].missed == 0,
              "who is waited for misses nothing");
    must_hold(subscriber[SLEEPY].got == ROOM && subscriber[SLEEPY].missed == items + 1 - ROOM,
              "the publisher knows what a subscriber has missed");
    must_hold(subscriber[LEAVER].gone, "a put that waits for one who leaves ends");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    int items = args_number(argc, argv, 1, "items", 1000, 2 * ROOM, 10000000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0) {
        lead(argv[0], items);
    } else {
        bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its birth region");
        items = **(int **)birth;
        must(bcr_rgfree(birth), "free its birth region");
        subscribe(items);
    }
    return EXIT_SUCCESS;
}

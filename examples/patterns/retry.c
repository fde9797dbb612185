/* SPDX-License-Identifier: MIT */
/*
 * retry -- a queue of work from which nothing is lost when those who work on it are killed.
 *
 *     QUEUE [ 4 ][ 5 ][ 6 ]        numbers of items that may be free: hints, no more
 *     ITEMS [0] [1] ( ) [3] ...    one cell for each item: the item itself, under the cell's write lock
 *
 * A worker takes a number from QUEUE and acquires the write lock of that item.  So the item belongs to it alone.  It
 * releases the lock with the result in the item.  If it dies before, the next worker that asks for the lock is told
 * bcrE_OWNERDEAD, until the boss has put the item there afresh, for another attempt.
 *
 * Only the boss does so.  If workers did, two of them could find the same lock broken, and the second one would put
 * the item there again when it has been done already.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <signal.h>

static const char USAGE[] =
    "usage: enl --onfail isolate retry [items]     (40 items)\n"
    "Has items done by 4 workers, of which 3 are killed at work.  Without `onfail isolate`\n"
    "the first of them ends the whole program.\n";

/* The boss's cells, in three areas: NEWS in, QUEUE out, ITEMS and those behind it in/out. */
enum { NEWS = 1, QUEUE = 2, ITEMS = 3 };
enum { WORKERS = 4, MAX_ITEMS = 10000, MOST_ATTEMPTS = 2, LOOK_MSEC = 50, REGION_BYTES = 64 };
enum { KILLS_ONCE = 3, KILLS_ALWAYS = 7 }; /* numbers of items */

struct item {
    int number, attempt;
    enum { TO_DO, DONE, GIVEN_UP } state;
    long square;
};

static void put_number(int number, bcr_cce_id cce, int cell)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a region");
    **(int **)region = number;
    if (bcr_enq(region, cce, cell, bcr_FREE) == 0)
        return;
    if (bcr_errno != bcrE_DEAD && bcr_errno != bcrE_FULL) /* a hint that does not fit is given again later */
        must_end("put a number", bcr_strerror(bcr_errno));
    must(bcr_rgfree(region), "free a region");
}

/* --- a worker --- */

static void do_item(struct item *item)
{
    item->square = -1; /* half done: nobody will ever see this */
    if (item->number == KILLS_ALWAYS || (item->number == KILLS_ONCE && item->attempt == 1))
        raise(SIGKILL);
    item->square = (long)item->number * item->number;
    item->state = DONE;
}

static void work(void)
{
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 8192),
         "grow its comm heap"); /* for the copy that a write lock may need */
    for (;;) {
        bcr_region hint = bcr_deq(bcr_enlistor, QUEUE, bcr_BLOCK);
        if (hint == NULL && bcr_errno == bcrE_DEAD)
            return; /* the boss has ended, since all is done */
        const int number = **(int **)must_have(hint, "take a hint");
        must(bcr_rgfree(hint), "free a hint");

        bcr_region region = bcr_acqwl(bcr_enlistor, ITEMS + number, 0);
        if (region == NULL) {
            if (bcr_errno != bcrE_TIMEOUT && bcr_errno != bcrE_OWNERDEAD && bcr_errno != bcrE_DEAD)
                must_end("acquire an item", bcr_strerror(bcr_errno));
            continue; /* another worker has it, or had it and died */
        }
        if (((struct item *)*region)->state == TO_DO)
            do_item(*region);
        if (bcr_rlswl(region, bcr_enlistor, ITEMS + number) < 0 && bcr_errno != bcrE_DEAD)
            must_end("release an item", bcr_strerror(bcr_errno));
        put_number(number, bcr_enlistor, NEWS);
    }
}

/* --- the boss --- */

static struct {
    int items, done, given_up, deaths;
    bool settled[MAX_ITEMS];
    int attempts[MAX_ITEMS];
} boss;

/* An item that is not there: at first, and after the one who had it has died. */
static void put_item(int number)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate an item");
    struct item *item = *region;
    *item = (struct item){.number = number, .attempt = ++boss.attempts[number], .state = TO_DO};
    if (item->attempt > MOST_ATTEMPTS) {
        item->state = GIVEN_UP;
        boss.settled[number] = true;
        boss.given_up++;
    }
    must(bcr_rlswl(region, bcr_cce, ITEMS + number), "put an item");
    put_number(number, bcr_cce, QUEUE);
}

static void look_at(int number, bool nothing_happens)
{
    bcr_region region = bcr_acqrl(bcr_cce, ITEMS + number, 0);
    if (region != NULL) {
        const struct item item = *(struct item *)*region;
        must(bcr_rlsrl(region), "let go of an item");
        if (item.state == DONE) {
            must_hold(item.square == (long)number * number, "what is done is done wholly");
            boss.settled[number] = true;
            boss.done++;
        } else if (nothing_happens) {
            put_number(number, bcr_cce, QUEUE); /* the last hint may have gone with a worker */
        }
    } else if (bcr_errno == bcrE_OWNERDEAD) {
        boss.deaths++;
        put_item(number);
    } else if (bcr_errno != bcrE_TIMEOUT) { /* else a worker is at it */
        must_end("look at an item", bcr_strerror(bcr_errno));
    }
}

/* True if there was any.  What they say does not matter: the items themselves are looked at. */
static bool take_news(int msec)
{
    bool any = false;
    for (bcr_region region; (region = bcr_deq(bcr_cce, NEWS, any ? 0 : msec)) != NULL; any = true)
        must(bcr_rgfree(region), "free a region");
    if (bcr_errno != bcrE_TIMEOUT)
        must_end("take news", bcr_strerror(bcr_errno));
    return any;
}

static void lead(const char *program)
{
    must(bcr_cagrow(NEWS, 0, 1, 0, 0, WORKERS, 4 * (boss.items + WORKERS) * REGION_BYTES),
         "grow its cell for news");
    must(bcr_cagrow(QUEUE, 0, 0, 1, 0, boss.items, 0), "grow its queue");
    must(bcr_cagrow(ITEMS, 0, 0, 0, boss.items, boss.items, 0), "grow its cells for items");
    for (int i = 0; i < boss.items; i++)
        put_item(i);
    must(bcr_enlist(NULL, -WORKERS, 1, program, NULL, bcr_FREE), "enlist the workers");
    while (boss.done + boss.given_up < boss.items) {
        const bool nothing_happens = !take_news(LOOK_MSEC);
        for (int i = 0; i < boss.items; i++)
            if (!boss.settled[i])
                look_at(i, nothing_happens);
    }
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    boss.items = args_number(argc, argv, 1, "items", 40, KILLS_ALWAYS + 1, MAX_ITEMS);
    must_init(0, argv[0]);
    if (bcr_enlistor >= 0) {
        work();
        return EXIT_SUCCESS;
    }
    lead(argv[0]);
    printf("retry: %d items done, %d given up after %d attempts; %d workers died\n", boss.done, boss.given_up,
           MOST_ATTEMPTS, boss.deaths);
    must_hold(boss.attempts[KILLS_ONCE] == 2, "an item whose worker died is tried again");
    must_hold(boss.given_up == 1 && boss.attempts[KILLS_ALWAYS] == MOST_ATTEMPTS + 1, "and not for ever");
    must_hold(boss.done == boss.items - 1 && boss.deaths == 1 + MOST_ATTEMPTS,
              "all others are done, and once");
    return EXIT_SUCCESS;
}

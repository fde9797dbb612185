/* SPDX-License-Identifier: MIT */
/*
 * publisher -- subscribers that come and go: processes of their own, which nobody in the program has started.
 *
 *     subscriber: bcr_enter, bcr_find "prices" ----> its ID ----> [ NEWS ] publisher: bcr_watch
 *                                              <---- values ----
 *                 ends, in whatever way        ----> a region of kind bcr_END: the publisher drops it
 *
 * The publisher needs no list of who may come, and no time after which a silent subscriber counts as gone.  A subscriber
 * needs the program's name only.  That one fails harms nobody else, whatever `onfail` says.
 */
#include "args.h"
#include "must.h"

#include <bcr/program.h>

static const char USAGE[] =
    "usage: enl --name PROGRAM publisher [subscribers]       publishes until so many (3) have come and gone\n"
    "       publisher enter PROGRAM [values]                 is one of them: takes so many values (5), and "
    "goes\n"
    "       enl --enter PROGRAM publisher subscribe [values] the same\n";

enum { NEWS = 1 };           /* the publisher's cell, which has the name */
enum { FEED = 1, ROOM = 4 }; /* a subscriber's cell, and how many values it may be behind */
enum { MOST = 100, EACH_MSEC = 10, REGION_BYTES = 64 };
static const char PRICES[] = "prices";

/* --- a subscriber --- */

static void subscribe(int values)
{
    bcr_cce_id publisher, own = bcr_cce;
    int news, last = 0;
    must(bcr_cagrow(FEED, 0, 1, 0, 0, ROOM, 4096), "grow its cell");
    must(bcr_find(PRICES, &publisher, &news, bcr_BLOCK), "find the publisher");
    must(bcr_send(&own, sizeof own, bcrT_1CCE, 1, publisher, news, 1, 0), "subscribe");
    for (int i = 0; i < values; i++) {
        bcr_region region = must_have(bcr_deq(bcr_cce, FEED, bcr_BLOCK), "take a value");
        const int value = **(int **)region;
        must(bcr_rgfree(region), "free a value");
        must_hold(value > last, "values come in order, and once");
        last = value;
    }
    printf("subscriber: %d values, the last is %d\n", values, last);
}

/* --- the publisher --- */

static struct {
    bcr_cce_id subscribers[MOST];
    int count, came, value;
} desk;

static void add(bcr_cce_id subscriber)
{
    must_hold(desk.count < MOST, "there is room for one more");
    must(bcr_watch(subscriber, NEWS), "watch a subscriber");
    desk.subscribers[desk.count++] = subscriber;
    desk.came++;
}

static void drop(bcr_cce_id subscriber)
{
    int i = 0;
    while (i < desk.count && desk.subscribers[i] != subscriber)
        i++;
    must_hold(i < desk.count, "each end is told once");
    desk.subscribers[i] = desk.subscribers[--desk.count];
}

/* A subscription, or the end of a subscriber. */
static void hear(bcr_region news)
{
    int end[4];
    bcr_cce_id subscriber;
    if (bcr_rgkind(news) == bcr_END) {
        must_copy(bcr_copyfm(bcrT_1END, 1, news, 0, end, sizeof end), "read who has ended");
        drop(end[0]);
    } else {
        must_copy(bcr_copyfm(bcrT_1CCE, 1, news, 0, &subscriber, sizeof subscriber), "read who subscribes");
        add(subscriber);
    }
    must(bcr_rgfree(news), "free news");
}

static void publish_next(void)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a value");
    **(int **)region = ++desk.value;
    for (int i = 0; i < desk.count; i++)
        if (bcr_put_within(1, region, desk.subscribers[i], FEED, bcr_NOFREE, 0) < 0)
            must_hold(bcr_errno == bcrE_FULL || bcr_errno == bcrE_DEAD,
                      "only one that is behind, or gone, misses a value");
    must(bcr_rgfree(region), "free a value");
}

static void publish(int subscribers)
{
    must(bcr_cagrow(NEWS, 0, 1, 0, 0, MOST, 4 * MOST * REGION_BYTES), "grow its cell");
    must(bcr_publish(PRICES, NEWS), "give it a name");
    while (desk.came < subscribers || desk.count > 0) {
        bcr_region news = bcr_deq(bcr_cce, NEWS, EACH_MSEC);
        if (news != NULL)
            hear(news);
        else
            publish_next();
    }
    printf("publisher: %d subscribers have come and gone\n", desk.came);
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 3, USAGE);
    const bool enters = argc > 2 && strcmp(argv[1], "enter") == 0;
    const bool subscribes = argc > 1 && strcmp(argv[1], "subscribe") == 0;
    const int count =
        args_number(argc, argv,
                    enters       ? 3
                    : subscribes ? 2
                                 : 1,
                    enters || subscribes ? "values" : "subscribers", enters || subscribes ? 5 : 3, 1, MOST);
    if (enters)
        must(bcr_enter(argv[2], 0, argv[0]), "enter the program");
    else
        must_init(0, argv[0]);
    if (enters || subscribes)
        subscribe(count);
    else
        publish(count);
    return EXIT_SUCCESS;
}

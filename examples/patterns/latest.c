/* SPDX-License-Identifier: MIT */
/*
 * latest -- subscribers who want the newest value, and none of those before it.
 *
 *     publisher: bcr_writem ----> a cell of each subscriber, which holds one value at most ----> bcr_deq
 *
 * A write replaces the value that the subscriber has not taken yet, in one step.  So the publisher waits for nobody,
 * however slow; and a subscriber that comes for a value gets the newest one, or waits for the next.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] = "usage: latest [subscribers [values]]     (2 subscribers, 1000 values)\n"
                            "Publishes values of which each subscriber sees the newest only.\n";

enum { CRIES = 1, REPORTS = 2 }; /* the publisher's cells */
enum { LATEST = 1, START = 2 };  /* a subscriber's cells */
enum { MAX_SUBSCRIBERS = 100, REGION_BYTES = 64 };

struct value {
    long serial, square;
};

/* --- a subscriber --- */

/* The newest value: waits if that has been taken already. */
static struct value newest(void)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, LATEST, bcr_BLOCK), "take the newest value");
    const struct value value = *(struct value *)*region;
    must(bcr_rgfree(region), "free a value");
    return value;
}

static void report(long seen)
{
    must(bcr_send(&seen, sizeof seen, bcrT_1LONG, 1, bcr_enlistor, REPORTS, 1, 0), "report");
}

static void subscribe(void)
{
    long values, seen = 0;
    must(bcr_cagrow(LATEST, 0, 2, 0, 0, 2, 4096), "grow its cells");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRIES, 1, 0), "tell its ID");
    must_copy(bcr_recv(&values, sizeof values, bcrT_1LONG, 1, bcr_cce, START, 1, bcr_BLOCK),
              "wait for the start");

    for (struct value last = {0}, value; last.serial < values; last = value) {
        value = newest();
        must_hold(value.serial > last.serial, "values come in their order, and none twice");
        must_hold(value.square == value.serial * value.serial, "no value is half of one and half of another");
        if (++seen == 1) {
            must_hold(value.serial == values / 2, "the values before the newest one are gone");
            report(seen);
        }
    }
    report(seen);
}

/* --- the publisher --- */

static void publish(long serial, int subscribers, const int *cells)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a value");
    *(struct value *)*region = (struct value){.serial = serial, .square = serial * serial};
    must(bcr_writem(region, subscribers, cells, bcr_FREE), "publish a value");
}

static long take_report(void)
{
    long seen;
    must_copy(bcr_recv(&seen, sizeof seen, bcrT_1LONG, 1, bcr_cce, REPORTS, 1, bcr_BLOCK), "take a report");
    return seen;
}

static void lead(const char *program, int subscribers, long values)
{
    int cells[2 * MAX_SUBSCRIBERS]; /* pairs (CCE, cell), as bcr_putm has them */
    /* Alive at a time: the value that is being written, and for each subscriber the one in its cell and the one that
     * it looks at. */
    must(bcr_cagrow(CRIES, 0, 2, 0, 0, 2 * subscribers, (4 * subscribers + 4) * REGION_BYTES),
         "grow its cells");
    must(bcr_enlist(NULL, -subscribers, 1, program, NULL, bcr_FREE), "enlist the subscribers");
    for (int i = 0; i < subscribers; i++) {
        must_copy(bcr_recv(&cells[2 * i], sizeof cells[0], bcrT_1CCE, 1, bcr_cce, CRIES, 1, bcr_BLOCK),
                  "hear from a subscriber");
        cells[2 * i + 1] = LATEST;
    }

    must(bcr_putwait(0), "never wait for a subscriber"); /* a put that would have to wait fails */
    for (long serial = 1; serial <= values / 2; serial++)
        publish(serial, subscribers, cells); /* nobody looks yet */
    for (int i = 0; i < subscribers; i++)
        must(bcr_send(&values, sizeof values, bcrT_1LONG, 1, cells[2 * i], START, 1, 0),
             "start a subscriber");
    for (int i = 0; i < subscribers; i++)
        must_hold(take_report() == 1, "every subscriber has seen a value");
    for (long serial = values / 2 + 1; serial <= values; serial++)
        publish(serial, subscribers, cells);
    for (int i = 0; i < subscribers; i++)
        printf("latest: %ld values published, a subscriber saw %ld, the last one among them\n", values,
               take_report());
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const int subscribers = args_number(argc, argv, 1, "subscribers", 2, 1, MAX_SUBSCRIBERS);
    const int values = args_number(argc, argv, 2, "values", 1000, 2, 40000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0], subscribers, values);
    else
        subscribe();
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/*
 * birthcry -- how a CCE starts up cleanly, and what its enlistor does if it dies before it can say so.
 *
 *     enlistor                               enlistee
 *     bcr_enlist  ---- birth region ---->    bcr_init returns; nobody knows this CCE
 *                                            bcr_cagrow: its cells exist before any CCE can address them
 *     bcr_deq(.., msec)  <---- birthcry --   puts its own ID into its enlistor's cell
 *     knows the enlistee: may use its cells
 *
 * bcr_enlist tells nobody the new CCE's ID.  So there is nothing by which an enlistee that dies early could be
 * missed, except its silence: the enlistor's get has a time-out.  After it, another one is enlisted.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <getopt.h>
#include <signal.h>

static const char USAGE[] =
    "usage: birthcry [-k] [-t msec]\n"
    "Enlists a CCE that dies before its birthcry, gives it up, and enlists another.\n"
    "  -k, --kill          it dies by SIGKILL; needs `enl --onfail isolate birthcry -k`,\n"
    "                      since any abnormal end otherwise ends the whole program\n"
    "  -t, --time msec     how long its birthcry is waited for (1000)\n";

enum { BIRTHCRY = 1, QUESTION = 2, ANSWER = 3 }; /* every CCE has these cells */
enum { REGION_BYTES = 64 };
enum { GO_HOME = -1 };          /* a question that wants no answer */
enum { PATIENCE_MSEC = 60000 }; /* for an enlistee that is expected to live, on however busy a machine */

enum fate { LIVES, LEAVES, IS_KILLED };

/* The birthcry.  The ordinal tells whose it is: one that was given up may only have been slow. */
struct birthcry {
    bcr_cce_id cce;
    int ord;
};
static const int CRY[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 1};

static void put_int(int value, bcr_cce_id cce, int cell)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a region");
    must_copy(bcr_copyto(bcrT_1INT, 1, region, 0, &value, sizeof value), "write a region");
    must(bcr_enq(region, cce, cell, bcr_FREE), "put a region");
}

static int take_int(int cell)
{
    int value;
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, bcr_BLOCK), "take a region");
    must_copy(bcr_copyfm(bcrT_1INT, 1, region, 0, &value, sizeof value), "read a region");
    must(bcr_rgfree(region), "free a region");
    return value;
}

/* --- the enlistee --- */

static void cry(void)
{
    const struct birthcry me = {.cce = bcr_cce, .ord = bcr_cceord};
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate its birthcry");
    must_copy(bcr_copyto(CRY, 1, region, 0, &me, sizeof me), "write its birthcry");
    must(bcr_enq(region, bcr_enlistor, BIRTHCRY, bcr_FREE), "send its birthcry");
}

static void live_as(enum fate fate)
{
    if (fate == IS_KILLED)
        raise(SIGKILL);
    if (fate == LEAVES)
        return;
    cry();
    const int question = take_int(QUESTION);
    if (question != GO_HOME)
        put_int(question + 1, bcr_enlistor, ANSWER);
}

/* --- the enlistor --- */

static void enlist(const char *program, int ord, enum fate fate)
{
    const int order = (int)fate;
    bcr_region birth = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a birth region");
    must_copy(bcr_copyto(bcrT_1INT, 1, birth, 0, &order, sizeof order), "write a birth region");
    must(bcr_enlist(NULL, -1, ord, program, birth, bcr_FREE), "enlist a CCE");
}

/* The new CCE's ID, or -1 if no birthcry of that ordinal came in time. */
static int await_birthcry(int ord, int msec)
{
    for (;;) {
        bcr_region region = bcr_deq(bcr_cce, BIRTHCRY, msec);
        if (region == NULL && bcr_errno == bcrE_TIMEOUT)
            return -1;
        struct birthcry from;
        must_copy(bcr_copyfm(CRY, 1, must_have(region, "take a birthcry"), 0, &from, sizeof from),
                  "read a birthcry");
        must(bcr_rgfree(region), "free a birthcry");
        if (from.ord == ord)
            return from.cce;
        printf("birthcry: CCE %d cries after it was given up; it is sent home\n", from.ord);
        put_int(GO_HOME, from.cce, QUESTION);
    }
}

static void show_that_it_lives(bcr_cce_id cce, int ord)
{
    put_int(100 * ord, cce, QUESTION);
    must_hold(take_int(ANSWER) == 100 * ord + 1, "who has cried has its cells and answers");
    printf("birthcry: CCE %d cried, was asked, and answered\n", ord);
}

static void lead(const char *program, enum fate early_death, int msec)
{
    enlist(program, 1, LIVES);
    const int first = await_birthcry(1, PATIENCE_MSEC);
    must_hold(first > 0, "an enlistee that lives is heard of");
    show_that_it_lives(first, 1);

    enlist(program, 2, early_death);
    must_hold(await_birthcry(2, msec) < 0, "one that died early is not heard of");
    printf("birthcry: CCE 2 has not cried within %d ms; it is given up\n", msec);

    enlist(program, 3, LIVES);
    const int third = await_birthcry(3, PATIENCE_MSEC);
    must_hold(third > 0 && third != first, "its replacement is heard of, under an ID of its own");
    show_that_it_lives(third, 3);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"kill", no_argument, NULL, 'k'},
                                            {"time", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    enum fate early_death = LEAVES;
    int msec = 1000;
    for (int option; (option = getopt_long(argc, argv, "kt:h", options, NULL)) != -1;) {
        if (option == 'k') {
            early_death = IS_KILLED;
        } else if (option != 't' || !args_parse(optarg, 0, PATIENCE_MSEC, &msec)) {
            fputs(USAGE, option == 'h' ? stdout : stderr);
            return option == 'h' ? EXIT_SUCCESS : EXIT_USAGE;
        }
    }
    args_check(argc - optind + 1, argv + optind - 1, 0, USAGE);

    must_init(bcr_timeout, argv[0]);
    must(bcr_cagrow(BIRTHCRY, 0, 3, 0, 0, 8, 4096), "grow its cells");
    if (bcr_enlistor < 0)
        lead(argv[0], early_death, msec);
    else
        live_as((enum fate)take_int(0));
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* Behaviours of hosts whose cable is cut, in one direction or both, for less than hosttimeout or for more. Run by
 * with_hosts.sh; `owner` is on host 2 of the cable, another() on 3. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../behaviour/behave.h"

static void tell_cable(const char *line)
{
    static FILE *cable, *answers;
    char answer[64];
    if (cable == NULL) {
        const char *in = getenv("HOSTS_CABLE"), *out = getenv("HOSTS_ANSWER");
        if (in == NULL || out == NULL)
            FAIL("HOSTS_CABLE is not set; run this test by ctest");
        cable = fopen(in, "re+");
        answers = fopen(out, "re+");
        CHECK(cable != NULL && answers != NULL);
    }
    fprintf(cable, "%s\n", line);
    CHECK_INT(fflush(cable), 0);
    CHECK(fgets(answer, sizeof answer, answers) != NULL);
    CHECK_STR(answer, "ok\n");
}

/* All kinds of orders are under way when `lines` of the cable are cut, others are given meanwhile, and when it is mended
 * each has been carried out once and in order. */
static void orders_outlive(const char *const *lines)
{
    enum { CELLS = 4, MANY = 200 };
    const int cell = grow(CELLS, 2 * MANY, 1 << 16);
    CHECK_INT(put(cell + 1, 1), 0);
    CHECK_INT(put(cell + 2, 2), 0);
    bcr_region waits = bcr_deq(there, cell + 3, bcr_PENDING), lock = bcr_acqwl(there, cell + 1, bcr_BLOCK);
    CHECK(waits != NULL && lock != NULL);
    arrive();
    for (int i = 0; i < MANY / 2; i++)
        CHECK_INT(bcr_enq(number(i), there, cell, bcr_FREE), 0);
    for (; *lines != NULL; lines++)
        tell_cable(*lines);
    for (int i = MANY / 2; i < MANY; i++)
        CHECK_INT(bcr_enq(number(i), there, cell, bcr_FREE), 0);
    bcr_region taken = bcr_deq(there, cell + 2, bcr_PENDING),
               cancelled = bcr_deq(there, cell + 3, bcr_PENDING);
    CHECK_INT(by(owner, "put 1 %d 3", cell + 3), 0);
    CHECK_INT(bcr_enq(lock, there, cell + 1, bcr_FREE), 0);
    (void)bcr_putdone(300);
    (void)bcr_rgwait(waits, 0, 0);
    tell_cable("* *");
    CHECK_INT(bcr_rgfree(cancelled), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_celllen(there, cell), MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(take(cell), i);
    CHECK_INT(bcr_rgwait(taken, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(taken), 2);
    CHECK_INT(bcr_rgwait(waits, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(waits), 3);
    CHECK_INT(take(cell + 1), 1);
    CHECK_INT(bcr_celllen(there, cell + 3), 0);
}
#define ORDERS_OUTLIVE(...) orders_outlive((const char *const[]){__VA_ARGS__, NULL})

BEHAVIOUR_FROM_AFAR(orders_outlive_a_cut_cable)
{
    ORDERS_OUTLIVE("1 2 lost=1000 udp=1", "2 1 lost=1000 udp=1");
}

BEHAVIOUR_FROM_AFAR(orders_outlive_a_direction_in_which_nothing_comes)
{
    ORDERS_OUTLIVE("1 2 lost=1000 udp=1");
}

BEHAVIOUR_FROM_AFAR(orders_outlive_a_direction_from_which_nothing_comes)
{
    ORDERS_OUTLIVE("2 1 lost=1000 udp=1");
}

BEHAVIOUR_FROM_AFAR(orders_outlive_a_cable_that_does_all_that_cables_do)
{
    ORDERS_OUTLIVE("* * lost=200 doubled=300 spoilt=100 held=300 delay=500 udp=1");
}

/* The root reaches both, and is not disturbed. */
BEHAVIOUR_FROM_AFAR(two_hosts_that_lose_each_other_find_each_other_again)
{
    const int cell = grow(2, 9, 4096);
    CHECK_INT(by(another(), "put 1 %d 1", cell), 0);
    tell_cable("2 3 lost=1000 udp=1");
    tell_cable("3 2 lost=1000 udp=1");
    begin(another(), "put 1 %d 2", cell);
    CHECK_INT(put(cell + 1, 7), 0);
    CHECK_INT(take(cell + 1), 7);
    CHECK_INT(take(cell), 1);
    tell_cable("* *");
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(take(cell), 2);
    tell_cable("3 2 lost=1000 udp=1");
    begin(another(), "get 1 %d %d", cell, bcr_BLOCK);
    CHECK_INT(put(cell + 1, 8), 0);
    tell_cable("* *");
    CHECK_INT(put(cell, 9), 0);
    CHECK_INT(result_of(another()), 9);
}

/* A daemon that got no processor for a while sees only then that its lease is over. */
static void wait_for_end(pid_t pid)
{
    while (kill(pid, 0) == 0)
        usleep(1000);
    CHECK_INT(errno, ESRCH);
}

/* Of the tree, too: with ssh it is a connection over the same cable. */
static void host_is_lost_by(const char *cut)
{
    const int cell = grow(3, 1, 4096), mine = bcr_cagrow(0, 0, 0, 0, 1, 9, 0);
    const pid_t daemon = by(owner, "parent"), cce = by(owner, "self");
    CHECK_INT(put(cell, 1), 0);
    begin(another(), "get 1 %d %d", cell + 1, bcr_BLOCK);
    turn_round(third());
    bcr_region waits = bcr_deq(there, cell + 1, bcr_PENDING), lock = bcr_acqwl(there, cell, bcr_BLOCK);
    CHECK(waits != NULL && lock != NULL);
    CHECK_INT(put(cell + 2, 2), 0);
    tell_cable(cut);
    CHECK_INT(bcr_enq(number(3), there, cell + 2, bcr_FREE), 0);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    wait_for_end(daemon);
    wait_for_end(cce);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    error_is(bcrE_DEAD, bcr_op_put, there, cell + 2);
    FAILS(bcr_celllen(there, cell), bcrE_DEAD);
    REFUSED(bcr_enq(lock, there, cell, bcr_FREE), lock, cell, bcrE_DEAD);
    tell_cable("* *");
    CHECK_INT(by(third(), "put 1 %d 5", mine), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, mine, 0)), 5);
    have_lost_host();
}

BEHAVIOUR_FROM_AFAR(a_host_from_which_nothing_comes_is_lost_and_ends)
{
    host_is_lost_by("2 * lost=1000");
}

BEHAVIOUR_FROM_AFAR(a_host_to_which_nothing_comes_is_lost_and_ends)
{
    host_is_lost_by("* 2 lost=1000");
}

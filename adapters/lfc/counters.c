/* SPDX-License-Identifier: MIT */
/* counters.c -- fetch-and-add: the number lies in a cell of its member; who adds has the cell's write lock, and the member itself
 * takes no part.
 *
 * The lock is a pending get. While it waits, upcalls may be made, which may add as well: to the same number, too. So nobody
 * may hold a lock that he has got until an upcall above him returns: whoever looks (lfc_counters_serve, each time that
 * packets are taken) does at once what each granted lock is for, and gives it back. */
#include "lfc_private.h"

struct adding {
    bcr_region lock; /* pending, until it is done */
    unsigned dest, value;
    bool is_done;
    struct adding *outer;
};
static struct adding *addings; /* that wait, the innermost first */

void lfc_counter_begin(void)
{
    const int zero = 0;
    bcr_region rgid = bcr_rgalloc(sizeof zero, 0);
    if (rgid == NULL || bcr_copyto(bcrT_1INT, 1, rgid, 0, &zero, sizeof zero) < 0 ||
        bcr_enq(rgid, bcr_cce, CELL_COUNTER, bcr_FREE) != 0)
        lfc_fail_bcr("lfc_init");
}

/* The lock is held. */
static void add(struct adding *adding)
{
    int value;
    bcr_region rgid = adding->lock;
    if (bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 0)
        lfc_fail_bcr("lfc_fetch_and_add");
    adding->value = (unsigned)value;
    value = (int)(adding->value + 1);
    if (bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 0 ||
        bcr_rlswl(rgid, lfc_self.members[adding->dest], CELL_COUNTER) != 0)
        lfc_fail_bcr("lfc_fetch_and_add");
    adding->is_done = true;
}

static void look(struct adding *adding, int msec)
{
    const int ready = bcr_rgwait(adding->lock, msec, 0);
    if (ready < 0)
        lfc_fail_bcr("lfc_fetch_and_add");
    if (ready > 0)
        add(adding);
}

void lfc_counters_serve(void)
{
    for (struct adding *adding = addings; adding != NULL; adding = adding->outer)
        if (!adding->is_done)
            look(adding, 0);
}

unsigned lfc_fetch_and_add(unsigned dest, int upcalls_allowed)
{
    lfc_enter("lfc_fetch_and_add");
    if (dest >= lfc_self.count)
        lfc_fail("lfc_fetch_and_add", "there is no process %u: they are 0 to %u", dest, lfc_self.count - 1);
    lfc_self.counts[COUNT_FETCH_AND_ADDS]++;
    struct adding adding = {.lock = bcr_acqwl(lfc_self.members[dest], CELL_COUNTER, bcr_PENDING),
                            .dest = dest};
    if (adding.lock == NULL)
        lfc_fail_bcr("lfc_fetch_and_add");
    look(&adding, 0);
    adding.outer = addings;
    addings = &adding;
    while (!adding.is_done) {
        lfc_progress(upcalls_allowed != 0);
        if (!adding.is_done)
            look(&adding, 1);
    }
    addings = adding.outer;
    lfc_leave(upcalls_allowed != 0);
    return adding.value;
}

/* SPDX-License-Identifier: MIT */
/* bcr_handler: which puts and gets call the owner's handler, and how often. When it runs, and what
 * it may do, are the owner's business alone: ../unit/handlers. */
#include <limits.h>

#include "behave.h"

/* How often the owner's handler was called since the last question. */
static int calls(void)
{
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    return by(owner, "calls");
}

BEHAVIOUR(a_mark_above_0_calls_at_each_put_that_leaves_that_many)
{
    const int cell = grow(2, 9, 1024);
    CHECK_INT(by(owner, "handler %d 3", cell), 0);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(put(cell + 1, 9), 0);
    CHECK_INT(calls(), 0);
    CHECK_INT(put(cell, 3), 0);
    CHECK_INT(calls(), 1);
    CHECK_INT(by(another(), "put 1 %d 4", cell), 0);
    CHECK_INT(put(cell, 5), 0);
    CHECK_INT(calls(), 2); /* each is a call of its own */
    for (int i = 1; i <= 3; i++)
        CHECK_INT(take(cell), i);
    CHECK_INT(bcr_celllen(there, cell), 2);
    CHECK_INT(calls(), 0);
    CHECK_INT(put(cell, 6), 0);
    CHECK_INT(calls(), 1);
}

BEHAVIOUR(a_replacement_is_a_put_that_leaves_one)
{
    const int cell = grow(2, 9, 1024);
    CHECK_INT(by(owner, "handler %d 1", cell), 0);
    CHECK_INT(by(owner, "handler %d 2", cell + 1), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_write(number(i), there, cell, bcr_FREE), 0);
        CHECK_INT(bcr_write(number(i), there, cell + 1, bcr_FREE), 0);
    }
    CHECK_INT(calls(), 3);
    CHECK_INT(put(cell + 1, 4), 0);
    CHECK_INT(calls(), 1);
    CHECK_INT(bcr_write(number(5), there, cell + 1, bcr_FREE), 0); /* of two it leaves one */
    CHECK_INT(calls(), 0);
}

BEHAVIOUR(a_put_that_is_handed_to_a_waiting_take_leaves_nothing_and_does_not_call)
{
    const int cell = grow(1, 9, 1024);
    CHECK_INT(by(owner, "handler %d 1", cell), 0);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region read = behind ? bcr_read(there, cell, bcr_PENDING) : NULL;
        bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
        CHECK_INT(put(cell, 1), 0);
        CHECK_INT(calls(), 0);
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(rgid), 1);
        if (behind) {
            CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
            CHECK_INT(value_of(read), 1);
        }
    }
    bcr_region read = bcr_read(there, cell, bcr_PENDING);
    CHECK_INT(put(cell, 2), 0); /* read, and it stays */
    CHECK_INT(calls(), 1);
    CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(read), 2);
}

BEHAVIOUR(putm_calls_once_for_each_cell)
{
    const int cell = grow(2, 9, 1024), cells[] = {there, cell, there, cell + 1, there, cell};
    CHECK_INT(by(owner, "handler %d 1", cell), 0);
    CHECK_INT(by(owner, "handler %d 1", cell + 1), 0);
    CHECK_INT(bcr_enqm(number(1), 3, cells, bcr_FREE), 0);
    CHECK_INT(calls(), 3);
}

BEHAVIOUR(a_mark_of_0_calls_at_each_get_that_finds_nothing_once)
{
    const int cell = grow(1, 9, 1024);
    CHECK_INT(by(owner, "handler %d 0", cell), 0);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(by(owner, "calls"), 1);
    FAILS_NULL(bcr_read(there, cell, 5), bcrE_TIMEOUT); /* one that waits calls once */
    CHECK_INT(by(owner, "calls"), 1);
    FAILS_NULL(bcr_acqwl(there, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqrl(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(by(owner, "calls"), 2);
    bcr_region ids[4] = {bcr_deq(there, cell, bcr_PENDING), bcr_read(there, cell, bcr_PENDING),
                         bcr_acqrl(there, cell, bcr_PENDING), bcr_acqwl(there, cell, bcr_PENDING)};
    arrive();
    CHECK_INT(by(owner, "calls"), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 0);
        CHECK_INT(bcr_rgwait(ids[i], 0, 1), 0);
    }
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(value_of(bcr_read(there, cell, 0)), 1);
    CHECK_INT(take(cell), 1);
    CHECK_INT(bcr_zap(there, cell), 0); /* no get */
    CHECK_INT(calls(), 0);
}

BEHAVIOUR(a_mark_below_0_calls_at_each_taking_get_that_finds_at_most_that_many)
{
    const int cell = grow(1, 9, 1024);
    CHECK_INT(by(owner, "handler %d -2", cell), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(put(cell, i), 0);
    for (int i = 0; i < 4; i++) {
        const int found = 4 - i;
        CHECK_INT(value_of(bcr_read(there, cell, 0)), i); /* takes nothing */
        CHECK_INT(calls(), 0);
        CHECK_INT(take(cell), i);
        CHECK_INT(calls(), found <= 2);
    }
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqwl(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(calls(), 2);
    FAILS_NULL(bcr_read(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(calls(), 0);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    arrive();
    CHECK_INT(calls(), 1);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(by(owner, "handler %d %d", cell, INT_MIN), 0);
    CHECK_INT(put(cell, 9), 0);
    rgid = bcr_acqwl(there, cell, 0);
    CHECK_INT(value_of(rgid), 9);
    CHECK_INT(calls(), 1);
}

BEHAVIOUR(an_operation_that_fails_does_not_call)
{
    const int cell = grow(2, 0, 1024);
    putwait(0);
    CHECK_INT(by(owner, "handler %d 1", cell), 0);
    bcr_region rgid = number(1), other = number(2);
    REFUSED(bcr_enq(rgid, there, cell, bcr_FREE), rgid, cell, bcrE_FULL);
    REFUSED(bcr_write(other, there, cell, bcr_FREE), other, cell, bcrE_FULL);
    CHECK_INT(calls(), 0);
}

BEHAVIOUR(no_call_is_lost_and_no_two_are_made_one)
{
    enum { MANY = 200 };
    const int cell = grow(1, MANY, MANY * NUMBER_BYTES);
    CHECK_INT(by(owner, "handler %d 1", cell), 0);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(i % 3 == 0 ? by(another(), "put 1 %d %d", cell, i) : put(cell, i), 0);
    int seen = 0;
    while (seen < MANY)
        seen += calls();
    CHECK_INT(seen, MANY);
    CHECK_INT(calls(), 0);
}

/* SPDX-License-Identifier: MIT */
/* After a CCE has ended with status 0: what those are told who use its cells, what lives on, what
 * others get back. How one dies within an operation is tested in ../crash. */
#include "behave.h"

BEHAVIOUR_OF_OTHERS(every_use_of_the_cells_of_an_ended_CCE_says_DEAD)
{
    const int cell = grow(2, 9, 4096), cells[2] = {there, cell};
    int value = 7;
    CHECK_INT(put(cell, 1), 0);
    leave(owner);
    const int numbers[] = {cell, cell + 1, cell + 100,
                           0}; /* where we have been, where we have not, where none is */
    for (int i = 0; i < 4; i++) {
        const int at = numbers[i];
        bcr_region rgid[4] = {number(1), number(1), number(1), number(1)};
        REFUSED(bcr_enq(rgid[0], there, at, bcr_FREE), rgid[0], at, bcrE_DEAD);
        REFUSED(bcr_write(rgid[1], there, at, bcr_NOFREE), rgid[1], at, bcrE_DEAD);
        REFUSED(bcr_rlswl(rgid[2], there, at), rgid[2], at, bcrE_DEAD);
        REFUSED(bcr_wl2rl(rgid[3], there, at), rgid[3], at, bcrE_DEAD);
        FAILS_NULL(bcr_deq(there, at, bcr_BLOCK), bcrE_DEAD);
        FAILS_NULL(bcr_read(there, at, 0), bcrE_DEAD);
        GET_FAILS(bcr_deq(there, at, bcr_PENDING), bcrE_DEAD);
        FAILS_NULL(bcr_acqwl(there, at, 10), bcrE_DEAD);
        FAILS_NULL(bcr_acqrl(there, at, bcr_BLOCK), bcrE_DEAD);
        FAILS(bcr_zap(there, at), bcrE_DEAD);
        FAILS(bcr_celllen(there, at), bcrE_DEAD);
    }
    bcr_region rgid = number(1);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_DEAD);
    error_is(bcrE_DEAD, bcr_op_putm, there, cell);
    CHECK_INT(value_of(rgid), 1);
    FAILS_WITH(bcr_send(&value, sizeof value, bcrT_1INT, 1, there, cell, 1, 0), -2, bcrE_DEAD);
    FAILS_WITH(bcr_sendm(&value, sizeof value, bcrT_1INT, 1, 1, cells, 1, 0), -2, bcrE_DEAD);
    FAILS(bcr_recv(&value, sizeof value, bcrT_1INT, 1, there, cell, 1, bcr_BLOCK), bcrE_DEAD);
    CHECK_INT(value, 7);
    CHECK(bcr_arch(there) > 0); /* stays known */
}

BEHAVIOUR_OF_OTHERS(gets_that_wait_at_an_ended_CCE_end_with_DEAD)
{
    const int cell = grow(3, 9, 0);
    bcr_region ids[4] = {bcr_deq(there, cell, bcr_PENDING), bcr_read(there, cell + 1, bcr_PENDING),
                         bcr_deq(there, cell + 1, bcr_PENDING), bcr_acqwl(there, cell + 2, bcr_PENDING)};
    begin(another(), "get 1 %d %d", cell, bcr_BLOCK);
    begin(third(), "get 0 %d %d", cell + 2, bcr_BLOCK);
    leave(owner);
    CHECK(bcr_rgwaitm(4, ids, bcr_BLOCK, 1) > 0); /* they end one after the other */
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(ids[i], bcr_BLOCK, i), bcrE_DEAD);
    CHECK_INT(bcr_rgfree(ids[3]), 0);
    FAILS(bcr_rgwait(ids[0], bcr_BLOCK, 0), bcrE_RGID);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
    CHECK_INT(result_of(third()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
}

BEHAVIOUR_OF_OTHERS(a_put_that_waits_at_an_ended_CCE_ends_with_DEAD)
{
    const int cell = grow(1, 0, 0);
    bcr_region rgid;
    begin(another(), "put 1 %d 1", cell);
    while ((rgid = bcr_read(there, cell, 0)) == NULL)
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    CHECK_INT(value_of(rgid), 1);
    leave(owner);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
}

BEHAVIOUR(what_an_ended_CCE_had_put_elsewhere_is_still_delivered)
{
    const int cell = grow(1, 9, 0);
    for (int i = 0; i < 9; i++)
        CHECK_INT(by(another(), "put 1 %d %d", cell, i), 0);
    leave(another());
    for (int i = 0; i < 9; i++)
        CHECK_INT(value_of(bcr_deq(there, cell, bcr_BLOCK)), i);
}

BEHAVIOUR_OF_OTHERS(the_regions_of_an_ended_CCE_live_on_while_they_are_held)
{
    const int cell = grow(1, 9, 1024), mine = bcr_cagrow(0, 0, 0, 0, 1, 1, 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(by(owner, "put 1 %d %d", cell, i), 0);
    bcr_region held = bcr_deq(there, cell, 0), shared = bcr_read(there, cell, 0);
    leave(owner);
    CHECK_INT(peek(held), 0);
    CHECK_INT(peek(shared), 1);
    CHECK_INT(bcr_enq(held, bcr_cce, mine, bcr_NOFREE), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, mine, 0)), 0);
    CHECK_INT(bcr_rgmod(shared), 0);
    CHECK_INT(value_of(shared), 1);
    CHECK_INT(value_of(held), 0);
}

BEHAVIOUR_WITHIN(what_an_ended_CCE_held_is_free)
{
    const int cell = grow(1, 9, NUMBER_BYTES);
    another();
    CHECK_INT(put(cell, 1), 0);
    CHECK(by(another(), "keep 1 %d 0", cell) >= 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    leave(another());
    bcr_region rgid;
    while ((rgid = bcr_rgalloc(0, 0)) == NULL) /* the daemon frees what it held */
        CHECK_INT(bcr_errno, bcrE_NBYTES);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

BEHAVIOUR_WITHIN(what_was_handed_to_a_waiter_that_ended_goes_to_the_next_or_to_the_head)
{
    const int cell = grow(1, 2, 1024);
    CHECK(by(another(), "keep 1 %d %d", cell, bcr_PENDING) >= 0);
    CHECK(by(another(), "keep 1 %d %d", cell, bcr_PENDING) >= 0);
    for (int i = 0; i < 4; i++) /* two are handed over, two fill the cell */
        CHECK_INT(put(cell, i), 0);
    CHECK_INT(bcr_celllen(there, cell), 2);
    leave(another());
    while (bcr_celllen(there, cell) < 4) /* even beyond nrgns */
        continue;
    for (int i = 0; i < 4; i++)
        CHECK_INT(take(cell), i);
    CHECK(by(third(), "keep 1 %d %d", cell, bcr_PENDING) >= 0);
    bcr_region behind = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(put(cell, 5), 0);
    CHECK_INT(bcr_rgwait(behind, 0, 0), 0);
    leave(third());
    CHECK_INT(bcr_rgwait(behind, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(behind), 5);
}

BEHAVIOUR(the_waiting_gets_of_an_ended_CCE_take_nothing)
{
    const int cell = grow(1, 9, 1024);
    CHECK(by(another(), "keep 1 %d %d", cell, bcr_PENDING) >= 0);
    bcr_region mine = bcr_deq(there, cell, bcr_PENDING);
    CHECK(by(another(), "lock %d %d", cell, bcr_PENDING) >= 0);
    leave(another());
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(bcr_rgwait(mine, bcr_BLOCK, 0), 1);
    /* It is 2 if 1 had been handed to the ended one before the daemon came. */
    const int first = value_of(mine);
    CHECK(first == 1 || first == 2);
    CHECK_INT(value_of(bcr_deq(there, cell, bcr_BLOCK)), 3 - first);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
}

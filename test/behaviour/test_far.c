/* SPDX-License-Identifier: MIT */
/* What is promised of cells on another host besides: the last put of a CCE, and what a host leaves that
 * is lost. */
#include "behave.h"
#include "numbers.h"

BEHAVIOUR_FROM_AFAR(the_last_put_before_the_end_arrives)
{
    const int cell = grow(1, 9, 1024);
    begin(another(), "last %d 7", cell);
    CHECK_INT(value_of(bcr_deq(there, cell, bcr_BLOCK)), 7);
    const int mine = bcr_cagrow(0, 0, 0, 0, 1, 1, 0);
    turn_round(owner);
    begin(owner, "last %d 8", mine);
    CHECK_INT(value_of(bcr_deq(bcr_cce, mine, bcr_BLOCK)), 8);
}

/* The cell has a copy of its own: the putter is the only holder again, whatever is in the cell. */
BEHAVIOUR_FROM_AFAR(who_keeps_a_region_is_its_only_holder_once_the_put_is_done)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    bcr_region rgid = number(7);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_rgrealloc(rgid, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(take(cell), 7);
}

BEHAVIOUR_FROM_AFAR(so_is_who_puts_it_into_several_cells)
{
    enum { BYTES = 5000, TIMES = 20 };
    const int cell = grow(2, 2, 2 * BYTES), cells[] = {there, cell, there, cell + 1};
    bcr_region rgid = filled(BYTES, 7);
    for (int i = 0; i < TIMES; i++) {
        (*(char **)rgid)[BYTES - 1] = (char)i;
        CHECK_INT(bcr_enqm(rgid, 2, cells, bcr_NOFREE), 0);
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        CHECK_INT(bcr_rgrealloc(rgid, BYTES), 0);
        for (int k = 0; k < 2; k++) {
            bcr_region got = bcr_deq(there, cell + k, bcr_BLOCK);
            CHECK_INT((*(char **)got)[BYTES - 1], i);
            CHECK_INT(bcr_rgfree(got), 0);
        }
    }
    CHECK_INT(bcr_rgfree(rgid), 0);
}

/* Larger than what a host has ready for what comes from others. */
BEHAVIOUR_FROM_AFAR(regions_of_many_megabytes_come_and_go)
{
    enum { BYTES = 20 << 20 };
    const int cell = grow(1, 2, 2 * BYTES);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_enq(filled(BYTES, i), there, cell, bcr_FREE), 0);
        CHECK_INT(bcr_enq(filled(BYTES, 10 + i), there, cell, bcr_FREE), 0);
        bcr_region first = bcr_deq(there, cell, bcr_BLOCK), second = bcr_deq(there, cell, bcr_BLOCK);
        CHECK(first != NULL && second != NULL);
        CHECK_INT(bcr_rglen(first, NULL), BYTES);
        CHECK_INT(((unsigned char *)*first)[BYTES - 1], i);
        CHECK_INT(((unsigned char *)*second)[0], 10 + i);
        CHECK_INT(bcr_rgfree(first), 0);
        CHECK_INT(bcr_rgfree(second), 0);
    }
}

BEHAVIOUR_FROM_AFAR(what_waits_at_a_host_that_is_lost_ends_with_DEAD)
{
    const int cell = grow(4, 1, 1024), full = grow(1, 0, 0);
    CHECK_INT(put(cell + 3, 1), 0);
    bcr_region ids[3] = {bcr_deq(there, cell, bcr_PENDING), bcr_read(there, cell + 1, bcr_PENDING),
                         bcr_acqwl(there, cell + 2, bcr_PENDING)};
    arrive();
    begin(another(), "get 1 %d %d", cell, bcr_BLOCK);
    begin(third(), "put 1 %d 5", full);
    CHECK_INT(bcr_enq(number(6), there, full, bcr_FREE), 0);
    lose_host();
    CHECK(bcr_rgwaitm(3, ids, bcr_BLOCK, 0) > 0);
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(ids[i], bcr_BLOCK, i == 1), bcrE_DEAD);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
    CHECK_INT(result_of(third()), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
    error_is(bcrE_DEAD, bcr_op_put, there, full);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
}

BEHAVIOUR_FROM_AFAR(later_calls_to_a_host_that_is_lost_say_DEAD)
{
    const int cell = grow(1, 9, 4096);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(by(another(), "celllen %d", cell), 1);
    lose_host();
    for (int i = 0; i < 2; i++) {
        bcr_region rgid = number(2);
        REFUSED(bcr_enq(rgid, there, cell, bcr_FREE), rgid, cell, bcrE_DEAD);
        GET_FAILS(bcr_deq(there, cell, 0), bcrE_DEAD);
        GET_FAILS(bcr_read(there, cell, bcr_BLOCK), bcrE_DEAD);
        GET_FAILS(bcr_deq(there, cell, bcr_PENDING), bcrE_DEAD);
        FAILS(bcr_zap(there, cell), bcrE_DEAD);
        FAILS(bcr_celllen(there, cell), bcrE_DEAD);
    }
    CHECK_INT(by(another(), "celllen %d", cell), -1);
    CHECK_INT(bcr_errno, bcrE_DEAD);
    CHECK(bcr_arch(there) > 0); /* stays known */
}

BEHAVIOUR_FROM_AFAR(what_came_from_a_host_that_is_lost_lives_on)
{
    const int cell = grow(1, 9, 1024), mine = bcr_cagrow(0, 0, 0, 0, 1, 1, 0);
    CHECK_INT(by(owner, "put 1 %d 1", cell), 0);
    CHECK_INT(by(owner, "put 1 %d 2", cell), 0);
    bcr_region taken = bcr_deq(there, cell, 0), read = bcr_read(there, cell, 0);
    lose_host();
    CHECK_INT(peek(taken), 1);
    CHECK_INT(bcr_rgmod(read), 0);
    write_number(read, 3);
    CHECK_INT(bcr_enq(read, bcr_cce, mine, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_deq(bcr_cce, mine, 0)), 3);
    CHECK_INT(value_of(taken), 1);
}

BEHAVIOUR_FROM_AFAR(what_a_lost_host_wanted_here_is_withdrawn_and_its_write_locks_are_OWNERDEAD)
{
    grow(1, 1, 1024);
    const int cell = bcr_cagrow(0, 0, 0, 0, 3, 3, 0);
    turn_round(owner);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK(by(owner, "lock %d 0", cell) >= 0);
    CHECK(by(owner, "keep 1 %d %d", cell + 1, bcr_PENDING) >= 0);
    CHECK(by(owner, "keep 0 %d %d", cell + 1, bcr_PENDING) >= 0);
    bcr_region behind = bcr_deq(bcr_cce, cell + 1, bcr_PENDING);
    lose_host();
    bcr_region lock = bcr_acqwl(bcr_cce, cell, bcr_BLOCK);
    CHECK_PTR(lock, NULL);
    CHECK_INT(bcr_errno, bcrE_OWNERDEAD);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_acqwl(bcr_cce, cell, 0)), 2);
    CHECK_INT(bcr_enq(number(3), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(behind, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(behind), 3);
}

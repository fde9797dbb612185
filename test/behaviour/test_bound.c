/* SPDX-License-Identifier: MIT */
/* nrgns, bcr_putwait, and puts that wait: how many regions the cells of an area hold together, and
 * who gets room that becomes free. */
#include <limits.h>

#include "behave.h"

/* The cells are full for this CCE, which keeps the region. */
static bcr_region full_at(int qlike, bcr_region rgid, int cell)
{
    FAILS(bcr_put(qlike, rgid, there, cell, bcr_FREE), bcrE_FULL);
    return rgid;
}
static bcr_region full_for(bcr_region rgid, int cell)
{
    return full_at(1, rgid, cell);
}

/* A read of an empty cell shares the region of the put that waits longest there. */
static void until_a_put_waits(int cell, int value)
{
    bcr_region rgid;
    while ((rgid = bcr_read(there, cell, 0)) == NULL)
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    CHECK_INT(value_of(rgid), value);
}

/* Another CCE puts and waits for room; the cell is empty. */
static void waits_in_a_put(struct cce *who, int qlike, int cell, int value)
{
    begin(who, "put %d %d %d", qlike, cell, value);
    until_a_put_waits(cell, value);
}

BEHAVIOUR(nrgns_bounds_what_the_cells_of_an_area_hold_together)
{
    const int cell = grow(5, 7, 8192);
    putwait(0);
    bcr_region more = number(99);
    for (int round = 0; round < 5; round++) { /* all in one cell, each in turn */
        for (int i = 0; i < 7; i++)
            CHECK_INT(put(cell + round, i), 0);
        for (int i = 0; i < 5; i++)
            more = full_for(more, cell + i);
        for (int i = 0; i < 7; i++)
            CHECK_INT(take(cell + round), i);
    }
    for (int i = 0; i < 7; i++) /* spread, by two of them */
        CHECK_INT(i % 2 == 0 ? put(cell + i % 5, i) : by(another(), "put 1 %d %d", cell + i % 5, i), 0);
    CHECK_INT(by(another(), "putwait 0"), 0);
    for (int i = 0; i < 5; i++) {
        more = full_for(more, cell + i);
        CHECK_INT(by(another(), "put 1 %d 0", cell + i), -1);
        CHECK_INT(bcr_errno, bcrE_FULL);
    }
    CHECK_INT(take(cell), 0);
    CHECK_INT(bcr_enq(more, there, cell + 4, bcr_FREE), 0); /* room of one cell is room of all */
    full_for(number(1), cell);
}

BEHAVIOUR(areas_have_bounds_of_their_own)
{
    const int a = grow(1, 1, 1024), b = grow(1, 2, 0);
    putwait(0);
    CHECK_INT(put(a, 1), 0);
    CHECK_INT(bcr_enq(full_for(number(2), a), there, b, bcr_FREE), 0);
    CHECK_INT(put(b, 3), 0);
    full_for(number(4), b);
}

BEHAVIOUR(with_nrgns_0_a_put_succeeds_only_by_handing_over_to_a_waiting_get)
{
    const int cell = grow(2, 0, 1024);
    putwait(0);
    bcr_region more = full_for(number(1), cell);
    more = full_at(0, more, cell);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region read = behind ? bcr_read(there, cell, bcr_PENDING) : NULL;
        bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
        more = full_for(more, cell + 1); /* one that waits elsewhere does not help */
        CHECK_INT(bcr_put(behind, number(5), there, cell, bcr_FREE), 0);
        more = full_for(more, cell);
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(rgid), 5);
        if (behind) {
            CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
            CHECK_INT(value_of(read), 5);
        }
    }
    bcr_region read = bcr_read(there, cell, bcr_PENDING);
    more = full_for(more, cell); /* a read takes nothing away: no room for what would stay */
    CHECK_INT(bcr_rgwait(read, 0, 1), 0);
}

BEHAVIOUR(waiting_gets_are_not_bounded_by_nrgns)
{
    const int cell = grow(1, 1, 4096);
    putwait(0);
    bcr_region ids[9];
    for (int i = 0; i < 9; i++)
        ids[i] = bcr_deq(there, cell, bcr_PENDING);
    for (int i = 0; i < 10; i++) /* nine are handed over, one is queued */
        CHECK_INT(put(cell, i), 0);
    full_for(number(10), cell);
    for (int i = 0; i < 9; i++) {
        CHECK_INT(bcr_rgwait(ids[i], bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(ids[i]), i);
    }
    full_for(number(11), cell);
}

BEHAVIOUR(write_into_a_full_area_succeeds_where_its_cell_holds_a_region)
{
    const int cell = grow(2, 2, 1024);
    putwait(0);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    bcr_region rgid = number(3);
    rgid = full_at(0, rgid, cell + 1);
    CHECK_INT(bcr_write(rgid, there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(4), there, cell + 1, bcr_FREE), 0); /* one of the two was replaced */
    CHECK_INT(by(another(), "put 0 %d 5", cell), 0);
    CHECK_INT(take(cell), 5);
    CHECK_INT(take(cell + 1), 4);
}

BEHAVIOUR_OF_OWN(own_full_cells_never_wait)
{
    const int cell = grow(1, 1, 1024), msecs[] = {bcr_BLOCK, 0, 1000000, -7};
    CHECK_INT(put(cell, 1), 0);
    bcr_region more = full_for(number(2), cell); /* before putwait was ever called */
    for (int i = 0; i < 4; i++) {
        putwait(msecs[i]);
        more = full_for(more, cell);
        FAILS(bcr_write(more, there, cell + 1, bcr_FREE), bcrE_NOCELL);
    }
    CHECK_INT(bcr_celllen(there, cell), 1);
}

BEHAVIOUR_OF_OTHERS(putwait_says_how_long_a_put_waits_and_never_ends_early)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    bcr_region more = number(2);
    for (int msec = 0; msec <= 20; msec += 5) {
        putwait(msec);
        FAILS(bcr_putwait(bcr_PENDING), bcrE_ARG); /* and leaves it as it was */
        const int64_t start_ns = clock_ns();
        more = full_for(more, cell);
        CHECK(clock_ns() - start_ns >= msec * INT64_C(1000000));
    }
    CHECK_INT(take(cell), 1);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT); /* what gave up did not come */
    CHECK_INT(value_of(more), 2);
}

BEHAVIOUR(put_within_waits_its_own_time_whatever_putwait_says)
{
    const int cell = grow(1, 1, 1024);
    int msec = 77;
    CHECK_INT(put(cell, 1), 0);
    bcr_region more = number(2);
    putwait(TIMED_MSEC);
    for (int within = 0; within <= 20; within += 5) {
        const int64_t start_ns = clock_ns();
        FAILS(bcr_put_within(1, more, there, cell, bcr_FREE, within), bcrE_FULL);
        CHECK(place->own || clock_ns() - start_ns >= within * INT64_C(1000000));
    }
    CHECK_INT(bcr_getputwait(&msec), 0);
    CHECK_INT(msec, TIMED_MSEC);
    CHECK_INT(take(cell), 1);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT); /* what gave up did not come */
    CHECK_INT(bcr_put_within(1, more, there, cell, bcr_NOFREE, 0), 0);
    CHECK_INT(take(cell), 2);
    CHECK_INT(value_of(more), 2);
}

BEHAVIOUR_OF_OTHERS(put_within_gets_the_room_that_comes_in_its_time)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    putwait(0);
    begin(another(), "within %d 1 %d 2", TIMED_MSEC, cell);
    CHECK_INT(by(owner, "get 1 %d 0", cell), 1);
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(by(owner, "get 1 %d 0", cell), 2);
}

BEHAVIOUR(put_within_replaces_and_refuses_as_put_does)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_put_within(0, number(2), there, cell, bcr_FREE, 0), 0);
    CHECK_INT(take(cell), 2);
    bcr_region rgid = number(3);
    FAILS(bcr_put_within(1, rgid, there, cell, bcr_FREE, bcr_PENDING), bcrE_ARG);
    FAILS(bcr_put_within(1, rgid, 4711, cell, bcr_FREE, 0), bcrE_NOCCE);
    FAILS(bcr_put_within(1, NULL, there, cell, bcr_FREE, 0), bcrE_RGID);
    REFUSED(bcr_put_within(1, rgid, there, cell + 1, bcr_FREE, place->timed ? TIMED_MSEC : bcr_BLOCK), rgid,
            cell + 1, bcrE_NOCELL);
}

BEHAVIOUR_OF_OWN(getputwait_tells_what_was_set_last)
{
    const int msecs[] = {0, 5, bcr_BLOCK, INT_MAX, -7};
    int msec = 77;
    CHECK_INT(bcr_getputwait(&msec), 0);
    CHECK_INT(msec, bcr_BLOCK);
    for (size_t i = 0; i < sizeof msecs / sizeof msecs[0]; i++) {
        putwait(msecs[i]);
        FAILS(bcr_putwait(bcr_PENDING), bcrE_ARG);
        CHECK_INT(bcr_getputwait(&msec), 0);
        CHECK_INT(msec, msecs[i]);
    }
    FAILS(bcr_getputwait(NULL), bcrE_ARG);
}

BEHAVIOUR_OF_OTHERS(a_put_waits_for_ever_if_nobody_has_said_how_long)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    begin(owner, "get 1 %d %d", cell, bcr_BLOCK);
    for (int i = 2; i < 20; i++) { /* each waits for the take before it, or finds that done */
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(result_of(owner), i - 1);
        begin(owner, "get 1 %d %d", cell, bcr_BLOCK);
    }
    CHECK_INT(result_of(owner), 19);
}

BEHAVIOUR(room_goes_to_the_put_that_has_waited_longest)
{
    const int cell = grow(3, 1, 1024);
    CHECK_INT(put(cell, 0), 0);
    waits_in_a_put(another(), 1, cell + 2, 1);
    waits_in_a_put(third(), 0, cell + 1, 2);
    CHECK_INT(take(cell), 0);
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(bcr_celllen(there, cell + 1), 0);
    CHECK_INT(bcr_celllen(there, cell + 2), 1);
    CHECK_INT(take(cell + 2), 1);
    CHECK_INT(result_of(third()), 0);
    CHECK_INT(take(cell + 1), 2);
}

BEHAVIOUR(a_put_that_comes_later_gets_no_room_before_one_that_waits)
{
    const int cell = grow(2, 2, 1024);
    putwait(0);
    CHECK_INT(put(cell, 0), 0);
    CHECK_INT(put(cell, 1), 0);
    waits_in_a_put(another(), 1, cell + 1, 2);
    CHECK_INT(take(cell), 0);
    full_for(number(9), cell); /* whether that one goes on already or not */
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(take(cell + 1), 2);
}

BEHAVIOUR(zap_and_write_make_room_for_those_that_wait)
{
    const int cell = grow(3, 2, 1024);
    CHECK_INT(put(cell, 0), 0);
    CHECK_INT(put(cell, 1), 0);
    waits_in_a_put(another(), 1, cell + 1, 10);
    waits_in_a_put(third(), 1, cell + 2, 11);
    CHECK_INT(bcr_write(number(9), there, cell, bcr_FREE), 0); /* two become one */
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(result_of(third()), 0);
    CHECK_INT(take(cell + 1), 10);
    CHECK_INT(take(cell + 2), 11);
}

BEHAVIOUR(a_get_on_an_empty_cell_takes_the_region_of_a_put_that_waits_for_it)
{
    const int cell = grow(3, 1, 1024);
    CHECK_INT(put(cell, 0), 0);
    waits_in_a_put(another(), 1, cell + 1, 1);
    waits_in_a_put(third(), 1, cell + 2, 2);
    CHECK_INT(value_of(bcr_read(there, cell + 2, 0)), 2); /* a read shares it; the put waits on */
    CHECK_INT(bcr_celllen(there, cell + 2), 0);
    CHECK_INT(take(cell + 2), 2); /* at once, past the one that has waited longer elsewhere */
    CHECK_INT(result_of(third()), 0);
    bcr_region rgid = bcr_deq(there, cell + 1, bcr_PENDING);
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(bcr_celllen(there, cell), 1);
}

BEHAVIOUR(a_put_meets_a_get_that_waits_for_it_whatever_else_waits)
{
    const int cell = grow(2, 0, 1024);
    waits_in_a_put(another(), 1, cell, 1);
    bcr_region rgid = bcr_deq(there, cell + 1, bcr_PENDING);
    CHECK_INT(by(third(), "put 1 %d 2", cell + 1), 0);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(rgid), 2);
    CHECK_INT(take(cell), 1);
    CHECK_INT(result_of(another()), 0);
}

BEHAVIOUR(a_waiting_put_whose_time_is_up_lets_the_next_one_on)
{
    const int cell = grow(3, 1, 1024);
    CHECK_INT(put(cell, 0), 0);
    CHECK_INT(by(another(), "putwait 50"), 0);
    begin(another(), "put 1 %d 1", cell + 1);
    waits_in_a_put(third(), 1, cell + 2, 2);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_FULL);
    CHECK_INT(take(cell), 0);
    CHECK_INT(result_of(third()), 0);
    CHECK_INT(take(cell + 2), 2);
    CHECK_INT(bcr_celllen(there, cell + 1), 0);
}

BEHAVIOUR(a_put_that_has_waited_keeps_its_order)
{
    const int cell = grow(2, 1, 1024);
    CHECK_INT(put(cell, 0), 0);
    waits_in_a_put(another(), 1, cell + 1, 1);
    CHECK_INT(take(cell), 0);
    CHECK_INT(result_of(another()), 0);
    begin(another(), "put 1 %d 2", cell + 1);
    CHECK_INT(value_of(bcr_deq(there, cell + 1, bcr_BLOCK)), 1);
    CHECK_INT(result_of(another()), 0);
    CHECK_INT(take(cell + 1), 2);
}

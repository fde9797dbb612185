/* SPDX-License-Identifier: MIT */
/* bcr_get, bcr_deq, bcr_read: taking and sharing the first region of a cell, at once, in time, or
 * never. */
#include <limits.h>

#include "behave.h"

BEHAVIOUR(a_take_removes_the_first_region_and_a_read_shares_it)
{
    const int cell = grow(1, 4, 1024);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    bcr_region first = bcr_read(there, cell, 0), again = bcr_read(there, cell, bcr_BLOCK);
    CHECK(first != again);
    if (!place->far)
        CHECK_PTR(*first, *again);
    CHECK_INT(bcr_celllen(there, cell), 2);
    CHECK_INT(take(cell), 1);
    CHECK_INT(value_of(bcr_read(there, cell, 0)), 2);
    CHECK_INT(value_of(first), 1);
    CHECK_INT(value_of(again), 1);
    CHECK_INT(value_of(bcr_get(-7, there, cell, 0)), 2); /* any qlike but 0 takes */
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR(what_the_owner_puts_others_take_and_the_other_way_round)
{
    const int cell = grow(1, 4, 1024);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(by(owner, "put 1 %d %d", cell, i), 0);
        CHECK_INT(take(cell), i);
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        CHECK_INT(by(owner, "get 1 %d 0", cell), i);
    }
}

BEHAVIOUR(an_empty_cell_gives_nothing_and_says_TIMEOUT)
{
    const int cell = grow(1, 4, 1024);
    for (int msec = 0; msec < 2; msec++) {
        FAILS_NULL(bcr_deq(there, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_read(there, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_acqwl(there, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_acqrl(there, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_deq(bcr_cce, 0, msec), bcrE_TIMEOUT);
    }
}

BEHAVIOUR(msec_is_milliseconds_and_never_ends_early)
{
    const int cell = grow(1, 4, 1024), msecs[] = {1, 7, 30};
    for (int i = 0; i < 3; i++)
        for (int how = 0; how < 4; how++) {
            const int64_t start_ns = clock_ns();
            FAILS_NULL(how == 0   ? bcr_deq(there, cell, msecs[i])
                       : how == 1 ? bcr_read(there, cell, msecs[i])
                       : how == 2 ? bcr_acqwl(there, cell, msecs[i])
                                  : bcr_acqrl(there, cell, msecs[i]),
                       bcrE_TIMEOUT);
            CHECK(clock_ns() - start_ns >= msecs[i] * INT64_C(1000000));
        }
}

BEHAVIOUR(a_get_whose_time_is_up_takes_nothing_later)
{
    const int cell = grow(1, 4, 1024);
    for (int i = 0; i < 10; i++) {
        FAILS_NULL(bcr_deq(there, cell, i % 2), bcrE_TIMEOUT);
        FAILS_NULL(bcr_read(there, cell, i % 2), bcrE_TIMEOUT);
    }
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(take(cell), 1);
}

BEHAVIOUR(one_whose_time_is_up_between_others_leaves_their_order_alone)
{
    const int cell = grow(1, 4, 1024);
    bcr_region first = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(by(another(), "get 1 %d 1", cell), -1);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    bcr_region second = bcr_deq(there, cell, bcr_PENDING);
    FAILS_NULL(bcr_read(there, cell, 1), bcrE_TIMEOUT);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(bcr_rgwait(second, bcr_BLOCK, 0), 1);
    CHECK_INT(bcr_rgwait(first, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(first), 1);
    CHECK_INT(value_of(second), 2);
}

BEHAVIOUR(a_negative_msec_is_for_ever)
{
    const int cell = grow(1, 9, 1024), msecs[] = {bcr_BLOCK, -3, INT_MIN};
    for (int i = 0; i < 3; i++) {
        begin(another(), "get 1 %d %d", cell, msecs[i]);
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(result_of(another()), i);
    }
}

BEHAVIOUR(a_get_with_time_left_returns_with_the_region)
{
    const int cell = grow(1, 4, 1024);
    begin(another(), "get 1 %d 1000000", cell);
    CHECK_INT(put(cell, 3), 0);
    CHECK_INT(result_of(another()), 3);
}

BEHAVIOUR(a_get_comes_after_the_same_CCEs_earlier_puts)
{
    const int cell = grow(2, 100, 16384);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_write(number(i), there, cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_read(there, cell, 0)), i);
        CHECK_INT(put(cell + 1, i), 0);
        CHECK_INT(take(cell + 1), i);
    }
}

BEHAVIOUR(success_leaves_bcr_errno_alone)
{
    const int cell = grow(1, 4, 1024);
    bcr_errno = 1234;
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(take(cell), 1);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(rgid, 0, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_errno, 1234);
}

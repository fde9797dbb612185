/* SPDX-License-Identifier: MIT */
/* bcr_PENDING, bcr_rgwait, bcr_rgwaitm, and bcr_rgfree of what was never collected. */
#include <bcr/program.h>

#include "behave.h"

/* A get that waits: alone, or behind a read that is cancelled then. */
static bcr_region pending_take(int cell, bool behind)
{
    bcr_region read = behind ? bcr_read(there, cell, bcr_PENDING) : NULL;
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    CHECK(rgid != NULL);
    if (behind)
        CHECK_INT(bcr_rgfree(read), 0);
    return rgid;
}

/* Every routine that takes a region refuses it, and nothing changes. */
static void pending_everywhere(bcr_region rgid, int cell)
{
    int cells[2] = {there, cell}, value = 0, archtype = 7;
    const int before = bcr_celllen(there, cell);
    FAILS(bcr_rgmod(rgid), bcrE_PENDING);
    FAILS(bcr_rglen(rgid, &archtype), bcrE_PENDING);
    CHECK_INT(archtype, 7);
    FAILS(bcr_rgrealloc(rgid, 8), bcrE_PENDING);
    FAILS(bcr_rgerror(rgid), bcrE_PENDING);
    FAILS(bcr_rgkind(rgid), bcrE_PENDING);
    FAILS(bcr_enq(rgid, there, cell, bcr_FREE), bcrE_PENDING);
    FAILS(bcr_write(rgid, there, cell, bcr_NOFREE), bcrE_PENDING);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_FREE), bcrE_PENDING);
    FAILS(bcr_rlswl(rgid, there, cell), bcrE_PENDING);
    FAILS(bcr_wl2rl(rgid, there, cell), bcrE_PENDING);
    FAILS_WITH(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_PENDING);
    FAILS_WITH(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_PENDING);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, rgid, 0, rgid, 0), -2, bcrE_PENDING);
    CHECK_INT(bcr_celllen(there, cell), before);
}

BEHAVIOUR(a_pending_ID_is_refused_until_rgwait_has_returned_1)
{
    const int cell = grow(1, 4, 4096);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region rgid = pending_take(cell, behind);
        pending_everywhere(rgid, cell);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 0);
        pending_everywhere(rgid, cell);
        CHECK_INT(put(cell, 5), 0);
        pending_everywhere(rgid, cell); /* served, but not collected */
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 1), 1); /* an ordinary region by now */
        CHECK_INT(value_of(rgid), 5);
    }
}

BEHAVIOUR(a_pending_get_of_a_region_that_is_there_has_it)
{
    const int cell = grow(1, 4, 4096);
    CHECK_INT(put(cell, 5), 0);
    bcr_region read = bcr_read(there, cell, bcr_PENDING), taken = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(taken, bcr_BLOCK, 0), 1);
    CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 1), 1);
    CHECK_INT(value_of(read), 5);
    CHECK_INT(value_of(taken), 5);
}

BEHAVIOUR_OF_OWN(rgwait_of_an_ordinary_region_returns_1)
{
    grow(1, 1, NUMBER_BYTES);
    bcr_region rgid = number(5);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 1), 1);
    CHECK_INT(bcr_rgwait(rgid, 10, 1), 1);
    CHECK_INT(value_of(rgid), 5);
}

BEHAVIOUR(rgwait_polls_with_0_never_ends_early_and_lets_the_get_go_on)
{
    const int cell = grow(1, 4, 4096);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    bcr_errno = 1234;
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 0);
    int64_t start_ns = clock_ns();
    CHECK_INT(bcr_rgwait(rgid, 20, 0), 0);
    CHECK(clock_ns() - start_ns >= 20000000);
    start_ns = clock_ns();
    CHECK_INT(bcr_rgwaitm(1, &rgid, 20, 0), 0);
    CHECK(clock_ns() - start_ns >= 20000000);
    CHECK_INT(bcr_errno, 1234);
    CHECK_INT(put(cell, 5), 0);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(rgid), 5);
}

BEHAVIOUR(failfree_cancels_the_get_and_frees_the_ID)
{
    const int cell = grow(1, 4, 4096);
    for (int i = 0; i < 4; i++) {
        const int msec = i / 2;
        bcr_region rgid = pending_take(cell, i % 2);
        bcr_errno = 1234;
        CHECK_INT(bcr_rgwait(rgid, msec, 1), 0);
        CHECK_INT(bcr_errno, 1234);
        FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
        CHECK_INT(put(cell, 6), 0);
        CHECK_INT(take(cell), 6); /* nothing was taken */
    }
}

BEHAVIOUR(failfree_comes_too_late_for_a_get_that_was_served)
{
    const int cell = grow(1, 4, 4096);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region rgid = pending_take(cell, behind);
        CHECK_INT(put(cell, 7), 0);
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        CHECK_INT(bcr_rgwait(rgid, 0, 1), 1);
        CHECK_INT(value_of(rgid), 7);
    }
}

BEHAVIOUR(what_is_cancelled_leaves_its_place_to_those_behind_it)
{
    const int cell = grow(1, 9, 4096);
    for (int gone = 0; gone < 7; gone++) {
        bcr_region ids[7];
        for (int i = 0; i < 7; i++)
            ids[i] = bcr_deq(there, cell, bcr_PENDING);
        CHECK_INT(bcr_rgfree(ids[gone]), 0);
        for (int i = 0; i < 6; i++)
            CHECK_INT(put(cell, i), 0);
        CHECK_INT(bcr_celllen(there, cell), 0);
        for (int i = 0, value = 0; i < 7; i++) {
            if (i == gone)
                continue;
            CHECK_INT(bcr_rgwait(ids[i], bcr_BLOCK, 0), 1);
            CHECK_INT(value_of(ids[i]), value++);
        }
    }
}

BEHAVIOUR(cancelling_a_take_serves_nobody_but_lets_reads_stay)
{
    const int cell = grow(1, 9, 4096);
    bcr_region gone = bcr_deq(there, cell, bcr_PENDING), read = bcr_read(there, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(gone, 0, 1), 0);
    CHECK_INT(bcr_rgwait(read, 0, 0), 0);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(read), 1);
    CHECK_INT(take(cell), 1);
}

BEHAVIOUR(rgfree_of_an_unserved_get_cancels_it)
{
    const int cell = grow(1, 4, 4096);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region rgid = pending_take(cell, behind);
        CHECK_INT(bcr_rgfree(rgid), 0);
        FAILS(bcr_rgfree(rgid), bcrE_RGID);
        CHECK_INT(put(cell, 7), 0);
        CHECK_INT(bcr_celllen(there, cell), 1);
        CHECK_INT(take(cell), 7);
    }
}

BEHAVIOUR(rgfree_of_a_served_get_frees_its_region)
{
    const int cell = grow(1, 4, NUMBER_BYTES);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region rgid = pending_take(cell, behind);
        CHECK_INT(put(cell, 7), 0);
        if (!place->far)
            FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
        CHECK_INT(bcr_rgfree(rgid), 0);
        FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT); /* not back in the cell */
        CHECK_INT(value_of(number(8)), 8);                 /* the only 64 bytes are free */
    }
}

BEHAVIOUR(rgwaitm_returns_the_lowest_index_that_is_ready_from_1)
{
    const int cell = grow(5, 9, 4096);
    bcr_region ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = bcr_deq(there, cell + i, bcr_PENDING);
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 0), 0);
    CHECK_INT(put(cell + 3, 3), 0);
    CHECK_INT(bcr_rgwaitm(5, ids, bcr_BLOCK, 1), 4);
    CHECK_INT(put(cell + 1, 1), 0);
    arrive();                                /* the region has come here */
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 1), 2); /* index says nothing about time */
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 0), 2); /* nothing was taken away by looking */
    CHECK_INT(bcr_rgwait(ids[1], 0, 0), 1);
    CHECK_INT(value_of(ids[1]), 1);
    CHECK_INT(bcr_rgwait(ids[3], 0, 0), 1);
    CHECK_INT(value_of(ids[3]), 3);
    bcr_region rest[3] = {ids[0], ids[2], ids[4]};
    CHECK_INT(bcr_rgwaitm(3, rest, 0, 0), 0);
    CHECK_INT(bcr_rgwaitm(3, rest, 1, 1), 0); /* cancels all */
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(rest[i], 0, 0), bcrE_RGID);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(put(cell + i, i), 0);
        CHECK_INT(take(cell + i), i);
    }
}

BEHAVIOUR(rgwaitm_sleeps_until_one_of_them_is_served)
{
    const int cell = grow(3, 9, 4096);
    for (int round = 0; round < 12; round++) {
        bcr_region ids[3];
        for (int i = 0; i < 3; i++)
            ids[i] = bcr_deq(there, cell + i, bcr_PENDING);
        begin(another(), "put 1 %d %d", cell + round % 3, round);
        CHECK_INT(bcr_rgwaitm(3, ids, bcr_BLOCK, 0), round % 3 + 1);
        CHECK_INT(result_of(another()), 0);
        CHECK_INT(bcr_rgwait(ids[round % 3], 0, 0), 1);
        CHECK_INT(value_of(ids[round % 3]), round);
        for (int i = 0; i < 3; i++)
            if (i != round % 3)
                CHECK_INT(bcr_rgfree(ids[i]), 0);
    }
}

BEHAVIOUR(rgwaitm_finds_ordinary_regions_ready)
{
    const int cell = grow(2, 9, 4096);
    bcr_region ids[3] = {bcr_deq(there, cell, bcr_PENDING), number(8), bcr_deq(there, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(3, ids, bcr_BLOCK, 1), 2);
    CHECK_INT(value_of(ids[1]), 8);
}

BEHAVIOUR(a_get_that_failed_counts_as_ready_and_rgwait_tells_why)
{
    const int cell = grow(1, 9, 4096), other = grow(1, 9, 0);
    bcr_region ids[2] = {bcr_deq(there, cell, bcr_PENDING), bcr_deq(there, other, bcr_PENDING)};
    CHECK_INT(by(owner, "free_area %d", other), 0);
    CHECK_INT(bcr_rgwaitm(2, ids, bcr_BLOCK, 1), 2);
    CHECK_INT(bcr_rgwaitm(2, ids, bcr_BLOCK, 0), 2);
    FAILS(bcr_rgwait(ids[1], bcr_BLOCK, 0), bcrE_NOCELL);
    FAILS(bcr_rgwait(ids[1], bcr_BLOCK, 0), bcrE_RGID); /* the ID is free */
    CHECK_INT(bcr_rgwait(ids[0], 0, 1), 0);
}

BEHAVIOUR(rgfree_of_a_failed_get_frees_the_ID)
{
    const int cell = grow(1, 4, 0);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(by(owner, "free_area %d", cell), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
}

BEHAVIOUR(rgwaitm_skips_NULL_entries_and_counts_them)
{
    const int cell = grow(2, 9, 4096);
    bcr_region ids[4] = {NULL, bcr_deq(there, cell, bcr_PENDING), NULL,
                         bcr_deq(there, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(4, ids, 0, 0), 0);
    CHECK_INT(put(cell + 1, 4), 0);
    CHECK_INT(bcr_rgwaitm(4, ids, bcr_BLOCK, 1), 4);
    CHECK_INT(bcr_rgwait(ids[3], 0, 0), 1);
    CHECK_INT(value_of(ids[3]), 4);
    CHECK_INT(bcr_rgwaitm(3, ids, 1, 1), 0); /* cancels the one that is there */
    FAILS(bcr_rgwait(ids[1], 0, 0), bcrE_RGID);
    bcr_region nothing[2] = {NULL, NULL};
    FAILS(bcr_rgwaitm(2, nothing, bcr_BLOCK, 1), bcrE_ARG);
}

BEHAVIOUR(wrong_arguments_of_rgwaitm_change_nothing)
{
    const int cell = grow(1, 9, 4096);
    bcr_region freed = number(1);
    bcr_region ids[3] = {bcr_deq(there, cell, bcr_PENDING), freed, NULL};
    CHECK_INT(bcr_rgfree(freed), 0);
    FAILS(bcr_rgwaitm(0, ids, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(-1, ids, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(1, NULL, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(2, ids, 0, 1), bcrE_RGID);
    FAILS(bcr_rgwaitm(3, ids, bcr_BLOCK, 1), bcrE_RGID);
    CHECK_INT(bcr_rgwait(ids[0], 0, 0), 0); /* not cancelled */
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(bcr_rgwait(ids[0], bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(ids[0]), 2);
}

BEHAVIOUR(an_ID_may_stand_twice_in_the_list_of_rgwaitm)
{
    const int cell = grow(1, 9, 4096);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    bcr_region ids[3] = {rgid, rgid, rgid};
    CHECK_INT(bcr_rgwaitm(3, ids, 0, 0), 0);
    CHECK_INT(bcr_rgwaitm(3, ids, 1, 1), 0);
    FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(take(cell), 2);
    /* The free ID is free once: two that are allocated now differ. */
    bcr_region a = number(3), b = number(4);
    CHECK(a != b);
    CHECK_INT(value_of(a), 3);
    CHECK_INT(value_of(b), 4);
}

BEHAVIOUR(hundreds_of_gets_wait_at_once)
{
    enum { MANY = 600 };
    const int cell = grow(MANY / 6, MANY, MANY * NUMBER_BYTES);
    static bcr_region ids[MANY];
    for (int i = 0; i < MANY; i++) {
        ids[i] = bcr_get(i % 5 != 0, there, cell + i % (MANY / 6), bcr_PENDING);
        CHECK(ids[i] != NULL);
    }
    CHECK_INT(bcr_rgwaitm(MANY, ids, 0, 0), 0);
    CHECK_INT(put(cell + 17, 1), 0);
    CHECK_INT(bcr_rgwaitm(MANY, ids, bcr_BLOCK, 0), 18);
    CHECK_INT(bcr_rgwait(ids[17], 0, 0), 1);
    CHECK_INT(value_of(ids[17]), 1);
    ids[17] = ids[18];
    CHECK_INT(bcr_rgwaitm(MANY, ids, 0, 1), 0);
    for (int i = 0; i < MANY / 6; i++) {
        CHECK_INT(put(cell + i, i), 0);
        CHECK_INT(take(cell + i), i);
    }
}

/* SPDX-License-Identifier: MIT */
/* bcr_PENDING, bcr_rgwait, bcr_rgwaitm, and bcr_rgfree of what was never collected. */
#include "cce.h"

#include <string.h>

#include "bcri/clock.h"

/* A get that waits: by ticket, or in the cell's list, behind a read that is then withdrawn. */
static bcr_region pending_take(bcr_cce_id cce, int cell, int listed)
{
    bcr_region read = listed ? bcr_read(cce, cell, bcr_PENDING) : NULL;
    bcr_region rgid = bcr_deq(cce, cell, bcr_PENDING);
    CHECK(rgid != NULL);
    if (listed)
        CHECK_INT(bcr_rgfree(read), 0);
    return rgid;
}

/* Every routine that takes a region refuses it, and nothing changes. */
static void pending_everywhere(bcr_region rgid, int cell)
{
    int cells[2] = {bcr_cce, cell};
    int value = 0, archtype = 7;
    int before = bcr_celllen(bcr_cce, cell);
    FAILS(bcr_rgmod(rgid), bcrE_PENDING);
    FAILS(bcr_rglen(rgid, &archtype), bcrE_PENDING);
    CHECK_INT(archtype, 7);
    FAILS(bcr_rgrealloc(rgid, 8), bcrE_PENDING);
    FAILS(bcr_rgerror(rgid), bcrE_PENDING);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), bcrE_PENDING);
    FAILS(bcr_write(rgid, bcr_cce, cell, bcr_NOFREE), bcrE_PENDING);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_FREE), bcrE_PENDING);
    FAILS(bcr_rlswl(rgid, bcr_cce, cell), bcrE_PENDING);
    FAILS(bcr_wl2rl(rgid, bcr_cce, cell), bcrE_PENDING);
    bcr_errno = 0;
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, bcrE_PENDING);
    bcr_errno = 0;
    CHECK_INT(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, bcrE_PENDING);
    CHECK_INT(bcr_celllen(bcr_cce, cell), before);
}

TEST(a_pending_ID_is_refused_until_rgwait_has_returned_1)
{
    begin();
    int cell = grow(1, 4, 4096);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region rgid = pending_take(bcr_cce, cell, listed);
        pending_everywhere(rgid, cell);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 0);
        pending_everywhere(rgid, cell);
        CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
        pending_everywhere(rgid, cell); /* served, but not collected */
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 1), 1); /* an ordinary region by now */
        CHECK_INT(value_of(rgid), 5);
    }
    end();
}

TEST(a_pending_get_of_a_region_that_is_there_is_ready_at_once)
{
    begin();
    int cell = grow(1, 4, 4096);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    bcr_region taken = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(read, 0, 1), 1);
    CHECK_INT(bcr_rgwait(taken, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(read), 5);
    CHECK_INT(value_of(taken), 5);
    end();
}

TEST(rgwait_of_an_ordinary_region_returns_1)
{
    begin();
    grow(0, 0, 64);
    bcr_region rgid = number(5);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 1), 1);
    CHECK_INT(bcr_rgwait(rgid, 10, 1), 1);
    CHECK_INT(value_of(rgid), 5);
    end();
}

TEST(rgwait_polls_with_0_and_never_ends_early)
{
    begin();
    int cell = grow(1, 4, 4096);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    bcr_errno = 1234;
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 0);
    uint64_t start_ns = bcri_clock_ns();
    CHECK_INT(bcr_rgwait(rgid, 20, 0), 0);
    CHECK(bcri_clock_ns() - start_ns >= 20 * BCRI_NS_PER_MS);
    start_ns = bcri_clock_ns();
    CHECK_INT(bcr_rgwaitm(1, &rgid, 20, 0), 0);
    CHECK(bcri_clock_ns() - start_ns >= 20 * BCRI_NS_PER_MS);
    CHECK_INT(bcr_errno, 1234);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0); /* it went on waiting */
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(rgid), 5);
    end();
}

TEST(failfree_withdraws_the_get_and_frees_the_ID)
{
    begin();
    int cell = grow(1, 4, 4096);
    for (int listed = 0; listed < 2; listed++) {
        for (int msec = 0; msec < 2; msec++) {
            bcr_region rgid = pending_take(bcr_cce, cell, listed);
            bcr_errno = 1234;
            CHECK_INT(bcr_rgwait(rgid, msec, 1), 0);
            CHECK_INT(bcr_errno, 1234);
            FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
            CHECK_INT(bcr_enq(number(6), bcr_cce, cell, bcr_FREE), 0);
            CHECK_INT(take(bcr_cce, cell), 6); /* nothing was taken */
        }
    }
    CHECK_INT(pending_gets(one), 0);
    end();
}

TEST(failfree_comes_too_late_for_a_get_that_was_served)
{
    begin();
    int cell = grow(1, 4, 4096);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region rgid = pending_take(bcr_cce, cell, listed);
        CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(rgid, 0, 1), 1);
        CHECK_INT(value_of(rgid), 7);
    }
    end();
}

TEST(what_is_withdrawn_leaves_its_place_to_those_behind_it)
{
    begin();
    int cell = grow(1, 9, 4096);
    for (int gone = 0; gone < 7; gone++) {
        bcr_region ids[7];
        for (int i = 0; i < 7; i++)
            ids[i] = bcr_deq(bcr_cce, cell, bcr_PENDING);
        CHECK_INT(bcr_rgfree(ids[gone]), 0);
        for (int i = 0; i < 6; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        for (int i = 0, value = 0; i < 7; i++) {
            if (i == gone)
                continue;
            CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
            CHECK_INT(value_of(ids[i]), value++);
        }
    }
    end();
}

TEST(withdrawing_a_take_serves_nobody_but_lets_reads_stay)
{
    begin();
    int cell = grow(1, 9, 4096);
    bcr_region gone = bcr_deq(bcr_cce, cell, bcr_PENDING);
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(gone, 0, 1), 0);
    CHECK_INT(bcr_rgwait(read, 0, 0), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(value_of(read), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(rgfree_of_an_unserved_get_withdraws_it)
{
    begin();
    int cell = grow(1, 4, 4096);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region rgid = pending_take(bcr_cce, cell, listed);
        CHECK_INT(bcr_rgfree(rgid), 0);
        FAILS(bcr_rgfree(rgid), bcrE_RGID);
        CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
        CHECK_INT(take(bcr_cce, cell), 7);
    }
    end();
}

TEST(rgfree_of_a_served_get_frees_its_region)
{
    begin();
    int cell = grow(1, 4, 64);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region rgid = pending_take(bcr_cce, cell, listed);
        CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
        FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
        CHECK_INT(bcr_rgfree(rgid), 0);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT); /* not back in the cell */
        CHECK_INT(value_of(number(8)), 8);                   /* the only 64 bytes are free */
    }
    CHECK_INT(pending_gets(one), 0);
    end();
}

TEST(rgfree_of_a_failed_get_frees_the_ID)
{
    begin();
    int cell = grow(1, 4, 64);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_cafree(cell), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    end();
}

TEST(rgwaitm_returns_the_lowest_index_that_is_ready_from_1)
{
    begin();
    int cell = grow(5, 9, 4096);
    bcr_region ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = bcr_deq(bcr_cce, cell + i, bcr_PENDING);
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 0), 0);
    CHECK_INT(bcr_enq(number(3), bcr_cce, cell + 3, bcr_FREE), 0);
    CHECK_INT(bcr_rgwaitm(5, ids, bcr_BLOCK, 1), 4);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 1), 2); /* index says nothing about time */
    CHECK_INT(bcr_rgwaitm(5, ids, 0, 0), 2); /* nothing was taken away by looking */
    CHECK_INT(bcr_rgwait(ids[1], 0, 0), 1);
    CHECK_INT(value_of(ids[1]), 1);
    CHECK_INT(bcr_rgwait(ids[3], 0, 0), 1);
    CHECK_INT(value_of(ids[3]), 3);
    bcr_region rest[3] = {ids[0], ids[2], ids[4]};
    CHECK_INT(bcr_rgwaitm(3, rest, 0, 0), 0);
    CHECK_INT(bcr_rgwaitm(3, rest, 1, 1), 0); /* withdraws all */
    for (int i = 0; i < 3; i++)
        FAILS(bcr_rgwait(rest[i], 0, 0), bcrE_RGID);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell + i, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell + i), i);
    }
    end();
}

TEST(rgwaitm_finds_ordinary_regions_ready)
{
    begin();
    int cell = grow(2, 9, 4096);
    bcr_region ids[3] = {bcr_deq(bcr_cce, cell, bcr_PENDING), number(8),
                         bcr_deq(bcr_cce, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(3, ids, bcr_BLOCK, 1), 2);
    CHECK_INT(value_of(ids[1]), 8);
    end();
}

TEST(a_get_that_failed_counts_as_ready_and_rgwait_tells_why)
{
    begin();
    int cell = grow(1, 9, 4096);
    int other = grow(1, 9, 0);
    bcr_region ids[2] = {bcr_deq(bcr_cce, cell, bcr_PENDING), bcr_deq(bcr_cce, other, bcr_PENDING)};
    CHECK_INT(bcr_cafree(other), 0);
    CHECK_INT(bcr_rgwaitm(2, ids, bcr_BLOCK, 1), 2);
    CHECK_INT(bcr_rgwaitm(2, ids, bcr_BLOCK, 0), 2);
    FAILS(bcr_rgwait(ids[1], bcr_BLOCK, 0), bcrE_NOCELL);
    FAILS(bcr_rgwait(ids[1], bcr_BLOCK, 0), bcrE_RGID);
    CHECK_INT(bcr_rgwait(ids[0], 0, 1), 0);
    end();
}

TEST(rgwaitm_skips_NULL_entries_and_counts_them)
{
    begin();
    int cell = grow(2, 9, 4096);
    bcr_region failed = bcr_deq(bcr_cce, cell + 17, bcr_PENDING);
    CHECK(failed == NULL);
    bcr_region ids[4] = {failed, bcr_deq(bcr_cce, cell, bcr_PENDING), NULL,
                         bcr_deq(bcr_cce, cell + 1, bcr_PENDING)};
    CHECK_INT(bcr_rgwaitm(4, ids, 0, 0), 0);
    CHECK_INT(bcr_enq(number(4), bcr_cce, cell + 1, bcr_FREE), 0);
    CHECK_INT(bcr_rgwaitm(4, ids, bcr_BLOCK, 1), 4);
    CHECK_INT(value_of(ids[3]), 4);
    CHECK_INT(bcr_rgwaitm(3, ids, 1, 1), 0); /* withdraws the one that is there */
    FAILS(bcr_rgwait(ids[1], 0, 0), bcrE_RGID);
    bcr_region nothing[2] = {NULL, NULL};
    FAILS(bcr_rgwaitm(2, nothing, bcr_BLOCK, 1), bcrE_ARG);
    end();
}

TEST(wrong_arguments_of_rgwaitm_change_nothing)
{
    begin();
    int cell = grow(1, 9, 4096);
    bcr_region freed = number(1);
    bcr_region ids[3] = {bcr_deq(bcr_cce, cell, bcr_PENDING), freed, NULL};
    CHECK_INT(bcr_rgfree(freed), 0);
    FAILS(bcr_rgwaitm(0, ids, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(-1, ids, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(1, NULL, 0, 1), bcrE_ARG);
    FAILS(bcr_rgwaitm(2, ids, 0, 1), bcrE_RGID);
    FAILS(bcr_rgwaitm(3, ids, bcr_BLOCK, 1), bcrE_RGID);
    CHECK_INT(bcr_rgwait(ids[0], 0, 0), 0); /* not withdrawn */
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(ids[0], 0, 0), 1);
    CHECK_INT(value_of(ids[0]), 2);
    end();
}

TEST(an_ID_may_stand_twice_in_the_list_of_rgwaitm)
{
    begin();
    int cell = grow(1, 9, 4096);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    bcr_region ids[3] = {rgid, rgid, rgid};
    CHECK_INT(bcr_rgwaitm(3, ids, 0, 0), 0);
    CHECK_INT(bcr_rgwaitm(3, ids, 1, 1), 0);
    FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    /* The free ID is free once: two that are allocated now differ. */
    bcr_region a = number(3), b = number(4);
    CHECK(a != b);
    CHECK_INT(value_of(a), 3);
    CHECK_INT(value_of(b), 4);
    end();
}

TEST(hundreds_of_gets_wait_at_once)
{
    begin();
    enum { MANY = 600 };
    int cell = grow(MANY / 6, MANY, MANY * 64);
    static bcr_region ids[MANY];
    for (int i = 0; i < MANY; i++) {
        ids[i] = bcr_get(i % 5 != 0, bcr_cce, cell + i % (MANY / 6), bcr_PENDING);
        CHECK(ids[i] != NULL);
    }
    CHECK_INT(bcr_rgwaitm(MANY, ids, 0, 0), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell + 17, bcr_FREE), 0);
    CHECK_INT(bcr_rgwaitm(MANY, ids, bcr_BLOCK, 0), 18);
    CHECK_INT(bcr_rgwait(ids[17], 0, 0), 1);
    CHECK_INT(value_of(ids[17]), 1);
    ids[17] = ids[18];
    CHECK_INT(bcr_rgwaitm(MANY, ids, 0, 1), 0);
    CHECK_INT(pending_gets(one), 0);
    for (int i = 0; i < MANY / 6; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell + i, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell + i), i);
    }
    end();
}

/* One that waits for several cells at once and is woken by whichever is first. */
TEST(rgwaitm_sleeps_until_one_of_them_is_served)
{
    begin();
    as(two);
    int far = grow(3, 9, 0);
    as(one);
    grow(0, 0, 4096);
    struct bcri_ctx *three = join();
    for (int round = 0; round < 50; round++) {
        bcr_region ids[3];
        for (int i = 0; i < 3; i++)
            ids[i] = bcr_deq(two_of_one, far + i, bcr_PENDING);
        as(three);
        /* Somebody else's put, from a thread of its own, while we wait. */
        bcr_cce_id owner = name(three, two);
        as(one);
        struct later *put = later_put(three, 1, round, owner, far + round % 3);
        CHECK_INT(bcr_rgwaitm(3, ids, bcr_BLOCK, 0), round % 3 + 1);
        CHECK_INT(result(put).returned, 0);
        CHECK_INT(bcr_rgwait(ids[round % 3], 0, 0), 1);
        CHECK_INT(value_of(ids[round % 3]), round);
        for (int i = 0; i < 3; i++)
            if (i != round % 3)
                CHECK_INT(bcr_rgfree(ids[i]), 0);
    }
    end();
}

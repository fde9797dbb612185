/* SPDX-License-Identifier: MIT */
/* Handlers that wait in puts into full cells. */
#include "blocking.h"

static int full; /* the first of those cells of the other CCE */
static bcr_region shared;

static void put_there(int cell)
{
    (void)cell;
    CHECK_INT(bcr_enq(number(5), two_of_one, full, bcr_FREE), 0);
    say("put ");
}

static void fill_two(void)
{
    as(two);
    full = bcr_cagrow(0, 0, 0, 0, 2, 1, 0);
    CHECK(full > 0);
    CHECK_INT(bcr_enq(number(4), bcr_cce, full, bcr_FREE), 0);
    as(one);
}

/* Takes the first of two's full cells, and returns its value. */
static int drain(void)
{
    as(two);
    int value = take(bcr_cce, full);
    as(one);
    return value;
}

TEST(a_handler_waits_in_a_put_into_a_full_cell)
{
    start(1, 10, 1 << 16, put_there);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(waiting_puts_at(two_of_one, full), 1);
    CHECK_INT(drain(), 4);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put ");
    CHECK_INT(drain(), 5);
    end();
}

static void put_shared(int cell)
{
    (void)cell;
    CHECK_INT(bcr_enq(shared, two_of_one, full, bcr_FREE), 0);
    say("put ");
}

static void put_shared_to_both(int cell)
{
    const int cells[] = {two_of_one, full, two_of_one, full + 1};
    (void)cell;
    CHECK_INT(bcr_putm(1, shared, 2, cells, bcr_FREE), 0);
    say("put ");
}

/* By the time the put has found room the ID is free, a region's, or a get's. */
TEST(a_put_that_waits_leaves_an_id_alone_that_another_invocation_has_freed)
{
    for (int to_both = 0; to_both < 2; to_both++)
        for (int next = 0; next < 3; next++) {
            start(2, 10, 1 << 16, to_both ? put_shared_to_both : put_shared);
            fill_two();
            shared = number(5);
            request(HOME);
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(bcr_rgfree(shared), 0);
            bcr_region again = next == 1   ? number(6)
                               : next == 2 ? bcr_get(1, bcr_cce, DATA, bcr_PENDING)
                                           : NULL;
            CHECK_PTR(again, next == 0 ? NULL : (void *)shared);
            CHECK_INT(drain(), 4);
            CHECK_INT(bcr_allow(0), 0);
            CHECK_INT(drain(), 5);
            if (to_both) {
                CHECK_INT(bcr_allow(0), 0);
                full++;
                CHECK_INT(drain(), 5);
            }
            CHECK_INT(bcr_allow(0), 0);
            SAID("put ");
            bcr_region one_more = number(7), and_another = number(8);
            CHECK(one_more != and_another && one_more != again && and_another != again);
            CHECK_INT(value_of(one_more) + value_of(and_another), 15);
            if (next == 1)
                CHECK_INT(value_of(again), 6);
            if (next == 2) {
                put(DATA, 9);
                CHECK_INT(bcr_rgwait(again, 0, 0), 1);
                CHECK_INT(value_of(again), 9);
            }
            end();
        }
}

TEST(what_others_look_up_meanwhile_does_not_mislead_a_put_that_waits)
{
    enum { LOOKED_AT = 700 };
    start(LOOKED_AT, 1000, 1 << 18, put_there);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    for (int cell = HOME; cell < LOOKED_AT; cell++)
        CHECK_INT(bcr_celllen(bcr_cce, cell), cell == HOME);
    as(two);
    CHECK_INT(take(bcr_cce, full), 4);
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put ");
    CHECK_INT(drain(), 5);
    end();
}

static void put_to_both(int cell)
{
    const int cells[] = {two_of_one, full, bcr_cce, cell + 1};
    CHECK_INT(bcr_putm(1, number(6), 2, cells, bcr_FREE), 0);
    say("put to both ");
}

TEST(a_handler_waits_in_putm)
{
    start(2, 10, 1 << 16, put_to_both);
    fill_two();
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, DATA), 6); /* there was room */
    CHECK_INT(drain(), 4);
    CHECK_INT(bcr_allow(0), 0);
    SAID("put to both ");
    CHECK_INT(drain(), 6);
    end();
}

static void put_and_fail(int cell)
{
    (void)cell;
    bcr_region rgid = number(1);
    FAILS(bcr_enq(rgid, two_of_one, full, bcr_FREE), bcrE_NOCELL);
    say("no cell%d ", value_of(rgid));
}

TEST(a_put_that_waits_ends_with_its_cell)
{
    start(1, 10, 1 << 16, put_and_fail);
    as(two);
    full = bcr_cagrow(0, 0, 0, 0, 1, 0, 0); /* no room for any */
    as(one);
    request(HOME);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(waiting_puts_at(two_of_one, full), 1);
    as(two);
    CHECK_INT(bcr_cafree(full), 0);
    as(one);
    CHECK_INT(bcr_allow(0), 0);
    SAID("no cell1 ");
    end();
}

/* SPDX-License-Identifier: MIT */
/* nrgns, bcr_putwait, and puts that wait: how many regions an area holds, and who gets room that
 * becomes free. */
#include "cce.h"

#include "bcri/cell.h"

#include <stdlib.h>

#include "bcri/clock.h"
#include "bcri/lookup.h"

static bcr_region full_for(bcr_region rgid, bcr_cce_id cce, int cell)
{
    FAILS(bcr_enq(rgid, cce, cell, bcr_FREE), bcrE_FULL);
    return rgid;
}

TEST(nrgns_bounds_what_the_cells_of_an_area_hold_together)
{
    begin();
    int cell = grow(5, 7, 8192);
    bcr_region more = number(99);
    for (int round = 0; round < 5; round++) { /* all in one cell, each in turn */
        for (int i = 0; i < 7; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell + round, bcr_FREE), 0);
        for (int i = 0; i < 5; i++)
            full_for(more, bcr_cce, cell + i);
        for (int i = 0; i < 7; i++)
            CHECK_INT(take(bcr_cce, cell + round), i);
    }
    for (int i = 0; i < 7; i++) /* spread */
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell + i % 5, bcr_FREE), 0);
    for (int i = 0; i < 5; i++)
        full_for(more, bcr_cce, cell + i);
    CHECK_INT(take(bcr_cce, cell), 0);
    CHECK_INT(bcr_enq(more, bcr_cce, cell + 4, bcr_FREE), 0); /* room of one cell is room of all */
    full_for(number(1), bcr_cce, cell);
    end();
}

TEST(others_find_the_same_bound)
{
    begin();
    int cell = grow(3, 6, 8192);
    as(two);
    CHECK_INT(bcr_putwait(0), 0);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 6; i++) {
            as(i % 2 == 0 ? one : two);
            CHECK_INT(bcr_enq(number(i), i % 2 == 0 ? bcr_cce : one_of_two, cell + (round + i) % 3, bcr_FREE),
                      0);
        }
        as(two);
        for (int i = 0; i < 3; i++)
            CHECK_INT(value_of(full_for(number(7), one_of_two, cell + i)), 7);
        for (int i = 0; i < 3; i++) {
            as(i % 2 == 0 ? one : two);
            CHECK_INT(bcr_zap(i % 2 == 0 ? bcr_cce : one_of_two, cell + i), 0);
        }
    }
    as(one);
    end();
}

TEST(areas_have_bounds_of_their_own)
{
    begin();
    int a = grow(1, 1, 1024), b = grow(1, 2, 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, a, bcr_FREE), 0);
    bcr_region more = full_for(number(2), bcr_cce, a);
    CHECK_INT(bcr_enq(more, bcr_cce, b, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(3), bcr_cce, b, bcr_FREE), 0);
    full_for(number(4), bcr_cce, b);
    end();
}

TEST(with_nrgns_0_a_put_succeeds_only_by_handing_over_to_a_waiting_get)
{
    begin();
    int cell = grow(2, 0, 1024);
    bcr_region more = full_for(number(1), bcr_cce, cell);
    FAILS(bcr_write(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
        full_for(more, bcr_cce, cell + 1); /* waiting elsewhere does not help */
        CHECK_INT(bcr_put(listed, number(5), bcr_cce, cell, bcr_FREE), 0);
        full_for(more, bcr_cce, cell);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(value_of(rgid), 5);
        if (listed) {
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
            CHECK_INT(value_of(read), 5);
        }
    }
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    full_for(more, bcr_cce, cell); /* a read takes nothing away, so there is no room for what stays */
    CHECK_INT(bcr_rgwait(read, 0, 1), 0);
    end();
}

TEST(waiting_gets_take_more_than_nrgns_when_they_wait)
{
    begin();
    int cell = grow(1, 1, 4096);
    bcr_region ids[9];
    for (int i = 0; i < 9; i++)
        ids[i] = bcr_deq(bcr_cce, cell, bcr_PENDING);
    for (int i = 0; i < 10; i++) /* nine are handed over, one is queued */
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    full_for(number(10), bcr_cce, cell);
    for (int i = 0; i < 9; i++) {
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 1);
        CHECK_INT(value_of(ids[i]), i);
    }
    full_for(number(11), bcr_cce, cell);
    end();
}

TEST(write_into_a_full_area_succeeds_where_its_cell_holds_a_region)
{
    begin();
    int cell = grow(2, 2, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    bcr_region rgid = number(3);
    FAILS(bcr_write(rgid, bcr_cce, cell + 1, bcr_FREE), bcrE_FULL);
    CHECK_INT(bcr_write(rgid, bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(4), bcr_cce, cell + 1, bcr_FREE), 0); /* one of the two was replaced */
    as(two);
    CHECK_INT(bcr_write(number(5), one_of_two, cell, bcr_FREE), 0);
    as(one);
    CHECK_INT(take(bcr_cce, cell), 5);
    CHECK_INT(take(bcr_cce, cell + 1), 4);
    end();
}

TEST(own_full_cells_never_wait)
{
    begin();
    int cell = grow(1, 1, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    const int msecs[] = {bcr_BLOCK, 0, 1000000, -7};
    bcr_region more = number(2);
    for (size_t i = 0; i < sizeof msecs / sizeof msecs[0]; i++) {
        CHECK_INT(bcr_putwait(msecs[i]), 0);
        full_for(more, bcr_cce, cell);
    }
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    end();
}

TEST(putwait_says_how_long_and_never_ends_early)
{
    begin();
    int cell = grow(1, 1, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(two);
    FAILS(bcr_putwait(bcr_PENDING), bcrE_ARG);
    bcr_region more = number(2);
    for (int msec = 0; msec <= 20; msec += 5) {
        CHECK_INT(bcr_putwait(msec), 0);
        FAILS(bcr_putwait(bcr_PENDING), bcrE_ARG); /* and leaves it as it was */
        uint64_t start_ns = bcri_clock_ns();
        full_for(more, one_of_two, cell);
        CHECK(bcri_clock_ns() - start_ns >= (uint64_t)msec * BCRI_NS_PER_MS);
    }
    as(one);
    CHECK_INT(waiting_puts(cell), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT); /* what gave up did not come */
    as(two);
    CHECK_INT(value_of(more), 2);
    as(one);
    end();
}

/* The same where most of the queue lies outside the ring. */
TEST(putwait_ends_on_a_long_queue_too)
{
    begin();
    int cell = grow(20, 400, 400 * 64);
    for (int i = 0; i < 400; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell + 3, bcr_FREE), 0);
    as(two);
    CHECK_INT(bcr_putwait(5), 0);
    uint64_t start_ns = bcri_clock_ns();
    full_for(number(2), one_of_two, cell + 3);
    CHECK(bcri_clock_ns() - start_ns >= 5 * BCRI_NS_PER_MS);
    as(one);
    struct bcri_ctx *three = join();
    struct later *put = later_put(three, 1, 7, name(three, one), cell + 3);
    CHECK_INT(waiting_puts(cell), 1);
    for (int i = 0; i < 400; i++)
        CHECK_INT(take(bcr_cce, cell + 3), i);
    CHECK_INT(result(put).returned, 0);
    CHECK_INT(take(bcr_cce, cell + 3), 7);
    end();
}

TEST(room_goes_to_the_put_that_has_waited_longest)
{
    begin();
    enum { PUTS = 6 };
    int cell = grow(3, 1, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    struct later *puts[PUTS];
    for (int i = 0; i < PUTS; i++) {
        struct bcri_ctx *ctx = join();
        puts[i] = later_put(ctx, i % 2, i + 1, name(ctx, one), cell + 1 + i % 2);
        CHECK_INT(waiting_puts(cell), i + 1);
    }
    CHECK_INT(take(bcr_cce, cell), 0);
    for (int i = 0; i < PUTS; i++) {
        CHECK_INT(result(puts[i]).returned, 0);
        CHECK_INT(waiting_puts(cell), PUTS - 1 - i);
        for (int k = 0; k < 3; k++)
            CHECK_INT(bcr_celllen(bcr_cce, cell + k), k == 1 + i % 2);
        CHECK_INT(take(bcr_cce, cell + 1 + i % 2), i + 1);
    }
    end();
}

TEST(a_put_that_comes_later_gets_no_room_before_those_that_wait)
{
    begin();
    int cell = grow(2, 2, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    struct later *put = later_put(two, 1, 2, one_of_two, cell + 1);
    CHECK_INT(take(bcr_cce, cell), 0);
    CHECK_INT(result(put).returned, 0);
    full_for(number(9), bcr_cce, cell);
    CHECK_INT(take(bcr_cce, cell + 1), 2);
    end();
}

TEST(zap_and_write_make_room_for_those_that_wait)
{
    begin();
    int cell = grow(2, 3, 1024);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_ctx *three = join(), *four = join();
    struct later *puts[3] = {later_put(two, 1, 10, one_of_two, cell + 1),
                             later_put(three, 1, 11, name(three, one), cell + 1),
                             later_put(four, 1, 12, name(four, one), cell + 1)};
    CHECK_INT(bcr_write(number(9), bcr_cce, cell, bcr_FREE), 0); /* three become one */
    CHECK_INT(result(puts[0]).returned, 0);
    CHECK_INT(result(puts[1]).returned, 0);
    CHECK_INT(waiting_puts(cell), 1);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(result(puts[2]).returned, 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(take(bcr_cce, cell + 1), 10 + i);
    end();
}

/* Found by ../../model: the room was in another cell than the one where it was looked for. */
TEST(a_waiting_write_finds_its_cell_filled_by_those_before_it_and_makes_room)
{
    begin();
    int cell = grow(3, 3, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_ctx *three = join(), *four = join(), *five = join();
    struct later *puts[4] = {
        later_put(two, 1, 1, one_of_two, cell + 1), later_put(three, 1, 2, name(three, one), cell + 1),
        later_put(four, 0, 3, name(four, one), cell + 1), later_put(five, 1, 4, name(five, one), cell + 2)};
    CHECK_INT(bcr_write(number(9), bcr_cce, cell, bcr_FREE), 0); /* room for two, then for one more */
    for (int i = 0; i < 4; i++)
        CHECK_INT(result(puts[i]).returned, 0);
    CHECK_INT(take(bcr_cce, cell + 1), 3);
    CHECK_INT(take(bcr_cce, cell + 2), 4);
    CHECK_INT(take(bcr_cce, cell), 9);
    end();
}

TEST(a_get_on_an_empty_cell_takes_the_region_of_a_put_that_waits_for_it)
{
    begin();
    int cell = grow(3, 1, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_ctx *three = join(), *four = join();
    struct later *puts[3] = {later_put(two, 1, 1, one_of_two, cell + 1),
                             later_put(three, 1, 2, name(three, one), cell + 2),
                             later_put(four, 1, 3, name(four, one), cell + 2)};
    CHECK_INT(take(bcr_cce, cell + 2), 2); /* at once, past the one that has waited longer elsewhere */
    CHECK_INT(result(puts[1]).returned, 0);
    CHECK_INT(waiting_puts(cell), 2);
    CHECK_INT(value_of(bcr_read(bcr_cce, cell + 2, 0)), 3); /* a read shares it; the put waits on */
    CHECK_INT(waiting_puts(cell), 2);
    CHECK_INT(peek(bcr_acqwl(bcr_cce, cell + 2, bcr_BLOCK)), 3);
    CHECK_INT(result(puts[2]).returned, 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell), 0);
    CHECK_INT(result(puts[0]).returned, 0);
    CHECK_INT(take(bcr_cce, cell + 1), 1);
    end();
}

TEST(a_region_handed_to_a_get_by_a_waiting_put_may_be_pending)
{
    begin();
    int cell = grow(1, 0, 1024);
    struct later *put = later_put(two, 1, 1, one_of_two, cell);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(result(put).returned, 0);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(value_of(rgid), 1);
    end();
}

/* The read came first and takes nothing; the put then has no room; the take behind the read makes
 * all three happy. */
TEST(a_take_behind_a_waiting_read_meets_a_put_that_waits)
{
    begin();
    int cell = grow(1, 0, 1024);
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    struct later *put = later_put(two, 1, 1, one_of_two, cell);
    CHECK_INT(waiting_puts(cell), 1);
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(value_of(read), 1);
    CHECK_INT(result(put).returned, 0);
    end();
}

/* Behind an older put that waits for another cell. */
TEST(a_put_meets_a_get_that_waits_for_it_whatever_else_waits)
{
    begin();
    int cell = grow(2, 0, 1024);
    struct bcri_ctx *three = join();
    struct later *elsewhere = later_put(two, 1, 1, one_of_two, cell);
    bcr_region rgid = bcr_deq(bcr_cce, cell + 1, bcr_PENDING);
    as(three);
    CHECK_INT(bcr_enq(number(2), name(three, one), cell + 1, bcr_FREE), 0);
    as(one);
    CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
    CHECK_INT(value_of(rgid), 2);
    CHECK_INT(waiting_puts(cell), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(result(elsewhere).returned, 0);
    end();
}

TEST(withdrawing_a_waiting_put_lets_the_next_one_on)
{
    begin();
    int cell = grow(2, 1, 1024);
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_ctx *three = join();
    as(two);
    CHECK_INT(bcr_putwait(50), 0);
    as(one);
    struct later *first = later_put(two, 1, 1, one_of_two, cell);
    struct later *second = later_put(three, 1, 2, name(three, one), cell + 1);
    struct outcome outcome = result(first);
    CHECK_INT(outcome.returned, -1);
    CHECK_INT(outcome.error, bcrE_FULL);
    CHECK_INT(waiting_puts(cell), 1);
    CHECK_INT(take(bcr_cce, cell), 0);
    CHECK_INT(result(second).returned, 0);
    CHECK_INT(take(bcr_cce, cell + 1), 2);
    end();
}

/* Requests are not bounded by nrgns. */
TEST(any_number_of_puts_and_gets_may_wait)
{
    begin();
    enum { MANY = 40 };
    int cell = grow(1, 1, 1024);
    CHECK_INT(bcr_enq(number(-1), bcr_cce, cell, bcr_FREE), 0);
    struct later *puts[MANY];
    for (int i = 0; i < MANY; i++) {
        struct bcri_ctx *ctx = join();
        puts[i] = later_put(ctx, 1, i, name(ctx, one), cell);
    }
    CHECK_INT(waiting_puts(cell), MANY);
    for (int i = -1; i < MANY; i++)
        CHECK_INT(value_of(bcr_deq(bcr_cce, cell, bcr_BLOCK)), i);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(result(puts[i]).returned, 0);
    end();
}

TEST(a_put_that_waits_keeps_its_region_alive_and_its_order)
{
    begin();
    int cell = grow(1, 2, 1024);
    as(two);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_enq(number(i), one_of_two, cell, bcr_FREE), 0);
    as(one);
    struct later *third = later_put(two, 1, 2, one_of_two, cell);
    for (int i = 0; i < 2; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    CHECK_INT(result(third).returned, 0);
    as(two);
    CHECK_INT(bcr_enq(number(3), one_of_two, cell, bcr_FREE), 0);
    as(one);
    CHECK_INT(take(bcr_cce, cell), 2);
    CHECK_INT(take(bcr_cce, cell), 3);
    end();
}

/* Somebody who serves a put that waits has just gathered a credit for it: a put elsewhere in the
 * area that has none itself leaves it there. */
TEST(a_put_takes_no_credit_that_was_gathered_for_one_that_waits)
{
    begin();
    int cell = grow(2, 2, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    struct later *put = later_put(two, 1, 3, one_of_two, cell);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    struct bcri_area_shm *area = resolved->area;
    struct bcri_tail_shm *t = &resolved->cell->t;
    CHECK_UINT(bcri_load(&t->credits), 2);
    bcri_store(&t->credits, 1);
    bcri_store(&area->pool, 1);
    bcr_region rgid = number(4);
    FAILS(bcr_enq(rgid, bcr_cce, cell + 1, bcr_FREE), bcrE_FULL);
    CHECK_UINT(bcri_load(&area->pool), 1);
    bcri_store(&area->pool, 0);
    bcri_store(&t->credits, 2);
    CHECK_INT(value_of(rgid), 4);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(result(put).returned, 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    CHECK_INT(take(bcr_cce, cell), 3);
    end();
}

/* Its credit stays behind in each cell it was in; where the last one was found the next is looked
 * for. */
TEST(a_region_goes_round_many_more_cells_than_there_is_room_for)
{
    enum { MANY = 100, ROOM = 3, KEPT = 96 };
    begin();
    const int cell = grow(MANY, ROOM, 1024);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    struct bcri_area_shm *area = resolved->area;
    for (int kept = 0; kept < ROOM; kept++) { /* with all the room, with less, with no more than it needs */
        for (int step = 0; step < 3 * KEPT; step++) {
            CHECK_INT(bcr_enq(number(step), bcr_cce, cell + step % KEPT, bcr_FREE), 0);
            CHECK_INT(take(bcr_cce, cell + step % KEPT), step);
            if (kept == 0 && step > 2 * ROOM)
                CHECK_UINT(bcri_load(&area->gather_from), (step - ROOM) % KEPT);
        }
        CHECK_INT(bcr_enq(number(-kept), bcr_cce, cell + KEPT + kept, bcr_FREE), 0);
    }
    bcri_store(&area->gather_from, UINT32_MAX - 1); /* a hint, whatever it says */
    FAILS(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), bcrE_FULL);
    for (int kept = 0; kept < ROOM; kept++)
        CHECK_INT(take(bcr_cce, cell + KEPT + kept), -kept);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(a_cell_that_is_to_hold_much_takes_half_of_what_another_has_unused)
{
    begin();
    const int cell = grow(2, 64, 1 << 16);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    struct bcri_tail_shm *t = &resolved->cell->t;
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell + 1, bcr_FREE), 0); /* its share: 32 */
    for (int i = 0; i < 33; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_UINT(bcri_load(&t->credits), 32 + 16);
    for (int i = 33; i < 63; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_UINT(bcri_load(&t->credits), 63);
    bcr_region more = number(1);
    full_for(more, bcr_cce, cell);
    CHECK_INT(value_of(more), 1);
    for (int i = 0; i < 63; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    CHECK_INT(take(bcr_cce, cell + 1), 0);
    end();
}

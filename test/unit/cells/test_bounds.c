/* SPDX-License-Identifier: MIT */
/* Puts that wait, many at once and beside other requests, and where the credits of an area lie. What
 * nrgns and bcr_putwait promise is tested in ../../behaviour. */
#include "cce.h"

#include "bcri/cell.h"

#include "bcri/clock.h"
#include "bcri/lookup.h"

static bcr_region full_for(bcr_region rgid, bcr_cce_id cce, int cell)
{
    FAILS(bcr_enq(rgid, cce, cell, bcr_FREE), bcrE_FULL);
    return rgid;
}

/* The same where most of the queue lies outside the ring. */
TEST(putwait_ends_on_a_long_queue_too)
{
    begin();
    int cell = grow(20, 400, 400 * NUMBER_BYTES);
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

/* A CCE that services a waiting put has just gathered a credit for it: a put elsewhere in the area
 * that has none itself leaves it there. */
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

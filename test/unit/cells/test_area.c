/* SPDX-License-Identifier: MIT */
/* bcr_cagrow and bcr_cafree: which numbers cells get, what keeps an area from being freed, and what
 * freeing one does to those who use it. */
#include "cce.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(cells_are_numbered_upwards_from_what_cagrow_returns)
{
    begin();
    CHECK_INT(bcr_cagrow(0, 1, 2, 3, 4, 10, 1024), 1);
    for (int cell = 1; cell <= 10; cell++)
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    FAILS(bcr_celllen(bcr_cce, 11), bcrE_NOCELL);
    FAILS(bcr_celllen(bcr_cce, -1), bcrE_NOCELL);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 1, 0), 11);
    end();
}

TEST(the_wished_number_is_given_if_it_is_free_else_the_lowest_that_is)
{
    begin();
    CHECK_INT(bcr_cagrow(100, 0, 0, 0, 10, 0, 0), 100);
    CHECK_INT(bcr_cagrow(90, 0, 0, 0, 10, 0, 0), 90);
    CHECK_INT(bcr_cagrow(109, 0, 0, 0, 2, 0, 0), 1); /* 109 is taken */
    CHECK_INT(bcr_cagrow(85, 0, 0, 0, 6, 0, 0), 3);  /* 90 is taken */
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 1, 0, 0), 9);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 81, 0, 0), 110); /* does not fit before 90 */
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 80, 0, 0), 10);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 0, 0), 191);
    end();
}

TEST(cell_0_is_always_taken)
{
    begin();
    CHECK_INT(bcr_celllen(bcr_cce, 0), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 0, 0), 1);
    FAILS(bcr_cafree(0), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 0), 0);
    end();
}

TEST(an_area_without_cells_takes_up_one_number)
{
    begin();
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096), 1);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 7, 0), 2);
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 2, 0, 0), 3);
    FAILS(bcr_celllen(bcr_cce, 1), bcrE_NOCELL);
    FAILS(bcr_celllen(bcr_cce, 2), bcrE_NOCELL);
    CHECK_INT(bcr_cafree(1), 0);
    CHECK_INT(bcr_cafree(2), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 2, 0, 0), 1);
    end();
}

TEST(a_negative_argument_is_refused_and_nothing_has_changed)
{
    begin();
    FAILS(bcr_cagrow(-1, 1, 1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, -1, 1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, -1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, -1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, -1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, 1, -1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, 1, 1, -64), bcrE_ARG);
    FAILS(bcr_celllen(bcr_cce, 1), bcrE_NOCELL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(bcr_cagrow(0, 1, 1, 1, 1, 1, 64), 1);
    end();
}

TEST(numbers_beyond_INT_MAX_are_refused)
{
    begin();
    FAILS(bcr_cagrow(0, INT_MAX, INT_MAX, INT_MAX, INT_MAX, 0, 0), bcrE_ARG);
    FAILS(bcr_cagrow(0, INT_MAX, 0, 0, 0, 0, 0), bcrE_ARG);
    CHECK_INT(bcr_cagrow(INT_MAX - 1, 0, 0, 0, 1, 1, 0), INT_MAX - 1);
    CHECK_INT(bcr_celllen(bcr_cce, INT_MAX - 1), 0);
    FAILS(bcr_celllen(bcr_cce, INT_MAX), bcrE_NOCELL);
    CHECK_INT(bcr_cagrow(INT_MAX - 1, 0, 0, 0, 2, 1, 0), 1);
    CHECK_INT(bcr_cafree(INT_MAX - 1), 0);
    end();
}

TEST(memory_that_the_machine_does_not_have_is_refused_at_once)
{
    /* INT_MAX regions need at least a queue node of 32 bytes each. */
    if ((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) > 32.0 * INT_MAX)
        SKIP("this machine has memory for INT_MAX queued regions");
    begin();
    FAILS(bcr_cagrow(0, 0, 0, 0, 1, INT_MAX, 64), bcrE_NOMEM);
    FAILS(bcr_celllen(bcr_cce, 1), bcrE_NOCELL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* nor were the bytes given */
    CHECK_INT(grow(1, 1, 64), 1);
    end();
}

TEST(a_file_size_limit_refuses_an_area_and_does_not_kill)
{
    begin();
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FAILS(bcr_cagrow(0, 0, 0, 0, 1, 1, 100 << 20), bcrE_NOMEM);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 1, 100 << 20), 1);
    end();
}

TEST(freed_numbers_are_given_out_again)
{
    begin();
    CHECK_INT(grow(4, 4, 0), 1);
    CHECK_INT(grow(4, 4, 0), 5);
    CHECK_INT(bcr_cafree(1), 0);
    FAILS(bcr_cafree(1), bcrE_NOCELL);
    FAILS(bcr_celllen(bcr_cce, 1), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 5), 0);
    CHECK_INT(grow(2, 4, 0), 1);
    CHECK_INT(grow(3, 4, 0), 9);
    CHECK_INT(grow(2, 4, 0), 3);
    end();
}

TEST(only_the_number_that_cagrow_returned_frees_an_area)
{
    begin();
    CHECK_INT(grow(4, 4, 256), 1);
    FAILS(bcr_cafree(2), bcrE_NOCELL);
    FAILS(bcr_cafree(5), bcrE_NOCELL);
    FAILS(bcr_cafree(-1), bcrE_NOCELL);
    FAILS(bcr_cafree(INT_MIN), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(bcr_cce, 4), 0);
    CHECK_INT(bcr_cafree(1), 0);
    end();
}

TEST(an_area_with_a_region_in_a_cell_is_busy_and_stays_as_it_was)
{
    begin();
    int cell = grow(3, 3, 1024);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell + 2, bcr_FREE), 0);
    FAILS(bcr_cafree(cell), bcrE_BUSY);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 2), 1);
    CHECK_INT(bcr_enq(number(6), bcr_cce, cell + 2, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell + 2), 5);
    CHECK_INT(take(bcr_cce, cell + 2), 6);
    FAILS(bcr_cafree(cell), bcrE_BUSY);
    CHECK_INT(take(bcr_cce, cell), 7);
    CHECK_INT(bcr_cafree(cell), 0);
    end();
}

TEST(an_area_is_busy_while_a_region_of_its_memory_is_held_anywhere)
{
    begin();
    int area = grow(0, 0, 1024);
    int cell = grow(1, 4, 0);
    as(two);
    int far = grow(1, 4, 0);
    as(one);
    bcr_region rgid = number(1);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* held by its owner */
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* in a cell of another area */
    as(two);
    rgid = bcr_deq(one_of_two, cell, 0);
    as(one);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* held by another CCE */
    as(two);
    CHECK_INT(bcr_enq(rgid, bcr_cce, far, bcr_FREE), 0);
    as(one);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* in another CCE's cell */
    CHECK_INT(bcr_zap(two_of_one, far), 0);
    CHECK_INT(bcr_cafree(area), 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    end();
}

TEST(a_region_freed_by_another_CCE_does_not_keep_an_area)
{
    begin();
    int cell = grow(1, 4, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(two);
    CHECK_INT(take(one_of_two, cell), 1);
    as(one);
    CHECK_INT(bcr_cafree(cell), 0);
    end();
}

/* By ticket, and, behind a waiting read, in the cell's list. */
TEST(gets_that_wait_at_a_freed_area_end_with_NOCELL)
{
    begin();
    int cell = grow(2, 2, 1024);
    bcr_region own = bcr_deq(bcr_cce, cell, bcr_PENDING);
    bcr_region read = bcr_read(bcr_cce, cell + 1, bcr_PENDING);
    as(two);
    bcr_region ticket = bcr_deq(one_of_two, cell, bcr_PENDING);
    bcr_region listed = bcr_deq(one_of_two, cell + 1, bcr_PENDING);
    as(one);
    struct bcri_ctx *three = join();
    struct later *asleep = later_get(three, 1, name(three, one), cell, bcr_BLOCK);
    CHECK_INT(bcr_cafree(cell), 0);
    FAILS(bcr_rgwait(own, bcr_BLOCK, 0), bcrE_NOCELL);
    FAILS(bcr_rgwait(own, bcr_BLOCK, 0), bcrE_RGID); /* the ID is free */
    FAILS(bcr_rgwait(read, 0, 1), bcrE_NOCELL);
    as(two);
    FAILS(bcr_rgwait(ticket, bcr_BLOCK, 0), bcrE_NOCELL);
    FAILS(bcr_rgwait(listed, bcr_BLOCK, 0), bcrE_NOCELL);
    as(one);
    struct outcome outcome = result(asleep);
    CHECK_INT(outcome.returned, -1);
    CHECK_INT(outcome.error, bcrE_NOCELL);
    end();
}

TEST(puts_that_wait_at_a_freed_area_end_with_NOCELL)
{
    begin();
    int cell = grow(1, 0, 0);
    struct later *waiting = later_put(two, 1, 5, one_of_two, cell);
    CHECK_INT(waiting_puts(cell), 1);
    CHECK_INT(bcr_cafree(cell), 0);
    struct outcome outcome = result(waiting);
    CHECK_INT(outcome.returned, -1);
    CHECK_INT(outcome.error, bcrE_NOCELL);
    end();
}

/* Whether cafree waits for the waiter (busy) or lets it go with its region is open; that the region
 * is lost is not. */
static void free_before_collecting(int cell, bcr_region pending)
{
    int freed = bcr_cafree(cell);
    CHECK(freed == 0 || bcr_errno == bcrE_BUSY);
    as(two);
    CHECK_INT(bcr_rgwait(pending, 0, 0), 1);
    CHECK_INT(value_of(pending), 1);
    as(one);
    if (freed != 0)
        CHECK_INT(bcr_cafree(cell), 0);
}

TEST(a_waiter_gets_what_it_was_handed_before_the_area_was_freed)
{
    begin();
    int area = grow(0, 0, 4096);
    int cell = grow(2, 2, 0);
    as(two);
    bcr_region ticket = bcr_deq(one_of_two, cell, bcr_PENDING);
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    free_before_collecting(cell, ticket);
    CHECK_INT(bcr_cafree(area), 0);
    end();
}

TEST(a_waiter_behind_a_read_gets_what_it_was_handed_before_the_area_was_freed)
{
    begin();
    int area = grow(0, 0, 4096);
    int cell = grow(2, 2, 0);
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    as(two);
    bcr_region listed = bcr_acqwl(one_of_two, cell, bcr_PENDING);
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(value_of(read), 1);
    free_before_collecting(cell, listed);
    CHECK_INT(bcr_cafree(area), 0);
    end();
}

TEST(who_knew_a_cell_that_was_freed_finds_none_and_then_the_new_one)
{
    begin();
    int area = grow(0, 0, 4096);
    int cell = grow(2, 2, 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(two);
    CHECK_INT(take(one_of_two, cell), 1);
    as(one);
    for (int round = 0; round < 3; round++) {
        CHECK_INT(bcr_cafree(cell), 0);
        as(two);
        FAILS_NULL(bcr_deq(one_of_two, cell, 0), bcrE_NOCELL);
        FAILS_NULL(bcr_read(one_of_two, cell, bcr_PENDING), bcrE_NOCELL);
        FAILS_NULL(bcr_acqwl(one_of_two, cell, bcr_BLOCK), bcrE_NOCELL);
        bcr_region rgid = number(3);
        FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_NOCELL);
        FAILS(bcr_write(rgid, one_of_two, cell, bcr_FREE), bcrE_NOCELL);
        FAILS(bcr_zap(one_of_two, cell), bcrE_NOCELL);
        CHECK_INT(value_of(rgid), 3);
        as(one);
        /* the same shape, another one, the first again: the addresses differ, the numbers do not */
        CHECK_INT(bcr_cagrow(cell, 0, 0, 0, round == 1 ? 7 : 2, round == 1 ? 100 : 2, 0), cell);
        as(two);
        CHECK_INT(bcr_celllen(one_of_two, cell), 0);
        CHECK_INT(bcr_enq(number(4), one_of_two, cell, bcr_FREE), 0);
        as(one);
        CHECK_INT(take(bcr_cce, cell), 4);
    }
    CHECK_INT(bcr_cafree(area), 0);
    end();
}

TEST(a_thousand_areas_come_and_go)
{
    begin();
    const int areas = 1000;
    for (int i = 0; i < areas; i++)
        CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 3, 0), i + 1);
    for (int i = 1; i <= areas; i += 2)
        CHECK_INT(bcr_cafree(i), 0);
    for (int i = 1; i <= areas; i += 2)
        CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 3, 0), i);
    end();
}

/* Of as many shapes and sizes as the program likes: what they lay in serves others. */
TEST(areas_of_ever_other_shapes_come_and_go_in_as_many_segments_as_at_first)
{
    begin();
    uint64_t random = test_seed();
    uint32_t segments = 0;
    for (int i = 0; i < 3000; i++) {
        const int nrgns = (int)test_rand_below(&random, 5000);
        const int bytes = (int)test_rand_below(&random, 1 << 22);
        const int cells = bcr_cagrow(0, 0, 0, 0, 1 + (int)test_rand_below(&random, 100), nrgns, 0);
        const int heap = i % 16 == 0 ? bcr_cagrow(0, 0, 0, 0, 0, 0, bytes) : 0;
        CHECK(cells > 0 && heap >= 0);
        CHECK_INT(bcr_celllen(bcr_cce, cells), 0);
        CHECK_INT(bcr_cafree(cells), 0);
        CHECK_INT(heap > 0 ? bcr_cafree(heap) : 0, 0);
        if (i == 1500)
            segments = bcri_host_segments(one->host);
    }
    CHECK(bcri_host_segments(one->host) <= segments + 6); /* heaps, of other sizes */
    end();
}

/* All that one has is smaller, all that the other has is larger. */
TEST(what_one_CCE_has_freed_serves_another_for_anything)
{
    enum { AREAS = 200 };
    begin();
    int areas[AREAS];
    for (int i = 0; i < AREAS; i++)
        areas[i] = bcr_cagrow(0, 0, 0, 0, 15, 16, 0);
    const uint32_t segments = bcri_host_segments(one->host);
    for (int i = 0; i < AREAS; i++)
        CHECK_INT(bcr_cafree(areas[i]), 0);
    as(two);
    CHECK_INT(bcr_cagrow(1000, 0, 0, 0, 15 * AREAS, 0, 0), 1000);
    CHECK_INT(bcri_host_segments(one->host), segments);
    as(one);
    CHECK_INT(bcr_celllen(two_of_one, 1000 + 15 * AREAS - 1), 0);
    CHECK_INT(audit(), 0);
    end();
}

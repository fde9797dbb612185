/* SPDX-License-Identifier: MIT */
/* bcr_cagrow and bcr_cafree: memory that is refused, and what becomes of the memory of many areas.
 * What they promise their caller is tested in ../../behaviour. */
#include "cce.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(an_area_without_cells_takes_the_highest_number_that_is_free)
{
    const int last = INT_MAX - 1;
    begin();
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096), last);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 7, 0), last - 1);
    CHECK_INT(bcr_cagrow(last - 3, 0, 0, 0, 1, 0, 0), last - 3);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 64), last - 2);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 64), last - 4);
    CHECK_INT(bcr_cagrow(7, 0, 0, 0, 0, 0, 64), 7); /* it was wished */
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 2, 0, 0), 1);
    FAILS(bcr_celllen(bcr_cce, last), bcrE_NOCELL);
    FAILS(bcr_celllen(bcr_cce, 7), bcrE_NOCELL);
    CHECK_INT(bcr_cafree(last - 1), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 64), last - 1);
    CHECK_INT(bcr_cafree(last), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 0, 0, 64), last);
    end();
}

TEST(memory_that_the_machine_does_not_have_is_refused_at_once)
{
    /* INT_MAX regions need at least a queue node of 32 bytes each. */
    if ((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) > 32.0 * INT_MAX)
        SKIP("this machine has memory for INT_MAX queued regions");
    begin();
    FAILS(bcr_cagrow(0, 0, 0, 0, 1, INT_MAX, 0), bcrE_NOMEM);
    FAILS(bcr_cagrow(0, 0, 0, 0, 1, INT_MAX, 64), bcrE_NOMEM);
    FAILS(bcr_celllen(bcr_cce, 1), bcrE_NOCELL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* nor were the bytes given */
    CHECK_INT(grow(1, 1, NUMBER_BYTES), 1);
    end();
}

TEST(a_file_size_limit_refuses_an_area_and_does_not_kill)
{
    begin();
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FAILS(bcr_cagrow(0, 0, 0, 0, 1, 1, 100 << 20), bcrE_NOMEM);
    limit.rlim_cur = 64 << 20; /* enough for the heap, not for the cells */
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FAILS(bcr_cagrow(0, 0, 0, 0, 1 << 20, 1, 64), bcrE_NOMEM);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* nor were the bytes given */
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 1, 100 << 20), 1);
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

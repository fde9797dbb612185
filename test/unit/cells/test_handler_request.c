/* SPDX-License-Identifier: MIT */
/* Requests at marked cells: how they are counted and told, also beside puts that wait, deaths and
 * overflow. Which operations request is tested in ../../behaviour. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bcri/cell0.h"
#include "bcri/self.h"
#include "bcri/watermark.h"
#include "requests.h"

enum { CELLS = 16 };
static struct requests seen;

static void mark(int cell, int watermark)
{
    struct bcri_ctx *self = bcri_self();
    as(one);
    if (seen.ctx != one)
        seen = (struct requests){.ctx = one};
    const bool is_new = bcri_load(bcri_watermark_counter(one, cell)) == 0;
    CHECK_INT(bcri_watermark_set(one, cell, watermark), 0);
    if (is_new)
        requests_watch(&seen, one, cell);
    as(self);
}
static void unmark(int cell)
{
    struct bcri_ctx *self = bcri_self();
    as(one);
    CHECK_INT(bcri_watermark_clear(one, cell), 0);
    as(self);
}
/* A cell that is requested, or 0. Nothing is counted that was not told. */
static int next(void)
{
    seen.ctx = one;
    const int cell = requests_next(&seen);
    CHECK_INT(requests_untold(&seen), 0);
    return cell < 0 ? 0 : cell;
}
/* Takes all. */
static int requests(int cell)
{
    int count = 0;
    for (int number; (number = next()) != 0; count++)
        CHECK_INT(number, cell);
    return count;
}

static void put(int value, int cell)
{
    CHECK_INT(bcr_enq(number(value), bcri_self() == one ? bcr_cce : one_of_two, cell, bcr_FREE), 0);
}
static int got(int cell)
{
    return take(bcri_self() == one ? bcr_cce : one_of_two, cell);
}

TEST(a_cell_without_a_mark_requests_nothing)
{
    begin();
    int cell = grow(1, 10, 8192);
    put(1, cell);
    CHECK_INT(got(cell), 1);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), 0);
    end();
}

/* In the ring, and where the queue is longer than that. */
TEST(a_read_never_meets_a_mark_below_0)
{
    for (int queued = 2; queued <= 20; queued += 18) {
        begin();
        const int cell = grow(10, 40, 8192); /* rings of 8 */
        mark(cell, -30);
        for (int i = 1; i <= queued; i++)
            put(i, cell);
        for (int by_two = 0; by_two < 2; by_two++) {
            as(by_two ? two : one);
            CHECK_INT(value_of(bcr_read(by_two ? one_of_two : bcr_cce, cell, 0)), 1);
            CHECK_INT(value_of(bcr_acqrl(by_two ? one_of_two : bcr_cce, cell, bcr_BLOCK)), 1);
        }
        as(one);
        CHECK_INT(requests(cell), 0);
        CHECK_INT(got(cell), 1);
        CHECK_INT(requests(cell), 1);
        end();
    }
}

TEST(a_put_that_has_waited_for_room_requests_when_it_is_in)
{
    begin();
    int cell = grow(1, 2, 8192);
    mark(cell, 2);
    put(1, cell);
    put(2, cell);
    CHECK_INT(requests(cell), 1);
    struct later *later = later_put(two, 1, 3, one_of_two, cell);
    CHECK_INT(next(), 0); /* it waits */
    CHECK_INT(got(cell), 1);
    CHECK_INT(result(later).returned, 0);
    CHECK_INT(requests(cell), 1);
    end();
}

TEST(a_write_that_has_waited_requests_too)
{
    begin();
    int cell = grow(2, 1, 8192);
    mark(cell, 1);
    put(1, cell + 1);
    struct later *later = later_put(two, 0, 3, one_of_two, cell);
    CHECK_INT(next(), 0);
    CHECK_INT(got(cell + 1), 1);
    CHECK_INT(result(later).returned, 0);
    CHECK_INT(requests(cell), 1);
    CHECK_INT(got(cell), 3);
    end();
}

TEST(a_get_that_takes_a_waiting_puts_region_found_nothing_queued)
{
    begin();
    int cell = grow(1, 0, 8192);
    mark(cell, 0);
    struct later *later = later_put(two, 1, 3, one_of_two, cell);
    CHECK_INT(got(cell), 3);
    CHECK_INT(requests(cell), 1);
    CHECK_INT(result(later).returned, 0);
    mark(cell, 1);
    later = later_put(two, 1, 4, one_of_two, cell);
    CHECK_INT(got(cell), 4);
    CHECK_INT(next(), 0); /* it never was queued */
    CHECK_INT(result(later).returned, 0);
    end();
}

TEST(error_regions_request_the_handler_of_cell_0)
{
    begin();
    mark(0, 1);
    uint8_t data[8] = {1};
    CHECK_INT(bcri_birth_put(group_enl(group), one->index, (uint32_t)bcr_archtype, data, sizeof data), 0);
    CHECK_INT(bcri_error_put(one, one->index, bcrE_FULL, bcr_op_putm, NULL, 5), 0);
    CHECK_INT(requests_next(&seen), 0);
    CHECK_INT(requests_next(&seen), 0);
    CHECK_INT(requests_next(&seen), -1);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcr_rgfree(bcr_deq(bcr_cce, 0, 0)), 0);
    end();
}

TEST(a_region_whose_taker_has_died_is_an_addition)
{
    begin();
    int cell = grow(1, 10, 8192);
    struct bcri_ctx *three = join();
    as(three);
    CHECK(bcr_deq(name(three, one), cell, bcr_PENDING) != NULL);
    mark(cell, 1);
    as(two);
    put(5, cell);
    CHECK_INT(next(), 0); /* handed over */
    leave(three);
    CHECK_INT(requests(cell), 1); /* it is queued only now */
    CHECK_INT(got(cell), 5);
    as(one);
    end();
}

TEST(puts_beyond_the_ring_of_the_cell_and_behind_regions_given_back_request)
{
    begin();
    int cell = grow(10, 40, 65536); /* rings of 8 */
    CHECK(cell + 9 < CELLS);
    mark(cell, 1);
    for (int i = 0; i < 30; i++)
        put(i, cell);
    CHECK_INT(requests(cell), 30);
    for (int i = 0; i < 30; i++)
        CHECK_INT(got(cell), i);
    CHECK_INT(next(), 0);
    end();
}

TEST(a_failed_operation_requests_nothing)
{
    begin();
    int cell = grow(1, 1, 8192);
    mark(cell, 1);
    put(1, cell);
    CHECK_INT(requests(cell), 1);
    bcr_region more = number(2);
    FAILS(bcr_enq(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(more, bcr_cce, cell, bcr_NOFREE), bcrE_FULL);
    as(two);
    CHECK_INT(bcr_putwait(0), 0);
    FAILS(bcr_enq(number(3), one_of_two, cell, bcr_FREE), bcrE_FULL);
    as(one);
    CHECK_INT(next(), 0);
    CHECK_INT(got(cell), 1);
    mark(cell, 0);
    as(two);
    bcr_region lock = bcr_acqwl(one_of_two, cell, bcr_PENDING);
    CHECK_INT(requests(cell), 1);
    as(one);
    put(4, cell);
    as(two);
    CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
    leave(two); /* with the lock */
    as(one);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_OWNERDEAD);
    CHECK_INT(next(), 0);
    put(5, cell);
    CHECK_INT(next(), 0);
    CHECK_INT(got(cell), 5);
    end();
}

TEST(a_mark_that_is_set_anew_goes_on_counting)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 1);
    put(1, cell);
    mark(cell, 2);
    put(2, cell);
    mark(cell, 0);
    put(3, cell);
    for (int i = 1; i <= 3; i++)
        CHECK_INT(got(cell), i);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(requests(cell), 3);
    unmark(cell);
    put(4, cell);
    CHECK_INT(got(cell), 4);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), 0);
    end();
}

TEST(a_mark_needs_an_own_cell)
{
    begin();
    CHECK_INT(bcri_watermark_set(one, 1, 1), bcrE_NOCELL);
    CHECK_PTR(bcri_watermark_counter(one, 1), NULL);
    CHECK_INT(bcri_watermark_clear(one, 1), bcrE_NOCELL);
    CHECK_INT(bcri_watermark_clear(one, -1), bcrE_NOCELL);
    int cell = grow(1, 1, 0);
    CHECK_INT(bcri_watermark_clear(one, cell), 0); /* none there */
    end();
}

TEST(marks_go_with_their_area)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 1);
    put(1, cell);
    CHECK_INT(got(cell), 1);
    CHECK_INT(bcr_cafree(cell), 0);
    CHECK_INT(grow(1, 10, 8192), cell);
    requests_watch(&seen, one, cell);
    put(1, cell);
    put(2, cell);
    requests_look(&seen);
    CHECK_UINT(bcri_load(seen.of[0].counter), 0);
    end();
}

TEST(a_marked_cell_that_is_freed_in_vain_stays_marked)
{
    begin();
    int cell = grow(2, 10, 8192);
    mark(cell, 1);
    put(1, cell + 1);
    FAILS(bcr_cafree(cell), bcrE_BUSY);
    put(2, cell);
    CHECK_INT(requests(cell), 1);
    end();
}

TEST(any_number_of_requests_at_any_number_of_cells_is_told)
{
    begin();
    int cell = grow(CELLS - 1, 4, 8192);
    for (int i = 0; i < CELLS - 1; i++)
        mark(cell + i, 0);
    for (int cells = 1; cells < CELLS; cells++)
        for (int count = 1; count < 3000; count *= 7) {
            for (int k = 0; k < count; k++) {
                as(k % 3 == 0 ? one : two);
                FAILS_NULL(bcr_read(k % 3 == 0 ? bcr_cce : one_of_two, cell + k % cells, 0), bcrE_TIMEOUT);
            }
            as(one);
            audit();
            int taken = 0;
            while (next() != 0)
                taken++;
            CHECK_INT(taken, count);
        }
    end();
}

/* A count near each of the limits of what `news` tells of it, and an owner that has not looked for
 * that long. */
TEST(no_count_is_too_large_to_be_told)
{
    static const uint64_t ends[] = {UINT64_C(1) << 30,
                                    UINT64_C(1) << 31,
                                    UINT64_C(3) << 30,
                                    UINT64_C(1) << 32,
                                    (UINT64_C(1) << 32) + (UINT64_C(1) << 31),
                                    UINT64_C(1) << 63};
    begin();
    int cell = grow(2, 4, 8192);
    mark(cell, 0);
    mark(cell + 1, 0);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, BCRI_SELF, cell, &resolved), 0);
    _Atomic uint64_t *counter = &resolved->cell->t.requests;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (int other = 0; other < 2; other++) {
            /* The count is near the end, and all but the last few are known. */
            bcri_store(counter, ends[i] - 2);
            seen.of[0].seen = seen.of[0].told = ends[i] - 2;
            if (other)
                FAILS_NULL(bcr_deq(bcr_cce, cell + 1, 0), bcrE_TIMEOUT);
            for (int k = 0; k < 4; k++)
                FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
            requests_look(&seen);
            CHECK_UINT(seen.of[0].told, ends[i] + 2);
            /* None is known. What passes a multiple of 2^30 on the way has told so. */
            seen.of[0].told = 0;
            bcri_store(counter, ends[i] - 1);
            FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
            requests_look(&seen);
            CHECK_UINT(seen.of[0].told, ends[i]);
            seen.of[1].seen = seen.of[1].told;
            seen.of[0].seen = seen.of[0].told;
        }
    end();
}

TEST(cells_whose_numbers_have_one_hash_are_told_apart_by_their_counts)
{
    begin();
    int cell = grow(CELLS - 1, 4, 8192);
    int same = 1;
    while (bcri_request_bit((uint32_t)(cell + 3000 + same)) != bcri_request_bit((uint32_t)cell))
        same++;
    int far = bcr_cagrow(cell + 3000 + same, 0, 0, 0, 1, 4, 1024);
    CHECK_INT(far, cell + 3000 + same);
    mark(cell + 1, 0);
    mark(cell, 0);
    mark(far, 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell + 1, 0), bcrE_TIMEOUT); /* stands in `news` */
    FAILS_NULL(bcr_deq(bcr_cce, far, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), cell + 1);
    CHECK_INT(requests(far), 1);
    FAILS_NULL(bcr_deq(bcr_cce, cell + 1, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_deq(bcr_cce, far, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), cell + 1);
    CHECK_INT(next(), cell);
    CHECK_INT(requests(far), 1);
    end();
}

TEST(an_owner_that_ends_with_requests_leaves_nothing)
{
    begin();
    struct bcri_ctx *three = join();
    as(three);
    int cell = grow(1, 10, 8192);
    CHECK_INT(bcri_watermark_set(three, cell, 0), 0);
    as(two);
    for (int i = 0; i < 1000; i++)
        FAILS_NULL(bcr_deq(name(two, three), cell, 0), bcrE_TIMEOUT);
    leave(three);
    audit();
    as(one);
    end();
}

/* Several put at the same time; each numbers its regions, one for each cell in turn. */
enum { PRODUCERS = 3, EACH = 4000, TARGETS = 3 };
struct producer {
    pthread_t thread;
    struct bcri_ctx *ctx;
    int id, home, cell;
};
static void *produce(void *arg)
{
    struct producer *producer = arg;
    as(producer->ctx);
    for (int i = 0; i < EACH; i++)
        CHECK_INT(
            bcr_enq(number(producer->id * EACH + i), producer->home, producer->cell + i % TARGETS, bcr_FREE),
            0);
    return NULL;
}

TEST_TIMEOUT(of_several_producers_no_request_is_lost_none_is_merged_and_each_ones_are_in_order, 120)
{
    begin();
    int cell = grow(TARGETS, 90, 65536);
    for (int i = 0; i < TARGETS; i++)
        mark(cell + i, 1);
    struct producer producers[PRODUCERS];
    for (int i = 0; i < PRODUCERS; i++) {
        struct bcri_ctx *ctx = join();
        producers[i] = (struct producer){.ctx = ctx, .id = i, .home = name(ctx, one), .cell = cell};
    }
    for (int i = 0; i < PRODUCERS; i++)
        CHECK_INT(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
    int last[PRODUCERS][TARGETS];
    for (int i = 0; i < PRODUCERS; i++)
        for (int k = 0; k < TARGETS; k++)
            last[i][k] = -1;
    for (int taken = 0; taken < PRODUCERS * EACH; taken++) {
        int number;
        while ((number = requests_next(&seen)) < 0)
            requests_sleep(one, UINT64_MAX);
        int value = take(bcr_cce, number); /* each request stands for a region that is there */
        CHECK(value % EACH > last[value / EACH][number - cell]);
        last[value / EACH][number - cell] = value % EACH;
    }
    CHECK_INT(requests_next(&seen), -1);
    for (int i = 0; i < PRODUCERS; i++)
        CHECK_INT(pthread_join(producers[i].thread, NULL), 0);
    CHECK_INT(next(), 0);
    end();
}

static void *get_once(void *arg)
{
    as(two);
    FAILS_NULL(bcr_deq(one_of_two, *(int *)arg, 0), bcrE_TIMEOUT);
    return NULL;
}

static void wait_until_asleep(const struct bcri_ctx *ctx)
{
    while (bcri_load(&ctx->record->requests.asleep) == 0)
        sched_yield();
}
static void *get_when_asleep(void *arg)
{
    wait_until_asleep(one);
    return get_once(arg);
}

TEST(an_owner_that_sleeps_is_woken_by_a_request)
{
    begin();
    int cell = grow(1, 1, 0);
    mark(cell, 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, i % 2 == 0 ? get_when_asleep : get_once, &cell), 0);
        while (!bcri_requests_any(one))
            requests_sleep(one, UINT64_MAX);
        CHECK_INT(pthread_join(thread, NULL), 0);
        CHECK_INT(requests(cell), 1);
    }
    end();
}

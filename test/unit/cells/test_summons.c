/* SPDX-License-Identifier: MIT */
/* Marks and summonses, as the owner's floor above sees them: which operations summon, how often, in which order. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bcri/cell0.h"
#include "bcri/mark.h"
#include "bcri/self.h"
#include "bcri/summons.h"

/* What `one` is summoned to, oldest first, as cell numbers; 0 after the last. The generation of each must be `gens`' of it. */
enum { CELLS = 16 };
static uint32_t gens[CELLS];

static void mark(int cell, int water_mark)
{
    struct bcri_ctx *self = bcri_self();
    as(one);
    CHECK_INT(bcri_mark_set(one, cell, water_mark, &gens[cell]), 0);
    as(self);
}
static void unmark(int cell)
{
    struct bcri_ctx *self = bcri_self();
    as(one);
    CHECK_INT(bcri_mark_clear(one, cell), 0);
    as(self);
}
static int next(void)
{
    uint32_t number, gen;
    bool any = bcri_summons_any(one);
    bool taken = bcri_summons_take(one, &number, &gen);
    CHECK(!any || taken); /* one may have come in between */
    if (!taken)
        return 0;
    CHECK_UINT(gen, gens[number]);
    return (int)number;
}
/* Takes all. */
static int summonses(int cell)
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

TEST(a_cell_without_a_mark_summons_nobody)
{
    begin();
    int cell = grow(1, 10, 8192);
    put(1, cell);
    CHECK_INT(got(cell), 1);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), 0);
    end();
}

TEST(a_mark_of_1_summons_at_each_put_whoever_makes_it)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 1);
    put(1, cell);
    CHECK_INT(summonses(cell), 1);
    as(two);
    put(2, cell);
    put(3, cell);
    CHECK_INT(summonses(cell), 2);
    CHECK_INT(got(cell), 1);
    CHECK_INT(summonses(cell), 0); /* gets do not */
    as(one);
    end();
}

TEST(a_high_mark_summons_from_that_many_regions_on)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 3);
    for (int i = 1; i <= 5; i++) {
        put(i, cell);
        CHECK_INT(summonses(cell), i >= 3);
    }
    for (int i = 1; i <= 4; i++)
        CHECK_INT(got(cell), i);
    put(6, cell);
    CHECK_INT(summonses(cell), 0);
    put(7, cell);
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(a_put_that_is_handed_to_a_waiting_get_leaves_nothing_and_does_not_summon)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 1);
    for (int listed = 0; listed < 2; listed++) {
        void **read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        void **rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
        put(1, cell);
        CHECK_INT(next(), 0);
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(value_of(rgid), 1);
        if (listed) {
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
            CHECK_INT(value_of(read), 1);
        }
    }
    void **read = bcr_read(bcr_cce, cell, bcr_PENDING);
    put(2, cell); /* read, and it stays */
    CHECK_INT(summonses(cell), 1);
    CHECK_INT(bcr_rgwait(read, 0, 0), 1);
    CHECK_INT(value_of(read), 2);
    end();
}

TEST(a_write_is_an_addition_that_leaves_one)
{
    begin();
    int cell = grow(2, 10, 8192);
    mark(cell, 1);
    mark(cell + 1, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_write(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(summonses(cell), 1);
        CHECK_INT(bcr_write(number(i), bcr_cce, cell + 1, bcr_NOFREE), 0);
        CHECK_INT(next(), 0);
    }
    put(4, cell + 1);
    CHECK_INT(summonses(cell + 1), 1);
    CHECK_INT(bcr_write(number(5), bcr_cce, cell + 1, bcr_FREE), 0); /* of two it leaves one */
    CHECK_INT(next(), 0);
    end();
}

TEST(putm_summons_once_for_each_cell)
{
    begin();
    int cell = grow(4, 10, 8192);
    for (int i = 0; i < 3; i++)
        mark(cell + i, 1);
    as(two);
    const int cells[] = {one_of_two, cell + 2, one_of_two, cell + 3, one_of_two, cell, one_of_two, cell + 1};
    CHECK_INT(bcr_enqm(number(1), 4, cells, bcr_FREE), 0);
    CHECK_INT(next(), cell + 2);
    CHECK_INT(next(), cell);
    CHECK_INT(next(), cell + 1);
    CHECK_INT(next(), 0);
    as(one);
    end();
}

TEST(a_mark_of_0_summons_at_each_get_read_or_lock_that_finds_nothing)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(summonses(cell), 1);
    FAILS_NULL(bcr_read(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqrl(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqwl(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(summonses(cell), 3);
    as(two);
    void **ids[4] = {
        bcr_deq(one_of_two, cell, bcr_PENDING),
        bcr_read(one_of_two, cell, bcr_PENDING),
        bcr_acqrl(one_of_two, cell, bcr_PENDING),
        bcr_acqwl(one_of_two, cell, bcr_PENDING),
    };
    CHECK_INT(summonses(cell), 4); /* once, when it is registered */
    for (int i = 0; i < 4; i++) {
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 0);
        CHECK_INT(bcr_rgwait(ids[i], 0, 1), 0);
    }
    CHECK_INT(next(), 0);
    put(1, cell);
    CHECK_INT(next(), 0); /* puts do not */
    CHECK_INT(value_of(bcr_read(one_of_two, cell, 0)), 1);
    CHECK_INT(got(cell), 1); /* nor gets that find something */
    CHECK_INT(next(), 0);
    CHECK_INT(bcr_zap(one_of_two, cell), 0); /* no get */
    CHECK_INT(next(), 0);
    as(one);
    end();
}

TEST(a_mark_below_0_summons_at_a_taking_get_that_finds_at_most_that_many)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, -2);
    for (int i = 0; i < 4; i++)
        put(i, cell);
    CHECK_INT(next(), 0);
    for (int i = 0; i < 4; i++) {
        int found = 4 - i;
        CHECK_INT(value_of(bcr_read(bcr_cce, cell, 0)), i); /* takes nothing */
        CHECK_INT(next(), 0);
        CHECK_INT(got(cell), i);
        CHECK_INT(summonses(cell), found <= 2);
    }
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    FAILS_NULL(bcr_acqwl(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(summonses(cell), 2);
    FAILS_NULL(bcr_read(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(next(), 0);
    void **rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
    CHECK_INT(summonses(cell), 1);
    CHECK_INT(bcr_rgfree(rgid), 0);
    put(9, cell);
    rgid = bcr_acqwl(bcr_cce, cell, 0);
    CHECK_INT(value_of(rgid), 9);
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(the_least_mark_there_is_summons_at_every_taking_get)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, INT32_MIN);
    put(1, cell);
    put(2, cell);
    CHECK_INT(got(cell), 1);
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(a_put_that_has_waited_for_room_summons_when_it_is_in)
{
    begin();
    int cell = grow(1, 2, 8192);
    mark(cell, 2);
    put(1, cell);
    put(2, cell);
    CHECK_INT(summonses(cell), 1);
    struct later *later = later_put(two, 1, 3, one_of_two, cell);
    CHECK_INT(next(), 0); /* it waits */
    CHECK_INT(got(cell), 1);
    CHECK_INT(result(later).returned, 0);
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(a_write_that_has_waited_summons_too)
{
    begin();
    int cell = grow(2, 1, 8192);
    mark(cell, 1);
    put(1, cell + 1);
    struct later *later = later_put(two, 0, 3, one_of_two, cell);
    CHECK_INT(next(), 0);
    CHECK_INT(got(cell + 1), 1);
    CHECK_INT(result(later).returned, 0);
    CHECK_INT(summonses(cell), 1);
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
    CHECK_INT(summonses(cell), 1);
    CHECK_INT(result(later).returned, 0);
    mark(cell, 1);
    later = later_put(two, 1, 4, one_of_two, cell);
    CHECK_INT(got(cell), 4);
    CHECK_INT(next(), 0); /* it never was queued */
    CHECK_INT(result(later).returned, 0);
    end();
}

TEST(error_regions_summon_the_handler_of_cell_0)
{
    begin();
    mark(0, 1);
    uint8_t data[8] = {1};
    CHECK_INT(bcri_birth_put(group_enl(group), one->index, (uint32_t)bcr_archtype, data, sizeof data), 0);
    CHECK_INT(bcri_error_put(one, one->index, bcrE_FULL, bcr_op_putm, NULL, 5), 0);
    uint32_t number, gen;
    for (int i = 0; i < 2; i++) {
        CHECK(bcri_summons_take(one, &number, &gen));
        CHECK_UINT(number, 0);
        CHECK_UINT(gen, gens[0]);
    }
    CHECK(!bcri_summons_take(one, &number, &gen));
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
    CHECK_INT(summonses(cell), 1); /* it is queued only now */
    CHECK_INT(got(cell), 5);
    as(one);
    end();
}

TEST(puts_beyond_the_ring_of_the_cell_and_behind_regions_given_back_summon)
{
    begin();
    int cell = grow(10, 40, 65536); /* rings of 8 */
    CHECK(cell + 9 < CELLS);
    mark(cell, 1);
    for (int i = 0; i < 30; i++)
        put(i, cell);
    CHECK_INT(summonses(cell), 30);
    for (int i = 0; i < 30; i++)
        CHECK_INT(got(cell), i);
    CHECK_INT(next(), 0);
    end();
}

TEST(a_failed_operation_summons_nobody)
{
    begin();
    int cell = grow(1, 1, 8192);
    mark(cell, 1);
    put(1, cell);
    CHECK_INT(summonses(cell), 1);
    void **more = number(2);
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
    void **lock = bcr_acqwl(one_of_two, cell, bcr_PENDING);
    CHECK_INT(summonses(cell), 1);
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

TEST(a_mark_that_is_set_anew_has_another_generation_and_the_old_summonses_stay)
{
    begin();
    int cell = grow(1, 10, 8192);
    mark(cell, 1);
    uint32_t first = gens[cell];
    put(1, cell);
    mark(cell, 2);
    CHECK(gens[cell] != first);
    put(2, cell);
    uint32_t number, gen;
    CHECK(bcri_summons_take(one, &number, &gen));
    CHECK_UINT(gen, first);
    CHECK(bcri_summons_take(one, &number, &gen));
    CHECK_UINT(gen, gens[cell]);
    unmark(cell);
    put(3, cell);
    CHECK_INT(next(), 0);
    end();
}

TEST(generations_begin_again_and_are_never_0)
{
    begin();
    int cell = grow(1, 10, 8192);
    one->mark_gen = BCRI_MARK_GEN_MAX - 1;
    mark(cell, 1);
    CHECK_UINT(gens[cell], BCRI_MARK_GEN_MAX);
    put(1, cell);
    CHECK_INT(summonses(cell), 1);
    mark(cell, 1);
    CHECK_UINT(gens[cell], 1);
    put(1, cell);
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(a_mark_needs_an_own_cell)
{
    begin();
    uint32_t gen;
    CHECK_INT(bcri_mark_set(one, 1, 1, &gen), bcrE_NOCELL);
    CHECK_INT(bcri_mark_clear(one, 1), bcrE_NOCELL);
    CHECK_INT(bcri_mark_clear(one, -1), bcrE_NOCELL);
    int cell = grow(1, 1, 0);
    CHECK_INT(bcri_mark_clear(one, cell), 0); /* none there */
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
    put(1, cell);
    CHECK_INT(summonses(cell), 1); /* of the old one; its generation tells */
    put(2, cell);
    CHECK_INT(next(), 0);
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
    CHECK_INT(summonses(cell), 1);
    end();
}

TEST(ring_and_chain_keep_the_order_of_arrival)
{
    begin();
    int cell = grow(4, 4, 8192);
    for (int i = 0; i < 4; i++)
        mark(cell + i, 0);
    /* All numbers around the ring's length, and those around a block's and two. */
    static const int counts[] = {1, 12, 13, 14, 15, 29, 138, 139, 140, 141, 265, 266, 500, 13, 14, 1};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int k = 0; k < counts[i]; k++) {
            as(k % 3 == 0 ? one : two);
            FAILS_NULL(bcr_read(k % 3 == 0 ? bcr_cce : one_of_two, cell + k % 4, 0), bcrE_TIMEOUT);
        }
        as(one);
        audit();
        for (int k = 0; k < counts[i]; k++) {
            CHECK_INT(next(), cell + k % 4);
            if (k % 50 == 20)
                audit();
        }
        CHECK_INT(next(), 0);
        audit();
    }
    end();
}

TEST(what_comes_while_the_chain_is_read_comes_after_it)
{
    begin();
    int cell = grow(4, 4, 8192);
    for (int i = 0; i < 4; i++)
        mark(cell + i, 0);
    int made = 0, taken = 0;
    for (int round = 0; round < 40; round++) {
        for (int k = 0; k < 37; k++, made++)
            FAILS_NULL(bcr_deq(bcr_cce, cell + made % 4, 0), bcrE_TIMEOUT);
        for (int k = 0; k < (round < 20 ? 11 : 63) && taken < made; k++, taken++)
            CHECK_INT(next(), cell + taken % 4);
        audit();
    }
    for (; taken < made; taken++)
        CHECK_INT(next(), cell + taken % 4);
    CHECK_INT(next(), 0);
    end();
}

TEST(an_owner_that_ends_with_summonses_leaves_nothing)
{
    for (int count = 10; count < 1000; count *= 3) {
        begin();
        struct bcri_ctx *three = join();
        as(three);
        int cell = grow(1, 10, 8192);
        uint32_t gen, number;
        CHECK_INT(bcri_mark_set(three, cell, 0, &gen), 0);
        as(two);
        for (int i = 0; i < count; i++)
            FAILS_NULL(bcr_deq(name(two, three), cell, 0), bcrE_TIMEOUT);
        as(three);
        for (int i = 0; i < 20 && i < count / 2; i++)
            CHECK(bcri_summons_take(three, &number, &gen));
        as(two);
        for (int i = 0; i < count; i++)
            FAILS_NULL(bcr_deq(name(two, three), cell, 0), bcrE_TIMEOUT);
        leave(three); /* one block or more is being read, others stand behind it */
        audit();
        as(one);
        end();
    }
}

TEST(blocks_of_the_chain_are_used_again)
{
    begin();
    int cell = grow(1, 4, 0);
    mark(cell, 0);
    as(two);
    uint32_t segments = 0;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 300; i++)
            FAILS_NULL(bcr_deq(one_of_two, cell, 0), bcrE_TIMEOUT);
        CHECK_INT(summonses(cell), 300);
        if (round == 100)
            segments = bcri_load(&two->host->segment_count);
    }
    CHECK_UINT(bcri_load(&two->host->segment_count), segments);
    as(one);
    end();
}

static int refuse_segment(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    (void)up, (void)fd, (void)size_bytes, (void)kind, (void)seg_out;
    return bcrE_NOMEM;
}

TEST_TIMEOUT(what_cannot_have_its_summons_for_want_of_memory_is_not_done, 120)
{
    begin();
    int cell = grow(3, 40, 0);
    mark(cell, 1);
    mark(cell + 1, 0);
    as(two);
    const struct bcri_upcalls *upcalls = two->upcalls;
    const struct bcri_upcalls refusing = {.segment_add = refuse_segment, .segment_fd = upcalls->segment_fd};
    two->upcalls = &refusing;
    void **rgid = number(7);
    int made = 0;
    while (bcr_deq(one_of_two, cell + 1, 0) == NULL && bcr_errno == bcrE_TIMEOUT)
        made++;
    CHECK_INT(bcr_errno, bcrE_NOMEM);
    FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_NOMEM);
    FAILS(bcr_enq(rgid, one_of_two, cell, bcr_NOFREE), bcrE_NOMEM);
    FAILS(bcr_write(rgid, one_of_two, cell, bcr_FREE), bcrE_NOMEM);
    FAILS_NULL(bcr_deq(one_of_two, cell + 1, 0), bcrE_NOMEM);
    FAILS_NULL(bcr_read(one_of_two, cell + 1, bcr_PENDING), bcrE_NOMEM);
    audit();
    CHECK_INT(bcr_celllen(one_of_two, cell), 0);
    CHECK_INT(bcr_enq(rgid, one_of_two, cell + 2, bcr_NOFREE), 0); /* what summons nobody is done */
    two->upcalls = upcalls;
    CHECK_INT(bcr_enq(rgid, one_of_two, cell, bcr_FREE), 0);
    while (made-- > 0)
        CHECK_INT(next(), cell + 1);
    CHECK_INT(next(), cell);
    CHECK_INT(next(), 0);
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

TEST_TIMEOUT(of_several_producers_no_summons_is_lost_none_is_merged_and_each_ones_are_in_order, 120)
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
    for (int seen = 0; seen < PRODUCERS * EACH; seen++) {
        int number;
        while ((number = next()) == 0)
            CHECK_INT(bcri_wait_any(one, NULL, 0, UINT64_MAX), BCRI_WAIT_SUMMONED);
        int value = take(bcr_cce, number); /* each summons stands for a region that is there */
        CHECK(value % EACH > last[value / EACH][number - cell]);
        last[value / EACH][number - cell] = value % EACH;
    }
    CHECK_INT(next(), 0);
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
    while (bcri_load(&ctx->record->summons.asleep) == 0)
        sched_yield();
}
static void *get_when_asleep(void *arg)
{
    wait_until_asleep(one);
    return get_once(arg);
}

TEST(an_owner_that_sleeps_is_woken_by_a_summons)
{
    begin();
    int cell = grow(1, 1, 0);
    mark(cell, 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, i % 2 == 0 ? get_when_asleep : get_once, &cell), 0);
        CHECK_INT(bcri_wait_any(one, NULL, 0, UINT64_MAX), BCRI_WAIT_SUMMONED);
        CHECK_INT(bcri_wait_any(one, NULL, 0, 0), BCRI_WAIT_SUMMONED); /* until it is taken */
        CHECK_INT(summonses(cell), 1);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    CHECK_INT(bcri_wait_any(one, NULL, 0, 0), BCRI_WAIT_PASSED);
    end();
}

static void *put_when_asleep(void *arg)
{
    wait_until_asleep(one);
    as(two);
    CHECK_INT(bcr_enq(number(8), one_of_two, *(int *)arg, bcr_FREE), 0);
    return NULL;
}

TEST(a_wait_for_requests_and_summonses_says_which_came)
{
    begin();
    int cell = grow(2, 4, 1024);
    mark(cell, 0);
    void **ids[3];
    struct bcri_slot_shm *slots[3];
    for (int i = 0; i < 3; i++) {
        ids[i] = bcr_deq(bcr_cce, cell + 1, bcr_PENDING);
        slots[i] = (struct bcri_slot_shm *)(void *)ids[i];
    }
    int other = cell + 1;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, put_when_asleep, &other), 0);
    CHECK_INT(bcri_wait_any(one, slots, 3, UINT64_MAX), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(bcri_wait_any(one, slots, 3, UINT64_MAX), 0); /* a request comes before a summons */
    CHECK_INT(bcri_wait_any(one, slots + 1, 2, 0), BCRI_WAIT_SUMMONED);
    CHECK_INT(summonses(cell), 1);
    CHECK_INT(bcri_wait_any(one, slots + 1, 2, 0), BCRI_WAIT_PASSED);
    CHECK_INT(bcr_rgwait(ids[0], 0, 0), 1);
    CHECK_INT(value_of(ids[0]), 8);
    for (int i = 1; i < 3; i++)
        CHECK_INT(bcr_rgfree(ids[i]), 0);
    end();
}

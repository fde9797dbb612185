/* SPDX-License-Identifier: MIT */
/* Counters that wrap around, or whose lower bits are compared: each is set to a number shortly
 * before, and what it counts goes on. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>

#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/heap_fast.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"

static struct bcri_resolved *place_of(int cell)
{
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    return resolved;
}

/* A cell of a ring of 8 entries that has had `before` puts and as many gets. It has credits for all
 * its entries, so that only the oldest ticket limits the puts. */
static int cell_after(uint64_t before)
{
    enum { ENTRIES = 8, EARLIER = 2 * ENTRIES };
    const int cell = grow(10, 40, 4096);
    struct bcri_resolved *resolved = place_of(cell);
    CHECK_UINT(bcri_ring_entries(resolved), ENTRIES);
    if (before < EARLIER)
        return cell;
    bcri_store(&resolved->cell->h.head, before - EARLIER);
    bcri_store(&resolved->cell->t.tail, before - EARLIER);
    bcri_store(&resolved->cell->t.limit, before - EARLIER);
    for (int i = 0; i < EARLIER; i++) {
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        for (int k = 0; i % ENTRIES == ENTRIES - 1 && k < ENTRIES; k++)
            CHECK(take(bcr_cce, cell) % ENTRIES == k);
    }
    CHECK_UINT(bcri_load(&resolved->cell->t.tail), before);
    CHECK(bcri_load(&resolved->cell->t.credits) >= ENTRIES);
    return cell;
}

/* The ends of a lap of tags, of a waiter's 16 bits, of an epoch's 32, of its sign. */
static const uint64_t ends[] = {8 * 128,           UINT64_C(1) << 16,
                                UINT64_C(3) << 16, UINT64_C(1) << 31,
                                UINT64_C(1) << 32, (UINT64_C(1) << 32) + (UINT64_C(1) << 31)};
#define ENDS (sizeof ends / sizeof ends[0])

/* The oldest waiter has not taken what it was served, so no put may use its entry again. */
TEST(no_put_passes_a_served_waiter_when_tickets_wrap)
{
    for (size_t i = 0; i < ENDS; i++)
        for (uint64_t before = 0; before < 6; before++) {
            begin();
            const int cell = cell_after(ends[i] - before);
            bcr_region ids[4];
            as(two);
            for (int k = 0; k < 4; k++)
                ids[k] = bcr_deq(one_of_two, cell, bcr_PENDING);
            as(one);
            for (int k = 0; k < 16; k++)
                CHECK_INT(bcr_enq(number(k), bcr_cce, cell, bcr_FREE), 0);
            as(two);
            for (int k = 0; k < 4; k++) {
                CHECK_INT(bcr_rgwait(ids[k], 0, 0), 1);
                CHECK_INT(value_of(ids[k]), k);
            }
            as(one);
            for (int k = 4; k < 16; k++)
                CHECK_INT(take(bcr_cce, cell), k);
            CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
            end();
        }
}

/* The same where writes find the cell empty: they compute the limit by themselves. */
TEST(no_write_passes_a_served_waiter)
{
    for (uint64_t before = 0; before < 8; before++) {
        begin();
        const int cell = cell_after(64 - before);
        bcr_region ids[4];
        as(two);
        for (int k = 0; k < 4; k++)
            ids[k] = bcr_deq(one_of_two, cell, bcr_PENDING);
        as(one);
        for (int k = 0; k < 4; k++)
            CHECK_INT(bcr_write(number(k), bcr_cce, cell, bcr_FREE), 0);
        for (int k = 4; k < 24; k++) {
            CHECK_INT(bcr_write(number(k), bcr_cce, cell, bcr_FREE), 0);
            CHECK_INT(take(bcr_cce, cell), k);
        }
        as(two);
        for (int k = 0; k < 4; k++) {
            CHECK_INT(bcr_rgwait(ids[k], 0, 0), 1);
            CHECK_INT(value_of(ids[k]), k);
        }
        as(one);
        end();
    }
}

/* Those who waited behind a read were answered in one step: c.sub orders the answers. */
TEST(what_was_handed_to_a_dead_CCE_is_in_its_old_order_when_the_count_of_answers_wraps)
{
    for (uint32_t before = 0; before < 5; before++) {
        begin();
        const int cell = cell_after(0);
        bcri_store(&place_of(cell)->cell->c.sub, UINT32_MAX - before);
        bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
        struct bcri_ctx *dead = join();
        as(dead);
        for (int i = 0; i < 4; i++)
            CHECK(bcr_deq(name(dead, one), cell, bcr_PENDING) != NULL);
        as(one);
        for (int i = 0; i < 4; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(read, 0, 0), 1);
        CHECK_INT(value_of(read), 0);
        leave(dead);
        for (int i = 0; i < 4; i++)
            CHECK_INT(take(bcr_cce, cell), i);
        end();
    }
}

/* The lock owner counts as long as no CCE has put since. */
TEST(a_lock_owner_is_outdated_by_the_next_put_when_the_count_of_puts_wraps)
{
    for (size_t i = 0; i < ENDS; i++)
        for (uint64_t before = 0; before < 4; before++)
            for (int put = 0; put < 2; put++) {
                begin();
                const int cell = cell_after(ends[i] - before);
                CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
                struct bcri_ctx *holder = join();
                as(holder);
                CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
                as(one);
                if (put)
                    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
                leave(holder);
                if (put)
                    CHECK_INT(take(bcr_cce, cell), 2);
                FAILS_NULL(bcr_deq(bcr_cce, cell, 0), put ? bcrE_TIMEOUT : bcrE_OWNERDEAD);
                CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0);
                CHECK_INT(take(bcr_cce, cell), 3);
                end();
            }
}

/* 0 says that there is no area. */
TEST(no_area_has_generation_0_when_they_wrap)
{
    for (uint32_t before = 0; before < 5; before++) {
        begin();
        bcri_store(&one->host->area_gen, UINT32_MAX - before);
        int areas[6];
        for (int i = 0; i < 6; i++) {
            areas[i] = grow(1, 2, NUMBER_BYTES);
            CHECK(bcri_load(&place_of(areas[i])->area->gen) != 0);
            CHECK_INT(bcr_enq(number(i), bcr_cce, areas[i], bcr_FREE), 0);
        }
        for (int i = 0; i < 6; i++) {
            CHECK_INT(take(bcr_cce, areas[i]), i);
            CHECK_INT(bcr_cafree(areas[i]), 0);
        }
        end();
    }
}

TEST(others_see_areas_come_and_go_when_their_owners_version_wraps)
{
    begin();
    bcri_store(&one->record->id.version, UINT32_MAX - 15); /* even: nothing changes now */
    int cell = grow(1, 2, NUMBER_BYTES);
    for (int round = 0; round < 12; round++) {
        as(two);
        CHECK_INT(bcr_enq(number(round), one_of_two, cell, bcr_FREE), 0);
        as(one);
        CHECK_INT(take(bcr_cce, cell), round);
        CHECK_INT(bcr_cafree(cell), 0);
        as(two);
        bcr_region rgid = number(77);
        FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_NOCELL);
        CHECK_INT(value_of(rgid), 77);
        as(one);
        CHECK_INT(grow(1, 2, NUMBER_BYTES), cell);
    }
    end();
}

/* Each answer rings once, and the waiter is asleep. */
TEST(a_sleeper_is_woken_when_the_count_of_its_bell_wraps)
{
    begin();
    const int cell = grow(1, 2, 1024);
    struct bcri_ctx *three = join();
    three->cpus = 1;
    bcri_store(&three->bell->bell, UINT32_MAX - 2);
    for (int i = 0; i < 6; i++) {
        struct later *later = later_get(three, 1, name(three, one), cell, bcr_BLOCK);
        while (bcri_load_acquire(&three->bell->sleeping) == 0)
            sched_yield();
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(result(later).value, i);
    }
    end();
}

/* A block that another CCE has freed comes back, whatever number it has next. */
TEST(freed_blocks_come_back_when_their_incarnations_wrap)
{
    enum { BLOCKS = 64 };
    begin();
    const int cell = grow(1, BLOCKS, BLOCKS * NUMBER_BYTES);
    one->heap->incarnation = UINT32_MAX - BLOCKS - 7;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < BLOCKS; i++)
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
        as(two);
        for (int i = 0; i < BLOCKS; i++)
            CHECK_INT(take(one_of_two, cell), i);
        as(one);
    }
    CHECK(one->heap->incarnation < UINT32_MAX / 2);
    end();
}

/* Sleepers on a holder, who counts up how often it has woken some. */
struct taker {
    struct bcri_ctx *ctx;
    int cell;
};
static void *take_one(void *arg)
{
    struct taker *taker = arg;
    as(taker->ctx);
    CHECK(bcr_deq(name(taker->ctx, one), taker->cell, bcr_BLOCK) != NULL);
    return NULL;
}

TEST(sleepers_on_a_lock_are_woken_when_its_holders_count_wraps)
{
    begin();
    struct taker taker = {.ctx = join(), .cell = grow(1, 8, 1024)};
    struct bcri_ctx *holder = join();
    _Atomic uint32_t *lock = &place_of(taker.cell)->cell->h.lock;
    taker.ctx->cpus = 1;
    bcri_store(&holder->bell->lock_event, UINT32_MAX - 1);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        CHECK_INT(bcr_enq(number(i), bcr_cce, taker.cell, bcr_FREE), 0);
        CHECK(bcri_lock_try(holder, lock));
        CHECK_INT(pthread_create(&thread, NULL, take_one, &taker), 0);
        while (bcri_load_acquire(&holder->bell->lock_sleepers) == 0)
            sched_yield();
        bcri_unlock(holder, lock);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    end();
}

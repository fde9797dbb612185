/* SPDX-License-Identifier: MIT */
/* Every ID that ends comes back to the free ones of its process, in whatever way it ends, and no ID
 * is given out twice. Which IDs are free no other process can see. */
#include "cce.h"

#include <pthread.h>
#include <sched.h>

#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/slot.h"

/* How many IDs are in use; none may be lost. */
static int used_by(const struct bcri_ctx *ctx)
{
    group_check_ids(ctx);
    int used = 0;
    for (uint32_t chunk = 0; chunk < ctx->slots.chunks; chunk++) {
        const struct bcri_slot_shm *slot = ctx->slots.base[chunk];
        for (size_t i = 0; i < ctx->slots.count[chunk]; i++)
            used += bcri_load(&slot[i].word) != 0;
    }
    return used;
}

/* So many that the table has grown by several chunks. */
TEST(IDs_that_are_held_at_once_are_all_different)
{
    enum { COUNT = 1500 };
    static bcr_region ids[COUNT];
    begin();
    grow(0, 0, COUNT * NUMBER_BYTES);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++)
            ids[i] = number(i);
        CHECK_INT(used_by(one), COUNT);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(value_of(ids[i]), i); /* another region would be there */
        CHECK_INT(used_by(one), 0);
    }
    end();
}

TEST(a_get_that_ends_without_a_region_ends_its_ID)
{
    begin();
    const int cell = grow(3, 4, 1024);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        for (int msec = 0; msec < 2; msec++) {
            FAILS_NULL(bcr_deq(bcr_cce, cell, msec), bcrE_TIMEOUT);
            FAILS_NULL(bcr_read(bcr_cce, cell, msec), bcrE_TIMEOUT);
            FAILS_NULL(bcr_acqwl(bcr_cce, cell, msec), bcrE_TIMEOUT);
        }
        CHECK_INT(used_by(one), listed);
        if (listed)
            CHECK_INT(bcr_rgfree(read), 0);
    }
    FAILS_NULL(bcr_deq(bcr_cce, 99, 0), bcrE_NOCELL);
    FAILS_NULL(bcr_deq(99, cell, bcr_BLOCK), bcrE_NOCCE);
    FAILS_NULL(bcr_acqwl(bcr_cce, 0, 0), bcrE_RESERVED);
    CHECK_INT(used_by(one), 0);
    end();
}

/* By ticket, and in the list of the cell. */
TEST(a_request_that_is_freed_or_cancelled_ends_its_ID)
{
    begin();
    const int cell = grow(2, 4, 1024);
    for (int read = 0; read < 2; read++)
        for (int failfree = 0; failfree < 3; failfree++) {
            bcr_region ids[6];
            for (int i = 0; i < 6; i++)
                ids[i] = bcr_get(!read, bcr_cce, cell, bcr_PENDING);
            CHECK_INT(used_by(one), 6);
            if (failfree == 2)
                CHECK_INT(bcr_rgwaitm(6, ids, 1, 1), 0);
            for (int i = 0; i < 6 && failfree < 2; i++)
                CHECK_INT(failfree ? bcr_rgwait(ids[i], 0, 1) : bcr_rgfree(ids[i]), 0);
            CHECK_INT(used_by(one), 0);
        }
    end();
}

TEST(a_request_that_was_served_and_is_freed_ends_its_ID)
{
    begin();
    const int cell = grow(1, 8, 1024);
    for (int listed = 0; listed < 2; listed++) {
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        bcr_region id = bcr_deq(bcr_cce, cell, bcr_PENDING);
        as(two);
        CHECK_INT(bcr_enq(number(1), one_of_two, cell, bcr_FREE), 0);
        CHECK_INT(used_by(two), 0);
        as(one);
        CHECK_INT(bcr_rgfree(id), 0);
        if (listed)
            CHECK_INT(bcr_rgfree(read), 0);
        CHECK_INT(used_by(one), 0);
    }
    end();
}

TEST(a_request_that_fails_ends_its_ID)
{
    begin();
    const int cell = grow(1, 1, 1024);
    struct bcri_ctx *holder = join();
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(holder);
    CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
    as(two);
    bcr_region ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = bcr_get(i % 2, one_of_two, cell, bcr_PENDING);
    leave(holder);
    as(two);
    for (int i = 0; i < 6; i++)
        FAILS(bcr_rgwait(ids[i], bcr_BLOCK, i % 3 == 0), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_deq(one_of_two, cell, 0), bcrE_OWNERDEAD);
    CHECK_INT(used_by(two), 0);
    as(one);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 1);
    as(two);
    for (int i = 0; i < 6; i++)
        ids[i] = bcr_get(i % 2, one_of_two, cell, bcr_PENDING);
    as(one);
    CHECK_INT(bcr_cafree(cell), 0);
    as(two);
    for (int i = 0; i < 6; i++)
        FAILS(bcr_rgwait(ids[i], 0, 0), bcrE_NOCELL);
    CHECK_INT(used_by(two), 0);
    as(one);
    end();
}

/* The second of three requests cannot be withdrawn as long as another CCE is at its cell. */
enum { WITHDRAWN = 3 };
static bcr_region withdrawn[WITHDRAWN];

static void *withdraw_all(void *ready_out)
{
    as(one);
    *(int *)ready_out = bcr_rgwaitm(WITHDRAWN, withdrawn, 0, 1);
    as(NULL);
    return NULL;
}

TEST(failfree_of_several_that_returns_0_has_taken_nothing)
{
    struct bcri_resolved *resolved;
    pthread_t waiter;
    int ready = -1;
    begin();
    struct bcri_ctx *three = join();
    const int cell = grow(WITHDRAWN, WITHDRAWN, 4096);
    for (int i = 0; i < WITHDRAWN; i++)
        CHECK((withdrawn[i] = bcr_deq(bcr_cce, cell + i, bcr_PENDING)) != NULL);
    const struct bcri_slot_shm *first = group_slot(one, withdrawn[0]);
    as(two);
    CHECK_INT(bcri_resolved_find(two, one_of_two, cell + 1, &resolved), 0);
    bcri_journal_open(two, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    CHECK_INT(bcri_cell_enter(two, resolved).outcome, BCRI_DONE);
    CHECK_INT(pthread_create(&waiter, NULL, withdraw_all, &ready), 0);
    while (bcri_slot_state(bcri_load_acquire(&first->word)) != BCRI_SLOT_FREE)
        sched_yield();
    as(three);
    CHECK_INT(bcr_enq(number(7), name(three, one), cell + 2, bcr_FREE), 0);
    as(two);
    bcri_cell_leave(two, resolved);
    bcri_journal_close(two);
    CHECK_INT(pthread_join(waiter, NULL), 0);
    CHECK_INT(ready, 0);
    as(one);
    CHECK_INT(used_by(one), 0);
    CHECK_INT(take(bcr_cce, cell + 2), 7);
    end();
}

TEST(a_put_ends_the_ID_that_it_gives_away_and_no_other)
{
    begin();
    const int cell = grow(3, 4, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(2), bcr_cce, cell, bcr_FREE), 0); /* replaces */
    CHECK_INT(used_by(one), 0);
    bcr_region kept = number(3);
    CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_write(kept, bcr_cce, cell, bcr_NOFREE), 0);
    const int cells[] = {bcr_cce, cell, bcr_cce, cell + 1, bcr_cce, cell + 2};
    CHECK_INT(bcr_putm(0, kept, 3, cells, bcr_NOFREE), 0);
    CHECK_INT(used_by(one), 1);
    CHECK_INT(bcr_putm(0, kept, 3, cells, bcr_FREE), 0);
    CHECK_INT(used_by(one), 0);
    CHECK_INT(bcr_enq(number(4), bcr_cce, cell, bcr_FREE), 0);
    kept = number(5);
    FAILS(bcr_enq(kept, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), bcrE_FULL);
    CHECK_INT(used_by(one), 1);
    CHECK_INT(value_of(kept), 5);
    CHECK_INT(used_by(one), 0);
    end();
}

/* Served, out of time, and without its cell. */
TEST(a_put_that_waits_for_room_ends_its_request)
{
    begin();
    const int cell = grow(1, 1, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    struct later *put = later_put(two, 1, 2, one_of_two, cell);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(result(put).returned, 0);
    CHECK_INT(used_by(two), 0);
    as(two);
    CHECK_INT(bcr_putwait(1), 0);
    bcr_region kept = number(3);
    FAILS(bcr_enq(kept, one_of_two, cell, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(kept, one_of_two, cell, bcr_NOFREE), bcrE_FULL);
    CHECK_INT(used_by(two), 1);
    CHECK_INT(value_of(kept), 3);
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
    as(one);
    const int none = grow(1, 0, 0);
    put = later_put(two, 1, 4, one_of_two, none);
    CHECK_INT(bcr_cafree(none), 0);
    CHECK_INT(result(put).error, bcrE_NOCELL);
    CHECK_INT(used_by(two), 0);
    end();
}

TEST(a_write_lock_without_memory_for_its_copy_ends_its_ID)
{
    begin();
    const int cell = grow(1, 4, 1024);
    as(two);
    while (bcr_rgalloc(1024, 0) != NULL)
        continue;
    while (bcr_rgalloc(1, 0) != NULL)
        continue;
    const int before = used_by(two);
    bcr_region lock = bcr_acqwl(one_of_two, cell, bcr_PENDING);
    as(one);
    bcr_region kept = number(1);
    CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
    as(two);
    FAILS(bcr_rgwait(lock, 0, 0), bcrE_NBYTES);
    FAILS_NULL(bcr_acqwl(one_of_two, cell, 0), bcrE_NBYTES);
    CHECK_INT(used_by(two), before);
    as(one);
    CHECK_INT(used_by(one), 1);
    end();
}

TEST(what_makes_or_copies_a_region_and_fails_ends_its_ID)
{
    begin();
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES); /* no area */
    const int cell = grow(1, 2, NUMBER_BYTES);
    bcr_region rgid = number(1);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    FAILS(bcr_rgmod(rgid), bcrE_NBYTES);
    CHECK_INT(used_by(one), 1);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(used_by(one), 0);
    end();
}

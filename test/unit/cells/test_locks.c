/* SPDX-License-Identifier: MIT */
/* Write locks that fail for want of memory, or whose holders die, in every order of events. What
 * locks promise is tested in ../../behaviour. */
#include "cce.h"

#include <pthread.h>

#include "bcri/cell.h"
#include "bcri/lookup.h"

/* ---- no room for the copy ---- */

/* Uses up `ctx`'s memory, so that it can copy nothing. */
static void eat_memory(void)
{
    while (bcr_rgalloc(1024, 0) != NULL)
        continue;
    while (bcr_rgalloc(1, 0) != NULL)
        continue;
}

TEST(a_waiting_lock_without_room_for_a_copy_gives_back_before_anyone_else_is_served)
{
    begin();
    int cell = grow(1, 4, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *poor = join();
        as(poor);
        eat_memory();
        bcr_cce_id owner = name(poor, one);
        bcr_region read = listed ? bcr_read(owner, cell, bcr_PENDING) : NULL;
        bcr_region lock = bcr_acqwl(owner, cell, bcr_PENDING);
        as(one);
        bcr_region behind = bcr_deq(bcr_cce, cell, bcr_PENDING);
        bcr_region kept = number(1);
        CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
        CHECK_INT(bcr_rgwait(behind, 0, 0), 0);
        as(poor);
        if (listed)
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
        FAILS(bcr_rgwait(lock, 0, 0), bcrE_NBYTES);
        FAILS(bcr_rgwait(lock, 0, 0), bcrE_RGID); /* the ID is free */
        as(one);
        CHECK_INT(bcr_rgwait(behind, 0, 0), 1);
        CHECK_INT(value_of(behind), 1);
        CHECK_INT(value_of(kept), 1);
        leave(poor);
    }
    end();
}

TEST(a_region_given_back_comes_before_those_that_were_put_meanwhile)
{
    begin();
    int cell = grow(1, 2, 1024);
    struct bcri_ctx *poor = join();
    as(poor);
    eat_memory();
    bcr_region lock = bcr_acqwl(name(poor, one), cell, bcr_PENDING);
    as(one);
    bcr_region kept = number(1);
    CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0); /* nrgns is reached */
    as(poor);
    FAILS(bcr_rgwait(lock, 0, 0), bcrE_NBYTES);
    as(one);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 3); /* even beyond it */
    bcr_region more = number(4);
    FAILS(bcr_enq(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    for (int i = 1; i <= 3; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    CHECK_INT(bcr_enq(more, bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    more = number(6);
    FAILS(bcr_enq(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    end();
}

TEST(several_given_back_are_in_their_old_order)
{
    begin();
    int cell = grow(1, 8, 4096);
    struct bcri_ctx *poor = join();
    as(poor);
    eat_memory();
    bcr_region locks[3];
    for (int i = 0; i < 3; i++)
        locks[i] = bcr_acqwl(name(poor, one), cell, bcr_PENDING);
    as(one);
    bcr_region kept[4];
    for (int i = 0; i < 4; i++) {
        kept[i] = number(i);
        CHECK_INT(bcr_enq(kept[i], bcr_cce, cell, bcr_NOFREE), 0);
    }
    as(poor);
    for (int i = 3; i-- > 0;)
        FAILS(bcr_rgwait(locks[i], 0, 0), bcrE_NBYTES);
    as(one);
    for (int i = 0; i < 4; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    end();
}

/* ---- locks of the dead ---- */

static void all_say_ownerdead(bcr_cce_id cce, int cell)
{
    FAILS_NULL(bcr_deq(cce, cell, 0), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_read(cce, cell, bcr_BLOCK), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_acqwl(cce, cell, 100), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_acqrl(cce, cell, bcr_PENDING), bcrE_OWNERDEAD);
    CHECK_INT(bcr_celllen(cce, cell), 0);
}

TEST(gets_say_OWNERDEAD_when_the_holder_of_the_write_lock_ended_until_the_next_put)
{
    begin();
    int cell = grow(1, 1, 1024);
    for (int write = 0; write < 2; write++) {
        struct bcri_ctx *holder = join();
        CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
        as(holder);
        CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
        as(one);
        leave(holder);
        all_say_ownerdead(bcr_cce, cell);
        as(two);
        all_say_ownerdead(one_of_two, cell);
        as(one);
        CHECK_INT(bcr_zap(bcr_cce, cell), 0); /* no put */
        all_say_ownerdead(bcr_cce, cell);
        CHECK_INT(bcr_put(!write, number(2), bcr_cce, cell, bcr_FREE), 0);
        bcr_region lock = bcr_acqwl(bcr_cce, cell, 0);
        CHECK_INT(peek(lock), 2);
        CHECK_INT(bcr_rlswl(lock, bcr_cce, cell), 0);
        CHECK_INT(take(bcr_cce, cell), 2);
    }
    end();
}

/* The putter has stored the entry, and moves the tail on only when the taker has been there. */
TEST(a_lock_taken_before_its_put_has_moved_the_tail_leaves_OWNERDEAD)
{
    begin();
    int cell = grow(1, 2, 1024);
    struct bcri_ctx *holder = join();
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    uint64_t tail = bcri_load(&resolved->cell->t.tail);
    bcri_store(&resolved->cell->t.tail, tail - 1);
    as(holder);
    CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
    as(one);
    bcri_store(&resolved->cell->t.tail, tail);
    leave(holder);
    all_say_ownerdead(bcr_cce, cell);
    end();
}

TEST(gets_that_wait_for_a_dead_holder_say_OWNERDEAD)
{
    begin();
    int cell = grow(1, 1, 1024);
    struct bcri_ctx *holder = join(), *three = join();
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(holder);
    CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
    as(one);
    bcr_region ids[4] = {bcr_deq(bcr_cce, cell, bcr_PENDING), bcr_acqwl(bcr_cce, cell, bcr_PENDING),
                         bcr_read(bcr_cce, cell, bcr_PENDING), bcr_acqrl(bcr_cce, cell, bcr_PENDING)};
    struct later *asleep = later_acqwl(three, name(three, one), cell, bcr_BLOCK);
    leave(holder);
    CHECK_INT(bcr_rgwaitm(4, ids, bcr_BLOCK, 0), 1);
    for (int i = 0; i < 4; i++)
        FAILS(bcr_rgwait(ids[i], bcr_BLOCK, 0), bcrE_OWNERDEAD);
    struct outcome outcome = result(asleep);
    CHECK_INT(outcome.returned, -1);
    CHECK_INT(outcome.error, bcrE_OWNERDEAD);
    CHECK_INT(bcr_write(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    end();
}

TEST(a_holder_that_has_put_the_region_back_leaves_no_mark)
{
    begin();
    int cell = grow(2, 2, 1024);
    struct bcri_ctx *holder = join();
    bcr_cce_id owner = name(holder, one);
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(1), bcr_cce, cell + 1, bcr_FREE), 0);
    as(holder);
    CHECK_INT(bcr_rlswl(bcr_acqwl(owner, cell, 0), owner, cell), 0);
    bcr_region lock = bcr_acqwl(owner, cell + 1, 0);
    CHECK_INT(bcr_wl2rl(lock, owner, cell + 1), 0);
    as(one);
    leave(holder);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell + 1), 1);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

TEST(a_put_by_anybody_outdates_the_mark_of_a_holder)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int write = 0; write < 2; write++) {
        struct bcri_ctx *holder = join();
        CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
        as(holder);
        CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
        as(two);
        CHECK_INT(bcr_put(!write, number(2), one_of_two, cell, bcr_FREE), 0);
        as(one);
        leave(holder);
        CHECK_INT(take(bcr_cce, cell), 2);
    }
    end();
}

TEST(a_put_that_was_handed_on_outdates_the_mark_too)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *holder = join();
        CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
        as(holder);
        CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
        as(one);
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_PENDING);
        as(two);
        CHECK_INT(bcr_enq(number(2), one_of_two, cell, bcr_FREE), 0);
        as(one);
        leave(holder);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT); /* not OWNERDEAD */
        CHECK_INT(bcr_rgwait(rgid, 0, 0), 1);
        CHECK_INT(value_of(rgid), 2);
        if (listed) {
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
            CHECK_INT(value_of(read), 2);
        }
    }
    end();
}

/* The mark is registered with the request: what is put after the request was served outdates it,
 * even if the region is collected later. */
TEST(a_put_between_serving_a_lock_and_collecting_it_outdates_the_mark)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *holder = join();
        bcr_cce_id owner = name(holder, one);
        as(holder);
        bcr_region read = listed ? bcr_read(owner, cell, bcr_PENDING) : NULL;
        bcr_region lock = bcr_acqwl(owner, cell, bcr_PENDING);
        as(one);
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
        as(holder);
        if (listed)
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
        CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
        CHECK_INT(peek(lock), 1);
        as(one);
        leave(holder);
        CHECK_INT(take(bcr_cce, cell), 2);
    }
    end();
}

/* Two locks served one after the other and collected the other way round: the second holds what was
 * put last. */
TEST(the_mark_is_the_last_served_takers_whichever_taker_collects_first)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *first = join(), *second = join();
        as(first);
        bcr_region read = listed ? bcr_read(name(first, one), cell, bcr_PENDING) : NULL;
        bcr_region lock1 = bcr_acqwl(name(first, one), cell, bcr_PENDING);
        as(second);
        bcr_region lock2 = bcr_acqwl(name(second, one), cell, bcr_PENDING);
        as(one);
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
        as(second);
        CHECK_INT(bcr_rgwait(lock2, 0, 0), 1);
        CHECK_INT(peek(lock2), 2);
        as(first);
        if (listed)
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
        CHECK_INT(bcr_rgwait(lock1, 0, 0), 1);
        as(one);
        leave(first);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
        leave(second);
        all_say_ownerdead(bcr_cce, cell);
        CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell), 3);
    }
    end();
}

/* The same where the second's put has not yet moved the tail when the first one collects. */
TEST(a_lock_that_is_collected_late_does_not_replace_the_owner_of_one_taken_since)
{
    begin();
    const int cell = grow(1, 4, 1024);
    struct bcri_ctx *first = join(), *second = join();
    struct bcri_resolved *resolved;
    as(first);
    bcr_region lock = bcr_acqwl(name(first, one), cell, bcr_PENDING);
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    const uint64_t tail = bcri_load(&resolved->cell->t.tail);
    bcri_store(&resolved->cell->t.tail, tail - 1);
    as(second);
    CHECK_INT(peek(bcr_acqwl(name(second, one), cell, 0)), 2);
    as(first);
    CHECK_INT(bcr_rgwait(lock, 0, 0), 1);
    CHECK_INT(peek(lock), 1);
    as(one);
    bcri_store(&resolved->cell->t.tail, tail);
    leave(first);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    leave(second);
    all_say_ownerdead(bcr_cce, cell);
    end();
}

/* A CCE that waits for the lock, by ticket or, behind a read, in the list; then a region comes. */
struct waiter {
    struct bcri_ctx *ctx;
    bcr_region read, lock;
};
static struct waiter served_after_waiting(int cell, bool listed)
{
    struct waiter waiter = {.ctx = join()};
    bcr_cce_id owner = name(waiter.ctx, one);
    as(waiter.ctx);
    waiter.read = listed ? bcr_read(owner, cell, bcr_PENDING) : NULL;
    waiter.lock = bcr_acqwl(owner, cell, bcr_PENDING);
    CHECK(waiter.lock != NULL && (waiter.read != NULL) == listed);
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    return waiter;
}

/* A taker that waited is marked like one that did not. */
TEST(a_holder_that_waited_for_its_lock_leaves_OWNERDEAD)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct waiter holder = served_after_waiting(cell, listed);
        as(holder.ctx);
        if (listed)
            CHECK_INT(bcr_rgfree(holder.read), 0);
        CHECK_INT(bcr_rgwait(holder.lock, 0, 0), 1);
        as(one);
        leave(holder.ctx);
        all_say_ownerdead(bcr_cce, cell);
        CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell), 3);
    }
    end();
}

/* It belongs to the cell until the waiter has it. */
TEST(a_lock_that_was_handed_to_a_dead_CCE_but_not_collected_is_free)
{
    begin();
    int cell = grow(1, 2, 1024);
    for (int listed = 0; listed < 2; listed++) {
        leave(served_after_waiting(cell, listed).ctx);
        CHECK_INT(take(bcr_cce, cell), 1);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    }
    end();
}

TEST(a_lock_given_back_for_want_of_memory_leaves_no_mark)
{
    begin();
    int cell = grow(1, 4, 1024);
    struct bcri_ctx *poor = join();
    as(poor);
    eat_memory();
    as(one);
    bcr_region kept = number(1);
    CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
    as(poor);
    FAILS_NULL(bcr_acqwl(name(poor, one), cell, 0), bcrE_NBYTES);
    as(one);
    CHECK_INT(take(bcr_cce, cell), 1);
    leave(poor);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

/* A region that is given back was put before: it does not tell what holds now. */
TEST(a_region_given_back_does_not_outdate_the_lock_owner)
{
    for (int by_death = 0; by_death < 2; by_death++)
        for (int listed = 0; listed < 2; listed++) {
            begin();
            const int cell = grow(1, 4, 1024);
            struct bcri_ctx *poor = join(), *holder = join();
            as(poor);
            eat_memory();
            const bcr_cce_id owner = name(poor, one);
            bcr_region read = listed ? bcr_read(owner, cell, bcr_PENDING) : NULL;
            bcr_region lock = bcr_acqwl(owner, cell, bcr_PENDING);
            as(one);
            bcr_region kept = number(1);
            CHECK_INT(bcr_enq(kept, bcr_cce, cell, bcr_NOFREE), 0);
            CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
            as(holder);
            CHECK_INT(peek(bcr_acqwl(name(holder, one), cell, 0)), 2);
            as(poor);
            if (listed)
                CHECK_INT(bcr_rgfree(read), 0);
            if (!by_death)
                FAILS(bcr_rgwait(lock, 0, 0), bcrE_NBYTES);
            leave(poor);
            as(one);
            CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
            leave(holder);
            FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_OWNERDEAD);
            FAILS_NULL(bcr_acqwl(bcr_cce, cell, 0), bcrE_OWNERDEAD);
            CHECK_INT(bcr_enq(number(3), bcr_cce, cell, bcr_FREE), 0);
            CHECK_INT(take(bcr_cce, cell), 1);
            CHECK_INT(take(bcr_cce, cell), 3);
            CHECK_INT(value_of(kept), 1);
            end();
        }
}

/* Regions behind the ring move into it as it empties. */
TEST(a_queue_longer_than_the_ring_does_not_outdate_the_lock_owner_when_it_moves_up)
{
    enum { QUEUED = 30 };
    begin();
    const int cell = grow(10, 40, 4096); /* rings of 8 */
    struct bcri_ctx *holder = join();
    for (int i = 0; i < QUEUED; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    as(holder);
    for (int i = 0; i < QUEUED; i++) {
        bcr_region lock = bcr_acqwl(name(holder, one), cell, 0);
        CHECK_INT(peek(lock), i);
        if (i != 2)
            CHECK_INT(bcr_rgfree(lock), 0);
    }
    as(one);
    leave(holder);
    all_say_ownerdead(bcr_cce, cell);
    end();
}

/* The owner of the last lock may have taken it before the queue has moved up. */
TEST(what_moves_up_behind_a_lock_leaves_its_owner)
{
    enum { QUEUED = 30 };
    begin();
    const int cell = grow(10, 40, 4096);
    struct bcri_ctx *holder = join();
    for (int i = 0; i < QUEUED; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    as(holder);
    CHECK(bcr_acqwl(name(holder, one), cell, 0) != NULL);
    as(one);
    for (int i = 1; i < QUEUED; i++)
        CHECK_INT(take(bcr_cce, cell), i);
    leave(holder);
    all_say_ownerdead(bcr_cce, cell);
    end();
}

/* A plain take is no lock. */
TEST(a_taker_without_a_lock_leaves_no_mark)
{
    begin();
    int cell = grow(1, 1, 1024);
    struct bcri_ctx *taker = join();
    CHECK_INT(bcr_write(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(taker);
    CHECK(bcr_deq(name(taker, one), cell, 0) != NULL);
    as(one);
    leave(taker);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

/* ---- many at once ---- */

struct worker {
    struct bcri_ctx *ctx;
    int cell, rounds;
};

static void *count_up(void *arg)
{
    struct worker *worker = arg;
    as(worker->ctx);
    bcr_cce_id owner = name(worker->ctx, one);
    for (int i = 0; i < worker->rounds; i++) {
        bcr_region lock = bcr_acqwl(owner, worker->cell, bcr_BLOCK);
        CHECK(lock != NULL);
        int *pair = *lock;
        CHECK_INT(pair[0], pair[1]);
        pair[0]++;
        pair[1]++;
        if (i % 3 == 0) {
            CHECK_INT(bcr_wl2rl(lock, owner, worker->cell), 0);
            CHECK_INT(((int *)*lock)[0], ((int *)*lock)[1]);
            CHECK_INT(bcr_rlsrl(lock), 0);
        } else {
            CHECK_INT(bcr_rlswl(lock, owner, worker->cell), 0);
        }
        lock = bcr_acqrl(owner, worker->cell, bcr_BLOCK);
        CHECK(lock != NULL);
        pair = *lock;
        CHECK_INT(pair[0], pair[1]);
        CHECK_INT(bcr_rlsrl(lock), 0);
    }
    return NULL;
}

TEST_TIMEOUT(no_update_under_a_write_lock_is_lost, 120)
{
    begin();
    enum { WORKERS = 4 };
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    int rounds = (int)test_scale(1000, 50000);
    int cell = grow(1, 1, 1 << 16);
    bcr_region region = filled(2 * sizeof(int), 0);
    CHECK_INT(bcr_write(region, bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = (struct worker){.ctx = join(), .cell = cell, .rounds = rounds};
    for (int i = 0; i < WORKERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, count_up, &workers[i]), 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    region = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(((int *)*region)[0], WORKERS * rounds);
    CHECK_INT(bcr_rgfree(region), 0);
    end();
}

/* SPDX-License-Identifier: MIT */
/* After the end of a CCE: what others are told, what lives on, and what comes back. How it ends
 * inside an operation is tested in ../../crash. */
#include "cce.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/repair.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/waiters.h"

TEST(the_regions_of_an_ended_CCE_live_on_while_they_are_held)
{
    begin();
    int cell = grow(1, 9, 1024);
    struct bcri_ctx *three = join();
    as(three);
    int far = grow(1, 9, 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, far, bcr_FREE), 0);
    as(one);
    bcr_region held = bcr_deq(name(one, three), far, 0);
    bcr_region shared = bcr_read(name(one, three), far, 0);
    leave(three);
    CHECK_INT(peek(held), 0);
    CHECK_INT(peek(shared), 1);
    CHECK_INT(bcr_enq(held, bcr_cce, cell, bcr_NOFREE), 0);
    as(two);
    CHECK_INT(take(one_of_two, cell), 0); /* also by those who never met the dead */
    as(one);
    CHECK_INT(bcr_rgmod(shared), 0);
    CHECK_INT(value_of(shared), 1);
    CHECK_INT(value_of(held), 0);
    end();
}

TEST(what_an_ended_CCE_held_is_free)
{
    begin();
    int cell = grow(1, 9, NUMBER_BYTES);
    for (int how = 0; how < 3; how++) {
        struct bcri_ctx *three = join();
        CHECK_INT(bcr_enq(number(how), bcr_cce, cell, bcr_FREE), 0);
        as(three);
        CHECK(bcr_get(how != 0, name(three, one), cell, 0) != NULL);
        if (how == 2) /* in a cell of its own */
            CHECK_INT(bcr_enq(bcr_rgalloc(0, 0), bcr_cce, grow(1, 1, 0), bcr_FREE), 0);
        as(one);
        if (how == 0)
            CHECK_INT(bcr_zap(bcr_cce, cell), 0);
        FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
        leave(three);
        CHECK_INT(value_of(number(4)), 4);
    }
    end();
}

/* The holder dies in bcr_rgfree, when it has told the owner of the block and still has its ID. */
TEST(a_block_that_serves_again_is_not_freed_by_the_repair_of_its_last_holder)
{
    enum { MANY = 64 };
    bcr_region of_one[MANY];
    begin();
    const int cell = grow(1, 2, 4096);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    as(two);
    bcr_region rgid = bcr_deq(one_of_two, cell, 0);
    const bcri_ref ref = group_region(two, rgid);
    struct bcri_region_shm *region = bcri_at(two, ref);
    bcri_store(&two->journal->slot, bcri_slot_ref(two, group_slot(two, rgid)));
    bcri_store(&two->journal->doing, bcri_doing(BCRI_OP_FREE_LAST, bcri_load(&region->incarnation)));
    bcri_store_release(&region->count, 0);
    CHECK(bcri_heap_freed_fast(two, ref));
    as(one);
    bcri_heap_collect(one);
    int count = 0;
    do
        of_one[count] = number(count);
    while (group_region(one, of_one[count++]) != ref && count < MANY);
    CHECK(group_region(one, of_one[count - 1]) == ref);
    leave(two);
    CHECK_UINT(bcri_load(&((struct bcri_region_shm *)bcri_at(one, ref))->count), BCRI_COUNT_ONE);
    audit();
    for (int i = 0; i < count; i++)
        CHECK_INT(value_of(of_one[i]), i);
    end();
}

TEST(the_waiting_gets_of_an_ended_CCE_take_nothing)
{
    begin();
    int cell = grow(1, 9, 1024);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *three = join();
        bcr_cce_id owner = name(three, one);
        as(three);
        CHECK(!listed || bcr_read(owner, cell, bcr_PENDING) != NULL);
        CHECK(bcr_deq(owner, cell, bcr_PENDING) != NULL);
        as(one);
        bcr_region mine = bcr_deq(bcr_cce, cell, bcr_PENDING);
        as(three);
        CHECK(bcr_acqwl(owner, cell, bcr_PENDING) != NULL);
        as(one);
        leave(three);
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(mine, 0, 0), 1);
        CHECK_INT(value_of(mine), 1);
        CHECK_INT(take(bcr_cce, cell), 2);
        FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    }
    end();
}

TEST(what_was_handed_to_a_dead_waiter_is_at_the_head_again_in_the_old_order)
{
    begin();
    int cell = grow(1, 2, 4096);
    for (int count = 1; count <= 7; count++) {
        struct bcri_ctx *three = join();
        as(three);
        for (int i = 0; i < count; i++)
            CHECK(bcr_deq(name(three, one), cell, bcr_PENDING) != NULL);
        as(one);
        for (int i = 0; i < count + 2; i++) /* and two behind them: the cell is full */
            CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 2);
        leave(three);
        CHECK_INT(bcr_celllen(bcr_cce, cell), count + 2); /* even beyond nrgns */
        bcr_region more = number(9);
        FAILS(bcr_enq(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
        CHECK_INT(bcr_rgfree(more), 0);
        for (int i = 0; i < count + 2; i++)
            CHECK_INT(take(bcr_cce, cell), i);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    }
    end();
}

/* Found by ../../model. */
TEST(a_cell_that_was_given_back_beyond_the_bound_gets_no_more_before_there_is_room)
{
    begin();
    int cell = grow(2, 3, 4096);
    struct bcri_ctx *three = join();
    as(three);
    CHECK(bcr_deq(name(three, one), cell + 1, bcr_PENDING) != NULL);
    as(one);
    CHECK_INT(bcr_enq(number(7), bcr_cce, cell + 1, bcr_FREE), 0); /* handed over */
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    leave(three);
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 1); /* four where three may be */
    CHECK_INT(take(bcr_cce, cell), 0);
    bcr_region more = number(9);
    FAILS(bcr_enq(more, bcr_cce, cell + 1, bcr_FREE), bcrE_FULL);
    FAILS(bcr_enq(more, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    CHECK_INT(take(bcr_cce, cell + 1), 7);
    CHECK_INT(bcr_enq(more, bcr_cce, cell + 1, bcr_FREE), 0);
    end();
}

TEST(what_was_handed_to_a_dead_waiter_goes_to_the_next_one)
{
    begin();
    int cell = grow(1, 2, 4096);
    for (int listed = 0; listed < 2; listed++) {
        struct bcri_ctx *three = join();
        bcr_region read = listed ? bcr_read(bcr_cce, cell, bcr_PENDING) : NULL;
        as(three);
        CHECK(bcr_deq(name(three, one), cell, bcr_PENDING) != NULL);
        as(one);
        bcr_region second = bcr_deq(bcr_cce, cell, bcr_PENDING);
        bcr_region third = bcr_read(bcr_cce, cell, bcr_PENDING);
        CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(second, 0, 0), 0);
        leave(three);
        CHECK_INT(bcr_rgwait(second, 0, 0), 1);
        CHECK_INT(value_of(second), 1);
        CHECK_INT(bcr_rgwait(third, 0, 1), 0);
        if (listed) {
            CHECK_INT(bcr_rgwait(read, 0, 0), 1);
            CHECK_INT(value_of(read), 1);
        }
    }
    end();
}

TEST(a_read_that_a_dead_waiter_did_not_collect_gives_nothing_back)
{
    begin();
    int cell = grow(1, 2, NUMBER_BYTES);
    struct bcri_ctx *three = join();
    as(three);
    CHECK(bcr_read(name(three, one), cell, bcr_PENDING) != NULL);
    CHECK(bcr_read(name(three, one), cell, bcr_PENDING) != NULL);
    as(one);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    leave(three);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(value_of(number(2)), 2); /* and no hold is left */
    end();
}

static int put_one(struct bcri_ctx *ctx, void *arg)
{
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096) > 0);
    CHECK_INT(bcr_enq(number(1), group_name(ctx, one->index), *(int *)arg, bcr_FREE), 0);
    return 0;
}

TEST(the_waiting_put_of_an_ended_CCE_is_cancelled)
{
    begin();
    int cell = grow(1, 1, 1024);
    uint32_t index;
    CHECK_INT(bcr_enq(number(0), bcr_cce, cell, bcr_FREE), 0);
    pid_t pid = group_fork(group, put_one, &cell, &index);
    while (waiting_puts(cell) == 0)
        sched_yield();
    struct later *behind = later_put(two, 1, 2, one_of_two, cell);
    CHECK_INT(kill(pid, SIGKILL), 0);
    group_bury(group, pid, index);
    CHECK_INT(waiting_puts(cell), 1);
    CHECK_INT(take(bcr_cce, cell), 0);
    CHECK_INT(result(behind).returned, 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    FAILS_NULL(bcr_deq(bcr_cce, cell, 0), bcrE_TIMEOUT);
    end();
}

/* ---- processes that are killed while they sleep, or between calls ---- */

static int take_a_lock_and_sleep(struct bcri_ctx *ctx, void *arg)
{
    int owner = group_name(ctx, one->index), cell = *(int *)arg;
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096) > 0);
    CHECK(bcr_acqwl(owner, cell, bcr_BLOCK) != NULL);
    CHECK(bcr_deq(owner, cell + 1, bcr_PENDING) != NULL);
    CHECK_INT(bcr_enq(number(1), owner, cell + 2, bcr_FREE), 0); /* ready */
    CHECK(bcr_deq(owner, cell + 3, bcr_BLOCK) != NULL);
    return 1;
}

TEST(a_process_that_is_killed_leaves_its_locks_and_waits_to_others)
{
    begin();
    int cell = grow(4, 9, 1024);
    CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
    uint32_t index;
    pid_t pid = group_fork(group, take_a_lock_and_sleep, &cell, &index);
    CHECK_INT(value_of(bcr_deq(bcr_cce, cell + 2, bcr_BLOCK)), 1);
    CHECK_INT(bcr_enq(number(8), bcr_cce, cell + 1, bcr_FREE), 0); /* handed over, never collected */
    CHECK_INT(bcr_celllen(bcr_cce, cell + 1), 0);
    CHECK_INT(kill(pid, SIGKILL), 0);
    int status = group_bury(group, pid, index);
    CHECK(WIFSIGNALED(status));
    FAILS_NULL(bcr_acqrl(bcr_cce, cell, bcr_BLOCK), bcrE_OWNERDEAD);
    CHECK_INT(take(bcr_cce, cell + 1), 8);
    CHECK_INT(bcr_enq(number(9), bcr_cce, cell + 3, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell + 3), 9);
    end();
}

/* One has moved the head and not named the region yet, the other holds the tail lock. */
static void die_in_a_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    uint64_t ticket = bcri_load(&resolved->cell->h.head);
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    bcri_journal_open(ctx, BCRI_OP_TAKE, resolved->ref, BCRI_REF_NONE, bcri_slot_ref(ctx, slot));
    bcri_lock(ctx, &resolved->cell->h.lock);
    bcri_store(&ctx->journal->region, bcri_load(bcri_ring_at(resolved, ticket)) & BCRI_REF_MASK);
    bcri_store(&ctx->journal->ticket, ticket);
    bcri_journal_phase(ctx, 1);
    bcri_store(&resolved->cell->h.head, ticket + 1);
}
static void die_before_a_put(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_journal_open(ctx, BCRI_OP_PUT, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    bcri_lock(ctx, &resolved->cell->t.lock);
}

/* The taker has its write lock, and is about to leave its mark: another CCE has put since. */
static void die_in_a_collect(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    as(ctx);
    struct bcri_slot_shm *slot = group_slot(ctx, number(5));
    as(one);
    bcri_store(&slot->cell, resolved->ref);
    bcri_store(&slot->key, 0);
    bcri_store(&slot->prev, bcri_epoch(resolved->cell) - 1u);
    bcri_store(&slot->kind, bcri_request_kind(ctx, BCRI_WANT_LOCK));
    bcri_journal_open(ctx, BCRI_OP_COLLECT, resolved->ref, BCRI_REF_NONE, bcri_slot_ref(ctx, slot));
    bcri_journal_phase(ctx, 1);
}

TEST(of_three_who_die_with_locks_that_the_others_repairs_need_all_are_repaired)
{
    begin();
    int cell = grow(1, 2, 1024);
    struct bcri_resolved *resolved;
    struct bcri_ctx *dead[3] = {join(), join(), join()};
    CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    die_in_a_take(dead[0], resolved);
    die_in_a_collect(dead[1], resolved);
    die_before_a_put(dead[2], resolved);
    bcri_cce_dying(group_host(group), dead[1]->index);
    bcri_cce_dying(group_host(group), dead[2]->index);
    for (int i = 0; i < 3; i++)
        leave(dead[i]);
    CHECK_INT(take(bcr_cce, cell), 7);
    CHECK_INT(bcr_enq(number(8), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(take(bcr_cce, cell), 8);
    end();
}

TEST(a_repair_that_needs_a_lock_of_another_dead_one_is_begun_again_behind_that_of_the_other)
{
    begin();
    for (int turn = 0; turn < 2; turn++) {
        int cell = grow(1, 2, 1024);
        struct bcri_resolved *resolved;
        struct bcri_ctx *dead[2] = {join(), join()};
        CHECK_INT(bcr_enq(number(7), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
        die_in_a_take(dead[turn], resolved);
        die_before_a_put(dead[!turn], resolved);
        bcri_cce_dying(group_host(group), dead[!turn]->index);
        leave(dead[turn]);
        leave(dead[!turn]);
        CHECK_INT(take(bcr_cce, cell), 7);
        CHECK_INT(bcr_enq(number(8), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell), 8);
    }
    end();
}

/* How many stores of the last transaction in a record's log there are, up to its answer. */
static uint32_t stores_to_the_answer(const struct bcri_record_shm *record)
{
    uint32_t i = 0;
    while (i < BCRI_REDO_MAX && bcri_load(&record->redo[i].where) >> 60 != BCRI_REDO_ANSWER)
        i++;
    CHECK(i < BCRI_REDO_MAX);
    return i + 1;
}

/* It dies in the transaction that has answered a request. Until the daemon applies that again, the
 * waiter has taken the region and uses the ID for another one. */
TEST(an_answer_that_repair_gives_again_spares_an_ID_that_is_in_use_anew)
{
    begin();
    const int cell = grow(1, 4, 1024);
    struct bcri_ctx *dead = join(), *three = join();
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    bcr_region read = bcr_read(bcr_cce, cell, bcr_PENDING);
    as(three);
    bcr_region first = bcr_deq(name(three, one), cell, bcr_PENDING);
    bcr_region second = bcr_deq(name(three, one), cell, bcr_PENDING);
    as(one);
    CHECK_INT(bcr_rgfree(read), 0);
    as(dead);
    CHECK_INT(bcr_enq(number(1), name(dead, one), cell, bcr_FREE), 0);
    as(three);
    CHECK_INT(bcr_rgwait(first, 0, 0), 1);
    CHECK_INT(value_of(first), 1);
    bcr_region anew = number(5);
    CHECK(anew == first);
    as(one);
    /* As it was before its last store. */
    CHECK(bcri_lock_try(dead, &resolved->cell->h.lock) && bcri_lock_try(dead, &resolved->cell->t.lock));
    bcri_store(&dead->journal->redo_len, stores_to_the_answer(dead->record));
    bcri_store(&dead->journal->redo_state, 1);
    bcri_store(&dead->journal->doing, bcri_doing(BCRI_OP_PUT, 2));
    leave(dead);
    as(three);
    CHECK_INT(value_of(anew), 5);
    as(one);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    as(three);
    CHECK_INT(bcr_rgwait(second, 0, 0), 1);
    CHECK_INT(value_of(second), 2);
    as(one);
    end();
}

/* Many at once, some of whom die while others go on. */
static int churn(struct bcri_ctx *ctx, void *arg)
{
    int owner = group_name(ctx, one->index), cell = *(int *)arg;
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) > 0);
    for (int i = 0;; i++) {
        CHECK_INT(bcr_enq(number(i), owner, cell, bcr_FREE), 0);
        bcr_region rgid = bcr_deq(owner, cell, bcr_BLOCK);
        CHECK(rgid != NULL);
        CHECK_INT(bcr_rgfree(rgid), 0);
        bcr_region lock = bcr_acqwl(owner, cell + 1, 0);
        CHECK(lock != NULL || bcr_errno == bcrE_TIMEOUT || bcr_errno == bcrE_OWNERDEAD);
        if (lock != NULL)
            CHECK_INT(bcr_rlswl(lock, owner, cell + 1), 0);
    }
}

TEST_TIMEOUT(processes_are_killed_at_work_and_the_others_go_on, 120)
{
    begin();
    enum { AT_ONCE = 3 };
    int cell = grow(2, 40, 1 << 16);
    uint32_t index[AT_ONCE];
    pid_t pid[AT_ONCE];
    uint64_t seed = test_seed();
    CHECK_INT(bcr_write(number(0), bcr_cce, cell + 1, bcr_FREE), 0);
    for (int i = 0; i < 20; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < AT_ONCE; i++)
        pid[i] = group_fork(group, churn, &cell, &index[i]);
    for (uint64_t round = 0; round < test_scale(20, 400); round++) {
        int who = (int)(round % AT_ONCE);
        for (uint64_t turns = test_rand_below(&seed, 2000); turns > 0; turns--)
            bcr_celllen(bcr_cce, cell);
        CHECK_INT(kill(pid[who], SIGKILL), 0);
        group_bury(group, pid[who], index[who]);
        pid[who] = group_fork(group, churn, &cell, &index[who]);
        bcr_region lock = bcr_acqrl(bcr_cce, cell + 1, bcr_BLOCK);
        if (lock != NULL)
            CHECK_INT(value_of(lock), 0);
        else {
            CHECK_INT(bcr_errno, bcrE_OWNERDEAD);
            CHECK_INT(bcr_write(number(0), bcr_cce, cell + 1, bcr_FREE), 0);
        }
        while (bcr_celllen(bcr_cce, cell) < 10) /* the dead took some with them */
            CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_INT(kill(pid[i], SIGKILL), 0);
        group_bury(group, pid[i], index[i]);
    }
    end();
}

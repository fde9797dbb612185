/* SPDX-License-Identifier: MIT */
/* Operations for a CCE elsewhere (act.h): a process that is stopped with a lock in its hand parks
 * them, they have changed nothing then, its release rings, and they come to their end when they are
 * begun again. */
#include "cce.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/act.h"
#include "bcri/cell.h"
#include "bcri/lock.h"
#include "bcri/region.h"
#include "bcri/repair.h"

static struct bcri_ctx *enl;
static int cell, other;
static uint64_t key, other_key;

static void begin_acting(void)
{
    begin();
    enl = group_enl(group);
    cell = grow(2, 4, 4096);
    other = cell + 1;
    key = bcri_resolved_key(group_name(enl, one->index), cell);
    other_key = bcri_resolved_key(group_name(enl, one->index), other);
}

/* What the stopped process holds. */
enum what { HEAD, TAIL, LEAF, COUNT };

static struct holder {
    enum what what;
    uint32_t owner;
    int cell;
    bcri_ref region;
} holds;

static int hold_and_stop(struct bcri_ctx *ctx, void *arg)
{
    const struct holder *it = arg;
    struct bcri_resolved *resolved;
    if (bcri_resolved_find(ctx, group_name(ctx, it->owner), it->cell, &resolved) != 0)
        return 1;
    _Atomic uint32_t *lock = it->what == HEAD   ? &resolved->cell->h.lock
                             : it->what == LEAF ? &resolved->area->leaf
                                                : &resolved->cell->t.lock;
    uint32_t count = 0;
    if (it->what == COUNT)
        count = bcri_count_lock(ctx, it->region);
    else if (!bcri_lock_try(ctx, lock))
        return 2;
    raise(SIGSTOP);
    if (it->what == COUNT)
        bcri_count_unlock(ctx, it->region, count);
    else
        bcri_unlock(ctx, lock);
    return 0;
}

static pid_t stopped;
static uint32_t stopped_index;

static void stop_with(enum what what, bcri_ref region)
{
    int status;
    holds = (struct holder){what, one->index, cell, region};
    stopped = group_fork(group, hold_and_stop, &holds, &stopped_index);
    CHECK_INT(waitpid(stopped, &status, WUNTRACED), stopped);
    CHECK(WIFSTOPPED(status));
}

static void go_on_and_ring(uint32_t rung_before)
{
    CHECK_INT(kill(stopped, SIGCONT), 0);
    while (bcri_load_acquire(&enl->bell->bell) == rung_before)
        sched_yield();
}

static void bury(void)
{
    CHECK_INT(group_bury(group, stopped, stopped_index), 0);
}

/* The operations, as one who acts for another has them. */
static struct bcri_slot_shm *slot;
static uint64_t length;

static struct bcri_acted act_put(void)
{
    return bcri_act_put(enl, key, false, slot);
}
static struct bcri_acted act_write(void)
{
    return bcri_act_put(enl, key, true, slot);
}
static struct bcri_acted act_take(void)
{
    return bcri_act_get(enl, key, BCRI_WANT_TAKE, false, false, &slot);
}
static struct bcri_acted act_read(void)
{
    return bcri_act_get(enl, key, BCRI_WANT_READ, false, false, &slot);
}
static struct bcri_acted act_zap(void)
{
    return bcri_act_zap(enl, key);
}
static struct bcri_acted act_length(void)
{
    return bcri_act_length(enl, key, &length);
}

/* A region of the actor's own: taken from the other cell. */
static void have_a_region(int value)
{
    CHECK_INT(bcr_enq(number(value), bcr_cce, other, bcr_FREE), 0);
    CHECK_INT(bcri_act_get(enl, other_key, BCRI_WANT_TAKE, false, false, &slot).outcome, BCRI_ACT_DONE);
}

static void drop_the_region(void)
{
    bcri_region_drop(enl, bcri_slot_region(bcri_load(&slot->word)));
    bcri_store(&slot->word, 0);
    bcri_slot_give(enl, slot);
    bcri_count_committed(enl);
}

/* Parks `act` on what the stopped process holds, and begins it again when that has let go. */
static void is_parked_and_ends(enum what what, bcri_ref region, struct bcri_acted (*act)(void))
{
    stop_with(what, region);
    const uint32_t rung = bcri_load_acquire(&enl->bell->bell);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(act().outcome, BCRI_ACT_PARKED);
        CHECK_INT(enl->daemon.parked, BCRI_TAG(stopped_index));
        CHECK_UINT(bcri_load(&enl->journal->op), BCRI_OP_NONE);
    }
    CHECK_UINT(bcri_load_acquire(&enl->bell->bell), rung);
    go_on_and_ring(rung);
    CHECK_INT(act().outcome, BCRI_ACT_DONE);
    bury();
}

TEST(without_a_holder_they_do_what_put_get_zap_and_length_do)
{
    begin_acting();
    have_a_region(3);
    CHECK_INT(act_put().outcome, BCRI_ACT_DONE);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 1);
    have_a_region(4);
    CHECK_INT(act_write().outcome, BCRI_ACT_DONE);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 1);
    CHECK_INT(act_read().outcome, BCRI_ACT_DONE);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 1);
    drop_the_region();
    CHECK_INT(take(bcr_cce, cell), 4);
    CHECK_INT(act_take().error, bcrE_TIMEOUT);
    CHECK_INT(bcr_enq(number(5), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(act_zap().outcome, BCRI_ACT_DONE);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 0);
    CHECK_INT(audit(), 0);
    end();
}

TEST(what_they_cannot_do_they_say_as_the_public_routines_do)
{
    begin_acting();
    have_a_region(9);
    for (int i = 0; i < 4; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(act_put().error, bcrE_FULL);
    const bcr_cce_id name = group_name(enl, one->index);
    CHECK_INT(bcri_act_put(enl, bcri_resolved_key(name, 0), false, slot).error, bcrE_RESERVED);
    CHECK_INT(bcri_act_zap(enl, bcri_resolved_key(name, 99)).error, bcrE_NOCELL);
    CHECK_INT(bcri_act_length(enl, bcri_resolved_key(77, 1), &length).error, bcrE_NOCCE);
    drop_the_region();
    end();
}

TEST(a_lock_of_putters_parks_them)
{
    begin_acting();
    have_a_region(1);
    is_parked_and_ends(TAIL, 0, act_put);
    have_a_region(2);
    is_parked_and_ends(TAIL, 0, act_write);
    is_parked_and_ends(TAIL, 0, act_length);
    CHECK_UINT(length, 1);
    is_parked_and_ends(TAIL, 0, act_zap);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(audit(), 0);
    end();
}

/* A cell's first put takes credits of the area's pool. */
TEST(the_lock_of_an_area_s_credits_parks_a_put_that_takes_some)
{
    begin_acting();
    have_a_region(1);
    is_parked_and_ends(LEAF, 0, act_put);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(audit(), 0);
    end();
}

TEST(a_lock_of_takers_parks_them)
{
    begin_acting();
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    is_parked_and_ends(HEAD, 0, act_take);
    drop_the_region();
    is_parked_and_ends(HEAD, 0, act_read);
    drop_the_region();
    is_parked_and_ends(HEAD, 0, act_length);
    CHECK_UINT(length, 1);
    is_parked_and_ends(HEAD, 0, act_zap);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(audit(), 0);
    end();
}

TEST(a_lock_of_the_other_end_parks_neither_a_put_nor_a_take)
{
    begin_acting();
    have_a_region(1);
    stop_with(HEAD, 0);
    CHECK_INT(act_put().outcome, BCRI_ACT_DONE);
    CHECK_INT(kill(stopped, SIGCONT), 0);
    bury();
    stop_with(TAIL, 0);
    CHECK_INT(act_take().outcome, BCRI_ACT_DONE);
    drop_the_region();
    CHECK_INT(kill(stopped, SIGCONT), 0);
    bury();
    CHECK_INT(audit(), 0);
    end();
}

/* A read counts one more holder of a region that others hold as well. */
TEST(a_count_that_another_changes_parks_a_read)
{
    begin_acting();
    bcr_region rgid = number(6);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    const bcri_ref region = group_region(one, rgid);
    is_parked_and_ends(COUNT, region, act_read);
    drop_the_region();
    CHECK_INT(take(bcr_cce, cell), 6);
    CHECK_INT(value_of(rgid), 6);
    CHECK_INT(audit(), 0);
    end();
}

/* The same under both locks: the cell has more regions than its ring. */
TEST(a_count_that_another_changes_parks_a_read_of_a_long_queue)
{
    enum { MANY = 100 };
    begin_acting();
    cell = grow(MANY, MANY, 4096); /* rings of 8 */
    key = bcri_resolved_key(group_name(enl, one->index), cell);
    bcr_region rgid = number(6);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    CHECK((bcri_load(&resolved->cell->h.state) & BCRI_CELL_SLOW) != 0);
    is_parked_and_ends(COUNT, group_region(one, rgid), act_read);
    drop_the_region();
    is_parked_and_ends(HEAD, 0, act_zap);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 0);
    CHECK_INT(value_of(rgid), 6);
    CHECK_INT(audit(), 0);
    end();
}

/* A hold that cannot be dropped, of a region that was zapped, stays with one of the actor's IDs
 * until it can. Other regions that the actor holds are left alone then. */
TEST(a_zap_of_a_region_whose_count_is_locked_is_done_and_what_the_actor_holds_stays)
{
    begin_acting();
    bcr_region rgid = number(6);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    have_a_region(8);
    stop_with(COUNT, group_region(one, rgid));
    CHECK_INT(act_zap().outcome, BCRI_ACT_DONE);
    CHECK_INT(act_length().outcome, BCRI_ACT_DONE);
    CHECK_UINT(length, 0);
    CHECK(!bcri_looks_done(enl));
    const uint32_t rung = bcri_load_acquire(&enl->bell->bell);
    go_on_and_ring(rung);
    CHECK(bcri_looks_done(enl));
    bury();
    CHECK_INT(act_put().outcome, BCRI_ACT_DONE); /* it still holds this one */
    CHECK_INT(take(bcr_cce, cell), 8);
    CHECK_INT(value_of(rgid), 6);
    CHECK_INT(audit(), 0);
    end();
}

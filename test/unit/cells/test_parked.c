/* SPDX-License-Identifier: MIT */
/* The daemon waits for no CCE: a piece of its work that needs what a CCE has in its hand is parked,
 * has changed nothing that a CCE could miss, and comes to its end when it is begun again
 * (bcri/lock.h, bcri/repair.h). */
#include "cce.h"

#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/repair.h"

static struct bcri_ctx *enl, *holder, *dead;
static int cell;

static void begin_with_two_more(void)
{
    begin();
    enl = group_enl(group);
    holder = join();
    dead = join();
    cell = grow(2, 4, 4096);
}

static struct bcri_cell_shm *memory_of(int number)
{
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, number, &resolved), 0);
    return resolved->cell;
}

static bool repair(void)
{
    return bcri_cce_repair(enl, dead->index);
}

static enum bcri_cce_state state(void)
{
    return (enum bcri_cce_state)bcri_load(&bcri_record(enl, dead->index)->id.state);
}

/* It lets go, as any CCE does. Whether that has rung the daemon. */
static bool unlock_rings(_Atomic uint32_t *lock)
{
    uint32_t before = bcri_load(&enl->bell->bell);
    bcri_unlock(holder, lock);
    return bcri_load(&enl->bell->bell) != before;
}

static void wait_as_dead(int number)
{
    as(dead);
    CHECK(bcr_deq(name(dead, one), number, bcr_PENDING) != NULL);
    as(one);
}

TEST(a_repair_is_parked_on_a_lock_and_its_release_rings)
{
    begin_with_two_more();
    _Atomic uint32_t *const locks[] = {&memory_of(cell)->h.lock, &memory_of(cell)->t.lock};
    for (int i = 0; i < 2; i++) {
        wait_as_dead(cell);
        wait_as_dead(cell + 1);
        CHECK(bcri_lock_try(holder, locks[i]));
        bcri_cce_dying(group_host(group), dead->index);
        for (int k = 0; k < 2; k++) {
            CHECK(!repair());
            CHECK_INT(enl->daemon.parked, holder->tag);
            CHECK_INT(bcri_load(&bcri_record(enl, dead->index)->bell.waits_on), holder->tag);
            CHECK_INT(state(), BCRI_CCE_DYING);
            CHECK_INT(bcri_load(locks[1 - i]), 0);
        }
        /* What needs no such lock was done. */
        CHECK_INT(bcr_enq(number(3), bcr_cce, cell + 1, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell + 1), 3);
        CHECK(unlock_rings(locks[i]));
        CHECK(repair());
        CHECK_INT(state(), BCRI_CCE_DEAD);
        CHECK_INT(bcr_enq(number(4), bcr_cce, cell, bcr_FREE), 0);
        CHECK_INT(take(bcr_cce, cell), 4);
        leave(dead);
        dead = join();
    }
    end();
}

/* `dead` was handed a region that `two` holds as well, and `two` waits to read what comes next.
 * No CCE can count before `holder` goes on. */
static bcri_ref hand_over_and_read(bcr_region *reads_out)
{
    wait_as_dead(cell);
    as(two);
    bcr_region rgid = number(5);
    CHECK_INT(bcr_enq(rgid, one_of_two, cell, bcr_NOFREE), 0);
    const bcri_ref region = group_region(two, rgid);
    *reads_out = bcr_read(one_of_two, cell, bcr_PENDING);
    CHECK(*reads_out != NULL);
    CHECK_INT(bcr_rgwait(*reads_out, 0, 0), 0);
    as(one);
    CHECK_INT(bcri_count_lock(holder, region), 2);
    bcri_cce_dying(group_host(group), dead->index);
    CHECK(repair()); /* the region is at the head of its cell */
    CHECK_INT(state(), BCRI_CCE_DEAD);
    CHECK(!bcri_looks_done(enl));
    CHECK_INT(bcri_load(&memory_of(cell)->h.lock), 0);
    bcri_count_unlock(holder, region, 2);
    return region;
}

TEST(a_read_that_the_daemon_cannot_count_is_served_when_it_looks_again)
{
    bcr_region reads;
    begin_with_two_more();
    (void)hand_over_and_read(&reads);
    CHECK(bcri_looks_done(enl));
    as(two);
    CHECK_INT(bcr_rgwait(reads, 0, 0), 1);
    CHECK_INT(value_of(reads), 5);
    CHECK_INT(take(one_of_two, cell), 5);
    as(one);
    end();
}

TEST(or_by_who_comes_to_the_cell_first)
{
    bcr_region reads;
    begin_with_two_more();
    (void)hand_over_and_read(&reads);
    CHECK_INT(take(bcr_cce, cell), 5);
    as(two);
    CHECK_INT(bcr_rgwait(reads, 0, 0), 1);
    CHECK_INT(value_of(reads), 5);
    as(one);
    CHECK(bcri_looks_done(enl));
    end();
}

TEST(a_hold_that_cannot_be_dropped_is_the_daemon_s_until_it_can)
{
    begin_with_two_more();
    CHECK_INT(bcr_enq(number(6), bcr_cce, cell, bcr_FREE), 0);
    as(dead);
    bcr_region rgid = bcr_read(name(dead, one), cell, 0);
    CHECK(rgid != NULL);
    const bcri_ref region = group_region(dead, rgid);
    as(one);
    CHECK_INT(bcri_count_lock(holder, region), 2);
    bcri_cce_dying(group_host(group), dead->index);
    CHECK(repair());
    CHECK(!bcri_looks_done(enl));
    bcri_count_unlock(holder, region, 2);
    CHECK_UINT(audit(), 1);
    CHECK(bcri_looks_done(enl));
    CHECK_UINT(audit(), 1);
    CHECK_INT(take(bcr_cce, cell), 6);
    CHECK_UINT(audit(), 0);
    end();
}

TEST(a_repair_that_looks_for_write_locks_is_parked_on_who_changes_its_cells)
{
    begin_with_two_more();
    bcri_store(&dead->record->id.uses_locks, 1);
    bcri_cce_dying(group_host(group), dead->index);
    atomic_fetch_add(&one->record->id.version, 1);
    CHECK(!repair());
    CHECK_INT(enl->daemon.parked, one->tag);
    atomic_fetch_add(&one->record->id.version, 1);
    CHECK(repair());
    end();
}

TEST(an_error_region_is_parked_on_the_lock_of_cell_0)
{
    static const uint8_t nobody[BCRI_IDENTITY_BYTES];
    begin_with_two_more();
    struct bcri_cell_shm *zero = memory_of(0);
    CHECK(bcri_lock_try(holder, &zero->h.lock));
    CHECK_INT(bcri_error_put(enl, one->index, 1, 2, nobody, 3), bcrE_TIMEOUT);
    CHECK_INT(enl->daemon.parked, holder->tag);
    CHECK(unlock_rings(&zero->h.lock));
    CHECK_INT(bcri_error_put(enl, one->index, 1, 2, nobody, 3), 0);
    bcr_region rgid = bcr_deq(bcr_cce, 0, 0);
    CHECK_INT(bcr_rgerror(rgid), 1);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

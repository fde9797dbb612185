/* SPDX-License-Identifier: MIT */
/* A call that has a time keeps it at the first lock that it meets, where a CCE that is stopped
 * holds that: it fails, and nothing has changed. Whether a holder is stopped the kernel says: so
 * the holder's record names a process of this test's that is. */
#include "cce.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/cell.h"
#include "bcri/lookup.h"

static struct bcri_ctx *holder;
static uint32_t its_pid;
static pid_t stopped;

static void begin_with_holder(void)
{
    int status;
    begin();
    holder = join();
    its_pid = bcri_load(&holder->record->id.pid);
    stopped = fork();
    CHECK(stopped >= 0);
    if (stopped == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    CHECK_INT(waitpid(stopped, &status, WUNTRACED), stopped);
    CHECK(WIFSTOPPED(status));
    bcri_store(&holder->record->id.pid, (uint32_t)stopped);
}

static void end_with_holder(void)
{
    bcri_store(&holder->record->id.pid, its_pid);
    CHECK_INT(kill(stopped, SIGKILL), 0);
    CHECK_INT(waitpid(stopped, NULL, 0), stopped);
    end();
}

/* A cell of `one`'s, as it lies in memory. */
static struct bcri_resolved *place_of(int cell)
{
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(one, bcr_cce, cell, &resolved), 0);
    return resolved;
}

static void hold(_Atomic uint32_t *lock)
{
    CHECK_INT(bcri_load(lock), 0);
    bcri_store(lock, holder->tag);
}
static void let_go(_Atomic uint32_t *lock)
{
    CHECK_INT(bcri_load(lock), holder->tag);
    bcri_store_release(lock, 0);
}

/* By `two`, at a cell of `one`'s. */
static void gets_fail(int cell)
{
    as(two);
    for (int msec = 0; msec <= 5; msec += 5) {
        FAILS_NULL(bcr_deq(one_of_two, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_read(one_of_two, cell, msec), bcrE_TIMEOUT);
        FAILS_NULL(bcr_acqwl(one_of_two, cell, msec), bcrE_TIMEOUT);
    }
    as(one);
}
static void put_fails(int cell)
{
    as(two);
    for (int msec = 0; msec <= 5; msec += 5) {
        bcr_region rgid = number(7);
        CHECK_INT(bcr_putwait(msec), 0);
        FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_FULL);
        FAILS(bcr_write(rgid, one_of_two, cell, bcr_NOFREE), bcrE_FULL);
        CHECK_INT(value_of(rgid), 7);
    }
    as(one);
}

TEST(gets_and_locks_give_up_at_the_head_lock)
{
    begin_with_holder();
    int cell = grow(1, 4, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    _Atomic uint32_t *lock = &place_of(cell)->cell->h.lock;
    hold(lock);
    gets_fail(cell);
    let_go(lock);
    CHECK_INT(take(bcr_cce, cell), 1);
    end_with_holder();
}

TEST(puts_give_up_at_the_tail_lock)
{
    begin_with_holder();
    int cell = grow(1, 4, 1024);
    _Atomic uint32_t *lock = &place_of(cell)->cell->t.lock;
    hold(lock);
    put_fails(cell);
    let_go(lock);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    end_with_holder();
}

TEST(in_a_slow_cell_all_give_up_at_the_head_lock)
{
    begin_with_holder();
    int cell = grow(1, 4, 1024);
    bcr_region reads = bcr_read(bcr_cce, cell, bcr_PENDING);
    _Atomic uint32_t *lock = &place_of(cell)->cell->h.lock;
    hold(lock);
    put_fails(cell);
    gets_fail(cell);
    let_go(lock);
    CHECK_INT(bcr_enq(number(2), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_rgwait(reads, 0, 0), 1);
    CHECK_INT(value_of(reads), 2);
    CHECK_INT(take(bcr_cce, cell), 2);
    end_with_holder();
}

TEST(where_puts_wait_for_room_all_give_up_at_the_lock_of_the_area)
{
    begin_with_holder();
    int cell = grow(1, 1, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    struct bcri_ctx *putter = join();
    struct later *put = later_put(putter, 1, 2, name(putter, one), cell);
    CHECK_INT(waiting_puts(cell), 1);
    _Atomic uint32_t *lock = &place_of(cell)->area->lock;
    hold(lock);
    as(two);
    for (int msec = 0; msec <= 5; msec += 5) {
        bcr_region rgid = number(7);
        FAILS_NULL(bcr_deq(one_of_two, cell, msec), bcrE_TIMEOUT);
        CHECK_INT(bcr_putwait(msec), 0);
        FAILS(bcr_enq(rgid, one_of_two, cell, bcr_FREE), bcrE_FULL);
        CHECK_INT(value_of(rgid), 7);
    }
    as(one);
    let_go(lock);
    CHECK_INT(take(bcr_cce, cell), 1);
    CHECK_INT(result(put).returned, 0);
    CHECK_INT(take(bcr_cce, cell), 2);
    end_with_holder();
}

TEST(a_holder_that_is_dead_counts_as_stopped_while_its_repair_waits_for_one_that_is)
{
    begin_with_holder();
    int cell = grow(1, 4, 1024);
    struct bcri_ctx *dead = join();
    _Atomic uint32_t *lock = &place_of(cell)->cell->h.lock;
    bcri_store(&dead->record->id.state, BCRI_CCE_DYING);
    bcri_store(&dead->record->bell.waits_on, holder->tag);
    bcri_store(lock, dead->tag);
    gets_fail(cell);
    bcri_store_release(lock, 0);
    bcri_store(&dead->record->id.state, BCRI_CCE_ALIVE);
    end_with_holder();
}

/* SPDX-License-Identifier: MIT */
/* Cells with one region each, under write locks. At most one has a lock: that stands on the board
 * as well, between taking and giving back. Where a holder has died the others are told so, and only
 * the root puts a new region. */
#include "cce.h"

#include <stdio.h>
#include <unistd.h>

enum { LOCKED_BYTES = 64 };

/* A lock that goes to another host is its cell's until that host says that it has come. So where a host is
 * lost before, the lock goes back and no CCE is told of a death; but one that is gone with that host may have
 * had it for a moment, and its mark does not count. The killer removes such marks before it says that
 * the host has ended. */
static bool is_gone_with_its_host(int ordinal)
{
    const int ending = atomic_load(&board->ending);
    return ending != 0 && chaos_host(board, ordinal % CHAOS_CCES) == ending;
}

static void hold(int lock)
{
    int other = 0;
    while (!atomic_compare_exchange_strong(&board->holder[lock], &other, bcr_cceord + 1)) {
        if (is_gone_with_its_host(other - 1))
            continue; /* in its place */
        if (atomic_load(&board->holder[lock]) != other) {
            other = 0;
            continue;
        }
        fprintf(stderr, "chaos: CCE %d has got lock %d, which CCE %d has\n", bcr_cceord, lock, other - 1);
        _exit(3);
    }
}

static void let_go(int lock)
{
    int mark = bcr_cceord + 1;
    (void)atomic_compare_exchange_strong(&board->holder[lock], &mark, 0);
}

void do_lock(void)
{
    const int lock = (int)any(CHAOS_LOCKS), cell = LOCKS + lock;
    atomic_store(&mine->cell, cell);
    bcr_region rgid = bcr_acqwl(keeper, cell, any(2) == 0 ? bcr_BLOCK : any_time());
    if (!worked(rgid != NULL, "acqwl"))
        return;
    hold(lock);
    region_check(rgid, "a locked cell");
    if (any(8) == 0)
        usleep(any(300));
    let_go(lock);
    if (any(3) == 0) {
        while (!put_where_room_is(bcr_wl2rl(rgid, keeper, cell) == 0, "wl2rl"))
            continue;
        region_check(rgid, "a locked cell");
        must(bcr_rlsrl(rgid) == 0, "rlsrl");
    } else {
        while (!put_where_room_is(bcr_rlswl(rgid, keeper, cell) == 0, "rlswl"))
            continue;
    }
}

void do_read_lock(void)
{
    const int cell = LOCKS + (int)any(CHAOS_LOCKS);
    atomic_store(&mine->cell, cell);
    bcr_region rgid = bcr_acqrl(keeper, cell, any_time());
    if (!worked(rgid != NULL, "acqrl"))
        return;
    region_check(rgid, "a read-locked cell");
    must(bcr_rlsrl(rgid) == 0, "rlsrl");
}

void recover_locks(void)
{
    for (int lock = 0; lock < CHAOS_LOCKS; lock++) {
        atomic_store(&mine->cell, LOCKS + lock);
        bcr_region rgid = bcr_acqrl(keeper, LOCKS + lock, 0);
        if (rgid != NULL) {
            must(bcr_rlsrl(rgid) == 0, "rlsrl");
        } else if (!worked(false, "acqrl") && bcr_errno == bcrE_OWNERDEAD) {
            atomic_store(&board->holder[lock], 0);
            bcr_region fresh = region_make(LOCKED_BYTES);
            must(fresh != NULL && bcr_write(fresh, keeper, LOCKS + lock, bcr_FREE) == 0, "put a fresh one");
            atomic_fetch_add(&board->owner_died, 1);
        }
    }
}

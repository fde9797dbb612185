/* SPDX-License-Identifier: MIT */
/* Cells with one region each, under write locks. At most one has a lock: that stands on the board
 * as well, between taking and giving back. Where a holder has died the others are told so, and only
 * the root puts a new region. */
#include "cce.h"

#include <stdio.h>
#include <unistd.h>

enum { LOCKED_BYTES = 64 };

static void hold(int lock)
{
    int nobody = 0;
    if (atomic_compare_exchange_strong(&board->holder[lock], &nobody, bcr_cceord + 1))
        return;
    fprintf(stderr, "chaos: CCE %d has got lock %d, which CCE %d has\n", bcr_cceord, lock, nobody - 1);
    _exit(3);
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
    atomic_store(&board->holder[lock], 0);
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

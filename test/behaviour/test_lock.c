/* SPDX-License-Identifier: MIT */
/* bcr_acqrl, bcr_rlsrl, bcr_acqwl, bcr_rlswl, bcr_wl2rl: a cell with one region in it is a lock. */
#include "behave.h"
#include "numbers.h"

BEHAVIOUR(the_write_lock_keeps_everybody_out_until_the_region_is_back)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    bcr_region lock = bcr_acqwl(there, cell, bcr_BLOCK);
    CHECK_INT(peek(lock), 1);
    FAILS_NULL(bcr_acqrl(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(by(another(), "lock %d 0", cell), -1);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    CHECK_INT(by(another(), "keep 0 %d 1", cell), -1);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    write_number(lock, 2);
    CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    FAILS(bcr_rgfree(lock), bcrE_RGID); /* given */
    const int theirs = by(another(), "lock %d %d", cell, bcr_BLOCK);
    CHECK_INT(by(another(), "value %d", theirs), 2);
    FAILS_NULL(bcr_acqwl(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(by(another(), "put_kept %d 0 %d", theirs, cell), 0);
    CHECK_INT(take(cell), 2);
}

BEHAVIOUR(readers_share_and_keep_what_they_read_while_a_writer_writes)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    bcr_region mine = bcr_acqrl(there, cell, 0);
    const int theirs = by(another(), "keep 0 %d 0", cell);
    CHECK_INT(bcr_celllen(there, cell), 1);
    bcr_region lock = bcr_acqwl(there, cell, 0); /* readers do not stop a writer */
    CHECK(*lock != *mine);                       /* which has a copy of its own */
    CHECK_INT(peek(lock), 1);
    write_number(lock, 2);
    CHECK_INT(peek(mine), 1);
    CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    CHECK_INT(value_of(bcr_acqrl(there, cell, 0)), 2);
    CHECK_INT(bcr_rlsrl(mine), 0);
    FAILS(bcr_rlsrl(mine), bcrE_RGID);
    CHECK_INT(by(another(), "value %d", theirs), 1);
    CHECK_INT(by(another(), "let_go %d", theirs), 0);
}

BEHAVIOUR_WITHIN(a_lock_that_nobody_else_holds_is_not_copied)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    bcr_region region = number(1);
    void *data = *region;
    CHECK_INT(bcr_write(region, there, cell, bcr_FREE), 0);
    for (int i = 0; i < 20; i++) { /* and there is no memory for a copy */
        bcr_region lock = bcr_acqwl(there, cell, 0);
        CHECK(lock != NULL);
        CHECK_PTR(*lock, data);
        CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    }
}

BEHAVIOUR(wl2rl_puts_the_region_back_and_goes_on_reading)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    bcr_region lock = bcr_acqwl(there, cell, 0);
    write_number(lock, 2);
    CHECK_INT(bcr_wl2rl(lock, there, cell), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(peek(lock), 2);
    CHECK_INT(by(another(), "put 0 %d 3", cell), 0);
    CHECK_INT(peek(lock), 2); /* still as it was */
    CHECK_INT(bcr_rlsrl(lock), 0);
    CHECK_INT(take(cell), 3);
}

BEHAVIOUR(a_release_that_fails_leaves_the_lock)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    bcr_region lock = bcr_acqwl(there, cell, 0);
    FAILS(bcr_rlswl(lock, 77, cell), bcrE_NOCCE);
    FAILS(bcr_wl2rl(lock, 77, cell), bcrE_NOCCE);
    if (!place->far) {
        FAILS(bcr_rlswl(lock, there, 77), bcrE_NOCELL);
        FAILS(bcr_rlswl(lock, there, 0), bcrE_RESERVED);
        FAILS(bcr_wl2rl(lock, there, 77), bcrE_NOCELL);
    }
    CHECK_INT(peek(lock), 1);
    FAILS_NULL(bcr_acqrl(there, cell, 0), bcrE_TIMEOUT);
    CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    CHECK_INT(take(cell), 1);
}

BEHAVIOUR(waiting_locks_are_served_in_order_of_arrival)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 0), 0);
    bcr_region lock = bcr_acqwl(there, cell, 0);
    bcr_region ids[4] = {bcr_acqwl(there, cell, bcr_PENDING), bcr_acqrl(there, cell, bcr_PENDING),
                         bcr_acqrl(there, cell, bcr_PENDING), bcr_acqwl(there, cell, bcr_PENDING)};
    write_number(lock, 1);
    CHECK_INT(bcr_rlswl(lock, there, cell), 0);
    CHECK_INT(bcr_rgwaitm(4, ids, bcr_BLOCK, 0), 1);
    for (int i = 1; i < 4; i++)
        CHECK_INT(bcr_rgwait(ids[i], 0, 0), 0);
    CHECK_INT(bcr_rgwait(ids[0], 0, 0), 1);
    CHECK_INT(peek(ids[0]), 1);
    write_number(ids[0], 2);
    CHECK_INT(bcr_rlswl(ids[0], there, cell), 0);
    for (int i = 1; i < 4; i++)
        CHECK_INT(bcr_rgwait(ids[i], bcr_BLOCK, 0), 1);
    CHECK(*ids[3] != *ids[1]); /* rgwait has made the writer's copy */
    write_number(ids[3], 3);
    CHECK_INT(value_of(ids[1]), 2);
    CHECK_INT(value_of(ids[2]), 2);
    CHECK_INT(bcr_rlswl(ids[3], there, cell), 0);
    CHECK_INT(take(cell), 3);
}

BEHAVIOUR(the_copy_of_a_pending_lock_is_made_in_rgwait)
{
    const int cell = grow(1, 1, 2 * NUMBER_BYTES);
    const int theirs = by(another(), "lock %d %d", cell, bcr_PENDING);
    bcr_region kept = number(1);
    CHECK_INT(bcr_write(kept, there, cell, bcr_NOFREE), 0);
    bcr_region other = number(2);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(by(another(), "wait %d %d 0", theirs, bcr_BLOCK), 1); /* in that one's own memory */
    CHECK_INT(by(another(), "put_kept %d 0 %d", theirs, cell), 0);
    bcr_region back = bcr_deq(there, cell, 0);
    CHECK(*back != *kept);
    CHECK_INT(value_of(back), 1);
    CHECK_INT(value_of(kept), 1);
    CHECK_INT(value_of(other), 2);
}

BEHAVIOUR_WITHIN(without_room_for_its_copy_a_lock_fails_and_the_region_is_at_the_head_again)
{
    const int cell = grow(1, 4, 1024);
    CHECK_INT(by(another(), "use_up"), 0);
    bcr_region kept = number(1);
    CHECK_INT(bcr_enq(kept, there, cell, bcr_NOFREE), 0);
    CHECK_INT(put(cell, 2), 0);
    for (int msec = bcr_BLOCK; msec < 2; msec++) {
        CHECK_INT(by(another(), "lock %d %d", cell, msec), -1);
        CHECK_INT(bcr_errno, bcrE_NBYTES);
    }
    CHECK_INT(bcr_celllen(there, cell), 2);
    CHECK_INT(take(cell), 1);
    CHECK_INT(take(cell), 2);
    CHECK_INT(value_of(kept), 1);
}

BEHAVIOUR_WITHIN(a_waiting_lock_without_room_for_its_copy_gives_back_before_anyone_else_is_served)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(by(another(), "use_up"), 0);
    const int theirs = by(another(), "lock %d %d", cell, bcr_PENDING);
    bcr_region behind = bcr_deq(there, cell, bcr_PENDING), kept = number(1);
    CHECK_INT(bcr_enq(kept, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(bcr_rgwait(behind, 0, 0), 0);
    CHECK_INT(by(another(), "wait %d %d 0", theirs, bcr_BLOCK), -1);
    CHECK_INT(bcr_errno, bcrE_NBYTES);
    CHECK_INT(bcr_rgwait(behind, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(behind), 1);
    CHECK_INT(value_of(kept), 1);
}

static void all_say_ownerdead(int cell)
{
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_read(there, cell, bcr_BLOCK), bcrE_OWNERDEAD);
    FAILS_NULL(bcr_acqwl(there, cell, 100), bcrE_OWNERDEAD);
    GET_FAILS(bcr_acqrl(there, cell, bcr_PENDING), bcrE_OWNERDEAD);
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR(gets_say_OWNERDEAD_when_the_holder_of_the_write_lock_has_ended_until_the_next_put)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    CHECK(by(another(), "lock %d 0", cell) >= 0);
    bcr_region waiting = bcr_deq(there, cell, bcr_PENDING);
    leave(another());
    FAILS(bcr_rgwait(waiting, bcr_BLOCK, 0), bcrE_OWNERDEAD);
    all_say_ownerdead(cell);
    CHECK_INT(bcr_zap(there, cell), 0); /* no put */
    all_say_ownerdead(cell);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(take(cell), 2);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
}

BEHAVIOUR(a_put_by_anybody_outdates_the_mark_of_a_holder)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    CHECK(by(another(), "lock %d 0", cell) >= 0);
    CHECK_INT(put(cell, 2), 0);
    leave(another());
    CHECK_INT(take(cell), 2);
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
}

BEHAVIOUR(a_plain_take_leaves_no_mark)
{
    const int cell = grow(1, 1, 1024);
    CHECK_INT(put(cell, 1), 0);
    CHECK(by(another(), "keep 1 %d 0", cell) >= 0);
    leave(another());
    FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
}

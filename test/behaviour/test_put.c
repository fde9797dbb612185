/* SPDX-License-Identifier: MIT */
/* bcr_put, bcr_enq, bcr_write, bcr_putdone: what a cell holds afterwards, in which order, and which
 * waiting get is handed what. */
#include <signal.h>
#include <string.h>

#include <bcr/program.h>

#include "behave.h"
#include "numbers.h"

BEHAVIOUR(regions_come_out_in_the_order_in_which_they_were_put)
{
    enum { MANY = 300 }; /* more than fit beside their cell */
    const int cell = grow(1, MANY, MANY * NUMBER_BYTES);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(put(cell, i), 0);
    CHECK_INT(bcr_celllen(there, cell), MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(take(cell), i);
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR(order_holds_while_a_queue_grows_and_shrinks)
{
    const int cell = grow(3, 300, 300 * NUMBER_BYTES) + 1;
    int in = 0, out = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < (round * 37) % 151 && in - out < 300; i++)
            CHECK_INT(put(cell, in++), 0);
        for (int i = 0; i < (round * 53) % 149 && out < in; i++)
            CHECK_INT(take(cell), out++);
        CHECK_INT(bcr_celllen(there, cell), in - out);
    }
    while (out < in)
        CHECK_INT(take(cell), out++);
}

BEHAVIOUR(lengths_do_not_change_the_order)
{
    const int lengths[] = {8, 1 << 20, 0, 70000, 1, 4096, 31, 33};
    const int cell = grow(1, 8, 4 << 20);
    for (int i = 0; i < 8; i++)
        CHECK_INT(bcr_enq(filled(lengths[i], i), there, cell, bcr_FREE), 0);
    for (int i = 0; i < 8; i++) {
        bcr_region rgid = bcr_deq(there, cell, bcr_BLOCK);
        CHECK_INT(bcr_rglen(rgid, NULL), lengths[i]);
        for (int k = 0; k < lengths[i]; k++)
            CHECK_INT(((char *)*rgid)[k], i);
        CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

BEHAVIOUR(what_several_put_into_one_cell_keeps_each_ones_order)
{
    const int cell = grow(1, 20, 20 * NUMBER_BYTES);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(by(another(), "put 1 %d %d", cell, 100 + i), 0);
    }
    int mine = 0, others = 100;
    for (int i = 0; i < 20; i++) {
        const int value = take(cell);
        CHECK_INT(value, value < 100 ? mine++ : others++);
    }
}

BEHAVIOUR(put_takes_the_region_unless_it_is_to_be_kept)
{
    const int cell = grow(1, 9, 1024);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    rgid = number(2);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_enq(rgid, there, cell, 17), 0); /* anything but 0 */
    CHECK_INT(peek(rgid), 2);
    CHECK_PTR(*rgid, data); /* only rgmod moves it */
    CHECK_INT(bcr_rgmod(rgid), 0);
    write_number(rgid, 3);
    CHECK_INT(take(cell), 1);
    CHECK_INT(take(cell), 2);
    CHECK_INT(take(cell), 2);
    CHECK_INT(value_of(rgid), 3);
}

BEHAVIOUR(a_put_that_fails_leaves_the_caller_its_region)
{
    const int cell = grow(1, 0, 4 * NUMBER_BYTES);
    putwait(0);
    bcr_region rgid = number(1);
    void *data = *rgid;
    FAILS(bcr_enq(rgid, 77, cell, bcr_FREE), bcrE_NOCCE);
    for (int qlike = 0; qlike < 2; qlike++)
        for (int nofree = bcr_FREE; nofree <= bcr_NOFREE; nofree++) {
            FAILS(bcr_put(qlike, rgid, there, cell, nofree), bcrE_FULL);
            CHECK_INT(bcr_rgmod(rgid), 0);
            CHECK_PTR(*rgid, data); /* no other CCE got a share */
            bcr_region other = number(2);
            REFUSED(bcr_put(qlike, other, there, cell, nofree), other, cell, bcrE_FULL);
            other = number(2);
            REFUSED(bcr_put(qlike, other, there, cell + 1, nofree), other, cell + 1, bcrE_NOCELL);
        }
    CHECK_INT(bcr_celllen(there, cell), 0);
    CHECK_INT(value_of(rgid), 1);
}

BEHAVIOUR(qlike_0_replaces_and_any_other_appends)
{
    const int cell = grow(2, 100, 8192), qlikes[] = {1, -1, 99};
    CHECK_INT(bcr_write(number(1), there, cell, bcr_FREE), 0); /* nothing there to replace */
    CHECK_INT(bcr_write(number(2), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(there, cell), 1);
    for (int i = 0; i < 90; i++)
        CHECK_INT(bcr_put(qlikes[i % 3], number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(there, cell), 91);
    CHECK_INT(take(cell), 2);
    bcr_region kept = number(3);
    CHECK_INT(bcr_write(kept, there, cell, bcr_NOFREE), 0);
    CHECK_INT(put(cell, 4), 0);
    CHECK_INT(take(cell), 3);
    CHECK_INT(take(cell), 4);
    CHECK_INT(value_of(kept), 3);
    for (int i = 0; i < 100; i++) /* what was replaced is free: 8192 bytes are 128 regions */
        CHECK_INT(put(cell + 1, i), 0);
}

BEHAVIOUR(what_is_replaced_lives_on_where_it_is_held)
{
    const int cell = grow(1, 1, 4 * NUMBER_BYTES);
    CHECK_INT(put(cell, 1), 0);
    const int theirs = by(owner, "keep 0 %d 0", cell);
    bcr_region read = bcr_read(there, cell, 0);
    CHECK_INT(bcr_write(number(2), there, cell, bcr_FREE), 0);
    CHECK_INT(value_of(bcr_read(there, cell, 0)), 2);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(value_of(read), 1);
    CHECK_INT(by(owner, "value %d", theirs), 1);
    CHECK_INT(by(owner, "let_go %d", theirs), 0);
}

BEHAVIOUR(a_put_is_in_its_cell_when_putdone_has_returned_1)
{
    const int cell = grow(1, 2, 1024);
    CHECK_INT(bcr_putdone(0), 1);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(by(owner, "get 1 %d 0", cell), 1);
    CHECK_INT(bcr_putdone(5), 1);
    FAILS(bcr_putdone(bcr_PENDING), bcrE_ARG);
}

/* ---- waiting gets ---- */

/* Pending gets at `cell`: those of even index are this CCE's, the others another's. */
struct waiting {
    bcr_region mine;
    int others;
};
static struct waiting waits(int i, int qlike, int cell)
{
    struct waiting get = {NULL, -1};
    if (i % 2 == 0) {
        get.mine = bcr_get(qlike, there, cell, bcr_PENDING);
        CHECK(get.mine != NULL);
        arrive();
    } else {
        get.others = by(another(), "keep %d %d %d", qlike, cell, bcr_PENDING);
        CHECK(get.others >= 0);
    }
    return get;
}
/* From afar a region needs its time. */
static int is_served(struct waiting get, bool expected)
{
    const int msec = expected && place->far ? bcr_BLOCK : 0;
    return get.mine != NULL ? bcr_rgwait(get.mine, msec, 0) : by(another(), "wait %d %d 0", get.others, msec);
}
static int value_that_came(struct waiting get)
{
    if (get.mine != NULL)
        return value_of(get.mine);
    const int value = by(another(), "value %d", get.others);
    CHECK_INT(by(another(), "let_go %d", get.others), 0);
    return value;
}

BEHAVIOUR(a_put_serves_the_reads_ahead_of_the_first_take_and_then_that_take)
{
    const int qlike[] = {0, 0, 1, 0, 1}, want[] = {1, 1, 1, 2, 2};
    const int cell = grow(1, 4, 1024);
    struct waiting gets[5];
    for (int i = 0; i < 5; i++)
        gets[i] = waits(i, qlike[i], cell);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < 5; i++)
        CHECK_INT(is_served(gets[i], i <= 2), i <= 2);
    CHECK_INT(bcr_celllen(there, cell), 0);
    CHECK_INT(bcr_write(number(2), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(is_served(gets[i], true), 1);
        CHECK_INT(value_that_came(gets[i]), want[i]);
    }
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR(if_only_reads_wait_all_are_served_and_the_region_stays)
{
    const int cell = grow(1, 1, 1024);
    struct waiting reads[6];
    for (int i = 0; i < 6; i++)
        reads[i] = waits(i, 0, cell);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 1);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(is_served(reads[i], true), 1);
        CHECK_INT(value_that_came(reads[i]), 1);
    }
    CHECK_INT(take(cell), 1);
}

/* More than a cell has numbers to draw for those that wait. */
BEHAVIOUR(waiting_takes_are_served_in_the_order_of_their_arrival)
{
    const int cell = grow(1, 12, 4096);
    struct waiting takes[12];
    for (int i = 0; i < 12; i++)
        takes[i] = waits(i, 1, cell);
    for (int i = 0; i < 12; i++)
        CHECK_INT(put(cell, i), 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    for (int i = 12; i-- > 0;) {
        CHECK_INT(is_served(takes[i], true), 1);
        CHECK_INT(value_that_came(takes[i]), i);
    }
}

BEHAVIOUR(waiting_takes_are_served_in_order_while_others_come)
{
    const int cell = grow(1, 4, 8192);
    bcr_region ids[100];
    int asked = 0, in = 0;
    while (in < 100) {
        for (int i = 0; i < 1 + in % 7 && asked < 100; i++)
            ids[asked++] = bcr_deq(there, cell, bcr_PENDING);
        for (int i = 0; i < 1 + asked % 3 && in < asked; i++)
            CHECK_INT(put(cell, in++), 0);
    }
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_rgwait(ids[i], bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(ids[i]), i);
    }
}

/* Until the waiter has it; alone, and behind a read. */
BEHAVIOUR(a_region_handed_to_a_waiting_get_is_in_no_count)
{
    const int cell = grow(1, 1, 1024);
    for (int behind = 0; behind < 2; behind++) {
        bcr_region read = behind ? bcr_read(there, cell, bcr_PENDING) : NULL;
        bcr_region first = bcr_deq(there, cell, bcr_PENDING);
        CHECK_INT(put(cell, 1), 0);
        CHECK_INT(bcr_celllen(there, cell), 0);
        CHECK_INT(put(cell, 2), 0); /* nrgns is 1 */
        CHECK_INT(bcr_celllen(there, cell), 1);
        CHECK_INT(bcr_write(number(3), there, cell, bcr_FREE), 0);
        CHECK_INT(bcr_celllen(there, cell), 1);
        CHECK_INT(bcr_zap(there, cell), 0);
        FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
        CHECK_INT(bcr_rgwait(first, bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(first), 1);
        if (behind) {
            CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
            CHECK_INT(value_of(read), 1);
        }
    }
}

BEHAVIOUR(who_sleeps_in_a_get_is_woken_by_a_put)
{
    const int cell = grow(2, 2, 1024);
    for (int i = 0; i < 4; i++) {
        begin(another(), "get 1 %d %d", cell, bcr_BLOCK);
        begin(third(), "get 0 %d %d", cell + 1, bcr_BLOCK);
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(result_of(another()), i);
        CHECK_INT(put(cell + 1, i), 0);
        CHECK_INT(result_of(third()), i);
        CHECK_INT(take(cell + 1), i);
    }
}

static int signalled_cell;
static volatile sig_atomic_t signals_done, signals_refused;

/* Also within itself, where it is refused. */
static void on_signal(int number_of_signal)
{
    const int before = bcr_errno;
    if (bcr_sigenter() != 0) {
        CHECK_INT(bcr_errno, bcrE_INSIDE);
        bcr_errno = before;
        signals_refused++;
        return;
    }
    CHECK_INT(bcr_put_within(1, number(signals_done), there, signalled_cell, bcr_FREE, bcr_BLOCK), 0);
    CHECK_INT(raise(number_of_signal), 0);
    FAILS_NULL(bcr_deq(there, signalled_cell + 1, 0), bcrE_TIMEOUT);
    CHECK_INT(value_of(bcr_read(there, signalled_cell, bcr_BLOCK)), 0); /* the first */
    signals_done++;
    CHECK_INT(bcr_sigleave(), 0);
}

BEHAVIOUR(a_signal_handler_puts_and_gets)
{
    enum { SIGNALS = 20 };
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER}, was;
    signalled_cell = grow(2, SIGNALS, 1 << 16);
    signals_done = signals_refused = 0;
    CHECK_INT(sigaction(SIGUSR1, &action, &was), 0);
    bcr_errno = bcrE_FULL;
    for (int i = 0; i < SIGNALS; i++)
        CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(bcr_errno, bcrE_FULL);
    CHECK_INT(sigaction(SIGUSR1, &was, NULL), 0);
    CHECK_INT(signals_done, SIGNALS);
    CHECK_INT(signals_refused, SIGNALS);
    for (int i = 0; i < SIGNALS; i++)
        CHECK_INT(take(signalled_cell), i);
}

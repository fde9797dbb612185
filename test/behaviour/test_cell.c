/* SPDX-License-Identifier: MIT */
/* bcr_cagrow, bcr_cafree, bcr_zap, bcr_celllen, bcr_fd: which numbers cells get, what each kind of
 * cell lets whom do, what empties and counts them. */
#include <limits.h>
#include <poll.h>

#include "behave.h"

enum { PRIVATE, IN, OUT, INOUT, KINDS };

/* ---- kinds ---- */

/* The code with which a call on that cell is refused. */
static int denied(int cell)
{
    return cell == 0 ? bcrE_RESERVED : bcrE_ACCESS;
}

static void adds(int cell, bool allowed)
{
    const int cells[2] = {there, cell};
    if (allowed) {
        bcr_region rgid = number(1);
        CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
        CHECK_INT(bcr_write(rgid, there, cell, bcr_NOFREE), 0);
        CHECK_INT(bcr_wl2rl(rgid, there, cell), 0);
        CHECK_INT(bcr_enqm(rgid, 1, cells, bcr_NOFREE), 0);
        CHECK_INT(bcr_rlswl(rgid, there, cell), 0);
        return;
    }
    bcr_region rgid[4] = {number(1), number(1), number(1), number(1)};
    REFUSED(bcr_enq(rgid[0], there, cell, bcr_FREE), rgid[0], cell, denied(cell));
    REFUSED(bcr_write(rgid[1], there, cell, bcr_NOFREE), rgid[1], cell, denied(cell));
    REFUSED(bcr_rlswl(rgid[2], there, cell), rgid[2], cell, denied(cell));
    REFUSED(bcr_wl2rl(rgid[3], there, cell), rgid[3], cell, denied(cell));
}

static void takes(int cell, bool allowed)
{
    if (allowed) {
        CHECK_INT(value_of(bcr_read(there, cell, 0)), 1);
        CHECK_INT(value_of(bcr_deq(there, cell, 0)), 1);
        CHECK_INT(bcr_zap(there, cell), 0);
        FAILS_NULL(bcr_read(there, cell, 0), bcrE_TIMEOUT);
        return;
    }
    FAILS_NULL(bcr_deq(there, cell, bcr_BLOCK), denied(cell));
    FAILS_NULL(bcr_deq(there, cell, 0), denied(cell));
    FAILS_NULL(bcr_read(there, cell, bcr_BLOCK), denied(cell));
    FAILS(bcr_zap(there, cell), denied(cell));
}

static void locks(int cell, bool allowed)
{
    if (allowed) {
        CHECK_INT(bcr_rlsrl(bcr_acqrl(there, cell, 0)), 0);
        CHECK_INT(bcr_rlswl(bcr_acqwl(there, cell, 0), there, cell), 0);
        return;
    }
    FAILS_NULL(bcr_acqwl(there, cell, bcr_BLOCK), denied(cell));
    FAILS_NULL(bcr_acqwl(there, cell, 0), denied(cell));
    FAILS_NULL(bcr_acqrl(there, cell, 0), denied(cell));
}

BEHAVIOUR(each_kind_of_cell_lets_others_do_what_it_is_for_and_its_owner_everything)
{
    grow(1, 1, 4096);
    const int base = by(owner, "grow 50 2 3 4 5 99 0"), lasts[KINDS] = {51, 54, 58, 63};
    CHECK_INT(base, 50);
    for (int cell = base, kind = PRIVATE; cell < 64; cell++) {
        kind += cell > lasts[kind];
        const bool own = place->own;
        CHECK_INT(by(owner, "put 1 %d 1", cell), 0);
        locks(cell, own || kind == INOUT);
        adds(cell, own || kind == IN || kind == INOUT);
        if (!own && kind == PRIVATE)
            FAILS(bcr_celllen(there, cell), bcrE_ACCESS);
        else
            CHECK_INT(bcr_celllen(there, cell), 1);
        takes(cell, own || kind == OUT || kind == INOUT);
        if (!own && (kind == PRIVATE || kind == IN)) /* what was refused changed nothing */
            CHECK_INT(by(owner, "get 1 %d 0", cell), 1);
        CHECK_INT(by(owner, "celllen %d", cell), 0);
    }
}

BEHAVIOUR(cell_0_is_private_and_take_only)
{
    const int cell = grow(1, 9, 4096);
    CHECK(cell >= 1);
    adds(0, false);
    locks(0, false);
    if (place->own) {
        CHECK_INT(bcr_celllen(there, 0), 0);
        CHECK_INT(bcr_zap(there, 0), 0);
        FAILS_NULL(bcr_deq(there, 0, 0), bcrE_TIMEOUT);
    } else {
        takes(0, false);
        FAILS(bcr_celllen(there, 0), bcrE_RESERVED);
    }
}

BEHAVIOUR(a_number_that_is_no_cell_is_NOCELL)
{
    const int cell = grow(3, 9, 4096), none[] = {-1, INT_MIN, cell + 3, 99, INT_MAX};
    const int msecs[] = {0, 1, bcr_BLOCK, bcr_PENDING, INT_MIN, INT_MAX};
    for (int i = 0; i < 5; i++) {
        bcr_region rgid[3] = {number(1), number(1), number(1)};
        REFUSED(bcr_enq(rgid[0], there, none[i], bcr_FREE), rgid[0], none[i], bcrE_NOCELL);
        REFUSED(bcr_write(rgid[1], there, none[i], bcr_NOFREE), rgid[1], none[i], bcrE_NOCELL);
        REFUSED(bcr_rlswl(rgid[2], there, none[i]), rgid[2], none[i], bcrE_NOCELL);
        for (int k = 0; k < 6; k++) {
            GET_FAILS(bcr_deq(there, none[i], msecs[k]), bcrE_NOCELL);
            GET_FAILS(bcr_read(there, none[i], msecs[k]), bcrE_NOCELL);
            GET_FAILS(bcr_acqwl(there, none[i], msecs[k]), bcrE_NOCELL);
            GET_FAILS(bcr_acqrl(there, none[i], msecs[k]), bcrE_NOCELL);
        }
        FAILS(bcr_zap(there, none[i]), bcrE_NOCELL);
        FAILS(bcr_celllen(there, none[i]), bcrE_NOCELL);
    }
}

/* ---- areas ---- */

BEHAVIOUR_OF_OWN(cells_are_numbered_upwards_from_what_cagrow_returns)
{
    CHECK_INT(bcr_cagrow(0, 1, 2, 3, 4, 10, 1024), 1);
    for (int cell = 1; cell <= 10; cell++)
        CHECK_INT(bcr_celllen(there, cell), 0);
    FAILS(bcr_celllen(there, 11), bcrE_NOCELL);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 1, 0), 11);
}

BEHAVIOUR_OF_OWN(the_wished_number_is_given_if_it_is_free_else_the_lowest_that_is)
{
    CHECK_INT(bcr_cagrow(100, 0, 0, 0, 10, 0, 0), 100);
    CHECK_INT(bcr_cagrow(90, 0, 0, 0, 10, 0, 0), 90);
    CHECK_INT(bcr_cagrow(109, 0, 0, 0, 2, 0, 0), 1); /* 109 is taken */
    CHECK_INT(bcr_cagrow(85, 0, 0, 0, 6, 0, 0), 3);  /* 90 is taken */
    CHECK_INT(bcr_cagrow(1, 0, 0, 0, 1, 0, 0), 9);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 81, 0, 0), 110); /* does not fit before 90 */
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 80, 0, 0), 10);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 0, 0), 191);
}

BEHAVIOUR_OF_OWN(cell_0_is_always_taken)
{
    CHECK_INT(bcr_celllen(there, 0), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 1, 0, 0), 1);
    FAILS(bcr_cafree(0), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(there, 0), 0);
}

BEHAVIOUR_OF_OWN(an_area_without_cells_takes_up_one_number)
{
    CHECK_INT(bcr_cagrow(5, 0, 0, 0, 0, 0, 4096), 5);
    FAILS(bcr_celllen(there, 5), bcrE_NOCELL);
    CHECK_INT(bcr_cagrow(5, 0, 0, 0, 1, 0, 0), 1);
    CHECK_INT(bcr_cafree(5), 0);
    CHECK_INT(bcr_cagrow(5, 0, 0, 0, 1, 0, 0), 5);
}

BEHAVIOUR_OF_OWN(a_negative_argument_of_cagrow_is_refused_and_nothing_has_changed)
{
    FAILS(bcr_cagrow(-1, 1, 1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, -1, 1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, -1, 1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, -1, 1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, -1, 1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, 1, -1, 64), bcrE_ARG);
    FAILS(bcr_cagrow(1, 1, 1, 1, 1, 1, -64), bcrE_ARG);
    FAILS(bcr_celllen(there, 1), bcrE_NOCELL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(bcr_cagrow(0, 1, 1, 1, 1, 1, 64), 1);
}

BEHAVIOUR_OF_OWN(numbers_beyond_INT_MAX_are_refused)
{
    FAILS(bcr_cagrow(0, INT_MAX, INT_MAX, INT_MAX, INT_MAX, 0, 0), bcrE_ARG);
    FAILS(bcr_cagrow(0, INT_MAX, 0, 0, 0, 0, 0), bcrE_ARG);
    CHECK_INT(bcr_cagrow(INT_MAX - 1, 0, 0, 0, 1, 1, 0), INT_MAX - 1);
    CHECK_INT(bcr_celllen(there, INT_MAX - 1), 0);
    FAILS(bcr_celllen(there, INT_MAX), bcrE_NOCELL);
    CHECK_INT(bcr_cagrow(INT_MAX - 1, 0, 0, 0, 2, 1, 0), 1);
    CHECK_INT(bcr_cafree(INT_MAX - 1), 0);
}

BEHAVIOUR_OF_OWN(freed_numbers_are_given_out_again)
{
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 4, 4, 0), 1);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 4, 4, 0), 5);
    CHECK_INT(bcr_cafree(1), 0);
    FAILS(bcr_cafree(1), bcrE_NOCELL);
    FAILS(bcr_celllen(there, 1), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(there, 5), 0);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 2, 4, 0), 1);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 3, 4, 0), 9);
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 2, 4, 0), 3);
}

BEHAVIOUR_OF_OWN(only_the_number_that_cagrow_returned_frees_an_area)
{
    CHECK_INT(bcr_cagrow(0, 0, 0, 0, 4, 4, 256), 1);
    FAILS(bcr_cafree(2), bcrE_NOCELL);
    FAILS(bcr_cafree(5), bcrE_NOCELL);
    FAILS(bcr_cafree(-1), bcrE_NOCELL);
    FAILS(bcr_cafree(INT_MIN), bcrE_NOCELL);
    CHECK_INT(bcr_celllen(there, 4), 0);
    CHECK_INT(bcr_cafree(1), 0);
}

BEHAVIOUR(an_area_with_a_region_in_a_cell_is_busy_and_stays_as_it_was)
{
    const int cell = grow(3, 3, 1024);
    CHECK_INT(put(cell + 2, 5), 0);
    CHECK_INT(by(owner, "free_area %d", cell), -1);
    CHECK_INT(bcr_errno, bcrE_BUSY);
    CHECK_INT(bcr_celllen(there, cell + 2), 1);
    CHECK_INT(put(cell + 2, 6), 0);
    CHECK_INT(put(cell, 7), 0);
    CHECK_INT(take(cell + 2), 5);
    CHECK_INT(take(cell + 2), 6);
    CHECK_INT(by(owner, "free_area %d", cell), -1);
    CHECK_INT(bcr_errno, bcrE_BUSY);
    CHECK_INT(take(cell), 7);
    CHECK_INT(by(owner, "free_area %d", cell), 0);
}

BEHAVIOUR_WITHIN(an_area_is_busy_while_a_region_of_its_memory_is_held_anywhere)
{
    const int cell = grow(1, 4, 0), area = bcr_cagrow(0, 0, 0, 0, 0, 0, 1024);
    bcr_region rgid = number(1);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* held by its owner */
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* in a cell of another area */
    const int theirs = by(another(), "keep 1 %d 0", cell);
    FAILS(bcr_cafree(area), bcrE_BUSY); /* held by another CCE */
    CHECK_INT(by(another(), "let_go %d", theirs), 0);
    CHECK_INT(bcr_cafree(area), 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
}

BEHAVIOUR(who_knew_a_cell_that_was_freed_finds_none_and_then_the_new_one)
{
    const int cell = grow(2, 2, 4096);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(take(cell), 1);
    for (int round = 0; round < 3; round++) {
        bcr_region rgid[2] = {number(3), number(3)};
        CHECK_INT(by(owner, "free_area %d", cell), 0);
        FAILS_NULL(bcr_deq(there, cell, 0), bcrE_NOCELL);
        FAILS_NULL(bcr_acqwl(there, cell, bcr_BLOCK), bcrE_NOCELL);
        REFUSED(bcr_enq(rgid[0], there, cell, bcr_FREE), rgid[0], cell, bcrE_NOCELL);
        REFUSED(bcr_write(rgid[1], there, cell, bcr_FREE), rgid[1], cell, bcrE_NOCELL);
        FAILS(bcr_zap(there, cell), bcrE_NOCELL);
        /* the same, another one, the first again */
        CHECK_INT(by(owner, "grow %d 0 0 0 %d %d 0", cell, round == 1 ? 7 : 2, round == 1 ? 100 : 2), cell);
        CHECK_INT(bcr_celllen(there, cell), 0);
        CHECK_INT(put(cell, 4), 0);
        CHECK_INT(take(cell), 4);
    }
}

BEHAVIOUR(gets_that_wait_at_a_freed_area_end_with_NOCELL)
{
    const int cell = grow(2, 2, 0);
    bcr_region alone = bcr_deq(there, cell, bcr_PENDING), read = bcr_read(there, cell + 1, bcr_PENDING);
    const int behind = by(another(), "keep 1 %d %d", cell + 1, bcr_PENDING);
    begin(third(), "get 1 %d %d", cell, bcr_BLOCK);
    CHECK_INT(by(owner, "free_area %d", cell), 0);
    FAILS(bcr_rgwait(alone, bcr_BLOCK, 0), bcrE_NOCELL);
    FAILS(bcr_rgwait(alone, bcr_BLOCK, 0), bcrE_RGID); /* the ID is free */
    FAILS(bcr_rgwait(read, bcr_BLOCK, 1), bcrE_NOCELL);
    CHECK_INT(by(another(), "wait %d %d 0", behind, bcr_BLOCK), -1);
    CHECK_INT(bcr_errno, bcrE_NOCELL);
    CHECK_INT(result_of(third()), -1);
    CHECK_INT(bcr_errno, bcrE_NOCELL);
}

BEHAVIOUR(puts_that_wait_at_a_freed_area_end_with_NOCELL)
{
    const int cell = grow(1, 0, 0);
    bcr_region rgid;
    begin(another(), "put 1 %d 5", cell);
    while ((rgid = bcr_read(there, cell, 0)) == NULL)
        CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    CHECK_INT(value_of(rgid), 5);
    CHECK_INT(by(owner, "free_area %d", cell), 0);
    CHECK_INT(result_of(another()), -1);
    CHECK_INT(bcr_errno, bcrE_NOCELL);
}

BEHAVIOUR(a_waiter_gets_what_it_was_handed_before_the_area_was_freed)
{
    const int cell = grow(1, 2, 4096);
    bcr_region rgid = bcr_deq(there, cell, bcr_PENDING);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(bcr_celllen(there, cell), 0);
    const int freed = by(owner, "free_area %d", cell); /* it may be busy until the waiter has it */
    CHECK(freed == 0 || bcr_errno == bcrE_BUSY);
    CHECK_INT(bcr_rgwait(rgid, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(freed == 0 ? 0 : by(owner, "free_area %d", cell), 0);
}

/* ---- emptying and counting ---- */

BEHAVIOUR(zap_removes_all_regions_of_its_cell_and_an_empty_cell_stays_empty)
{
    const int cell = grow(2, 100, 100 * NUMBER_BYTES);
    CHECK_INT(bcr_zap(there, cell), 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            CHECK_INT(put(cell + i % 2, i), 0);
        CHECK_INT(bcr_zap(there, cell), 0);
        CHECK_INT(bcr_celllen(there, cell), 0);
        CHECK_INT(bcr_celllen(there, cell + 1), 50);
        FAILS_NULL(bcr_deq(there, cell, 0), bcrE_TIMEOUT);
        CHECK_INT(bcr_zap(there, cell + 1), 0);
    }
}

BEHAVIOUR(zap_leaves_waiting_gets_waiting)
{
    const int cell = grow(1, 4, 4 * NUMBER_BYTES);
    bcr_region taken = bcr_deq(there, cell, bcr_PENDING), read = bcr_read(there, cell, bcr_PENDING);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_rgwait(taken, 0, 0), 0);
    CHECK_INT(bcr_rgwait(read, 0, 0), 0);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(put(cell, 2), 0);
    CHECK_INT(bcr_rgwait(taken, bcr_BLOCK, 0), 1);
    CHECK_INT(bcr_rgwait(read, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(taken), 1);
    CHECK_INT(value_of(read), 2);
    CHECK_INT(take(cell), 2);
}

BEHAVIOUR(celllen_counts_the_regions_of_a_cell)
{
    const int cell = grow(1, 100, 8192);
    for (int i = 1; i <= 100; i++) {
        CHECK_INT(put(cell, i), 0);
        CHECK_INT(bcr_celllen(there, cell), i);
        CHECK_INT(by(owner, "celllen %d", cell), i);
    }
}

/* ---- descriptors of cells ---- */

static bool is_readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) == 1;
}

BEHAVIOUR_OF_OWN(a_cells_descriptor_is_readable_if_it_holds_a_region)
{
    const int cell = grow(1, 4, 4096);
    CHECK_INT(put(cell, 1), 0);
    const int fd = bcr_fd(cell);
    CHECK(fd >= 0);
    CHECK(is_readable(fd));
    CHECK_INT(take(cell), 1);
    CHECK_INT(bcr_fd(cell), fd); /* one for each cell */
    CHECK(!is_readable(fd));
    CHECK_INT(bcr_cafree(cell), 0);
}

BEHAVIOUR_OF_OWN(a_put_makes_a_cells_descriptor_readable_once_for_each_call)
{
    const int cell = grow(1, 4, 4096);
    struct pollfd look = {.fd = bcr_fd(cell), .events = POLLIN};
    for (int qlike = 0; qlike < 2; qlike++) {
        CHECK(!is_readable(look.fd));
        begin(another(), "put %d %d 5", qlike, cell);
        CHECK_INT(poll(&look, 1, -1), 1);
        CHECK_INT(result_of(another()), 0);
        CHECK_INT(take(cell), 5);
        CHECK_INT(bcr_fd(cell), look.fd);
    }
}

BEHAVIOUR_OF_OWN(only_own_cells_have_descriptors_cell_0_included)
{
    const int none[] = {7, -1, INT_MAX};
    for (int i = 0; i < 3; i++)
        FAILS(bcr_fd(none[i]), bcrE_NOCELL);
    CHECK(bcr_fd(0) >= 0);
}

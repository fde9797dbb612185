/* SPDX-License-Identifier: MIT */
/* What a signal handler does between bcr_sigenter and bcr_sigleave, without signals: who may enter, and what runs. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <bcr/program.h>

#include "cce.h"
#include "told.h"

enum { CELL = 1, OTHER = 2, EMPTY = 3, ANSWER = 4 };

static void note(int cell)
{
    say("%d ", cell);
}

TEST(only_one_may_enter_and_only_who_has_entered_leaves)
{
    begin();
    FAILS(bcr_sigleave(), bcrE_ARG);
    CHECK_INT(bcr_sigenter(), 0);
    FAILS(bcr_sigenter(), bcrE_INSIDE);
    CHECK_INT(bcr_sigleave(), 0);
    FAILS(bcr_sigleave(), bcrE_ARG);
    CHECK_INT(bcr_sigenter(), 0);
    as(two); /* each CCE for itself */
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_sigleave(), 0);
    as(one);
    CHECK_INT(bcr_sigleave(), 0);
    end();
}

TEST(the_interrupted_program_keeps_its_errors)
{
    begin();
    CHECK_INT(grow(4, 10, 1000), CELL);
    bcr_errno = bcrE_FULL;
    errno = EDOM;
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_PTR(bcr_deq(bcr_cce, CELL, 0), NULL);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    errno = ERANGE;
    CHECK_INT(bcr_sigleave(), 0);
    CHECK_INT(bcr_errno, bcrE_FULL);
    CHECK_INT(errno, EDOM);
    end();
}

TEST(no_handler_runs_in_between_and_no_request_is_lost)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    CHECK_INT(bcr_handler(CELL, note, 1, 1, 1), 0);
    CHECK_INT(bcr_handler(OTHER, note, 1, 0, 0), 0);
    as(two);
    CHECK_INT(bcr_enq(number(1), one_of_two, OTHER, bcr_FREE), 0); /* requested before */
    as(one);
    CHECK_INT(bcr_sigenter(), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, CELL, bcr_FREE), 0); /* its own */
    as(two);
    CHECK_INT(bcr_enq(number(3), one_of_two, CELL, bcr_FREE), 0); /* another's */
    as(one);
    CHECK_PTR(bcr_deq(bcr_cce, EMPTY, 1), NULL); /* waits without them */
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    bcr_region pending = bcr_deq(bcr_cce, EMPTY, bcr_PENDING);
    CHECK_INT(bcr_rgwait(pending, 1, 1), 0);
    CHECK_INT(bcr_celllen(bcr_cce, CELL), 4);
    SAID("");
    CHECK_INT(bcr_sigleave(), 0);
    SAID("");
    CHECK_INT(bcr_allow(0), 0);
    SAID("1 1 1 1 2 ");
    CHECK_INT(bcr_zap(bcr_cce, CELL), 0);
    CHECK_INT(bcr_zap(bcr_cce, OTHER), 0);
    end();
}

TEST(routines_for_handlers_are_refused_in_between)
{
    begin();
    CHECK_INT(grow(4, 10, 1000), CELL);
    for (int with_handlers = 0; with_handlers < 2; with_handlers++) {
        CHECK_INT(bcr_sigenter(), 0);
        FAILS(bcr_handler(CELL, note, 1, 0, 0), bcrE_INSIDE);
        FAILS(bcr_handler(CELL, NULL, 0, 0, 0), bcrE_INSIDE);
        FAILS(bcr_handler_arg(CELL, NULL, NULL, 1, 0, 0), bcrE_INSIDE);
        FAILS(bcr_priority(1, 1), bcrE_INSIDE);
        FAILS(bcr_getpriority(NULL, NULL), bcrE_INSIDE);
        FAILS(bcr_allow(0), bcrE_INSIDE);
        FAILS(bcr_block(), bcrE_INSIDE);
        CHECK_INT(bcr_sigleave(), 0);
        CHECK_INT(bcr_handler(CELL, note, 1, 0, 0), 0);
    }
    end();
}

/* A handler that waits is on a stack of its own; the main program goes on within a call, and ends it. */
static bcr_region awaited;

static void wait_and_note(int cell)
{
    FAILS(bcr_sigenter(), bcrE_INSIDE);
    CHECK_INT(take(bcr_cce, cell) >= 0, 1);
    FAILS(bcr_sigenter(), bcrE_INSIDE);
    const int got = bcr_rgwait(awaited, bcr_BLOCK, 0);
    say(got == 1 ? "got " : "none ");
    FAILS(bcr_sigenter(), bcrE_INSIDE);
}

TEST(handlers_that_wait_do_not_keep_the_program_inside)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    CHECK_INT(bcr_handler(CELL, wait_and_note, 1, 0, 0), 0);
    awaited = bcr_deq(bcr_cce, ANSWER, bcr_PENDING);
    for (int i = 0; i < 3; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, CELL, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_enq(number(5), bcr_cce, ANSWER, bcr_FREE), 0);
    CHECK_INT(bcr_sigleave(), 0);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(strncmp(told, "got ", 4), 0);
    told[0] = '\0';
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_sigleave(), 0);
    CHECK_INT(bcr_rgfree(awaited), 0);
    end();
}

static void tell_two(int cell)
{
    CHECK_INT(bcr_enq(number(take(bcr_cce, cell)), two_of_one, CELL, bcr_FREE), 0);
}

/* The handler has called BCR, and the call in which it ran goes on. */
TEST(a_program_that_waits_is_inside_also_after_its_handlers_have_run)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    CHECK_INT(bcr_handler(CELL, tell_two, 1, 0, 0), 0);
    as(two);
    CHECK_INT(grow(1, 100, 1 << 16), CELL);
    struct later *waiting = later_get(one, 1, name(one, one), EMPTY, bcr_BLOCK);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_enq(number(i), one_of_two, CELL, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_deq(bcr_cce, CELL, bcr_BLOCK)), i);
    }
    as(one); /* another thread of that CCE */
    for (int i = 0; i < 1000; i++) {
        FAILS(bcr_sigenter(), bcrE_INSIDE);
        sched_yield();
    }
    as(two);
    CHECK_INT(bcr_enq(number(7), one_of_two, EMPTY, bcr_FREE), 0);
    CHECK_INT(result(waiting).value, 7);
    as(one);
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_sigleave(), 0);
    end();
}

static _Atomic bool over;

static void *try_to_enter(void *ctx)
{
    as(ctx);
    while (!over)
        FAILS(bcr_sigenter(), bcrE_INSIDE);
    return NULL;
}

static void allow_often(int cell)
{
    pthread_t other;
    (void)cell;
    CHECK_INT(pthread_create(&other, NULL, try_to_enter, one), 0);
    for (int i = 0; i < 300000; i++)
        CHECK_INT(bcr_allow(0), 0);
    over = true;
    CHECK_INT(pthread_join(other, NULL), 0);
    say("done");
}

TEST(a_thread_that_is_refused_disturbs_none_that_is_inside)
{
    begin();
    CHECK_INT(grow(4, 10, 1000), CELL);
    CHECK_INT(bcr_handler(CELL, allow_often, 1, 1, 1), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, CELL, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("done");
    CHECK_INT(bcr_zap(bcr_cce, CELL), 0);
    end();
}

/* As when the main program cancels it: those that wait for the ID are told. */
TEST(a_handler_learns_that_the_get_it_waits_for_was_cancelled)
{
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), CELL);
    CHECK_INT(bcr_handler(CELL, wait_and_note, 1, 0, 0), 0);
    awaited = bcr_deq(bcr_cce, ANSWER, bcr_PENDING);
    CHECK_INT(bcr_enq(number(1), bcr_cce, CELL, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_rgfree(awaited), 0);
    CHECK_INT(bcr_sigleave(), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("none ");
    end();
}

TEST(cells_that_are_freed_in_between_take_their_handlers_with_them)
{
    begin();
    CHECK_INT(grow(4, 10, 1000), CELL);
    const int more = bcr_cagrow(0, 0, 0, 0, 1, 4, 0);
    CHECK(more > 0);
    CHECK_INT(bcr_handler(more, note, 1, 0, 0), 0);
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_cafree(more), 0);
    CHECK_INT(bcr_cagrow(more, 0, 0, 0, 1, 4, 0), more);
    CHECK_INT(bcr_sigleave(), 0);
    CHECK_INT(bcr_enq(number(1), bcr_cce, more, bcr_FREE), 0);
    CHECK_INT(bcr_allow(0), 0);
    SAID("");
    CHECK_INT(take(bcr_cce, more), 1);
    CHECK_INT(bcr_cafree(more), 0);
    end();
}

/* SPDX-License-Identifier: MIT */
/* The reference scheduler itself: the pictures of docs/handlers.md, one after the other. */
#include "check.h"
#include "scheduler.h"

static struct sched sched;

/* The main program runs, with these priorities. */
static void main_runs(int activep, int blockp)
{
    sched_begin(&sched);
    sched_priority(&sched, activep, blockp);
}

/* By the CCE itself, so that it is known in which order. */
static int request(int cell, int activep, int blockp)
{
    return sched_request(&sched, cell, activep, blockp, true);
}
static int request_by_another(int cell, int activep, int blockp)
{
    return sched_request(&sched, cell, activep, blockp, false);
}

static int started(int request)
{
    CHECK(sched_look(&sched));
    CHECK(sched_may_start(&sched, request));
    return sched_start(&sched, request);
}

static void gone_on(int invocation)
{
    CHECK(sched_look(&sched));
    CHECK(sched_may_go_on(&sched, invocation));
    sched_go_on(&sched, invocation);
}

static void idle(void)
{
    CHECK(!sched_look(&sched));
}

TEST(a_caller_goes_on_if_nothing_is_requested)
{
    main_runs(0, 0);
    CHECK(!sched_interrupts(&sched));
    CHECK_INT(sched.runs, SCHED_MAIN);
}

TEST(a_request_of_the_main_programs_priority_interrupts_it)
{
    main_runs(3, 3);
    int a = request(1, 3, 3);
    CHECK(sched_interrupts(&sched));
    int first = started(a);
    CHECK_INT(sched.invocation[first].activep, 3);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(what_is_requested_while_the_main_program_is_interrupted_comes_after_it)
{
    main_runs(0, 0);
    int a = request(1, 0, 0);
    CHECK(sched_interrupts(&sched));
    started(a);
    int b = request(1, 0, 0);
    sched_end(&sched);
    CHECK(sched_look(&sched));
    CHECK(!sched_may_start(&sched, b));
    gone_on(SCHED_MAIN);
    CHECK(sched_interrupts(&sched)); /* at its next call it lets that in */
    started(b);
}

TEST(handlers_of_one_priority_do_not_interrupt_each_other)
{
    main_runs(0, 0);
    int a = request(1, 2, 2), b = request(1, 2, 2);
    CHECK(sched_interrupts(&sched));
    started(a);
    CHECK(!sched_interrupts(&sched));
    int c = request(1, 2, 2);
    CHECK(!sched_interrupts(&sched));
    sched_end(&sched);
    started(b);
    sched_end(&sched);
    started(c);
}

TEST(a_higher_one_interrupts_a_handler)
{
    main_runs(0, 0);
    int a = request(1, 2, 2);
    CHECK(sched_interrupts(&sched));
    int low = started(a);
    int b = request(2, 3, 3);
    CHECK(sched_interrupts(&sched));
    started(b);
    request(1, 2, 2);
    sched_end(&sched);
    gone_on(low); /* interrupted before that was requested */
}

TEST(a_request_below_the_caller_waits_until_that_goes_down)
{
    main_runs(5, 5);
    int a = request(1, 4, 4);
    CHECK(!sched_interrupts(&sched));
    sched_priority(&sched, 4, 0);
    CHECK(sched_interrupts(&sched));
    started(a);
}

TEST(allow_runs_what_reaches_its_priority_until_nothing_is_left)
{
    main_runs(5, 5);
    int low = request(1, 1, 1), high = request(2, 2, 2);
    sched_allow(&sched, 2);
    started(high);
    int more = request(2, 2, 2);
    sched_end(&sched);
    started(more); /* the one in allow is the last of its equals */
    sched_end(&sched);
    gone_on(SCHED_MAIN);
    CHECK_INT(sched.invocation[SCHED_MAIN].activep, 5);
    sched_allow(&sched, 0);
    started(low);
}

TEST(of_several_in_allow_the_innermost_goes_on_first)
{
    main_runs(0, 0);
    sched_allow(&sched, 0);
    int first = started(request(1, 0, 0));
    sched_allow(&sched, 0);
    gone_on(first);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(the_highest_goes_first_and_of_several_the_oldest)
{
    main_runs(0, 0);
    int a = request(1, 1, 1), b = request(2, 2, 2), c = request(3, 1, 1), d = request(4, 2, 2);
    const int order[] = {b, d, a, c};
    CHECK(sched_interrupts(&sched));
    for (int i = 0; i < 4; i++) {
        started(order[i]);
        sched_end(&sched);
    }
    gone_on(SCHED_MAIN);
}

TEST(who_waits_lets_in_what_its_blockp_says)
{
    main_runs(7, 2);
    sched_wait(&sched);
    request(1, 1, 1);
    idle();
    started(request(2, 2, 2));
    sched_end(&sched);
    idle();
    sched_over(&sched, SCHED_MAIN);
    gone_on(SCHED_MAIN);
}

TEST(a_wait_that_is_over_is_seen_when_an_invocation_stops)
{
    main_runs(0, 0);
    sched_wait(&sched);
    started(request(1, 0, 0));
    sched_over(&sched, SCHED_MAIN);
    CHECK(!sched_interrupts(&sched));
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(the_last_to_stop_decides)
{
    main_runs(0, 0);
    sched_wait(&sched);
    int high = started(request(1, 5, 5));
    sched_wait(&sched);
    sched_over(&sched, SCHED_MAIN);
    idle(); /* 0 does not reach 5 */
    started(request(2, 5, 0));
    sched_end(&sched);
    idle();
    sched_over(&sched, high);
    gone_on(high);
    CHECK_INT(sched_level(&sched), 0);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(a_wait_that_is_over_decides_no_more)
{
    main_runs(0, 9);
    sched_wait(&sched);
    int first = started(request(1, 9, 0));
    sched_wait(&sched);
    CHECK_INT(sched_level(&sched), 0);
    sched_over(&sched, first);
    int low = request(2, 1, 1);
    gone_on(first);
    CHECK_INT(sched_level(&sched), 9);
    sched_end(&sched);
    idle();
    sched_over(&sched, SCHED_MAIN);
    started(low);
}

TEST(an_interrupted_one_decides_too)
{
    main_runs(0, 0);
    int a = request(1, 3, 0);
    CHECK(sched_interrupts(&sched));
    int middle = started(a);
    request(2, 4, 0);
    CHECK(sched_interrupts(&sched));
    int high = started(1);
    sched_wait(&sched);
    CHECK_INT(sched_level(&sched), 0);
    sched_over(&sched, high);
    gone_on(high);
    sched_end(&sched);
    CHECK_INT(sched_level(&sched), 3);
    gone_on(middle);
}

TEST(cells_take_turns_of_one_invocation_each)
{
    main_runs(1, 1);
    int a = request(1, 0, 0), b = request(1, 0, 0), c = request(2, 0, 0);
    sched_priority(&sched, 0, 0);
    CHECK(sched_interrupts(&sched));
    CHECK(sched_look(&sched));
    CHECK(!sched_may_start(&sched, b) && !sched_may_start(&sched, c));
    started(a);
    int d = request(1, 0, 0); /* it waits for its turn already */
    int e = request(3, 0, 0);
    sched_end(&sched);
    started(c);
    sched_end(&sched);
    started(b);
    sched_end(&sched);
    gone_on(SCHED_MAIN); /* after as many as there were when it was interrupted */
    CHECK(sched_interrupts(&sched));
    started(e);
    sched_end(&sched);
    started(d);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(who_can_go_on_comes_before_new_ones)
{
    main_runs(0, 0);
    sched_wait(&sched);
    int first = started(request(1, 1, 2));
    sched_wait(&sched);
    sched_over(&sched, SCHED_MAIN);
    int low = request(2, 0, 0);
    idle();
    sched_over(&sched, first);
    gone_on(first);
    sched_end(&sched);
    CHECK(sched_look(&sched));
    CHECK(!sched_may_start(&sched, low));
    gone_on(SCHED_MAIN);
}

TEST(nobody_can_tell_what_came_first_of_what_is_seen_at_one_time)
{
    main_runs(5, 5);
    int a = request_by_another(2, 0, 0), b = request_by_another(3, 0, 0), c = request_by_another(3, 0, 0);
    sched_priority(&sched, 0, 0);
    CHECK(sched_interrupts(&sched));
    CHECK(sched_look(&sched));
    CHECK(sched_may_start(&sched, a));
    CHECK(sched_may_start(&sched, b));
    CHECK(!sched_may_start(&sched, c));
}

TEST(requests_go_with_their_handler_and_to_the_one_that_replaces_it)
{
    main_runs(0, 0);
    request(1, 0, 0);
    int b = request(2, 0, 0), c = request(3, 0, 0);
    sched_drop(&sched, 1);
    sched_replace(&sched, 3, 8, 8);
    CHECK(sched_interrupts(&sched));
    CHECK_INT(sched.invocation[started(c)].activep, 8);
    sched_end(&sched);
    started(b);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

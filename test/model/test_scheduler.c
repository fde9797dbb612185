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
    int request = sched_request(&sched, 1, 3, 3);
    CHECK(sched_interrupts(&sched));
    int first = started(request);
    CHECK_INT(sched.invocation[first].activep, 3);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(what_is_requested_while_the_main_program_is_interrupted_comes_after_it)
{
    main_runs(0, 0);
    int a = sched_request(&sched, 1, 0, 0);
    CHECK(sched_interrupts(&sched));
    started(a);
    int b = sched_request(&sched, 1, 0, 0);
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
    int a = sched_request(&sched, 1, 2, 2), b = sched_request(&sched, 1, 2, 2);
    CHECK(sched_interrupts(&sched));
    started(a);
    CHECK(!sched_interrupts(&sched));
    int c = sched_request(&sched, 1, 2, 2);
    CHECK(!sched_interrupts(&sched));
    sched_end(&sched);
    started(b);
    sched_end(&sched);
    started(c);
}

TEST(a_higher_one_interrupts_a_handler)
{
    main_runs(0, 0);
    int a = sched_request(&sched, 1, 2, 2);
    CHECK(sched_interrupts(&sched));
    int low = started(a);
    int b = sched_request(&sched, 2, 3, 3);
    CHECK(sched_interrupts(&sched));
    started(b);
    sched_request(&sched, 1, 2, 2);
    sched_end(&sched);
    gone_on(low); /* interrupted before that was requested */
}

TEST(a_request_below_the_caller_waits_until_that_goes_down)
{
    main_runs(5, 5);
    int request = sched_request(&sched, 1, 4, 4);
    CHECK(!sched_interrupts(&sched));
    sched_priority(&sched, 4, 0);
    CHECK(sched_interrupts(&sched));
    started(request);
}

TEST(allow_runs_what_reaches_its_priority_until_nothing_is_left)
{
    main_runs(5, 5);
    int low = sched_request(&sched, 1, 1, 1), high = sched_request(&sched, 2, 2, 2);
    sched_allow(&sched, 2);
    started(high);
    int more = sched_request(&sched, 2, 2, 2);
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
    int first = started(sched_request(&sched, 1, 0, 0));
    sched_allow(&sched, 0);
    gone_on(first);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(the_highest_goes_first_and_of_several_the_oldest)
{
    main_runs(0, 0);
    int a = sched_request(&sched, 1, 1, 1), b = sched_request(&sched, 2, 2, 2),
        c = sched_request(&sched, 3, 1, 1), d = sched_request(&sched, 4, 2, 2);
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
    sched_request(&sched, 1, 1, 1);
    idle();
    started(sched_request(&sched, 2, 2, 2));
    sched_end(&sched);
    idle();
    sched_over(&sched, SCHED_MAIN);
    gone_on(SCHED_MAIN);
}

TEST(a_wait_that_is_over_is_seen_when_somebody_stops)
{
    main_runs(0, 0);
    sched_wait(&sched);
    started(sched_request(&sched, 1, 0, 0));
    sched_over(&sched, SCHED_MAIN);
    CHECK(!sched_interrupts(&sched));
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

TEST(the_last_to_stop_decides)
{
    main_runs(0, 0);
    sched_wait(&sched);
    int high = started(sched_request(&sched, 1, 5, 5));
    sched_wait(&sched);
    sched_over(&sched, SCHED_MAIN);
    idle(); /* 0 does not reach 5 */
    started(sched_request(&sched, 2, 5, 0));
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
    int first = started(sched_request(&sched, 1, 9, 0));
    sched_wait(&sched);
    CHECK_INT(sched_level(&sched), 0);
    sched_over(&sched, first);
    int low = sched_request(&sched, 2, 0, 0);
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
    int a = sched_request(&sched, 1, 3, 0);
    CHECK(sched_interrupts(&sched));
    int middle = started(a);
    sched_request(&sched, 2, 4, 0);
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

TEST(nobody_can_tell_what_came_first_while_the_cce_waited)
{
    main_runs(0, 0);
    sched_wait(&sched);
    int first = started(sched_request(&sched, 1, 1, 2));
    sched_wait(&sched);
    idle();
    sched_over(&sched, SCHED_MAIN);
    idle();
    int low = sched_request(&sched, 2, 0, 0), lower = sched_request(&sched, 2, 0, 0);
    idle();
    sched_over(&sched, first);
    gone_on(first);
    sched_end(&sched);
    CHECK(sched_look(&sched));
    CHECK(sched_may_go_on(&sched, SCHED_MAIN));
    CHECK(sched_may_start(&sched, low));
    CHECK(!sched_may_start(&sched, lower)); /* the order of requests is known */
}

TEST(requests_go_with_their_handler_and_to_the_one_that_replaces_it)
{
    main_runs(0, 0);
    sched_request(&sched, 1, 0, 0);
    int b = sched_request(&sched, 2, 0, 0), c = sched_request(&sched, 3, 0, 0);
    sched_drop(&sched, 1);
    sched_replace(&sched, 3, 8, 8);
    CHECK(sched_interrupts(&sched));
    CHECK_INT(sched.invocation[started(c)].activep, 8);
    sched_end(&sched);
    started(b);
    sched_end(&sched);
    gone_on(SCHED_MAIN);
}

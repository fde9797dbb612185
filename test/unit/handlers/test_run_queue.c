/* SPDX-License-Identifier: MIT */
/* What is next: priority, then who can go on, then turns. */
#include <stdlib.h>
#include <string.h>

#include "bcri/run_queue.h"
#include "check.h"

static struct bcri_run_queue queue;

static void begin(void)
{
    bcri_run_queue_init(&queue);
}

static struct bcri_requested handler(int priority)
{
    struct bcri_requested one = {.level = bcri_level_enter(&queue, priority)};
    CHECK(one.level != NULL);
    CHECK_INT(one.level->priority, priority);
    return one;
}

static struct bcri_resumable invocation(int priority)
{
    struct bcri_resumable one = {.level = bcri_level_enter(&queue, priority)};
    CHECK(one.level != NULL);
    return one;
}

static void request(struct bcri_requested *requested)
{
    bcri_run_queue_request(&queue, requested, 1);
}

/* By the short way every other time, where that knows. */
static const void *next(int least)
{
    static unsigned turns;
    struct bcri_turn turn;
    const struct bcri_requested *requested =
        ++turns % 2 == 0 ? bcri_run_queue_next_request(&queue, least) : NULL;
    if (requested != NULL)
        return requested;
    if (!bcri_run_queue_next(&queue, least, true, &turn))
        return NULL;
    CHECK((turn.requested == NULL) != (turn.invocation == NULL));
    return turn.requested != NULL ? (const void *)turn.requested : turn.invocation;
}

TEST(an_empty_queue_has_nothing)
{
    begin();
    CHECK_PTR(next(0), NULL);
    CHECK_PTR(bcri_run_queue_top(&queue), NULL);
    struct bcri_requested a = handler(3);
    (void)a;
    CHECK_PTR(next(0), NULL);
    CHECK_PTR(bcri_run_queue_top(&queue), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(the_highest_priority_comes_first_and_who_can_go_on_before_new_ones)
{
    begin();
    struct bcri_requested low = handler(1), high = handler(9), other = handler(9);
    struct bcri_resumable ready = invocation(9);
    request(&low);
    request(&high);
    request(&other);
    bcri_run_queue_resume(&queue, &ready);
    CHECK_INT(bcri_run_queue_top(&queue)->priority, 9);
    CHECK_PTR(next(0), &ready);
    CHECK_PTR(next(0), &high);
    CHECK_PTR(next(0), &other);
    CHECK_PTR(next(2), NULL);
    CHECK_PTR(next(1), &low);
    CHECK_PTR(next(0), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(each_cell_has_one_invocation_each_turn)
{
    begin();
    struct bcri_requested a = handler(4), b = handler(4), c = handler(4);
    bcri_run_queue_request(&queue, &a, 4);
    bcri_run_queue_request(&queue, &b, 2);
    request(&c);
    const void *wanted[] = {&a, &b, &c, &a, &b, &c, &a, &a};
    for (int i = 0; i < 8; i++) {
        CHECK_PTR(next(4), wanted[i]);
        if (i == 1)
            request(&c); /* it waits already: it keeps its turn */
    }
    CHECK_PTR(next(0), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(one_whose_requests_are_through_waits_anew)
{
    begin();
    struct bcri_requested a = handler(4), b = handler(4);
    request(&a);
    bcri_run_queue_request(&queue, &b, 2);
    CHECK_PTR(next(4), &a);
    request(&a); /* behind b's first turn, before its second */
    CHECK_PTR(next(4), &b);
    CHECK_PTR(next(4), &a);
    CHECK_PTR(next(4), &b);
    CHECK_PTR(next(4), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(one_in_allow_comes_after_all_of_its_priority_the_last_caller_first)
{
    begin();
    struct bcri_requested one = handler(4);
    struct bcri_resumable first = invocation(0), second = invocation(7), ready = invocation(4);
    struct bcri_level *level = bcri_level_enter(&queue, 4);
    bcri_run_queue_stop(&queue, &first, level, BCRI_ALLOWS);
    bcri_run_queue_stop(&queue, &second, level, BCRI_ALLOWS);
    request(&one);
    bcri_run_queue_resume(&queue, &ready);
    CHECK_PTR(next(4), &ready);
    CHECK_PTR(next(4), &one);
    CHECK_PTR(next(5), NULL);
    CHECK_PTR(next(4), &second);
    bcri_run_queue_resume(&queue, &ready);
    CHECK_PTR(next(4), &ready);
    request(&one);
    CHECK_PTR(next(4), &one);
    CHECK_PTR(next(4), &first);
    CHECK_PTR(next(0), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(an_interrupted_one_comes_before_new_ones_and_among_the_ready_when_it_was_interrupted)
{
    begin();
    struct bcri_requested new_one = handler(4);
    struct bcri_resumable early = invocation(4), interrupted = invocation(4), late = invocation(4);
    request(&new_one);
    bcri_run_queue_resume(&queue, &early);
    bcri_run_queue_stop(&queue, &interrupted, interrupted.level, 0);
    bcri_run_queue_resume(&queue, &late);
    CHECK_PTR(next(4), &early);
    CHECK_PTR(next(4), &interrupted);
    CHECK_PTR(next(4), &late);
    CHECK_PTR(next(4), &new_one);
    CHECK_PTR(next(0), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(one_that_lets_turns_pass_goes_on_after_them_or_when_there_are_none)
{
    begin();
    struct bcri_requested a = handler(0), b = handler(0);
    struct bcri_resumable main = invocation(0), ready = invocation(0);
    struct bcri_level *level = main.level;
    for (int dropped = 0; dropped < 2; dropped++) {
        bcri_run_queue_request(&queue, &a, 2);
        request(&b);
        bcri_run_queue_stop(&queue, &main, level, level->turns + level->waiting);
        CHECK_PTR(next(0), &a);
        request(&b);
        bcri_run_queue_resume(&queue, &ready);
        CHECK_PTR(next(0), &ready); /* it counts as no turn */
        if (dropped) {
            bcri_run_queue_drop(&queue, &a);
            bcri_run_queue_drop(&queue, &b);
            CHECK_PTR(next(0), &main);
        } else {
            CHECK_PTR(next(0), &b);
            CHECK_PTR(next(0), &a);
            CHECK_PTR(next(0), &main);
            CHECK_PTR(next(0), &b);
        }
        CHECK_PTR(next(0), NULL);
    }
    bcri_run_queue_fini(&queue);
}

TEST(without_stacks_only_invocations_go_on)
{
    begin();
    struct bcri_requested high = handler(9), low = handler(2);
    struct bcri_resumable ready = invocation(2), main = invocation(2);
    struct bcri_turn turn;
    request(&high);
    request(&low);
    CHECK(!bcri_run_queue_next(&queue, 0, false, &turn));
    bcri_run_queue_resume(&queue, &ready);
    CHECK(!bcri_run_queue_next(&queue, 3, false, &turn));
    CHECK(bcri_run_queue_next(&queue, 2, false, &turn));
    CHECK_PTR(turn.invocation, &ready);
    bcri_run_queue_stop(&queue, &main, main.level, main.level->turns + main.level->waiting);
    CHECK(bcri_run_queue_next(&queue, 0, false, &turn));
    CHECK_PTR(turn.invocation, &main);
    CHECK(!bcri_run_queue_next(&queue, 0, false, &turn));
    CHECK_PTR(next(0), &high);
    CHECK_PTR(next(0), &low);
    bcri_run_queue_fini(&queue);
}

TEST(what_was_requested_of_a_removed_handler_is_dropped)
{
    begin();
    struct bcri_requested gone = handler(5), stays = handler(5), alone = handler(8);
    for (int i = 0; i < 3; i++) {
        request(&gone);
        request(&stays);
    }
    request(&alone);
    bcri_run_queue_drop(&queue, &gone);
    bcri_run_queue_drop(&queue, &alone);
    bcri_run_queue_drop(&queue, &alone); /* has none any more */
    CHECK_INT(bcri_run_queue_top(&queue)->priority, 5);
    for (int i = 0; i < 3; i++)
        CHECK_PTR(next(0), &stays);
    CHECK_PTR(next(0), NULL);
    CHECK_UINT(stays.level->waiting, 0);
    bcri_run_queue_fini(&queue);
}

TEST(a_handler_of_another_priority_waits_there_as_long_as_here)
{
    begin();
    struct bcri_requested moves = handler(1), stays = handler(1), early = handler(6), late = handler(6);
    request(&early);
    bcri_run_queue_request(&queue, &moves, 2);
    request(&late);
    request(&stays);
    bcri_run_queue_move(&queue, &moves, bcri_level_enter(&queue, 6));
    const void *wanted[] = {&early, &moves, &late, &moves, &stays};
    for (int i = 0; i < 5; i++)
        CHECK_PTR(next(0), wanted[i]);
    /* And back, before all others, with nothing left behind. */
    request(&moves);
    request(&stays);
    bcri_run_queue_move(&queue, &moves, bcri_level_enter(&queue, 1));
    CHECK_PTR(next(2), NULL);
    CHECK_PTR(next(1), &moves);
    CHECK_PTR(next(1), &stays);
    CHECK_PTR(next(0), NULL);
    bcri_run_queue_fini(&queue);
}

TEST(priorities_that_nobody_has_any_more_make_room_for_others)
{
    begin();
    for (int priority = 0; priority < 100000; priority++) {
        struct bcri_requested one = handler(priority);
        request(&one);
        CHECK_PTR(next(0), &one);
        bcri_level_leave(one.level);
    }
    CHECK(queue.level_count < 1000);
    bcri_run_queue_fini(&queue);
}

/* ---- against an obvious one ---- */

enum { HANDLERS = 40, INVOCATIONS = 300 };
static struct {
    int priority;
    long waiting, since; /* requests; for its turn */
} obvious[HANDLERS];
static struct {
    bool ready;
    int priority;
    long since;
} resumable[INVOCATIONS];
static long now;

static bool is_better(int priority, long since, int best_priority, long best_since)
{
    return priority > best_priority || (priority == best_priority && since < best_since);
}

/* The number of an invocation, or 1000 + that of a handler; -1: nothing. */
static int obvious_next(int least)
{
    int best = -1, best_priority = least - 1;
    long best_since = 0;
    for (int i = 0; i < INVOCATIONS; i++)
        if (resumable[i].ready &&
            is_better(resumable[i].priority, resumable[i].since, best_priority, best_since)) {
            best = i;
            best_priority = resumable[i].priority;
            best_since = resumable[i].since;
        }
    const int ready_priority = best_priority;
    best_since = 0;
    for (int i = 0; i < HANDLERS; i++)
        if (obvious[i].waiting != 0 && obvious[i].priority > ready_priority &&
            is_better(obvious[i].priority, obvious[i].since, best_priority, best_since)) {
            best = INVOCATIONS + i;
            best_priority = obvious[i].priority;
            best_since = obvious[i].since;
        }
    if (best >= INVOCATIONS) {
        obvious[best - INVOCATIONS].waiting--;
        obvious[best - INVOCATIONS].since = ++now;
    } else if (best >= 0) {
        resumable[best].ready = false;
    }
    return best;
}

static void request_both(struct bcri_requested *one, int i, long count)
{
    bcri_run_queue_request(&queue, one, (uint64_t)count);
    if (obvious[i].waiting == 0)
        obvious[i].since = ++now;
    obvious[i].waiting += count;
}

TEST(random_queues_are_those_of_an_obvious_one)
{
    uint64_t seed = test_seed();
    static struct bcri_requested handlers[HANDLERS];
    static struct bcri_resumable invocations[INVOCATIONS];
    begin();
    for (int i = 0; i < HANDLERS; i++) {
        obvious[i].priority = (int)test_rand_below(&seed, 12);
        handlers[i] = handler(obvious[i].priority);
    }
    for (uint64_t round = test_scale(60000, 600000); round-- > 0;) {
        const uint64_t what = test_rand_below(&seed, 20);
        const int h = (int)test_rand_below(&seed, HANDLERS), i = (int)test_rand_below(&seed, INVOCATIONS);
        if (what < 6) {
            request_both(&handlers[h], h, 1 + (long)test_rand_below(&seed, 3));
        } else if (what < 8 && !resumable[i].ready) {
            resumable[i].ready = true;
            resumable[i].priority = (int)test_rand_below(&seed, 12);
            resumable[i].since = ++now;
            if (invocations[i].level != NULL)
                bcri_level_leave(invocations[i].level);
            invocations[i] = invocation(resumable[i].priority);
            bcri_run_queue_resume(&queue, &invocations[i]);
        } else if (what < 18) {
            const int least = (int)test_rand_below(&seed, 14), best = obvious_next(least);
            const void *wanted = best < 0             ? NULL
                                 : best < INVOCATIONS ? (const void *)&invocations[best]
                                                      : (const void *)&handlers[best - INVOCATIONS];
            CHECK_PTR(next(least), wanted);
        } else if (what == 18) {
            obvious[h].waiting = 0;
            bcri_run_queue_drop(&queue, &handlers[h]);
        } else {
            struct bcri_level *level = bcri_level_enter(&queue, (int)test_rand_below(&seed, 12));
            bcri_level_leave(handlers[h].level);
            bcri_run_queue_move(&queue, &handlers[h], level);
            obvious[h].priority = level->priority;
        }
    }
    bcri_run_queue_fini(&queue);
}

/* SPDX-License-Identifier: MIT */
/* What is next: priority, then arrival. */
#include <stdlib.h>
#include <string.h>

#include "bcri/agenda.h"
#include "check.h"

static struct bcri_agenda agenda;
static int drops;

static void dropped(struct bcri_summoned *summoned)
{
    CHECK_UINT(summoned->queued, 0);
    drops++;
}

static void begin(void)
{
    bcri_agenda_init(&agenda, dropped);
}

static struct bcri_summoned handler(int priority)
{
    struct bcri_summoned one = {.lane = bcri_lane_enter(&agenda, priority)};
    CHECK(one.lane != NULL);
    CHECK_INT(one.lane->priority, priority);
    return one;
}

static struct bcri_going_on invocation(int priority)
{
    struct bcri_going_on one = {.lane = bcri_lane_enter(&agenda, priority)};
    CHECK(one.lane != NULL);
    return one;
}

static void summon(struct bcri_summoned *summoned)
{
    CHECK(bcri_agenda_room(summoned));
    bcri_agenda_summon(&agenda, summoned);
}

/* By the short way every other time, where that knows. */
static const void *next(int least)
{
    static unsigned turns;
    struct bcri_turn turn;
    const struct bcri_summoned *summoned = ++turns % 2 == 0 ? bcri_agenda_next_summons(&agenda, least) : NULL;
    if (summoned != NULL)
        return summoned;
    if (!bcri_agenda_next(&agenda, least, true, &turn))
        return NULL;
    CHECK((turn.summoned == NULL) != (turn.invocation == NULL));
    return turn.summoned != NULL ? (const void *)turn.summoned : turn.invocation;
}

TEST(an_empty_agenda_has_nothing)
{
    begin();
    CHECK_PTR(next(0), NULL);
    CHECK_PTR(bcri_agenda_top(&agenda), NULL);
    struct bcri_summoned a = handler(3);
    (void)a;
    CHECK_PTR(next(0), NULL);
    CHECK_PTR(bcri_agenda_top(&agenda), NULL);
    bcri_agenda_fini(&agenda);
}

TEST(the_highest_priority_comes_first_then_arrival)
{
    begin();
    struct bcri_summoned low = handler(1), high = handler(9), other = handler(9);
    struct bcri_going_on stopped = invocation(9);
    summon(&low);
    summon(&high);
    bcri_agenda_go_on(&agenda, &stopped);
    summon(&other);
    summon(&high);
    CHECK_INT(bcri_agenda_top(&agenda)->priority, 9);
    CHECK_PTR(next(0), &high);
    CHECK_PTR(next(0), &stopped);
    CHECK_PTR(next(0), &other);
    CHECK_PTR(next(0), &high);
    CHECK_PTR(next(2), NULL);
    CHECK_PTR(next(1), &low);
    CHECK_PTR(next(0), NULL);
    bcri_agenda_fini(&agenda);
}

TEST(one_in_allow_comes_after_all_of_its_priority_the_last_caller_first)
{
    begin();
    struct bcri_summoned one = handler(4);
    struct bcri_going_on first = invocation(0), second = invocation(7), stopped = invocation(4);
    struct bcri_lane *lane = bcri_lane_enter(&agenda, 4);
    bcri_agenda_stop(&agenda, &first, lane, true);
    bcri_agenda_stop(&agenda, &second, lane, true);
    summon(&one);
    bcri_agenda_go_on(&agenda, &stopped);
    CHECK_PTR(next(4), &one);
    CHECK_PTR(next(4), &stopped);
    CHECK_PTR(next(5), NULL);
    CHECK_PTR(next(4), &second);
    summon(&one);
    CHECK_PTR(next(4), &one);
    CHECK_PTR(next(4), &first);
    CHECK_PTR(next(0), NULL);
    bcri_agenda_fini(&agenda);
}

TEST(an_interrupted_one_comes_when_it_was_interrupted_unless_another_stopped_later)
{
    begin();
    struct bcri_summoned early = handler(4), late = handler(4);
    struct bcri_going_on interrupted = invocation(4), idle = invocation(4);
    summon(&early);
    bcri_agenda_stop(&agenda, &interrupted, interrupted.lane, false);
    summon(&late);
    CHECK_PTR(next(4), &early);
    bcri_agenda_stop(&agenda, &idle, idle.lane, true);
    CHECK_PTR(next(4), &late); /* what called bcr_allow lies above what it may have interrupted */
    CHECK_PTR(next(4), &idle);
    summon(&late);
    CHECK_PTR(next(4), &interrupted);
    CHECK_PTR(next(4), &late);
    CHECK_PTR(next(0), NULL);
    bcri_agenda_fini(&agenda);
}

TEST(without_stacks_only_invocations_go_on)
{
    begin();
    struct bcri_summoned high = handler(9), low = handler(2);
    struct bcri_going_on stopped = invocation(2);
    struct bcri_turn turn;
    summon(&high);
    summon(&low);
    CHECK(!bcri_agenda_next(&agenda, 0, false, &turn));
    bcri_agenda_go_on(&agenda, &stopped);
    CHECK(!bcri_agenda_next(&agenda, 3, false, &turn));
    CHECK(bcri_agenda_next(&agenda, 2, false, &turn));
    CHECK_PTR(turn.invocation, &stopped);
    CHECK(!bcri_agenda_next(&agenda, 0, false, &turn));
    CHECK_PTR(next(0), &high);
    CHECK_PTR(next(0), &low);
    bcri_agenda_fini(&agenda);
}

TEST(what_was_queued_for_a_removed_handler_is_dropped)
{
    begin();
    struct bcri_summoned gone = handler(5), stays = handler(5), alone = handler(8);
    for (int i = 0; i < 3; i++) {
        summon(&gone);
        summon(&stays);
    }
    summon(&alone);
    gone.removed = alone.removed = true;
    CHECK_INT(bcri_agenda_top(&agenda)->priority, 5);
    CHECK_INT(drops, 1); /* `alone` */
    for (int i = 0; i < 3; i++)
        CHECK_PTR(next(0), &stays);
    CHECK_INT(drops, 2);
    CHECK_PTR(next(0), NULL);
    summon(&gone);
    bcri_agenda_fini(&agenda);
    CHECK_INT(drops, 3); /* also by the end of it all */
}

TEST(a_handler_of_another_priority_takes_its_summonses_along_in_order)
{
    begin();
    struct bcri_summoned moves = handler(1), stays = handler(1), there = handler(6);
    const struct bcri_summoned *came[] = {&moves, &there, &stays, &moves, &there, &moves, &stays};
    for (int i = 0; i < 7; i++)
        summon((struct bcri_summoned *)(uintptr_t)came[i]);
    struct bcri_lane *lane = bcri_lane_enter(&agenda, 6);
    CHECK(bcri_agenda_move_room(&agenda, &moves, lane));
    bcri_agenda_move(&agenda, &moves, lane);
    const void *wanted[] = {&moves, &there, &moves, &there, &moves, &stays, &stays};
    for (int i = 0; i < 7; i++)
        CHECK_PTR(next(0), wanted[i]);
    /* And back, with nothing left behind. */
    summon(&moves);
    lane = bcri_lane_enter(&agenda, 1);
    CHECK(bcri_agenda_move_room(&agenda, &moves, lane));
    bcri_agenda_move(&agenda, &moves, lane);
    CHECK_PTR(next(2), NULL);
    CHECK_PTR(next(1), &moves);
    CHECK_PTR(next(0), NULL);
    bcri_agenda_fini(&agenda);
}

TEST(priorities_that_nobody_has_any_more_make_room_for_others)
{
    begin();
    for (int priority = 0; priority < 100000; priority++) {
        struct bcri_summoned one = handler(priority);
        summon(&one);
        CHECK_PTR(next(0), &one);
        bcri_lane_leave(one.lane);
    }
    CHECK(agenda.lane_count < 1000);
    bcri_agenda_fini(&agenda);
}

/* ---- against an obvious one ---- */

enum { HANDLERS = 40, QUEUE = 3000 };
static struct {
    const void *what;
    int priority;
    long came;
} queue[QUEUE];
static int queued;

static const void *obvious_next(int least)
{
    int best = -1;
    for (int i = 0; i < queued; i++)
        if (queue[i].priority >= least &&
            (best < 0 || queue[i].priority > queue[best].priority ||
             (queue[i].priority == queue[best].priority && queue[i].came < queue[best].came)))
            best = i;
    if (best < 0)
        return NULL;
    const void *what = queue[best].what;
    queue[best] = queue[--queued];
    return what;
}

TEST(random_agendas_are_those_of_an_obvious_one)
{
    uint64_t seed = test_seed();
    static struct bcri_summoned handlers[HANDLERS];
    static struct bcri_going_on invocations[QUEUE];
    static bool busy[QUEUE];
    long came = 0;
    begin();
    for (int i = 0; i < HANDLERS; i++)
        handlers[i] = handler((int)test_rand_below(&seed, 12));
    for (uint64_t round = test_scale(60000, 600000); round-- > 0;) {
        uint64_t what = test_rand_below(&seed, 10);
        if (what < 4 && queued < QUEUE) {
            struct bcri_summoned *one = &handlers[test_rand_below(&seed, HANDLERS)];
            summon(one);
            queue[queued].what = one;
            queue[queued].priority = one->lane->priority;
            queue[queued++].came = came++;
        } else if (what < 5 && queued < QUEUE) {
            int i = (int)test_rand_below(&seed, QUEUE);
            if (busy[i])
                continue;
            busy[i] = true;
            invocations[i] = invocation((int)test_rand_below(&seed, 12));
            bcri_agenda_go_on(&agenda, &invocations[i]);
            queue[queued].what = &invocations[i];
            queue[queued].priority = invocations[i].lane->priority;
            queue[queued++].came = came++;
        } else if (what < 9) {
            int least = (int)test_rand_below(&seed, 14);
            const void *got = next(least);
            CHECK_PTR(got, obvious_next(least));
            for (int i = 0; i < QUEUE; i++)
                if (got == &invocations[i]) {
                    busy[i] = false;
                    bcri_lane_leave(invocations[i].lane);
                }
        } else if (test_rand_below(&seed, 20) == 0) {
            struct bcri_summoned *one = &handlers[test_rand_below(&seed, HANDLERS)];
            struct bcri_lane *lane = bcri_lane_enter(&agenda, (int)test_rand_below(&seed, 12));
            if (lane == one->lane) {
                bcri_lane_leave(lane);
                continue;
            }
            bcri_lane_leave(one->lane);
            CHECK(bcri_agenda_move_room(&agenda, one, lane));
            bcri_agenda_move(&agenda, one, lane);
            for (int i = 0; i < queued; i++)
                if (queue[i].what == one)
                    queue[i].priority = lane->priority;
        }
    }
    bcri_agenda_fini(&agenda);
}

/* SPDX-License-Identifier: MIT */
/* How a host learns from heartbeats what its clock is worth. Times are in ns. */
#include "base/clock.h"
#include "check.h"

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

static struct enl_clock clock_of;

/* A beat that takes `there` to the root and `back` from it, at `now` of the root's clock, which is ahead by
 * `ahead`. */
static bool beat(uint32_t number, int64_t now, int64_t ahead, int64_t there, int64_t back)
{
    const int64_t here = now - ahead; /* of this clock, when the root answers */
    enl_clock_sent(&clock_of, number, here - there + 5 * S);
    return enl_clock_answered(&clock_of, number, (uint64_t)now, here + back + 5 * S, here + back);
}

TEST(a_clock_far_off_is_measured_to_half_the_round_trip)
{
    clock_of = (struct enl_clock){0};
    CHECK(beat(1, 10000 * S, 3600 * S, 3 * MS, 1 * MS));
    CHECK_INT(clock_of.ahead_ns, 3600 * S + (3 - 1) * MS / 2);
    CHECK_INT(clock_of.round_trip_ns, 4 * MS);
    CHECK(beat(2, 10001 * S, -3600 * S, 1 * MS, 1 * MS));
    CHECK_INT(clock_of.ahead_ns, -3600 * S);
}

TEST(what_agrees_with_what_was_told_is_not_told_again)
{
    clock_of = (struct enl_clock){0};
    CHECK(beat(1, 1000 * S, 5 * S, MS, MS));
    CHECK(!beat(2, 1001 * S, 5 * S, 30 * MS, MS)); /* wrong by less than its round trip */
    CHECK(!beat(3, 1002 * S, 5 * S + MS, MS, MS));
    CHECK_INT(clock_of.ahead_ns, 5 * S);
}

TEST(a_clock_that_was_set_and_a_much_better_measurement_are_told)
{
    clock_of = (struct enl_clock){0};
    CHECK(beat(1, 1000 * S, 5 * S, 200 * MS, 0));
    CHECK_INT(clock_of.ahead_ns, 5 * S + 100 * MS);
    CHECK(beat(2, 1001 * S, 5 * S, MS, MS));
    CHECK_INT(clock_of.ahead_ns, 5 * S);
    CHECK(beat(3, 1002 * S, 5 * S + 20 * MS, MS, MS));
    CHECK_INT(clock_of.ahead_ns, 5 * S + 20 * MS);
}

TEST(answers_that_cannot_be_measured_are_left_alone)
{
    clock_of = (struct enl_clock){0};
    CHECK(!enl_clock_answered(&clock_of, 0, 1000, 1000, 1000)); /* nothing was sent */
    for (uint32_t number = 1; number <= ENL_CLOCK_BEATS + 1; number++)
        enl_clock_sent(&clock_of, number, number * S);
    CHECK(!enl_clock_answered(&clock_of, 1, 1000, 20 * S, 1000)); /* forgotten */
    CHECK(!enl_clock_answered(&clock_of, 9, UINT64_MAX, 20 * S, 1000));
    CHECK(!enl_clock_answered(&clock_of, 9, 1000, 8 * S, 1000)); /* before it was sent */
    CHECK(!enl_clock_answered(&clock_of, 9, 1000, 20 * S, -1));
    CHECK(!clock_of.known);
    CHECK(enl_clock_answered(&clock_of, 9, (uint64_t)ENL_CLOCK_MOST_NS, 20 * S, 0));
}

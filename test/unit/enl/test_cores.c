/* SPDX-License-Identifier: MIT */
/* Which core comes next. */
#include <string.h>

#include "check.h"
#include "host/host.h"

static struct enl_cores cores;

/* Cores 2, 3, 5 and 900. */
static void four_cores(int begin)
{
    memset(&cores, 0, sizeof cores);
    enl_cores_init(&cores);
    CPU_ZERO(&cores.allowed);
    CPU_SET(2, &cores.allowed);
    CPU_SET(3, &cores.allowed);
    CPU_SET(5, &cores.allowed);
    CPU_SET(900, &cores.allowed);
    enl_cores_begin(&cores, begin);
}

static int next(void)
{
    int core = enl_cores_choose(&cores);
    enl_cores_take(&cores, core);
    return core;
}

TEST(the_turn_begins_behind_the_enlistor_and_goes_round)
{
    four_cores(3);
    CHECK_INT(next(), 5);
    CHECK_INT(next(), 900);
    CHECK_INT(next(), 2);
    CHECK_INT(next(), 3);
    CHECK_INT(next(), 5);
}

TEST(an_enlistor_on_a_core_that_is_not_ours_does_not_move_the_turn)
{
    four_cores(4);
    CHECK_INT(next(), 2);
    four_cores(-1);
    CHECK_INT(next(), 2);
}

TEST(the_turn_begins_once)
{
    four_cores(2);
    CHECK_INT(next(), 3);
    enl_cores_begin(&cores, 900);
    CHECK_INT(next(), 5);
}

TEST(the_turn_can_be_set_to_a_number_counted_round_and_round)
{
    static const int from[][2] = {{0, 2}, {1, 3}, {3, 900}, {4, 2}, {4003, 900}};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        four_cores(-1);
        CHECK_INT(enl_cores_first(&cores), -1);
        enl_cores_turn(&cores, (uint32_t)from[i][0]);
        CHECK_INT(next(), from[i][1]);
        enl_cores_begin(&cores, 3); /* the turn has begun */
        CHECK_INT(next(), from[i][1] == 900 ? 2 : from[i][1] == 2 ? 3 : 5);
    }
    four_cores(5);
    CHECK_INT(enl_cores_first(&cores), 2);
    CHECK_INT(next(), 900);
    enl_cores_turn(&cores, 3); /* it has one already */
    CHECK_INT(next(), 2);
    CHECK_INT(enl_cores_first(&cores), 2);
}

TEST(a_core_that_was_asked_for_counts)
{
    four_cores(2);
    enl_cores_take(&cores, 5);
    CHECK_INT(next(), 900);
    CHECK_INT(next(), 2);
    CHECK_INT(next(), 3);
    CHECK_INT(next(), 5);
}

TEST(the_place_of_one_that_has_ended_is_given_again)
{
    four_cores(2);
    for (int i = 0; i < 8; i++)
        next();
    enl_cores_give(&cores, 900);
    CHECK_INT(next(), 900);
    enl_cores_give(&cores, 5);
    enl_cores_give(&cores, 5);
    CHECK_INT(next(), 5);
    CHECK_INT(next(), 5);
    CHECK_INT(next(), 900);
}

TEST(without_a_choice_nobody_is_pinned)
{
    enl_cores_init(&cores);
    CPU_ZERO(&cores.allowed);
    CHECK_INT(enl_cores_choose(&cores), -1);
    CPU_SET(7, &cores.allowed);
    CHECK_INT(enl_cores_choose(&cores), -1);
    enl_cores_take(&cores, -1);
    enl_cores_give(&cores, -1);
    CHECK(enl_cores_has(&cores, 7));
    CHECK(!enl_cores_has(&cores, 8));
    CHECK(!enl_cores_has(&cores, -1));
    CHECK(!enl_cores_has(&cores, 1 << 20));
    CHECK_INT(enl_cores_nth(&cores, 0), 7);
    CHECK_INT(enl_cores_nth(&cores, 1), -1);
}

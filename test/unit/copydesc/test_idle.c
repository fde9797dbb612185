/* SPDX-License-Identifier: MIT */
/* Descriptors that do next to nothing an astronomical number of times: they end, with the right
 * result. */
#include <limits.h>
#include <stdlib.h>

#include <bcr/error.h>
#include <bcr/types.h>

#include "check.h"
#include "fixture.h"

static uint8_t source[64];

static struct bcri_copy_result try_to(const int *desc, int buflen)
{
    struct bcri_copy_region region = region_new(64);
    struct bcri_copy_result result = copy_to(desc, INT_MAX, &region, source, buflen);
    CHECK(untouched(region.data, 64));
    return result;
}

TEST(empty_nested_lists_repeat_for_nothing)
{
    static const int desc[] = {0, (bcrT_NEST + 1) | bcrT_END, INT_MAX, 0, bcrT_CHAR | bcrT_END, 0};
    CHECK_RESULT(try_to(desc, 64), 2 + 64, 0);
}

TEST(two_to_the_1984_empty_repeats_end)
{
    int desc[3 * 65];
    for (int i = 0; i < 65; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = (i < 64 ? bcrT_NEST + 1 : bcrT_DOUBLE) | bcrT_END;
        desc[3 * i + 2] = i < 64 ? INT_MAX : 0;
    }
    CHECK_RESULT(try_to(desc, 64), 2 + 64, 0);
}

TEST(two_to_the_64_ways_to_the_same_list_end)
{
    /* 64 lists, each of which nests the next one twice; the last passes over `chars` chars. */
    int desc[3 * 129];
    for (int chars = 0; chars <= 1; chars++) {
        for (int i = 0; i < 128; i++) {
            desc[3 * i] = 0;
            desc[3 * i + 1] = i % 2 == 0 ? bcrT_NEST + 2 : (bcrT_NEST + 1) | bcrT_END;
            desc[3 * i + 2] = 1;
        }
        desc[3 * 128] = 0;
        desc[3 * 128 + 1] = bcrT_CHAR | bcrT_SKIP_FM | bcrT_END;
        desc[3 * 128 + 2] = chars;
        CHECK_RESULT(try_to(desc, 64), chars ? 1 : 2 + 64, 0);
    }
}

TEST(steps_that_cancel_out_repeat_for_nothing)
{
    static const int desc[] = {1, bcrT_CHAR | bcrT_SKIP_FM, 7, -8, bcrT_CHAR | bcrT_END, 0};
    CHECK_RESULT(try_to(desc, 8), 2 + 8, 0);
    CHECK_RESULT(try_to(desc, 7), 1, 0);
}

TEST(skips_that_creep_forward_find_the_end_of_the_source)
{
    /* Each repeat goes 63 forward and 62 back. */
    static const int desc[] = {0, bcrT_CHAR | bcrT_SKIP_FM, 63, -62, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(1);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), 2 + 63, 0);
    CHECK_RESULT(copy_to(desc, 2, &region, source, 64), 2 + 62, 0);
    CHECK_RESULT(copy_to(desc, 3, &region, source, 64), 1, 0);
    CHECK_RESULT(copy_to(desc, INT_MAX, &region, source, 64), 1, 0);
}

TEST(adjusts_that_creep_find_the_end_of_all_positions)
{
    static const int forward[] = {2, bcrT_CHAR, 0, -1, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(1);
    CHECK_RESULT(copy_to(forward, INT_MAX - 1, &region, source, 64), 2, 0);
    CHECK_RESULT(copy_to(forward, INT_MAX, &region, source, 64), -2, bcrE_DESC);

    static const int backward[] = {1000, bcrT_CHAR, 0, 0,  (bcrT_NEST + 1) | bcrT_END, INT_MAX,
                                   1,    bcrT_CHAR, 0, -2, bcrT_CHAR | bcrT_END,       0};
    CHECK_RESULT(copy_to(backward, 1, &region, source, 64), -2, bcrE_DESC);
}

TEST(alignment_decides_how_far_an_idle_list_moves)
{
    /* A skipped int, then 3 bytes back: from 0 to 1, and then 5, 9, ... as each int is aligned
     * upward. */
    static const int desc[] = {0, bcrT_INT | bcrT_SKIP_FM, 1, -3, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(1);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), 2 + 63, 0);
    CHECK_RESULT(copy_to(desc, 2, &region, source, 64), 2 + 59, 0);
    CHECK_RESULT(copy_to(desc, 16, &region, source, 64), 2 + 3, 0);
    CHECK_RESULT(copy_to(desc, 17, &region, source, 64), 1, 0);
}

TEST(items_behind_an_idle_list_stand_where_it_left_the_position)
{
    static const int desc[] = {
        0,  bcrT_NEST + 2,        INT_MAX, 3, bcrT_CHAR | bcrT_END, 1, 5, bcrT_CHAR | bcrT_SKIP_FM, 1,
        -6, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(1);
    fill(source, 64);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), 2 + 60, 0);
    CHECK_MEM(region.data, source + 3, 1);
}

TEST(user_side_skips_are_idle_when_reading_a_region_too)
{
    static const int desc[] = {1, bcrT_CHAR | bcrT_SKIP_TO, 7, -8, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(16);
    uint8_t *buffer = guarded(8);
    CHECK_RESULT(copy_from(desc, INT_MAX, &region, buffer, 8), 2 + 16, 0);
    CHECK_RESULT(copy_from(desc, INT_MAX, &region, buffer, 7), -2 - 16, 0);
    CHECK(untouched(buffer, 8));
}

TEST(huge_repeats_of_skips_on_both_sides_end_with_the_shorter_side)
{
    static const int desc[] = {0, bcrT_INT | bcrT_SKIP_FM | bcrT_SKIP_TO | bcrT_END, INT_MAX};
    struct bcri_copy_region region = region_new(32);
    CHECK_RESULT(copy_to(desc, INT_MAX, &region, source, 64), -2 - 32, 0);
    CHECK_RESULT(copy_to(desc, INT_MAX, &region, source, 16), 1, 0);
}

TEST(a_list_that_moves_the_region_may_hold_idle_ones)
{
    /* Each repeat: 2^62 idle steps, then one char. */
    static const int desc[] = {
        0, bcrT_NEST + 2, INT_MAX, 0,  bcrT_CHAR | bcrT_END, 1, 0, (bcrT_NEST + 1) | bcrT_END, INT_MAX,
        2, bcrT_CHAR,     0,       -2, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(64);
    fill(source, 64);
    CHECK_RESULT(copy_to(desc, INT_MAX, &region, source, 64), 1, 0);
    CHECK_MEM(region.data, source, 64);
}

TEST(a_nest_with_repl_0_leaves_a_list_idle)
{
    static const int desc[] = {0, (bcrT_NEST + 1) | bcrT_END, INT_MAX, 0, (bcrT_NEST + 1) | bcrT_END, 0,
                               0, bcrT_CHAR | bcrT_END,       1};
    CHECK_RESULT(try_to(desc, 64), 2 + 64, 0);
}

TEST(idle_lists_may_not_pass_the_last_position_on_their_way)
{
    static const int desc[] = {8,           bcrT_NEST + 2, 1, -8,          bcrT_CHAR | bcrT_END, 0,
                               INT_MAX - 7, bcrT_CHAR,     0, 7 - INT_MAX, bcrT_CHAR | bcrT_END, 0};
    static const int just[] = {7,           bcrT_NEST + 2, 1, -7,          bcrT_CHAR | bcrT_END, 0,
                               INT_MAX - 7, bcrT_CHAR,     0, 7 - INT_MAX, bcrT_CHAR | bcrT_END, 0};
    struct bcri_copy_region region = region_new(1);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), -2, bcrE_DESC);
    CHECK_RESULT(copy_to(just, 1, &region, source, 64), 2 + 64, 0);
}

TEST(lists_that_end_alike_are_looked_at_once)
{
    /* As many NESTs as there are places in a long list to begin at: a billion triples, if each were
     * looked at. */
    enum { COUNT = 32768 };
    static int desc[2 * COUNT * 3];
    for (int i = 0; i < 2 * COUNT; i++) {
        desc[3 * i + 1] = i < COUNT ? bcrT_NEST + COUNT : bcrT_DOUBLE | bcrT_SKIP_FM | bcrT_SKIP_TO;
        desc[3 * i + 2] = 1;
    }
    desc[3 * (COUNT - 1) + 1] |= bcrT_END;
    desc[3 * (2 * COUNT - 1) + 1] = bcrT_DOUBLE | bcrT_END;
    static double data[COUNT + 3];
    for (int i = 0; i < COUNT + 3; i++)
        data[i] = i;
    struct bcri_copy_region region = region_new((int)sizeof data);
    /* The first NEST takes COUNT items, of which the last is copied; the second has no room for its
     * last. */
    CHECK_RESULT(copy_to(desc, 1, &region, data, sizeof data), 1, 0);
    CHECK(untouched(region.data, (COUNT - 1) * sizeof(double)));
    CHECK_MEM((uint8_t *)region.data + (COUNT - 1) * sizeof(double), &data[COUNT - 1], sizeof(double));
    CHECK(untouched((uint8_t *)region.data + COUNT * sizeof(double), 3 * sizeof(double)));
}

/* `count` triples from `first` on: idle NESTs of the list at `target`, the last one with END. */
static void nest_for_nothing(int *desc, int first, int count, int target)
{
    for (int i = first; i < first + count; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = (bcrT_NEST + target - i) | (i == first + count - 1 ? bcrT_END : 0);
        desc[3 * i + 2] = INT_MAX;
    }
}

enum { MOST = 65536 };

/* Copies `items` chars, each to byte 4 of 8. */
static void into_each_fifth_byte_of_eight(const int *desc, int items)
{
    uint8_t *data = malloc((size_t)items);
    CHECK(data != NULL);
    fill(data, (size_t)items);
    struct bcri_copy_region region = region_new(8 * items);
    CHECK_RESULT(copy_to(desc, INT_MAX, &region, data, items), 1, 0);
    for (int i = 0; i < items; i++)
        CHECK_INT(((const uint8_t *)region.data)[8 * (size_t)i + 4], data[i]);
    free(data);
}

TEST(what_stands_idle_between_items_takes_no_time_for_each_of_them)
{
    /* An int is passed over in the region, a char copied, and then come 65,533 lists that do
     * nothing. Phases differ, and so much is not compiled: half a million times all of them would
     * take hours. */
    static int desc[3 * MOST];
    desc[1] = bcrT_INT | bcrT_SKIP_TO;
    desc[3 + 1] = bcrT_CHAR;
    desc[2] = desc[3 + 2] = 1;
    nest_for_nothing(desc, 2, MOST - 3, MOST - 1);
    desc[3 * (MOST - 1) + 1] = bcrT_DOUBLE | bcrT_SKIP_FM | bcrT_SKIP_TO | bcrT_END;
    enum { ITEMS = 500000 };
    into_each_fifth_byte_of_eight(desc, ITEMS);
}

TEST(nor_do_idle_ends_of_lists_at_each_of_which_another_list_begins)
{
    /* The second half: chars with repl 0, but for the last, each of them nested for nothing from
     * the first half. */
    static int desc[3 * MOST];
    enum { HALF = MOST / 2, ITEMS = 100000 };
    for (int i = 0; i < HALF; i++) {
        desc[3 * i + 1] = bcrT_NEST + HALF;
        desc[3 * (HALF + i) + 1] = bcrT_CHAR;
    }
    desc[3 * (HALF - 1) + 1] |= bcrT_END;
    desc[3 * (MOST - 1) + 1] |= bcrT_END;
    desc[1] = bcrT_INT | bcrT_SKIP_TO;
    desc[2] = desc[3 + 2] = desc[3 * (MOST - 1) + 2] = 1;
    into_each_fifth_byte_of_eight(desc, ITEMS);
}

TEST(nor_do_lists_too_long_to_be_compiled)
{
    /* 2,000 chars with gaps, and nothing between them and the end. */
    static int desc[3 * MOST];
    enum { CHARS = 2000, ROUNDS = 1000 };
    for (int i = 0; i < CHARS; i++) {
        desc[3 * i] = 1;
        desc[3 * i + 1] = bcrT_CHAR;
        desc[3 * i + 2] = 1;
    }
    nest_for_nothing(desc, CHARS, MOST - CHARS - 1, MOST - 1);
    desc[3 * (MOST - 1) + 1] = bcrT_DOUBLE | bcrT_SKIP_FM | bcrT_SKIP_TO | bcrT_END;
    static uint8_t data[2 * CHARS * ROUNDS];
    fill(data, sizeof data);
    struct bcri_copy_region region = region_new(CHARS * ROUNDS);
    CHECK_RESULT(copy_to(desc, ROUNDS, &region, data, sizeof data), 2, 0);
    for (int i = 0; i < CHARS * ROUNDS; i++)
        CHECK_INT(((uint8_t *)region.data)[i], data[2 * i + 1]);
}

TEST(a_copy_stops_inside_of_what_stands_idle)
{
    /* A char, nine triples of which the fifth passes over 4 bytes of the source, a char. */
    int desc[3 * 11] = {0};
    for (int i = 0; i < 11; i++) {
        desc[3 * i + 1] = bcrT_CHAR | (i % 10 ? bcrT_SKIP_FM : 0) | (i == 10 ? bcrT_END : 0);
        desc[3 * i + 2] = i % 10 == 0 ? 1 : i == 5 ? 4 : 0;
    }
    fill(source, 64);
    struct bcri_copy_region region = region_new(4);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 6), 2, 0);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 1, 0);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 4), 1, 0);
    region.length_bytes = 1;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), -2 - 59, 0);
    desc[3 * 3] = -2; /* before the buffer, and back */
    desc[3 * 4] = 2;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), -2, bcrE_DESC);
    CHECK_MEM(region.data, source, 1);
    desc[3 * 3] = -1;
    desc[3 * 4] = 1;
    region.length_bytes = 4;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 64), 2 + 58, 0);
}

TEST(a_list_may_run_into_another_that_is_nested_too)
{
    /* 0: nest 2, nest 3 (end); 2: char, 3: short, char (end) */
    static const int desc[] = {0, bcrT_NEST + 2, 2, 0, (bcrT_NEST + 2) | bcrT_END, 2, 0, bcrT_CHAR, 1,
                               0, bcrT_SHORT,    1, 0, bcrT_CHAR | bcrT_END,       1};
    uint8_t bytes[18];
    fill(bytes, sizeof bytes);
    struct bcri_copy_region region = region_new(18);
    CHECK_RESULT(copy_to(desc, 1, &region, bytes, 18), 2 + 1, 0);
    static const uint8_t copied[18] = {1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
    for (int i = 0; i < 17; i++)
        CHECK_INT(((uint8_t *)region.data)[i], copied[i] ? bytes[i] : 0xa5);
}

/* SPDX-License-Identifier: MIT */
/* Sets of ranges against a plain row of flags. */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "ranges.h"

enum { NUMBERS = 200 };

static void check_same(const struct bcri_ranges *ranges, const bool *flag)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct bcri_range range = ranges->range[i];
        CHECK(range.from < range.to);
        CHECK(i == 0 || ranges->range[i - 1].to < range.from);
        for (; next < range.from; next++)
            CHECK(!flag[next]);
        for (; next < range.to; next++)
            CHECK(flag[next]);
    }
    for (; next < NUMBERS; next++)
        CHECK(!flag[next]);
    for (uint64_t i = 0; i < NUMBERS; i++)
        CHECK(bcri_ranges_holds(ranges, i) == flag[i]);
}

TEST(ranges_hold_what_was_added_and_not_removed)
{
    uint64_t state = test_seed();
    for (unsigned round = 0; round < 200; round++) {
        struct bcri_ranges ranges = {NULL, 0, 0};
        bool flag[NUMBERS] = {false};
        for (unsigned step = 0; step < 100; step++) {
            const size_t from = (size_t)test_rand_below(&state, NUMBERS);
            const size_t to = from + (size_t)test_rand_below(&state, NUMBERS - from + 1);
            const uint64_t what = test_rand_below(&state, 10);
            if (what == 0) {
                bcri_ranges_drop_below(&ranges, from);
                memset(flag, 0, from);
            } else if (what < 4) {
                CHECK(bcri_ranges_remove(&ranges, from, to));
                memset(flag + from, 0, to - from);
            } else {
                CHECK(bcri_ranges_add(&ranges, from, from + (to - from) / 8));
                memset(flag + from, 1, (to - from) / 8);
            }
            check_same(&ranges, flag);
        }
        bcri_ranges_free(&ranges);
    }
}

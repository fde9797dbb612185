/* SPDX-License-Identifier: MIT */
/* --debug-ccs and enl stacks: a table of what they take. */
#include "base/number_list.h"
#include "check.h"

TEST(ordinals_are_numbers_and_ranges)
{
    static const char *const good[] = {"0", "0,3-5", "7-7", "1,1,1", "2147483647"};
    static const char *const bad[] = {"",   ",",  "1,",  ",1",         "a",    "5-3",
                                      "1-", "-1", "1 2", "2147483648", "1--2", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(enl_number_list_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!enl_number_list_ok(bad[i]));
    CHECK(enl_number_list_has(NULL, 17));
    CHECK(enl_number_list_has("0,3-5", 0));
    CHECK(!enl_number_list_has("0,3-5", 2));
    CHECK(enl_number_list_has("0,3-5", 3) && enl_number_list_has("0,3-5", 5));
    CHECK(!enl_number_list_has("0,3-5", 6));
}

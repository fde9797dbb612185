/* SPDX-License-Identifier: MIT */
/* enl -D and --debug-ccs: tables of what they take. */
#include "check.h"
#include "debug/where.h"

TEST(places_are_a_display_tmux_server_or_a_script)
{
    static const struct {
        const char *text;
        int result;
        enum enl_where where;
        const char *value;
    } cases[] = {
        {":0", 0, ENL_WHERE_DISPLAY, ":0"},       {"foobaz:0", 0, ENL_WHERE_DISPLAY, "foobaz:0"},
        {"tmux", 0, ENL_WHERE_TMUX, ""},          {"server", 0, ENL_WHERE_SERVER, ""},
        {"batch:a:b", 0, ENL_WHERE_BATCH, "a:b"}, {"batch:", -1, ENL_WHERE_NONE, ""},
        {"window", -1, ENL_WHERE_NONE, ""},       {"", -1, ENL_WHERE_NONE, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum enl_where where = ENL_WHERE_NONE;
        const char *value = NULL;
        char error[256];
        CHECK_INT(enl_where_parse(cases[i].text, &where, &value, error, sizeof error), cases[i].result);
        CHECK_INT(where, cases[i].where);
        CHECK_STR(value, cases[i].value);
    }
}

TEST(ordinals_are_numbers_and_ranges)
{
    static const char *const good[] = {"0", "0,3-5", "7-7", "1,1,1", "2147483647"};
    static const char *const bad[] = {"",   ",",  "1,",  ",1",         "a",    "5-3",
                                      "1-", "-1", "1 2", "2147483648", "1--2", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(enl_ordinals_ok(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!enl_ordinals_ok(bad[i]));
    CHECK(enl_ordinals_has(NULL, 17));
    CHECK(enl_ordinals_has("0,3-5", 0));
    CHECK(!enl_ordinals_has("0,3-5", 2));
    CHECK(enl_ordinals_has("0,3-5", 3) && enl_ordinals_has("0,3-5", 5));
    CHECK(!enl_ordinals_has("0,3-5", 6));
}

/* SPDX-License-Identifier: MIT */
/* enl -D: a table of what it takes. */
#include "check.h"
#include "debug/debug.h"

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

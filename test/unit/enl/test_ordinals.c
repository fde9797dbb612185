/* SPDX-License-Identifier: MIT */
/* Which CCEs a report of crashes names. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "inspect/crash/crash.h"

static char text[ENL_ORDINALS_TEXT_MAX], told[ENL_ORDINALS_TEXT_MAX + 64];

static const char *text_of(const struct enl_ordinals *set)
{
    enl_ordinals_text(set, text);
    return text;
}

static const char *told_of(const struct enl_ordinals *set, uint32_t cces)
{
    enl_ordinals_tell(set, cces, told, sizeof told);
    return told;
}

TEST(ranges_grow_and_meet_in_any_order)
{
    static const struct {
        uint32_t first, last;
        const char *text;
    } cases[] = {{5, 5, "5"},
                 {0, 0, "0, 5"},
                 {6, 6, "0, 5-6"},
                 {4, 4, "0, 4-6"},
                 {9, 12, "0, 4-6, 9-12"},
                 {5, 10, "0, 4-12"},
                 {2, 1, "0, 4-12"}, /* no range */
                 {20, 20, "0, 4-12, 20"},
                 {1, 3, "0-12, 20"},
                 {7, 7, "0-12, 20"},
                 {UINT32_MAX, UINT32_MAX, "0-12, 20, 4294967295"},
                 {0, UINT32_MAX, "0-4294967295"}};
    struct enl_ordinals set = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enl_ordinals_add(&set, cases[i].first, cases[i].last);
        CHECK_STR(text_of(&set), cases[i].text);
    }
}

TEST(cces_of_the_same_ordinal_are_told)
{
    struct enl_ordinals set = {0};
    for (uint32_t i = 0; i < 35; i++)
        enl_ordinals_add(&set, 1 + i % 4, 1 + i % 4);
    CHECK_STR(told_of(&set, 35), "1-4; some have the same ordinal");
    CHECK_STR(told_of(&set, 4), "1-4");
}

/* The fullest set names the largest numbers there are, so nothing can be longer. */
TEST(what_has_no_room_is_counted_and_said)
{
    struct enl_ordinals set = {0}, sent = {0}, both = {0};
    for (uint32_t i = 0; i < ENL_ORDINALS_MAX; i++)
        enl_ordinals_add(&set, 4000000000u + 3 * i, 4000000001u + 3 * i);
    CHECK(!set.cut);
    enl_ordinals_add(&set, 1, 1);
    CHECK(set.cut);
    CHECK_INT(set.count, ENL_ORDINALS_MAX);
    CHECK(strstr(text_of(&set), "4000000069-4000000070 ...") != NULL);
    CHECK(strlen(text) + 1 <= sizeof text);
    CHECK(strstr(told_of(&set, 60), "4000000069-4000000070 and 12 more") != NULL);
    enl_ordinals_read(&sent, text);
    CHECK_INT(sent.count, set.count);
    for (uint32_t i = 0; i < set.count; i++)
        CHECK(sent.range[i].first == set.range[i].first && sent.range[i].last == set.range[i].last);
    enl_ordinals_add_all(&both, &sent);
    CHECK(both.cut);
    enl_ordinals_add(&set, 4000000002u, 4000000002u); /* in the gap between two, which become one */
    CHECK_INT(set.count, ENL_ORDINALS_MAX - 1);
}

/* It may come from a daemon on another host. */
TEST(a_text_is_read_up_to_what_is_no_number)
{
    static const struct {
        const char *sent, *read;
    } cases[] = {{"", ""},
                 {"7", "7"},
                 {"1-3, 8", "1-3, 8"},
                 {"9, x, 3", "9"},
                 {"4-", "" /* 4-0 is no range */},
                 {"3-1, 5", "5"},
                 {"99999999999", ""},
                 {"2, -4", "2"},
                 {"2, ...", "2 ..."}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct enl_ordinals set = {0};
        enl_ordinals_read(&set, cases[i].sent);
        CHECK_STR(text_of(&set), cases[i].read);
    }
}

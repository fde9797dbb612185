/* SPDX-License-Identifier: MIT */
/* Foreign text in one harmless line: a table of what becomes of what, and the limits of the
 * buffer. */
#include <stdlib.h>
#include <string.h>

#include "bcri/escape.h"
#include "check.h"

#define TEXT(literal) literal, sizeof literal - 1

static const struct {
    const char *text;
    size_t length;
    const char *want;
    const char *why;
} cases[] = {
    {TEXT(""), "", "nothing"},
    {TEXT("plain text ~!"), "plain text ~!", "printable ASCII stays"},
    {TEXT("a\nb\rc\td\\e"), "a\\nb\\rc\\td\\\\e", "named escapes"},
    {TEXT("\0\x01\x1b[31m\x7f"), "\\x00\\x01\\x1b[31m\\x7f", "control bytes"},
    {TEXT("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82"),
     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82", "UTF-8 of two, three and four bytes stays"},
    {TEXT("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f\xc2\xa0", "C1 ends at U+009F"},
    {TEXT("\xe2\x80\xa8\xe2\x80\xa9"), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9", "line and paragraph separators"},
    {TEXT("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f"), "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8f",
     "directions"},
    {TEXT("\xd8\x9c\xef\xbb\xbf"), "\\xd8\\x9c\\xef\\xbb\\xbf", "Arabic letter mark, byte order mark"},
    {TEXT("\xff\xfe\x80"), "\\xff\\xfe\\x80", "never UTF-8"},
    {TEXT("\xc0\x8a\xc1\xbf"), "\\xc0\\x8a\\xc1\\xbf", "overlong, two bytes"},
    {TEXT("\xe0\x80\x8a"), "\\xe0\\x80\\x8a", "overlong, three bytes"},
    {TEXT("\xf0\x80\x80\x8a"), "\\xf0\\x80\\x80\\x8a", "overlong, four bytes"},
    {TEXT("\xe0\x9f\xbf\xf0\x8f\xbf\xbf"), "\\xe0\\x9f\\xbf\\xf0\\x8f\\xbf\\xbf",
     "overlong, the last character of fewer bytes"},
    {TEXT("\xed\xa0\x80"), "\\xed\\xa0\\x80", "a surrogate"},
    {TEXT("\xf4\x90\x80\x80\xf5"), "\\xf4\\x90\\x80\\x80\\xf5", "beyond U+10FFFF"},
    {TEXT("\xe2\x82"), "\\xe2\\x82", "the end of the text inside a sequence"},
    {TEXT("\xe2\x82x\xc3"), "\\xe2\\x82x\\xc3", "a sequence broken off"},
};

TEST(each_text_becomes_the_line_of_the_table)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[128];
        size_t taken;
        size_t used = bcri_escape(cases[i].text, cases[i].length, out, sizeof out, &taken);

        if (strcmp(out, cases[i].want) != 0)
            FAIL("%s: wanted %s, got %s", cases[i].why, cases[i].want, out);
        CHECK_UINT(used, strlen(out));
        CHECK_UINT(taken, cases[i].length);
    }
}

TEST(a_small_buffer_gets_whole_escapes_and_whole_code_points_only)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t capacity = 1; capacity <= strlen(cases[i].want) + 1; capacity++) {
            /* On the heap, exactly so large, so that a sanitizer sees a byte too many. */
            char *out = malloc(capacity), again[128];
            size_t taken;
            size_t used = bcri_escape(cases[i].text, cases[i].length, out, capacity, &taken);

            CHECK(used < capacity);
            CHECK_INT(out[used], '\0');
            CHECK(taken <= cases[i].length);
            CHECK(memcmp(out, cases[i].want, used) == 0);
            if (capacity == strlen(cases[i].want) + 1)
                CHECK_UINT(taken, cases[i].length);
            /* What was not taken yields the rest of the line. */
            bcri_escape(cases[i].text + taken, cases[i].length - taken, again, sizeof again, NULL);
            CHECK_STR(again, cases[i].want + used);
            free(out);
        }
    }
}

TEST(no_bytes_whatever_yield_a_control_character)
{
    uint64_t seed = test_seed();

    for (int round = 0; round < 20000; round++) {
        char text[24], out[4 * sizeof text + 1];
        size_t length = (size_t)test_rand_below(&seed, sizeof text + 1), taken;

        for (size_t i = 0; i < length; i++)
            text[i] = (char)test_rand(&seed);
        bcri_escape(text, length, out, sizeof out, &taken);
        CHECK_UINT(taken, length);
        for (const char *c = out; *c; c++)
            CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
}

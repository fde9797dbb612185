/* SPDX-License-Identifier: MIT */
/* Text as JSON strings. That a real parser takes what enl prints is tested in test/system/tree/test_json.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check.h"

static char *json_of(const char *text)
{
    static char *bytes;
    size_t length;
    free(bytes);
    FILE *file = open_memstream(&bytes, &length);
    CHECK(file != NULL);
    enl_json_text(file, text);
    CHECK_INT(fclose(file), 0);
    return bytes;
}

TEST(text_keeps_its_meaning_and_what_is_no_utf8_is_told)
{
    static const struct {
        const char *text, *json, *why;
    } cases[] = {
        {"", "\"\"", "nothing"},
        {"a host's name ~", "\"a host's name ~\"", "ASCII"},
        {"\"\\", "\"\\\"\\\\\"", "what JSON itself uses"},
        {"\x01\t\n\x1b\x7f", "\"\\u0001\\u0009\\u000a\\u001b\\u007f\"", "control characters"},
        {"\xc3\xa9 \xe2\x82\xac", "\"\\u00e9 \\u20ac\"", "two and three bytes"},
        {"\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\"", "four bytes: a pair"},
        {"\xf4\x8f\xbf\xbf", "\"\\udbff\\udfff\"", "the last code"},
        {"\xc2\x9b", "\"\\u009b\"", "a control character of two bytes"},
        {"\xe2\x80\xae", "\"\\u202e\"", "which turns the direction"},
        {"\xff\xc3(", "\"\\\\xff\\\\xc3(\"", "bytes of no code"},
        {"\xe2\x82", "\"\\\\xe2\\\\x82\"", "cut off"},
        {"\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"", "half of a pair"},
        {"\xc0\x80\xf4\x90\x80\x80", "\"\\\\xc0\\\\x80\\\\xf4\\\\x90\\\\x80\\\\x80\"", "too long, too large"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(json_of(cases[i].text), cases[i].json) != 0)
            FAIL("%s: wanted %s, got %s", cases[i].why, cases[i].json, json_of(cases[i].text));
}

TEST(any_two_bytes_become_printable_ascii)
{
    char text[3] = "";
    for (int one = 1; one < 256; one++)
        for (int two = 1; two < 256; two++) {
            text[0] = (char)one;
            text[1] = (char)two;
            for (const char *at = json_of(text); *at != '\0'; at++)
                if (*at < ' ' || *at > '~')
                    FAIL("%02x %02x gives %02x", one, two, (unsigned)(unsigned char)*at);
        }
}

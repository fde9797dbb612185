/* SPDX-License-Identifier: MIT */
/* Commands in one string: a table of texts and their words. */
#include <string.h>

#include "bcri/words.h"
#include "check.h"

TEST(words_are_what_a_shell_without_expansion_makes_of_them)
{
    static const struct {
        const char *text;
        int count;
        const char *words[4];
    } cases[] = {
        {"", 0, {NULL}},
        {" \t\n", 0, {NULL}},
        {"valgrind", 1, {"valgrind"}},
        {"  strace -f\t-o  log ", 4, {"strace", "-f", "-o", "log"}},
        {"a 'b c' \"d e\"", 3, {"a", "b c", "d e"}},
        {"'' a''b", 2, {"", "ab"}},
        {"a\\ b \\'c", 2, {"a b", "'c"}},
        {"'\\' \"\\\"\"", 2, {"\\", "\""}},
        {"$HOME *", 2, {"$HOME", "*"}},
        {"'it is open", -1, {NULL}},
        {"\"so\\\" is this", -1, {NULL}},
        {"a \\", -1, {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char bytes[64], *words[8];
        CHECK_INT(bcri_words_count(cases[i].text), cases[i].count);
        if (cases[i].count < 0)
            continue;
        bcri_words_split(cases[i].text, bytes, words);
        for (int w = 0; w < cases[i].count; w++)
            CHECK_STR(words[w], cases[i].words[w]);
        CHECK_PTR(words[cases[i].count], NULL);
    }
}

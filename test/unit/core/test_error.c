/* SPDX-License-Identifier: MIT */
/* test_error.c -- every code of <bcr/error.h> has a number, a group and a sentence of its own. */
#include "check.h"

#include <bcr.h>

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    int number;
    const char *sentence;
} codes[] = {
#define ROW(name, number, sentence) {"bcrE_" #name, number, sentence},
    BCR_ERROR_MAP(ROW)
#undef ROW
};

enum { CODE_COUNT = sizeof codes / sizeof codes[0] };

static const char *unknown_sentence(void)
{
    return bcr_strerror(INT_MIN);
}

TEST(every_code_has_its_own_sentence)
{
    for (int i = 0; i < CODE_COUNT; i++)
        CHECK_STR(bcr_strerror(codes[i].number), codes[i].sentence);
}

TEST(no_error_is_zero_and_says_so)
{
    CHECK_INT(bcrE_OK, 0);
    CHECK_STR(bcr_strerror(bcrE_OK), "no error");
}

TEST(the_enum_has_the_numbers_of_the_table)
{
#define SAME(name, number, sentence) CHECK_INT(bcrE_##name, number);
    BCR_ERROR_MAP(SAME)
#undef SAME
}

/* They are part of the interface: a program compiled against 0.1.0 has them built in. */
TEST(the_numbers_are_those_that_were_published)
{
    static const struct {
        int code, number;
    } published[] = {
        {bcrE_NOINIT, 1},    {bcrE_ARG, 2},     {bcrE_RGID, 3},       {bcrE_PENDING, 4}, {bcrE_DESC, 5},
        {bcrE_ARCH, 6},      {bcrE_BUSY, 7},    {bcrE_TIMEOUT, 8},    {bcrE_FULL, 9},    {bcrE_NOMEM, 10},
        {bcrE_NOCELL, 20},   {bcrE_ACCESS, 21}, {bcrE_OWNERDEAD, 22}, {bcrE_NOCCE, 40},  {bcrE_DEAD, 41},
        {bcrE_RANGE, 11},    {bcrE_NBYTES, 12}, {bcrE_RESERVED, 23},  {bcrE_ENLIST, 42}, {bcrE_NOHOST, 43},
        {bcrE_NOCORE, 44},   {bcrE_NOPROG, 45}, {bcrE_INTERNAL, 60},  {bcrE_FORK, 80},   {bcrE_LONGJMP, 81},
        {bcrE_HOSTLOST, 46}, {bcrE_NOTEAM, 13}, {bcrE_INSIDE, 14},    {bcrE_WOKEN, 15},  {bcrE_NODIR, 16},
    };
    CHECK_INT(sizeof published / sizeof published[0], CODE_COUNT);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        CHECK_INT(published[i].code, published[i].number);
}

TEST(names_numbers_and_sentences_are_unique)
{
    for (int i = 0; i < CODE_COUNT; i++)
        for (int k = 0; k < i; k++) {
            CHECK(codes[i].number != codes[k].number);
            CHECK(strcmp(codes[i].name, codes[k].name) != 0);
            CHECK(strcmp(codes[i].sentence, codes[k].sentence) != 0);
        }
}

TEST(codes_stand_in_rising_order_in_groups_below_one_hundred)
{
    int last = 0;
    for (int i = 0; i < CODE_COUNT; i++) {
        CHECK(codes[i].number > last);
        CHECK(codes[i].number < 100);
        last = codes[i].number;
    }
}

/* What went wrong, then what to do about it; fit for the middle of a line: "put: <sentence>". */
TEST(every_sentence_says_what_to_do)
{
    for (int i = 0; i < CODE_COUNT; i++) {
        const char *sentence = codes[i].sentence;
        const char *advice = strstr(sentence, "; ");
        if (advice == NULL)
            FAIL("%s gives no advice: \"%s\"", codes[i].name, sentence);
        CHECK(strlen(advice) > strlen("; do it"));
        CHECK(!isupper((unsigned char)sentence[0]) || isupper((unsigned char)sentence[1]));
        CHECK(!isspace((unsigned char)sentence[0]));
        CHECK(sentence[strlen(sentence) - 1] != '.');
        CHECK(strchr(sentence, '\n') == NULL);
    }
}

static bool is_code(int number)
{
    for (int i = 0; i < CODE_COUNT; i++)
        if (codes[i].number == number)
            return true;
    return number == bcrE_OK;
}

TEST(an_unknown_code_has_a_sentence_too)
{
    static const int far[] = {INT_MIN, INT_MIN + 1, -1000000, 1000000, INT_MAX - 1, INT_MAX};

    CHECK(unknown_sentence() != NULL);
    CHECK(unknown_sentence()[0] != '\0');
    CHECK(!is_code(INT_MIN));
    for (int code = -300; code <= 300; code++)
        if (!is_code(code))
            CHECK_STR(bcr_strerror(code), unknown_sentence());
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        CHECK_STR(bcr_strerror(far[i]), unknown_sentence());
    for (int i = 0; i < CODE_COUNT; i++)
        CHECK(strcmp(unknown_sentence(), codes[i].sentence) != 0);
}

TEST(the_negative_of_a_code_is_no_code)
{
    for (int i = 0; i < CODE_COUNT; i++)
        CHECK_STR(bcr_strerror(-codes[i].number), unknown_sentence());
}

TEST(the_text_is_static)
{
    for (int i = 0; i < CODE_COUNT; i++) {
        const char *first = bcr_strerror(codes[i].number);
        (void)bcr_strerror(INT_MAX);
        (void)bcr_strerror(codes[0].number);
        CHECK_PTR(bcr_strerror(codes[i].number), first);
    }
}

TEST(asking_leaves_bcr_errno_alone)
{
    bcr_errno = bcrE_FULL;
    for (int code = -10; code <= 100; code++)
        (void)bcr_strerror(code);
    CHECK_INT(bcr_errno, bcrE_FULL);
}

TEST(it_works_in_a_process_that_is_no_cce)
{
    CHECK_INT(bcr_errno, bcrE_OK);
    CHECK_STR(bcr_strerror(bcr_errno), "no error");
}

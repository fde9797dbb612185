/* SPDX-License-Identifier: MIT */
/* The constants and ready-made descriptors of <bcr/types.h>; compiled programs contain these
 * numbers. */
#include <bcr/types.h>

#include <assert.h>
#include <stdbool.h>

#include "check.h"

static void check_one(const int *desc, int type)
{
    CHECK_INT(desc[0], 0);
    CHECK_INT(desc[1], type | bcrT_END);
    CHECK_INT(desc[2], 1);
}

TEST(ready_made_descriptors_are_one_item_each)
{
    check_one(bcrT_1CHAR, bcrT_CHAR);
    check_one(bcrT_1SHORT, bcrT_SHORT);
    check_one(bcrT_1INT, bcrT_INT);
    check_one(bcrT_1LONG, bcrT_LONG);
    check_one(bcrT_1LONGLONG, bcrT_LONGLONG);
    check_one(bcrT_1FLOAT, bcrT_FLOAT);
    check_one(bcrT_1DOUBLE, bcrT_DOUBLE);
    check_one(bcrT_1CCE, bcrT_CCE);
}

TEST(ready_made_descriptors_are_read_only)
{
    static_assert(_Generic(&bcrT_1INT[0], const int * : true, default : false), "");
    static_assert(_Generic(&bcrT_1ERROR[0], const int * : true, default : false), "");
    CHECK_INT(sizeof bcrT_1INT / sizeof bcrT_1INT[0], 3);
}

TEST(error_descriptor_is_two_ints_a_cce_and_an_int)
{
    static const int want[9] = {0, bcrT_INT, 2, 0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 1};
    CHECK_MEM(bcrT_1ERROR, want, sizeof want);
}

TEST(end_descriptor_is_a_cce_and_three_ints)
{
    static const int want[6] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 3};
    CHECK_MEM(bcrT_1END, want, sizeof want);
}

TEST(line_descriptor_is_three_ints)
{
    static const int want[3] = {0, bcrT_INT | bcrT_END, 3};
    CHECK_MEM(bcrT_1LINE, want, sizeof want);
}

TEST(type_words_never_change)
{
    CHECK_INT(bcrT_CHAR, 1);
    CHECK_INT(bcrT_SHORT, 2);
    CHECK_INT(bcrT_INT, 3);
    CHECK_INT(bcrT_LONG, 4);
    CHECK_INT(bcrT_LONGLONG, 5);
    CHECK_INT(bcrT_FLOAT, 6);
    CHECK_INT(bcrT_DOUBLE, 7);
    CHECK_INT(bcrT_CCE, 8);
    CHECK_INT(bcrT_SKIP_FM, 0x08000000);
    CHECK_INT(bcrT_SKIP_TO, 0x10000000);
    CHECK_INT(bcrT_NEST, 0x20800000);
    CHECK_INT(bcrT_END, 0x40000000);
}

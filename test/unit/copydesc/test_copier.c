/* SPDX-License-Identifier: MIT */
/* What is kept of descriptors: found by content alone, bounded, and never in the way of the right
 * result. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

static struct bcri_copier_state state(void)
{
    return bcri_copier_state(the_copier());
}

/* Was the last copy done with what was known? Counts from the last question on. */
static bool was_known(void)
{
    static struct bcri_copier_state before;
    struct bcri_copier_state now = state();
    bool known = now.made_count == before.made_count;
    CHECK_UINT(now.found_count + now.made_count, before.found_count + before.made_count + 1);
    before = now;
    return known;
}

TEST(the_same_content_at_another_address_is_known)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 1) | bcrT_END, 2, 0, bcrT_CHAR | bcrT_END, 1};
    int copy[9];
    uint8_t source[3] = {1, 2, 3};
    struct bcri_copy_region region = region_new(3);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 3), 2, 0);
    CHECK(!was_known());
    CHECK_RESULT(copy_to(desc, 1, &region, source, 3), 2, 0);
    CHECK(was_known());
    memcpy(copy, desc, sizeof copy);
    CHECK_RESULT(copy_to(copy, 1, &region, source, 3), 2, 0);
    CHECK(was_known());
    CHECK_MEM(region.data, source, 3);
}

TEST(another_content_at_the_same_address_is_noticed)
{
    int desc[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 2) | bcrT_END, 2, 0, 77, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[5] = {1, 2, 3, 4, 5};
    struct bcri_copy_region region = region_new(5);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2 + 2, 0);
    CHECK(!was_known());
    desc[7] = 78; /* nothing leads there */
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2 + 2, 0);
    CHECK(was_known());
    desc[11] = 2; /* the nested list: two chars */
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2, 0);
    CHECK(!was_known());
    CHECK_MEM(region.data, source, 5);
    desc[9] = 1; /* the nested list: an adjust */
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 1, 0);
    CHECK(!was_known());
    desc[9] = 0;
    desc[4] = bcrT_CHAR | bcrT_END; /* nothing nested any more */
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2 + 2, 0);
    CHECK(!was_known());
    desc[4] = (bcrT_NEST + 1) | bcrT_END; /* leads to the malformed triple */
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), -2, bcrE_DESC);
}

TEST(a_longer_list_is_another_one)
{
    int desc[] = {0, bcrT_CHAR | bcrT_END, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[2] = {1, 2};
    struct bcri_copy_region region = region_new(2);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 2), 2 + 1, 0);
    CHECK(!was_known());
    desc[1] = bcrT_CHAR;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 2), 2, 0);
    CHECK(!was_known());
    desc[1] = bcrT_CHAR | bcrT_END;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 2), 2 + 1, 0);
    CHECK(was_known());
}

TEST(no_more_of_an_array_is_read_than_it_has_though_longer_ones_are_known)
{
    static const int known[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 2) | bcrT_END, 1, 7, bcrT_CHAR | bcrT_END, 1,
                                0, bcrT_CHAR, 1, 0, bcrT_CHAR | bcrT_END,       1};
    uint8_t source[8] = {1, 2, 3};
    struct bcri_copy_region region = region_new(8);
    for (int twice = 0; twice < 2; twice++)
        for (int count = 1; count <= 5; count++) {
            int *array = (int *)(void *)guarded((size_t)count * 3 * sizeof(int));
            memcpy(array, known, (size_t)count * 3 * sizeof(int));
            array[3 * count - 2] |= bcrT_END;
            CHECK_RESULT(copy_to(known, 1, &region, source, 8), 2 + 5, 0); /* the one used last */
            if (count == 1)
                CHECK_RESULT(copy_to(array, 1, &region, source, 8), 2 + 7, 0);
            else if (count == 4)
                CHECK_RESULT(copy_to(array, 1, &region, source, 8), 2 + 6, 0);
            else if (count == 5)
                CHECK_RESULT(copy_to(array, 1, &region, source, 8), 2 + 5, 0);
        }
}

TEST(archtypes_phases_and_directions_are_kept_apart)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_INT | bcrT_END, 1};
    const int own = bcri_archtype_native();
    uint8_t buffer[8] = {1};
    struct bcri_copy_region region = region_new(32);
    for (int i = 0; i < 2; i++) {
        for (int offset = 0; offset < 16; offset++) {
            region.offset_bytes = offset;
            region.archtype = own;
            CHECK_RESULT(copy_to(desc, 1, &region, buffer, 8), 2, 0);
            CHECK_INT(was_known(), i == 1 || offset >= 8);
            region.archtype = own ^ 1 << 24;
            CHECK_RESULT(copy_to(desc, 1, &region, buffer, 8), 2, 0);
            CHECK_INT(was_known(), i == 1 || offset >= 8);
            CHECK(copy_from(desc, 1, &region, buffer, 8).ret >= 2);
            CHECK_INT(was_known(), i == 1 || offset >= 8);
        }
    }
}

TEST(malformed_descriptors_are_not_kept)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, 77 | bcrT_END, 1};
    struct bcri_copy_region region = region_new(2);
    CHECK_RESULT(copy_to(desc, 1, &region, "", 1), -2, bcrE_DESC);
    CHECK_UINT(state().compiled_count, 0);
    region.archtype = 3;
    CHECK_RESULT(copy_to(bcrT_1CHAR, 1, &region, "", 1), 0, bcrE_ARCH);
    CHECK_UINT(state().compiled_count, 0);
}

TEST(what_has_not_been_used_for_longest_goes_first)
{
    int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_CHAR | bcrT_END, 0};
    uint8_t source[4] = {1, 2, 3, 4};
    struct bcri_copy_region region = region_new(4);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5 * BCRI_COPIER_COMPILED; i++) {
            desc[0] = i % 4;
            desc[3] = i;
            CHECK_RESULT(copy_to(desc, 1, &region, source, 4), i >= 3 - desc[0] ? 2 : 2 + 3 - desc[0] - i, 0);
            CHECK_MEM(region.data, source + desc[0], 1);
            CHECK(state().compiled_count <= BCRI_COPIER_COMPILED);
            CHECK(state().size_bytes <= BCRI_COPIER_BYTES);
            CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, source, 4), 2, 0);
        }
    }
    CHECK_UINT(state().compiled_count, BCRI_COPIER_COMPILED);
    /* The one in constant use was made once. */
    CHECK_UINT(state().made_count, 3 * 5 * BCRI_COPIER_COMPILED + 1);
    CHECK_UINT(state().found_count, 3 * 5 * BCRI_COPIER_COMPILED - 1);
}

/* A flat list of `count` chars, every other one skipped so that nothing joins. */
static int *long_list(int count)
{
    int *desc = malloc((size_t)count * 3 * sizeof(int));
    CHECK(desc != NULL);
    for (int i = 0; i < count; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] =
            bcrT_CHAR | (i % 2 ? bcrT_SKIP_FM | bcrT_SKIP_TO : 0) | (i == count - 1 ? bcrT_END : 0);
        desc[3 * i + 2] = 1;
    }
    return desc;
}

TEST(large_descriptors_are_copied_but_only_kept_if_there_is_room)
{
    static uint8_t source[65536];
    fill(source, sizeof source);
    static const int counts[] = {100, 1000, 5000, 65536};
    for (int i = 0; i < 4; i++) {
        int *desc = long_list(counts[i]);
        struct bcri_copy_region region = region_new(counts[i]);
        for (int twice = 0; twice < 2; twice++)
            CHECK_RESULT(copy_to(desc, 1, &region, source, counts[i]), 2, 0);
        const uint8_t *data = region.data;
        for (int k = 0; k < counts[i]; k++)
            CHECK_INT(data[k], k % 2 ? 0xa5 : source[k]);
        CHECK(state().size_bytes <= BCRI_COPIER_BYTES);
        free(desc);
    }
    CHECK_UINT(state().compiled_count, 3); /* all but the largest */
}

TEST(few_large_descriptors_fill_the_copier_as_many_small_ones_do)
{
    enum { LISTS = 64, LEAST = 2000 };
    static uint8_t source[65536];
    uint32_t most = 0;
    fill(source, sizeof source);
    for (int i = 0; i < LISTS; i++) {
        int *desc = long_list(LEAST + 2 * i);
        struct bcri_copy_region region = region_new(LEAST + 2 * i);
        CHECK_RESULT(copy_to(desc, 1, &region, source, LEAST + 2 * i), 2, 0);
        CHECK(state().size_bytes <= BCRI_COPIER_BYTES);
        most = (uint32_t)state().compiled_count;
        free(desc);
    }
    CHECK(most > 1 && most < LISTS);
}

TEST(huge_repeats_are_loops_however_deep)
{
    /* 64 levels of 2 repeats of a short with a gap behind it. */
    int desc[3 * 65];
    for (int i = 0; i < 64; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = (bcrT_NEST + 1) | bcrT_END;
        desc[3 * i + 2] = i < 48 ? 1 : 2;
    }
    desc[3 * 64] = 2;
    desc[3 * 64 + 1] = bcrT_SHORT | bcrT_END;
    desc[3 * 64 + 2] = 1;
    enum { ITEMS = 1 << 16 };
    static uint8_t source[4 * ITEMS];
    fill(source, sizeof source);
    struct bcri_copy_region region = region_new(2 * ITEMS);
    CHECK_RESULT(copy_to(desc, 1, &region, source, sizeof source), 2, 0);
    const uint8_t *data = region.data;
    for (int i = 0; i < ITEMS; i++)
        CHECK_MEM(data + 2 * i, source + 4 * i + 2, 2);
    CHECK_UINT(state().compiled_count, 1);
    CHECK(state().size_bytes < 64 * 1024);

    static const int flat[] = {0, (bcrT_NEST + 1) | bcrT_END, INT_MAX, 1, bcrT_CHAR, 1,
                               0, bcrT_SHORT | bcrT_END,      1};
    struct bcri_copy_region small = region_new(8);
    CHECK_RESULT(copy_to(flat, 1, &small, source, 100), -2 - 91, 0);
    CHECK(state().size_bytes < 128 * 1024);
}

/* A reversal that counts how often it is called, and for how many items. */
static int calls, items;

static void count_items(uint8_t *destination, const uint8_t *from, size_t count)
{
    (void)destination;
    (void)from;
    calls++;
    items += (int)count;
}

TEST(what_lies_together_is_moved_at_once_across_triples_repeats_and_nesting)
{
    static const struct bcri_reverse counting = {"counting", count_items, count_items, count_items};
    /* An int; three times {two ints, a float, twice {an int, three floats}}; two ints. */
    static const int desc[] = {0,
                               bcrT_INT,
                               1,
                               0,
                               bcrT_NEST + 2,
                               3,
                               0,
                               bcrT_INT | bcrT_END,
                               2,
                               0,
                               bcrT_INT,
                               2,
                               0,
                               bcrT_FLOAT,
                               1,
                               0,
                               (bcrT_NEST + 1) | bcrT_END,
                               2,
                               0,
                               bcrT_INT,
                               1,
                               0,
                               bcrT_FLOAT | bcrT_END,
                               3};
    enum { ITEMS = 1 + 3 * (2 + 1 + 2 * 4) + 2, TIMES = 1000 };
    static uint8_t source[4 * ITEMS * TIMES];
    struct bcri_copier *copier = bcri_copier_create(&counting);
    struct bcri_copy_region region = region_new(sizeof source);
    region.archtype ^= 1 << 24;
    for (int repl = 1; repl <= TIMES; repl += TIMES - 1) {
        calls = items = 0;
        CHECK(bcri_copy_to_region(copier, desc, repl, &region, source, sizeof source, NULL).ret >= 2);
        CHECK_INT(items, repl * ITEMS);
        CHECK_INT(calls, 1);
    }
    bcri_copier_destroy(copier);
}

/* Each turn ends with a run that the first run of the next turn continues. */
TEST(turns_that_continue_each_other_are_as_many_as_were_asked_for)
{
    enum { TURNS = 20, STEP = 5, BEHIND = 4 * STEP };
    static const int desc[] = {
        0, (bcrT_NEST + 1) | bcrT_END, TURNS, 0, bcrT_CHAR, 1, 0, bcrT_CHAR | bcrT_SKIP_FM | bcrT_SKIP_TO, 2,
        0, bcrT_CHAR | bcrT_END,       2};
    uint8_t source[TURNS * STEP + BEHIND];
    struct bcri_copy_region region = region_new(sizeof source);
    fill(source, sizeof source);
    CHECK_RESULT(copy_to(desc, 1, &region, source, sizeof source), BEHIND + 2, 0);
    const uint8_t *data = region.data;
    for (int i = 0; i < TURNS * STEP; i++)
        CHECK_INT(data[i], i % STEP == 1 || i % STEP == 2 ? 0xa5 : source[i]);
    CHECK(untouched(data + TURNS * STEP, BEHIND));
}

TEST(no_copier_is_destroyed_twice_or_leaks)
{
    bcri_copier_destroy(NULL);
    struct bcri_copier *copier = bcri_copier_create(bcri_reverse_best());
    CHECK_INT(bcri_copydesc_check(copier, bcrT_1INT), 0);
    CHECK_INT(bcri_copydesc_check(copier, bcrT_1CCE), 0);
    CHECK_UINT(bcri_copier_state(copier).compiled_count, 2);
    bcri_copier_destroy(copier);
}

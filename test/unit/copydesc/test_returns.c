/* SPDX-License-Identifier: MIT */
/* What the two copies return in every case, and that a copy that stops has made exactly a
 * prefix. */
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

/* short, padding, int, padding-free short: 2 + (2) + 4 + 2 = 10 bytes, 12 with the next
 * alignment. */
static const int sis_desc[] = {0, bcrT_SHORT, 1, 0, bcrT_INT, 1, 0, bcrT_SHORT | bcrT_END, 1};

TEST(expended_with_nothing_left_returns_2)
{
    uint8_t buffer[10] = {0};
    struct bcri_copy_region region = region_new(10);
    CHECK_RESULT(copy_to(sis_desc, 1, &region, buffer, 10), 2, 0);
    CHECK_RESULT(copy_from(sis_desc, 1, &region, buffer, 10), 2, 0);
}

TEST(expended_with_n_bytes_left_returns_n_plus_2)
{
    uint8_t buffer[17] = {0};
    struct bcri_copy_region region = region_new(15);
    CHECK_RESULT(copy_to(sis_desc, 1, &region, buffer, 17), 2 + 7, 0);
    CHECK_RESULT(copy_from(sis_desc, 1, &region, buffer, 17), 2 + 5, 0);
    region.offset_bytes = 4;
    CHECK_RESULT(copy_from(sis_desc, 1, &region, buffer, 17), 2 + 1, 0);
}

TEST(repl_0_copies_nothing_and_leaves_all_of_the_source)
{
    uint8_t *buffer = guarded(8), source[8] = {0};
    struct bcri_copy_region region = region_new(12);
    CHECK_RESULT(copy_to(bcrT_1INT, 0, &region, source, 8), 2 + 8, 0);
    CHECK(untouched(region.data, 12));
    region.offset_bytes = 12;
    CHECK_RESULT(copy_from(bcrT_1INT, 0, &region, buffer, 8), 2, 0);
    region.offset_bytes = 1;
    CHECK_RESULT(copy_from(bcrT_1INT, 0, &region, buffer, 8), 2 + 11, 0);
    CHECK(untouched(buffer, 8));
}

TEST(untranslatable_archtype_returns_0_and_copies_nothing)
{
    uint8_t *buffer = guarded(8), source[8] = {0};
    struct bcri_copy_region region = region_new(8), native = region_new(8);
    const int archtypes[] = {bcri_archtype_native() ^ 3 << 25 /* no float format known here */, 0, 1, -1,
                             INT_MAX};
    for (size_t i = 0; i < sizeof archtypes / sizeof archtypes[0]; i++) {
        region.archtype = archtypes[i];
        CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, source, 8), 0, bcrE_ARCH);
        CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, 8), 0, bcrE_ARCH);
        CHECK_RESULT(bcri_copy_between(the_copier(), bcrT_1INT, 1, &region, &native), 0, bcrE_ARCH);
        CHECK_RESULT(bcri_copy_between(the_copier(), bcrT_1INT, 1, &native, &region), 0, bcrE_ARCH);
        CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1INT, 1, archtypes[i], 0, 8), 0, bcrE_ARCH);
    }
    CHECK(untouched(region.data, 8));
    CHECK(untouched(native.data, 8));
    CHECK(untouched(buffer, 8));
}

TEST(malformed_descriptor_is_reported_before_an_untranslatable_archtype)
{
    static const int desc[] = {0, bcrT_END, 1};
    uint8_t source[8] = {0};
    struct bcri_copy_region region = region_new(8);
    region.archtype = 1;
    CHECK_RESULT(copy_to(desc, 1, &region, source, 8), -2, bcrE_DESC);
    CHECK_RESULT(bcri_copy_size(the_copier(), desc, 1, 1, 0, 8), -1, bcrE_DESC);
}

TEST(size_of_a_copy_counts_what_it_would_use)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_INT, 1, 0, bcrT_CHAR | bcrT_END, 1};
    const int own = bcri_archtype_native(),
              no_gaps = 1 | 2 << 4 | 3 << 8 | 3 << 12 | 2 << 16 | 3 << 20 | 1 << 25;
    CHECK(bcri_archtype_valid(no_gaps));
    static const struct {
        int repl, offset, length, ret;
    } rows[] = {{1, 0, 9, 2 + 9},  {1, 3, 9, 2 + 9},    {1, 4, 100, 2 + 13}, {0, 7, 0, 2 + 7},
                {0, 0, 5, 2},      {1, 0, 8, -2 - 8},   {1, 0, 7, -2 - 1},   {1, 0, 0, -2},
                {1, 5, 0, -2 - 5}, {2, 0, 16, -2 - 16}, {2, 0, 20, 2 + 17},  {3, 0, 12, -2 - 10}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_RESULT(bcri_copy_size(the_copier(), desc, rows[i].repl, own, rows[i].offset, rows[i].length),
                     rows[i].ret, 0);
    CHECK_RESULT(bcri_copy_size(the_copier(), desc, 1, no_gaps, 3, 9), 2 + 9, 0);
    CHECK_RESULT(bcri_copy_size(the_copier(), desc, 3, no_gaps, 1, 1000), 2 + 19, 0);
    CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1CCE, 2, own, 1, 8), 2 + 36, 0);
}

TEST(size_of_a_copy_beyond_all_regions_is_refused)
{
    static const int skip[] = {0, bcrT_CHAR | bcrT_SKIP_TO | bcrT_END, INT_MAX - 2};
    CHECK_RESULT(bcri_copy_size(the_copier(), skip, 1, bcri_archtype_native(), 0, 0), INT_MAX, 0);
    CHECK_RESULT(bcri_copy_size(the_copier(), skip, 1, bcri_archtype_native(), 1, 0), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), skip, 2, bcri_archtype_native(), 0, 0), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), skip, INT_MAX, bcri_archtype_native(), 0, 0), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1CCE, INT_MAX, bcri_archtype_native(), 0, INT_MAX), -1,
                 bcrE_ARG);
}

TEST(size_of_a_copy_with_wrong_arguments_is_refused)
{
    const int own = bcri_archtype_native();
    CHECK_RESULT(bcri_copy_size(the_copier(), NULL, 1, own, 0, 8), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1INT, -1, own, 0, 8), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1INT, 1, own, -1, 8), -1, bcrE_ARG);
    CHECK_RESULT(bcri_copy_size(the_copier(), bcrT_1INT, 1, own, 0, -1), -1, bcrE_ARG);
    static const int before[] = {-1, bcrT_CHAR | bcrT_END, 1};
    CHECK_RESULT(bcri_copy_size(the_copier(), before, 1, own, 0, 8), -1, bcrE_DESC);
}

/* Bytes of the source that `length` of them let through: whole items only. */
static int whole_items(int length)
{
    return length >= 10 ? 10 : length >= 8 ? 8 : length >= 2 ? 2 : 0;
}

/* Is `data` what the first `count` source bytes make of untouched memory? Bytes 2 and 3 are
 * padding. */
static void check_prefix(const uint8_t *data, int length, const uint8_t *source, int count)
{
    for (int i = 0; i < length; i++) {
        uint8_t want = i < count && i != 2 && i != 3 ? source[i] : 0xa5;
        if (data[i] != want)
            FAIL("byte %d of a prefix of %d: wanted 0x%02x, got 0x%02x", i, count, want, data[i]);
    }
}

TEST(source_that_runs_out_returns_1_after_a_prefix)
{
    uint8_t source[10];
    fill(source, 10);
    for (int length = 0; length < 10; length++) {
        struct bcri_copy_region region = region_new(20);
        uint8_t *shorter = guarded((size_t)length);
        memcpy(shorter, source, (size_t)length);
        CHECK_RESULT(copy_to(sis_desc, 1, &region, shorter, length), 1, 0);
        check_prefix(region.data, 20, source, whole_items(length));
        check_guard(region.data);

        struct bcri_copy_region short_region = region_new(length);
        memcpy(short_region.data, source, (size_t)length);
        uint8_t *buffer = guarded(20);
        CHECK_RESULT(copy_from(sis_desc, 1, &short_region, buffer, 20), 1, 0);
        check_prefix(buffer, 20, source, whole_items(length));
        check_guard(buffer);
    }
}

TEST(full_destination_returns_the_bytes_left_after_a_prefix)
{
    uint8_t source[20];
    fill(source, 20);
    for (int length = 0; length < 10; length++) {
        int left = 20 - whole_items(length);
        struct bcri_copy_region short_region = region_new(length);
        CHECK_RESULT(copy_to(sis_desc, 1, &short_region, source, 20), -left - 2, 0);
        check_prefix(short_region.data, length, source, whole_items(length));
        check_guard(short_region.data);

        struct bcri_copy_region region = region_new(20);
        memcpy(region.data, source, 20);
        uint8_t *buffer = guarded((size_t)length);
        CHECK_RESULT(copy_from(sis_desc, 1, &region, buffer, length), -left - 2, 0);
        check_prefix(buffer, length, source, whole_items(length));
        check_guard(buffer);
    }
}

TEST(the_source_has_run_out_if_both_sides_are_too_short)
{
    uint8_t buffer[3] = {0};
    struct bcri_copy_region region = region_new(3);
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, buffer, 3), 1, 0);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, 3), 1, 0);
    CHECK_RESULT(copy_to(bcrT_1SHORT, 2, &region, buffer, 3), 1, 0);
}

TEST(full_destination_with_nothing_left_of_the_source_returns_1)
{
    /* -0-2 would say "bad descriptor". */
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_CHAR | bcrT_SKIP_TO | bcrT_END, 9};
    uint8_t buffer[4] = {0};
    struct bcri_copy_region region = region_new(4);
    CHECK_RESULT(copy_to(desc, 1, &region, buffer, 1), 1, 0);
    CHECK_RESULT(copy_to(desc, 1, &region, buffer, 2), -2 - 1, 0);
}

TEST(skips_stop_at_the_end_of_their_side_like_copies)
{
    static const int fm[] = {0, bcrT_SHORT | bcrT_SKIP_FM, 3, 0, bcrT_CHAR | bcrT_END, 1};
    static const int to[] = {0, bcrT_SHORT | bcrT_SKIP_TO, 3, 0, bcrT_CHAR | bcrT_END, 1};
    static const int both[] = {0, bcrT_SHORT | bcrT_SKIP_FM | bcrT_SKIP_TO, 3, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t buffer[7] = {0};
    struct bcri_copy_region five = region_new(5), seven = region_new(7);
    CHECK_RESULT(copy_to(fm, 1, &seven, buffer, 5), 1, 0);
    CHECK_RESULT(copy_to(fm, 1, &seven, buffer, 7), 2, 0);
    CHECK_RESULT(copy_from(fm, 1, &five, buffer, 7), 1, 0);
    CHECK_RESULT(copy_to(to, 1, &five, buffer, 7), -2 - 7, 0);
    CHECK_RESULT(copy_from(to, 1, &seven, buffer, 5), -2 - 7, 0);
    CHECK_RESULT(copy_to(both, 1, &seven, buffer, 5), 1, 0);
    CHECK_RESULT(copy_to(both, 1, &five, buffer, 7), -2 - 3, 0); /* two have passed on both sides */
    CHECK_RESULT(copy_from(both, 1, &five, buffer, 7), 1, 0);
    CHECK_RESULT(copy_from(both, 1, &seven, buffer, 5), -2 - 3, 0);
    CHECK(untouched(five.data, 5));
    CHECK(untouched((uint8_t *)seven.data + 1, 6)); /* in front of these one char was copied */
}

TEST(bytes_left_count_adjusts_but_not_the_padding_of_what_did_not_come)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 2, bcrT_INT | bcrT_END, 1};
    uint8_t buffer[12] = {0};
    struct bcri_copy_region region = region_new(5);
    CHECK_RESULT(copy_to(desc, 1, &region, buffer, 12), -2 - 9, 0); /* char, 2 adjusted, the padding not */
    struct bcri_copy_region longer = region_new(12);
    CHECK_RESULT(copy_from(desc, 1, &longer, buffer, 7), -2 - 11, 0); /* adjusts do not concern the region */
}

TEST(items_behind_an_adjust_over_the_end_find_no_source_or_no_room)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 100, bcrT_CHAR | bcrT_END, 1};
    uint8_t buffer[4] = {0};
    struct bcri_copy_region region = region_new(4);
    CHECK_RESULT(copy_to(desc, 1, &region, buffer, 4), 1, 0);
    CHECK_RESULT(copy_from(desc, 1, &region, buffer, 4), -2 - 3, 0);
}

TEST(cce_never_given_out_stops_the_copy_at_it)
{
    static const int desc[] = {0, bcrT_INT, 1, 0, bcrT_CCE, 3, 0, bcrT_INT | bcrT_END, 1};
    static const int source[] = {1000, 5, 100, 6, 2000};
    struct bcri_copy_region region = region_new(64);
    CHECK_RESULT(copy_to(desc, 1, &region, source, sizeof source), -2, bcrE_NOCCE);
    const uint8_t *data = region.data;
    CHECK_MEM(data, source, 4);
    for (int i = 4; i < 20; i++)
        CHECK_INT(data[i], 5);
    CHECK(untouched(data + 20, 44));
}

TEST(identity_that_cannot_be_given_an_id_stops_the_copy_at_it)
{
    struct bcri_copy_region region = region_new(48);
    uint8_t *data = region.data;
    memset(data, 7, 16); /* the second one, all 0xa5, is known as 165; the third is no good */
    data[47] = 1;
    int *buffer = (int *)(void *)guarded(3 * sizeof(int));
    CHECK_RESULT(copy_from(bcrT_1CCE, 3, &region, buffer, 3 * sizeof(int)), -2, bcrE_NOMEM);
    CHECK_INT(buffer[0], 7);
    CHECK_INT(buffer[1], 0xa5);
    CHECK(untouched((uint8_t *)&buffer[2], sizeof(int)));
}

TEST(without_a_codec_only_no_cce_can_travel)
{
    static const int source[2] = {-1, 5};
    struct bcri_copy_region region = region_new(32);
    CHECK_RESULT(bcri_copy_to_region(the_copier(), bcrT_1CCE, 2, &region, source, 8, NULL), -2, bcrE_NOCCE);
    CHECK(untouched((uint8_t *)region.data + 16, 16));
    int back[2] = {9, 9};
    CHECK_RESULT(bcri_copy_from_region(the_copier(), bcrT_1CCE, 2, &region, back, 8, NULL), -2, bcrE_NOCCE);
    CHECK_INT(back[0], -1);
    CHECK_INT(back[1], 9);
}

TEST(a_region_may_be_copied_into_itself)
{
    struct bcri_copy_region region = region_new(16);
    fill(region.data, 16);
    uint8_t want[16];
    memcpy(want, region.data, 16);
    memcpy(want + 8, want, 8);
    region.offset_bytes = 8;
    CHECK_RESULT(copy_to(bcrT_1CHAR, 8, &region, region.data, 8), 2, 0);
    CHECK_MEM(region.data, want, 16);

    /* Also where source and destination of one item overlap. */
    memmove(want + 8, want + 6, 8);
    CHECK_RESULT(copy_to(bcrT_1LONGLONG, 1, &region, (uint8_t *)region.data + 6, 8), 2, 0);
    CHECK_MEM(region.data, want, 16);
}

TEST(results_of_the_largest_sizes_do_not_overflow)
{
    if (sizeof(void *) < 8)
        SKIP("needs 2 GB of address space twice");
    /* Nothing of it is touched but the first bytes. */
    uint8_t *data = mmap(NULL, (size_t)INT_MAX + 1, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(data != MAP_FAILED);
    struct bcri_copy_region region = {
        .data = data, .length_bytes = INT_MAX, .archtype = bcri_archtype_native()};
    uint8_t buffer[4];
    CHECK_RESULT(copy_from(bcrT_1INT, 0, &region, buffer, 4), INT_MAX, 0);
    CHECK_RESULT(copy_from(bcrT_1CHAR, 1, &region, buffer, 4), INT_MAX, 0);
    CHECK_RESULT(copy_from(bcrT_1CHAR, 2, &region, buffer, 4), INT_MAX, 0);
    CHECK_RESULT(copy_from(bcrT_1CHAR, 3, &region, buffer, 4), INT_MAX - 1, 0);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, 0), -INT_MAX, 0);
    CHECK_RESULT(copy_from(bcrT_1CHAR, 5, &region, buffer, 4), -(INT_MAX - 2), 0);

    static const int all[] = {0, bcrT_CCE | bcrT_SKIP_FM,  INT_MAX / 16,
                              0, bcrT_CHAR | bcrT_SKIP_FM, 14,
                              0, bcrT_CHAR | bcrT_END,     1};
    CHECK_RESULT(copy_from(all, 1, &region, buffer, 4), 2, 0);
    CHECK_RESULT(copy_from(all, 2, &region, buffer, 4), 1, 0);
}

TEST(parts_of_one_region_are_copied_onto_others_as_if_set_aside_first)
{
    /* Every distance, also none: as the whole source was before. */
    for (int from = 0; from <= 24; from++)
        for (int to = 0; to <= 24; to++) {
            struct bcri_copy_region source = region_new(32);
            fill(source.data, 32);
            uint8_t want[32];
            memcpy(want, source.data, sizeof want);
            for (int i = 0; i < 4; i++)
                memcpy(want + (to + 1) / 2 * 2 + 2 * i, (uint8_t *)source.data + (from + 1) / 2 * 2 + 2 * i,
                       2);
            struct bcri_copy_region destination = source;
            source.offset_bytes = from;
            destination.offset_bytes = to;
            CHECK_INT(bcri_copy_between(the_copier(), bcrT_1SHORT, 4, &destination, &source).error, 0);
            CHECK_MEM(source.data, want, sizeof want);
        }
}

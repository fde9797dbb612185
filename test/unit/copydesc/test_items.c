/* SPDX-License-Identifier: MIT */
/* What stands where after a copy: bytes, alignment, adjusts, skips, nesting, CCE IDs. */
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

struct mixed {
    signed char c;
    short s;
    int i;
    long l;
    long long ll;
    float f;
    double d;
};

static const int mixed_desc[] = {
    0,          bcrT_CHAR,
    1,          0,
    bcrT_SHORT, 1,
    0,          bcrT_INT,
    1,          0,
    bcrT_LONG,  1,
    0,          bcrT_LONGLONG,
    1,          0,
    bcrT_FLOAT, 1,
    0,          bcrT_DOUBLE | bcrT_END,
    1,
};

static const struct mixed some_mixed = {-2, -300, 70000, -5, 0x0102030405060708, 1.5F, -0.1};

TEST(struct_members_need_no_adjust)
{
    struct bcri_copy_region region = region_new(sizeof(struct mixed));
    CHECK_RESULT(copy_to(mixed_desc, 1, &region, &some_mixed, sizeof some_mixed), 2, 0);
    struct mixed in_region, back = {0};
    memcpy(&in_region, region.data, sizeof in_region);
    CHECK_INT(in_region.c, -2);
    CHECK_INT(in_region.s, -300);
    CHECK_INT(in_region.i, 70000);
    CHECK_INT(in_region.l, -5);
    CHECK_INT(in_region.ll, 0x0102030405060708);
    CHECK(in_region.f == 1.5F);
    /* i386 computes constants with more bits than a double has, unless they are cast. */
    CHECK(in_region.d == (double)-0.1);

    CHECK_RESULT(copy_from(mixed_desc, 1, &region, &back, sizeof back), 2, 0);
    CHECK_INT(back.c, -2);
    CHECK_INT(back.ll, 0x0102030405060708);
    CHECK(back.d == (double)-0.1);
    check_guard(region.data);
}

TEST(region_bytes_of_x86_64_never_change)
{
    if (bcri_archtype_native() != 0x02faffa5)
        SKIP("this is not x86-64");
    static const int desc[] = {0,
                               (bcrT_NEST + 2),
                               1,
                               0,
                               bcrT_CCE | bcrT_END,
                               2,
                               0,
                               bcrT_CHAR,
                               1,
                               0,
                               bcrT_SHORT,
                               1,
                               0,
                               bcrT_INT,
                               1,
                               0,
                               bcrT_LONG,
                               1,
                               0,
                               bcrT_LONGLONG,
                               1,
                               0,
                               bcrT_FLOAT,
                               1,
                               0,
                               bcrT_DOUBLE | bcrT_END,
                               1};
    static const uint8_t want[72] = {
        0xfe, 0xa5, 0xd4, 0xfe, 0x70, 0x11, 0x01, 0x00, /* char, padding, short, int */
        0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* long */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* long long */
        0x00, 0x00, 0xc0, 0x3f, 0xa5, 0xa5, 0xa5, 0xa5, /* float, padding */
        0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0xbf, /* double */
        7,    7,    7,    7,    7,    7,    7,    7,    /* a CCE */
        7,    7,    7,    7,    7,    7,    7,    7,    /* */
        0,    0,    0,    0,    0,    0,    0,    0,    /* the CCE -1 */
        0,    0,    0,    0,    0,    0,    0,    0,
    };
    struct {
        struct mixed mixed;
        int cces[2];
    } source = {some_mixed, {7, -1}};
    struct bcri_copy_region region = region_new(72);
    CHECK_RESULT(copy_to(desc, 1, &region, &source, sizeof source), 2, 0);
    CHECK_MEM(region.data, want, sizeof want);
}

TEST(alignment_counts_from_the_start_of_buffer_and_region)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_INT | bcrT_END, 1};
    uint8_t buffer[9]; /* 8 bytes at an odd address */
    uint8_t *odd = buffer + ((uintptr_t)buffer % 2 == 0);
    fill(odd, 8);
    struct bcri_copy_region region = region_new(15);
    region.offset_bytes = 6;
    CHECK_RESULT(copy_to(desc, 1, &region, odd, 8), 2, 0);
    const uint8_t *data = region.data;
    CHECK(untouched(data, 6));
    CHECK_INT(data[6], odd[0]);
    CHECK(untouched(data + 7, 1));
    CHECK_MEM(data + 8, odd + 4, 4);
    CHECK(untouched(data + 12, 3));
}

TEST(adjust_moves_the_user_side_once_per_triple)
{
    static const int desc[] = {2, bcrT_CHAR, 3, -4, bcrT_CHAR, 1, 3, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[8];
    fill(source, 8);
    struct bcri_copy_region region = region_new(5);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 8), 2 + 2, 0);
    const uint8_t want[5] = {source[2], source[3], source[4], source[1], source[5]};
    CHECK_MEM(region.data, want, 5);
}

TEST(adjust_also_moves_for_triples_that_do_nothing_else)
{
    static const int desc[] = {3, bcrT_DOUBLE, 0, 1, bcrT_CHAR | bcrT_SKIP_TO, 0, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[8];
    fill(source, 8);
    struct bcri_copy_region region = region_new(1);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 8), 2 + 3, 0);
    CHECK_MEM(region.data, source + 4, 1);
}

TEST(last_adjust_may_lead_behind_the_buffer)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 7, bcrT_CHAR | bcrT_END, 0};
    uint8_t source[9];
    fill(source, 9);
    struct bcri_copy_region region = region_new(2);
    CHECK_RESULT(copy_to(desc, 2, &region, source, 9), 2, 0);
    const uint8_t want[2] = {source[0], source[8]};
    CHECK_MEM(region.data, want, 2);

    uint8_t *back = guarded(9);
    CHECK_RESULT(copy_from(desc, 2, &region, back, 9), 2, 0);
    CHECK_INT(back[0], source[0]);
    CHECK(untouched(back + 1, 7));
    CHECK_INT(back[8], source[8]);
}

TEST(skip_fm_passes_over_the_source)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_SHORT | bcrT_SKIP_FM, 2, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[7];
    fill(source, 7);
    struct bcri_copy_region region = region_new(7);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 7), 2, 0);
    const uint8_t want[2] = {source[0], source[6]};
    CHECK_MEM(region.data, want, 2);
    CHECK(untouched((uint8_t *)region.data + 2, 5));

    fill(region.data, 7); /* now the region is the source */
    uint8_t *buffer = guarded(7);
    CHECK_RESULT(copy_from(desc, 1, &region, buffer, 7), 2, 0);
    CHECK_MEM(buffer, want, 2);
    CHECK(untouched(buffer + 2, 5));
}

TEST(skip_to_passes_over_the_destination)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_SHORT | bcrT_SKIP_TO, 2, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[2];
    fill(source, 2);
    struct bcri_copy_region region = region_new(7);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 2), 2, 0);
    const uint8_t *data = region.data;
    CHECK_INT(data[0], source[0]);
    CHECK(untouched(data + 1, 5));
    CHECK_INT(data[6], source[1]);

    uint8_t *buffer = guarded(7);
    CHECK_RESULT(copy_from(desc, 1, &region, buffer, 7), 2 + 5, 0);
    CHECK_INT(buffer[0], data[0]);
    CHECK(untouched(buffer + 1, 5));
    CHECK_INT(buffer[6], data[1]);
}

TEST(both_skips_move_both_sides)
{
    static const int desc[] = {
        0, bcrT_CHAR, 1, 0, bcrT_INT | bcrT_SKIP_FM | bcrT_SKIP_TO, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[9];
    fill(source, 9);
    struct bcri_copy_region region = region_new(9);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 9), 2, 0);
    const uint8_t *data = region.data;
    CHECK_INT(data[0], source[0]);
    CHECK(untouched(data + 1, 7));
    CHECK_INT(data[8], source[8]);
}

TEST(a_skipped_cce_is_an_int_in_the_buffer_and_sixteen_bytes_in_the_region)
{
    static const int desc[] = {0, bcrT_CCE | bcrT_SKIP_FM | bcrT_SKIP_TO, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[5];
    fill(source, 5);
    struct bcri_copy_region region = region_new(17);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2, 0);
    CHECK(untouched(region.data, 16));
    CHECK_INT(((uint8_t *)region.data)[16], source[4]);
}

TEST(skips_of_a_nest_apply_to_all_in_it)
{
    /* The inner list copies one char and passes over one in the source; under SKIP_TO both also
     * move on there. */
    static const int desc[] = {
        0, (bcrT_NEST + 2) | bcrT_SKIP_TO,      2, 0, bcrT_CHAR | bcrT_END, 1, 0, bcrT_CHAR, 1,
        0, bcrT_CHAR | bcrT_SKIP_FM | bcrT_END, 1};
    uint8_t source[4];
    fill(source, 4);
    struct bcri_copy_region region = region_new(6);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 4), 2 + 1, 0);
    const uint8_t *data = region.data;
    CHECK(untouched(data, 4)); /* twice (1 passed over, 1 passed over on both sides) */
    CHECK_INT(data[4], source[2]);
    CHECK(untouched(data + 5, 1));
}

TEST(nested_lists_repeat_and_nest_further)
{
    /* 2 x (char, 3 x (short, char)) */
    static const int desc[] = {0, (bcrT_NEST + 1) | bcrT_END, 2, 0, bcrT_CHAR,  1,
                               0, (bcrT_NEST + 1) | bcrT_END, 3, 0, bcrT_SHORT, 1,
                               0, bcrT_CHAR | bcrT_END,       1};
    uint8_t source[26];
    fill(source, sizeof source);
    struct bcri_copy_region region = region_new(26);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 26), 2 + 1, 0);
    const uint8_t *data = region.data;
    static const uint8_t copied[26] = {1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1,
                                       1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
    for (int i = 0; i < 26; i++)
        CHECK_INT(data[i], copied[i] ? source[i] : 0xa5);
}

TEST(nest_offsets_count_from_their_own_triple_in_either_direction)
{
    /* 0: nest 2; 1: end; 2: nest 4 (end); 3: one char (end); 4: nest 3, backwards (end) */
    static const int desc[] = {
        0, bcrT_NEST + 2,        1, 0, bcrT_CHAR | bcrT_END,        1, 0, (bcrT_NEST | 2) | bcrT_END, 2,
        0, bcrT_CHAR | bcrT_END, 1, 0, (bcrT_NEST + -1) | bcrT_END, 2};
    uint8_t source[5];
    fill(source, 5);
    struct bcri_copy_region region = region_new(5);
    CHECK_RESULT(copy_to(desc, 1, &region, source, 5), 2, 0);
    CHECK_MEM(region.data, source, 5);
}

TEST(cces_travel_as_identities)
{
    static const int source[3] = {5, -1, 99};
    struct bcri_copy_region region = region_new(48);
    CHECK_RESULT(copy_to(bcrT_1CCE, 3, &region, source, sizeof source), 2, 0);
    const uint8_t *data = region.data;
    for (int i = 0; i < 16; i++) {
        CHECK_INT(data[i], 5);
        CHECK_INT(data[16 + i], 0);
        CHECK_INT(data[32 + i], 99);
    }
    int back[3] = {0, 0, 0};
    CHECK_RESULT(copy_from(bcrT_1CCE, 3, &region, back, sizeof back), 2, 0);
    CHECK_MEM(back, source, sizeof source);
}

TEST(cces_are_aligned_to_four_in_the_region)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_CCE | bcrT_END, 1};
    struct {
        signed char c;
        bcr_cce_id cce;
    } source = {1, 9};
    struct bcri_copy_region region = region_new(20);
    CHECK_RESULT(copy_to(desc, 1, &region, &source, sizeof source), 2, 0);
    const uint8_t *data = region.data;
    CHECK(untouched(data + 1, 3));
    for (int i = 4; i < 20; i++)
        CHECK_INT(data[i], 9);
}

TEST(error_regions_read_as_four_ints)
{
    static const int source[4] = {bcrE_DEAD, 2, 33, 17};
    struct bcri_copy_region region = region_new(28);
    CHECK_RESULT(copy_to(bcrT_1ERROR, 1, &region, source, sizeof source), 2, 0);
    int back[4];
    CHECK_RESULT(copy_from(bcrT_1ERROR, 1, &region, back, sizeof back), 2, 0);
    CHECK_MEM(back, source, sizeof source);
}

/* The daemon writes them as a struct: an identity, and three ints behind it (enl/host/watches.c). */
TEST(end_regions_read_as_four_ints)
{
    static const int source[4] = {33, 17, 2, 9};
    struct bcri_copy_region region = region_new(28);
    CHECK_RESULT(copy_to(bcrT_1END, 1, &region, source, sizeof source), 2, 0);
    const uint8_t *data = region.data;
    for (int i = 0; i < 16; i++)
        CHECK_INT(data[i], 33);
    CHECK_MEM(data + 16, source + 1, 3 * sizeof(int));
    int back[4];
    CHECK_RESULT(copy_from(bcrT_1END, 1, &region, back, sizeof back), 2, 0);
    CHECK_MEM(back, source, sizeof source);
}

TEST(repl_of_the_call_repeats_the_whole_descriptor)
{
    static const int desc[] = {0, bcrT_INT, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[13];
    fill(source, 13);
    struct bcri_copy_region region = region_new(13);
    CHECK_RESULT(copy_to(desc, 2, &region, source, 13), 2, 0);
    const uint8_t *data = region.data;
    CHECK_MEM(data, source, 5);
    CHECK(untouched(data + 5, 3));
    CHECK_MEM(data + 8, source + 8, 5);
}

TEST(lists_of_65536_triples_are_copied)
{
    enum { COUNT = 65536 };
    int *desc = (int *)(void *)guarded(COUNT * 3 * sizeof(int));
    for (int i = 0; i < COUNT; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = bcrT_CHAR | (i == COUNT - 1 ? bcrT_END : 0);
        desc[3 * i + 2] = 1;
    }
    uint8_t *source = guarded(COUNT);
    fill(source, COUNT);
    struct bcri_copy_region region = region_new(COUNT);
    CHECK_RESULT(copy_to(desc, 1, &region, source, COUNT), 2, 0);
    CHECK_MEM(region.data, source, COUNT);
}

/* SPDX-License-Identifier: MIT */
/* Golden bytes: what stands in regions of other machines' archtypes, for each type, and what does
 * not fit there. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include <bcr/desc.h>
#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

enum { X86_64 = 0x02faffa5, S390X = 0x03faffa5, I386 = 0x02babaa5 };

struct all {
    signed char c;
    short s;
    int i;
    long l;
    long long ll;
    float f;
    double d;
    bcr_cce_id cce[2];
};
static const int all_desc[] = {bcrD_STRUCT(struct all, (CHAR, c), (SHORT, s), (INT, i), (LONG, l),
                                           (LONGLONG, ll), (FLOAT, f), (DOUBLE, d), (CCE, cce))};
static const struct all some = {
    .c = -2, .s = -300, .i = 70000, .l = -5, .ll = 0x0102030405060708, .f = 1.5F, .d = -0.1, .cce = {7, -1}};

static const uint8_t in_x86_64[] = {0xfe, 0xa5, 0xd4, 0xfe, 0x70, 0x11, 0x01, 0x00, 0xfb, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
                                    0x00, 0x00, 0xc0, 0x3f, 0xa5, 0xa5, 0xa5, 0xa5, 0x9a, 0x99, 0x99, 0x99,
                                    0x99, 0x99, 0xb9, 0xbf, 7,    7,    7,    7,    7,    7,    7,    7,
                                    7,    7,    7,    7,    7,    7,    7,    7,    0,    0,    0,    0,
                                    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
static const uint8_t in_s390x[] = {0xfe, 0xa5, 0xfe, 0xd4, 0x00, 0x01, 0x11, 0x70, 0xff, 0xff, 0xff, 0xff,
                                   0xff, 0xff, 0xff, 0xfb, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                   0x3f, 0xc0, 0x00, 0x00, 0xa5, 0xa5, 0xa5, 0xa5, 0xbf, 0xb9, 0x99, 0x99,
                                   0x99, 0x99, 0x99, 0x9a, 7,    7,    7,    7,    7,    7,    7,    7,
                                   7,    7,    7,    7,    7,    7,    7,    7,    0,    0,    0,    0,
                                   0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
static const uint8_t in_i386[] = {
    0xfe, 0xa5, 0xd4, 0xfe, 0x70, 0x11, 0x01, 0x00, 0xfb, 0xff, 0xff, 0xff, 0x08, 0x07, 0x06, 0x05,
    0x04, 0x03, 0x02, 0x01, 0x00, 0x00, 0xc0, 0x3f, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0xbf,
    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,    7,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0};

static const struct machine {
    int archtype;
    const uint8_t *bytes;
    int length;
} machines[] = {{X86_64, in_x86_64, sizeof in_x86_64},
                {S390X, in_s390x, sizeof in_s390x},
                {I386, in_i386, sizeof in_i386}};

TEST(every_type_stands_in_regions_as_its_machine_has_it)
{
    for (int m = 0; m < 3; m++) {
        struct bcri_copy_region region = region_new(machines[m].length);
        region.archtype = machines[m].archtype;
        CHECK_RESULT(copy_to(all_desc, 1, &region, &some, sizeof some), 2, 0);
        CHECK_MEM(region.data, machines[m].bytes, (size_t)machines[m].length);
        struct all back;
        memset(&back, 0, sizeof back);
        CHECK_RESULT(copy_from(all_desc, 1, &region, &back, sizeof back), 2, 0);
        CHECK(back.c == some.c && back.s == some.s && back.i == some.i && back.l == some.l &&
              back.ll == some.ll);
        CHECK(back.f == some.f && back.d == some.d && back.cce[0] == 7 && back.cce[1] == -1);
    }
}

TEST(between_regions_of_two_machines_all_pairs_agree)
{
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            struct bcri_copy_region source = region_new(machines[from].length),
                                    destination = region_new(machines[to].length);
            memcpy(source.data, machines[from].bytes, (size_t)machines[from].length);
            source.archtype = machines[from].archtype;
            destination.archtype = machines[to].archtype;
            CHECK_RESULT(bcri_copy_between(the_copier(), all_desc, 1, &destination, &source), 2, 0);
            CHECK_MEM(destination.data, machines[to].bytes, (size_t)machines[to].length);
        }
}

TEST(a_region_at_any_offset_is_aligned_as_its_machine_does)
{
    static const int aligned_i386[] = {4, 4, 4, 4, 4, 8, 8, 8, 8};
    for (int offset = 0; offset <= 8; offset++) {
        double value = 0.5;
        struct bcri_copy_region region = region_new(24);
        region.offset_bytes = offset;
        region.archtype = I386;
        CHECK_RESULT(copy_to(bcrT_1DOUBLE, 1, &region, &value, sizeof value), 2, 0);
        int at = offset == 0 ? 0 : aligned_i386[offset];
        const uint8_t want[8] = {0, 0, 0, 0, 0, 0, 0xe0, 0x3f};
        CHECK_MEM((uint8_t *)region.data + at, want, 8);
        CHECK(untouched(region.data, (size_t)at));
    }
}

TEST(a_long_that_does_not_fit_stops_the_copy)
{
    if (sizeof(long) < 8)
        SKIP("a long of this machine fits everywhere");
    static const struct {
        long long value;
        bool fits;
    } rows[] = {{INT_MAX, true},      {INT_MAX + 1LL, false}, {INT_MIN, true},    {INT_MIN - 1LL, false},
                {LLONG_MAX, false},   {LLONG_MIN, false},     {1LL << 32, false}, {-1, true},
                {0xffffffffLL, false}};
    for (int machine = 0; machine < 2; machine++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            long values[3] = {1, (long)rows[i].value, 3};
            struct bcri_copy_region region = region_new(12);
            region.archtype = I386 | machine << 24;
            CHECK_RESULT(copy_to(bcrT_1LONG, 3, &region, values, sizeof values), rows[i].fits ? 2 : -2,
                         rows[i].fits ? 0 : bcrE_RANGE);
            CHECK(!untouched(region.data, 4));
            CHECK_INT(untouched((uint8_t *)region.data + 4, 8), !rows[i].fits);
            long back[3] = {0};
            region.length_bytes = rows[i].fits ? 12 : 4;
            CHECK_INT(copy_from(bcrT_1LONG, 3, &region, back, sizeof back).ret, rows[i].fits ? 2 : 1);
            CHECK(back[0] == 1 && (!rows[i].fits || (back[1] == values[1] && back[2] == 3)));
        }
}

TEST(floats_are_rounded_but_finite_ones_stay_finite)
{
    /* A machine whose double is like its float. */
    int archtype = (X86_64 & ~0xf00000) | 0xa00000;
    CHECK(bcri_archtype_valid(archtype));
    static const struct {
        double value, arrives;
        bool fits;
    } rows[] = {{1.5, 1.5, true},
                {0.1, (double)(float)0.1F, true}, /* i386 gives a constant more bits than a float has */
                {-0.0, -0.0, true},
                {FLT_MAX, FLT_MAX, true},
                {-FLT_MAX, -FLT_MAX, true},
                {3.4028235677973366e38, 0, false}, /* half-way from the largest float to what comes next */
                {1e39, 0, false},
                {-DBL_MAX, 0, false},
                {1e-46, 0, true},
                {INFINITY, INFINITY, true},
                {-INFINITY, -INFINITY, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bcri_copy_region region = region_new(4);
        region.archtype = archtype;
        CHECK_RESULT(copy_to(bcrT_1DOUBLE, 1, &region, &rows[i].value, 8), rows[i].fits ? 2 : -2,
                     rows[i].fits ? 0 : bcrE_RANGE);
        CHECK_INT(untouched(region.data, 4), !rows[i].fits);
        double back = 7;
        if (!rows[i].fits)
            continue;
        CHECK_RESULT(copy_from(bcrT_1DOUBLE, 1, &region, &back, 8), 2, 0);
        CHECK_MEM(&back, &rows[i].arrives, 8);
    }
    double nan = NAN, back = 0;
    struct bcri_copy_region region = region_new(4);
    region.archtype = archtype;
    CHECK_RESULT(copy_to(bcrT_1DOUBLE, 1, &region, &nan, 8), 2, 0);
    CHECK_RESULT(copy_from(bcrT_1DOUBLE, 1, &region, &back, 8), 2, 0);
    CHECK(isnan(back));
}

TEST(what_stops_in_the_middle_of_a_struct_leaves_a_prefix)
{
    struct pair {
        short s;
        int i;
    };
    static const int desc[] = {bcrD_STRUCT(struct pair, (SHORT, s), (INT, i))};
    int archtype = (S390X & ~0xf0) | 0x50; /* int of two bytes */
    for (int bad = 0; bad < 40; bad++) {
        struct pair pairs[40];
        for (int i = 0; i < 40; i++)
            pairs[i] = (struct pair){(short)(i + 1), i == bad ? 40000 : -i - 1};
        struct bcri_copy_region region = region_new(160);
        region.archtype = archtype;
        CHECK_RESULT(copy_to(desc, 40, &region, pairs, sizeof pairs), -2, bcrE_RANGE);
        const uint8_t *data = region.data;
        for (int i = 0; i < 4 * bad + 2; i += 2) {
            int value = i % 4 == 0 ? i / 4 + 1 : -(i / 4) - 1;
            CHECK_INT((int16_t)(data[i] << 8 | data[i + 1]), value);
        }
        CHECK(untouched(data + 4 * bad + 2, (size_t)(160 - 4 * bad - 2)));
    }
}

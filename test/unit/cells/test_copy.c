/* SPDX-License-Identifier: MIT */
/* bcr_copyto and bcr_copyfm on regions: sharing and archtypes. What descriptors mean is
 * tested in ../copydesc. */
#include "bcri/region.h"
#include "cce.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct sample {
    double d;
    int i;
    short s;
    signed char c;
};
static int sample_desc[] = {0, bcrT_DOUBLE,          1, 0, bcrT_INT, 1, 0, bcrT_SHORT, 1, 0, bcrT_CHAR, 1,
                            1, bcrT_CHAR | bcrT_END, 0};

TEST(what_goes_in_comes_out)
{
    begin();
    int cell = grow(1, 9, 1 << 16);
    struct sample in[5], out[5];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 5; i++)
        in[i] = (struct sample){.d = i * 1.5, .i = -i, .s = (short)(i * 1000), .c = (signed char)-i};
    bcr_region rgid = bcr_rgalloc(sizeof in, 0);
    int n = bcr_copyto(sample_desc, 5, rgid, 0, in, sizeof in);
    CHECK(n >= 2);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    as(two);
    rgid = bcr_deq(one_of_two, cell, 0);
    memset(out, 0, sizeof out);
    CHECK(bcr_copyfm(sample_desc, 5, rgid, 0, out, sizeof out) >= 2);
    for (int i = 0; i < 5; i++) {
        CHECK(out[i].d == in[i].d);
        CHECK_INT(out[i].i, in[i].i);
        CHECK_INT(out[i].s, in[i].s);
        CHECK_INT(out[i].c, in[i].c);
    }
    as(one);
    end();
}

TEST(the_value_tells_what_is_left_of_the_source)
{
    begin();
    grow(0, 0, 1024);
    bcr_region rgid = bcr_rgalloc(16, 0);
    int data[5] = {1, 2, 3, 4, 5};
    CHECK_INT(bcr_copyto(bcrT_1INT, 3, rgid, 0, data, sizeof data), 2 + 8);
    CHECK_INT(bcr_copyto(bcrT_1INT, 4, rgid, 0, data, 16), 2);
    CHECK_INT(bcr_copyto(bcrT_1INT, 4, rgid, 0, data, 12), 1);           /* the source ran out */
    CHECK_INT(bcr_copyto(bcrT_1INT, 5, rgid, 0, data, sizeof data), -6); /* the region is full, 4 left */
    CHECK_INT(bcr_copyto(bcrT_1INT, 1, rgid, 12, data, 4), 2);
    CHECK_INT(bcr_copyfm(bcrT_1INT, 2, rgid, 0, data, sizeof data), 2 + 8);
    CHECK_INT(bcr_copyfm(bcrT_1INT, 5, rgid, 0, data, sizeof data), 1);
    CHECK_INT(bcr_copyfm(bcrT_1INT, 4, rgid, 0, data, 8), -2 - 8);
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, rgid, 12, data, 4), 2);
    CHECK_INT(data[0], 1); /* what was copied there last */
    CHECK_INT(bcr_copyfm(bcrT_1INT, 0, rgid, 0, NULL, 0), 2 + 16);
    end();
}

TEST(copyto_makes_the_region_private_first)
{
    begin();
    int cell = grow(1, 9, 2 * NUMBER_BYTES);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    int value = 2;
    CHECK_INT(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), 2);
    CHECK(*rgid != data);
    CHECK_INT(value_of(rgid), 2);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(copyto_without_room_for_the_private_copy_changes_nothing)
{
    begin();
    int cell = grow(1, 9, NUMBER_BYTES);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    int value = 2;
    FAILS_WITH(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_NBYTES);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(copyfm_leaves_sharing_alone)
{
    begin();
    int cell = grow(1, 9, NUMBER_BYTES);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    bcr_region a = bcr_read(bcr_cce, cell, 0), b = bcr_read(bcr_cce, cell, 0);
    int value = 0;
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, a, 0, &value, sizeof value), 2);
    CHECK_INT(value, 1);
    CHECK_PTR(*a, *b);
    end();
}

/* A wrong argument costs the sharers nothing: not even their common copy. */
TEST(wrong_arguments_are_refused_and_change_nothing)
{
    begin();
    int cell = grow(1, 9, 1024);
    static int no_end[] = {0, 77, 1};
    static int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    int buffer[2] = {5, 6};
    const struct {
        const int *desc;
        int repl, offset, length, null, code;
    } wrong[] = {
        {NULL, 1, 0, 4, 0, bcrE_ARG},
        {bcrT_1INT, -1, 0, 4, 0, bcrE_ARG},
        {bcrT_1INT, 1, -1, 4, 0, bcrE_ARG},
        {bcrT_1INT, 1, 5, 4, 0, bcrE_ARG},
        {bcrT_1INT, 1, INT_MAX, 4, 0, bcrE_ARG},
        {bcrT_1INT, 1, 0, -1, 0, bcrE_ARG},
        {bcrT_1INT, 1, 0, 4, 1, bcrE_ARG},
        {no_end, 1, 0, 4, 0, bcrE_DESC},
        {loop, 1, 0, 4, 0, bcrE_DESC},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        void *user = wrong[i].null ? NULL : buffer;
        FAILS_WITH(bcr_copyto(wrong[i].desc, wrong[i].repl, rgid, wrong[i].offset, user, wrong[i].length), -2,
                   wrong[i].code);
        FAILS_WITH(bcr_copyfm(wrong[i].desc, wrong[i].repl, rgid, wrong[i].offset, user, wrong[i].length), -2,
                   wrong[i].code);
        CHECK_PTR(*rgid, data);
        CHECK_INT(buffer[0], 5);
    }
    CHECK_INT(peek(rgid), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

enum { MIRRORED = 0x03faffa5 ^ 0x02faffa5 }; /* the bit of the byte order */

TEST(a_region_of_another_archtype_is_translated_both_ways)
{
    begin();
    grow(1, 9, 1024);
    bcr_region rgid = bcr_rgalloc(64, bcr_archtype ^ MIRRORED);
    struct sample in = {.d = -1.5, .i = 0x01020304, .s = -2, .c = 5}, out;
    CHECK_INT(bcr_copyto(sample_desc, 1, rgid, 0, &in, sizeof in), 2);
    const unsigned char *data = *rgid;
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(data[8 + i], ((unsigned char *)&in.i)[3 - i]);
    memset(&out, 0, sizeof out);
    CHECK_INT(bcr_copyfm(sample_desc, 1, rgid, 0, &out, sizeof out), 2 + 64 - 15);
    CHECK(out.d == in.d && out.i == in.i && out.s == in.s && out.c == in.c);
    int archtype = 0;
    CHECK_INT(bcr_rglen(rgid, &archtype), 64);
    CHECK_INT(archtype, bcr_archtype ^ MIRRORED);
    end();
}

TEST(a_number_that_does_not_fit_stops_the_copy_where_it_stands)
{
    begin();
    grow(1, 9, 1024);
    /* An int of two bytes: allowed by C, and by archtypes. */
    int small = (bcr_archtype & ~0xf0) | 0x50;
    bcr_region rgid = bcr_rgalloc(6, small);
    CHECK(rgid != NULL);
    memset(*rgid, 0xee, 6);
    int values[3] = {-32768, 32768, 7};
    FAILS_WITH(bcr_copyto(bcrT_1INT, 3, rgid, 0, values, sizeof values), -2, bcrE_RANGE);
    CHECK_MEM((char *)*rgid + 2, "\xee\xee\xee\xee", 4);
    int back = 0;
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &back, sizeof back), 2 + 4);
    CHECK_INT(back, -32768);
    end();
}

TEST(a_number_that_does_not_fit_here_stops_what_is_copied_out_and_on)
{
    begin();
    int cell = grow(1, 9, 1024);
    /* int, long and long long of eight bytes each */
    bcr_region wide = bcr_rgalloc(24, bcr_archtype | 0xfff0), to = bcr_rgalloc(12, 0);
    CHECK(wide != NULL && to != NULL);
    memcpy(*wide, (int64_t[3]){-5, INT64_C(1) << 40, 6}, 24);
    memset(*to, 0xee, 12);
    int out[3] = {7, 7, 7};
    FAILS_WITH(bcr_copyfm(bcrT_1INT, 3, wide, 0, out, sizeof out), -2, bcrE_RANGE);
    CHECK_INT(out[0], -5);
    CHECK_INT(out[1], 7);
    CHECK_INT(out[2], 7);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 3, to, 0, wide, 0), -2, bcrE_RANGE);
    CHECK_INT(*(int *)*to, -5);
    CHECK_MEM((char *)*to + 4, "\xee\xee\xee\xee\xee\xee\xee\xee", 8);
    CHECK_INT(bcr_enq(wide, bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    end();
}

/* An archtype that a later version of BCR may give out: a float format that this one does not
 * know. */
TEST(an_archtype_that_nobody_here_knows_has_no_translation)
{
    begin();
    int cell = grow(1, 9, 1024);
    bcr_region rgid = number(1), native = number(2);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    struct bcri_region_shm *header = bcri_at(one, group_region(one, rgid));
    uint32_t archtype = header->archtype;
    header->archtype ^= 3u << 25;
    int value = 7;
    FAILS_WITH(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), 0, bcrE_ARCH);
    FAILS_WITH(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), 0, bcrE_ARCH);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, rgid, 0, native, 0), 0, bcrE_ARCH);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, native, 0, rgid, 0), 0, bcrE_ARCH);
    FAILS_WITH(bcr_copytosz(bcrT_1INT, 1, (int)header->archtype, 0, &value, sizeof value), 0, bcrE_ARCH);
    FAILS_WITH(bcr_descshow(bcrT_1INT, (int)header->archtype, NULL, 0), -1, bcrE_ARCH);
    header->archtype = archtype;
    CHECK_INT(value, 7);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(native), 2);
    CHECK_INT(peek(rgid), 1);
    end();
}

TEST(copytofm_copies_from_one_archtype_into_another)
{
    begin();
    int cell = grow(1, 9, 4096);
    bcr_region from = bcr_rgalloc(64, 0), to = bcr_rgalloc(64, bcr_archtype ^ MIRRORED);
    struct sample in = {.d = 2.5, .i = -3, .s = 4, .c = -5}, out;
    CHECK_INT(bcr_copyto(sample_desc, 1, from, 0, &in, sizeof in), 2);
    CHECK_INT(bcr_enq(to, bcr_cce, cell, bcr_NOFREE), 0);
    void *old = *to;
    memset(old, 0, 64);
    CHECK_INT(bcr_copytofm(sample_desc, 1, to, 16, from, 0), 2 + 64 - 15);
    CHECK(*to != old); /* it was shared */
    memset(&out, 0, sizeof out);
    CHECK_INT(bcr_copyfm(sample_desc, 1, to, 16, &out, sizeof out), 2 + 48 - 15);
    CHECK(out.d == in.d && out.i == in.i && out.s == in.s && out.c == in.c);
    bcr_region shared = bcr_deq(bcr_cce, cell, 0);
    for (int i = 0; i < 64; i++)
        CHECK_INT(((char *)*shared)[i], 0);
    end();
}

TEST(copytofm_moves_CCE_IDs_and_data_within_one_region)
{
    begin();
    grow(1, 9, 4096);
    bcr_region rgid = bcr_rgalloc(80, 0);
    int ids[3] = {bcr_cce, -1, two_of_one}, met[3] = {0};
    CHECK_INT(bcr_copyto(bcrT_1CCE, 3, rgid, 0, ids, sizeof ids), 2);
    CHECK_INT(bcr_copytofm(bcrT_1CCE, 3, rgid, 16, rgid, 0), 2 + 80 - 48);
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 3, rgid, 16, met, sizeof met), 2 + 80 - 64);
    CHECK_MEM(met, ids, sizeof ids);
    CHECK_INT(bcr_copytofm(bcrT_1CCE, 5, rgid, 16, rgid, 0), -2 - 16);
    CHECK_INT(bcr_copytofm(bcrT_1CCE, 5, rgid, 0, rgid, 16), 1);
    end();
}

TEST(copytofm_with_wrong_arguments_changes_nothing)
{
    begin();
    int cell = grow(1, 9, 4096);
    bcr_region to = number(1), from = number(2);
    CHECK_INT(bcr_enq(to, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *to, **gone = number(3);
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    CHECK_INT(bcr_rgfree(gone), 0);
    FAILS_WITH(bcr_copytofm(NULL, 1, to, 0, from, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, -1, to, 0, from, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, to, 5, from, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, to, 0, from, -1), -2, bcrE_ARG);
    FAILS_WITH(bcr_copytofm(loop, 1, to, 0, from, 0), -2, bcrE_DESC);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, gone, 0, from, 0), -2, bcrE_RGID);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, to, 0, NULL, 0), -2, bcrE_RGID);
    bcr_region pending = bcr_deq(bcr_cce, cell, bcr_PENDING), waits = bcr_deq(bcr_cce, cell, bcr_PENDING);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, waits, 0, from, 0), -2, bcrE_PENDING);
    FAILS_WITH(bcr_copytofm(bcrT_1INT, 1, from, 0, waits, 0), -2, bcrE_PENDING);
    CHECK_INT(bcr_rgfree(waits), 0);
    CHECK_INT(bcr_rgfree(pending), 0);
    CHECK_PTR(*to, data);
    CHECK_INT(peek(to), 1);
    CHECK_INT(peek(from), 2);
    end();
}

TEST(copytosz_tells_what_copyto_uses)
{
    begin();
    grow(1, 9, 4096);
    struct sample in[3];
    memset(in, 0, sizeof in);
    for (int repl = 0; repl <= 3; repl++)
        for (int offset = 0; offset <= 9; offset++) {
            int size = bcr_copytosz(sample_desc, repl, 0, offset, in, sizeof in);
            CHECK(size >= 2 + offset);
            bcr_region rgid = bcr_rgalloc(size - 2, 0);
            CHECK_INT(bcr_copyto(sample_desc, repl, rgid, offset, in, sizeof in),
                      2 + (int)sizeof in - 16 * repl);
            if (repl > 0) { /* and no less would do */
                bcr_region less = bcr_rgalloc(size - 3, 0);
                CHECK(bcr_copyto(sample_desc, repl, less, offset, in, sizeof in) < -2);
                CHECK_INT(bcr_rgfree(less), 0);
            }
            CHECK_INT(bcr_rgfree(rgid), 0);
        }
    CHECK_INT(bcr_copytosz(bcrT_1CCE, 2, bcr_archtype ^ MIRRORED, 0, NULL, 8), 2 + 32);
    CHECK_INT(bcr_copytosz(bcrT_1CCE, 2, 0, 0, NULL, 4), -2 - 16);
    FAILS_WITH(bcr_copytosz(NULL, 1, 0, 0, NULL, 4), -1, bcrE_ARG);
    FAILS_WITH(bcr_copytosz(bcrT_1INT, 1, 0, -1, NULL, 4), -1, bcrE_ARG);
    FAILS_WITH(bcr_copytosz(bcrT_1INT, 1, 77, 0, NULL, 4), 0, bcrE_ARCH);
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    FAILS_WITH(bcr_copytosz(loop, 1, 0, 0, NULL, 4), -1, bcrE_DESC);
    FAILS_WITH(bcr_copytosz(bcrT_1INT, -1, 0, 0, NULL, 4), -1, bcrE_ARG);
    FAILS_WITH(bcr_copytosz(bcrT_1INT, 1, 0, 0, NULL, -1), -1, bcrE_ARG);
    end();
}

/* SPDX-License-Identifier: MIT */
/* bcr_copyto and bcr_copyfm on regions: sharing, CCE IDs, archtypes. What descriptors mean is tested in ../copydesc. */
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

/* A copy call that must fail: what it returns, and the code. */
#define COPY_FAILS(call, value, code) \
    do {                              \
        bcr_errno = -77;              \
        CHECK_INT((call), (value));   \
        CHECK_INT(bcr_errno, (code)); \
    } while (0)

TEST(what_goes_in_comes_out)
{
    begin();
    int cell = grow(1, 9, 1 << 16);
    struct sample in[5], out[5];
    memset(in, 0, sizeof in);
    for (int i = 0; i < 5; i++)
        in[i] = (struct sample){.d = i * 1.5, .i = -i, .s = (short)(i * 1000), .c = (signed char)-i};
    void **rgid = bcr_rgalloc(sizeof in, 0);
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
    void **rgid = bcr_rgalloc(16, 0);
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
    int cell = grow(1, 9, 128);
    void **rgid = number(1);
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
    int cell = grow(1, 9, 64);
    void **rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    int value = 2;
    COPY_FAILS(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_NOMEM);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(copyfm_leaves_sharing_alone)
{
    begin();
    int cell = grow(1, 9, 64);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    void **a = bcr_read(bcr_cce, cell, 0), **b = bcr_read(bcr_cce, cell, 0);
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
    void **rgid = number(1);
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
        COPY_FAILS(bcr_copyto(wrong[i].desc, wrong[i].repl, rgid, wrong[i].offset, user, wrong[i].length), -2,
                   wrong[i].code);
        COPY_FAILS(bcr_copyfm(wrong[i].desc, wrong[i].repl, rgid, wrong[i].offset, user, wrong[i].length), -2,
                   wrong[i].code);
        CHECK_PTR(*rgid, data);
        CHECK_INT(buffer[0], 5);
    }
    CHECK_INT(peek(rgid), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(a_foreign_archtype_is_said_to_have_no_translation)
{
    begin();
    int cell = grow(1, 9, 1024);
    void **rgid = bcr_rgalloc(4, 0x03faffa5);
    memcpy(*rgid, "\0\0\0\1", 4);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    void *data = *rgid;
    int value = 7;
    COPY_FAILS(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), 0, bcrE_ARCH);
    COPY_FAILS(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), 0, bcrE_ARCH);
    CHECK_INT(value, 7);
    CHECK_PTR(*rgid, data);
    CHECK_MEM(*rgid, "\0\0\0\1", 4);
    end();
}

TEST(CCE_IDs_travel_in_regions)
{
    begin();
    int cell = grow(1, 9, 1024);
    struct bcri_ctx *three = join();
    int ids[4] = {bcr_cce, two_of_one, -1, name(one, three)};
    void **rgid = bcr_rgalloc(4 * 16, 0);
    CHECK_INT(bcr_copyto(bcrT_1CCE, 4, rgid, 0, ids, sizeof ids), 2);
    static const char zeros[16];
    CHECK_MEM((char *)*rgid + 32, zeros, 16); /* -1 is zeros */
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    as(two);
    int met[4] = {0};
    rgid = bcr_deq(one_of_two, cell, 0);
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 4, rgid, 0, met, sizeof met), 2);
    CHECK_INT(met[0], one_of_two); /* the same int for the same CCE every time */
    CHECK_INT(met[1], bcr_cce);
    CHECK_INT(met[2], -1);
    CHECK_INT(met[3], name(two, three));
    CHECK(met[3] != met[0] && met[3] != met[1]);
    as(three);
    int there = grow(1, 9, 0);
    as(two);
    CHECK_INT(bcr_enq(number(4), met[3], there, bcr_FREE), 0); /* and it can be used */
    as(three);
    CHECK_INT(take(bcr_cce, there), 4);
    as(one);
    end();
}

TEST(an_int_that_was_never_given_out_stops_copyto_where_it_stands)
{
    begin();
    grow(0, 0, 1024);
    void **rgid = bcr_rgalloc(3 * 16, 0);
    memset(*rgid, 0xee, 48);
    const int never[] = {0, -2, 1000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        int ids[3] = {bcr_cce, never[i], bcr_cce};
        COPY_FAILS(bcr_copyto(bcrT_1CCE, 3, rgid, 0, ids, sizeof ids), -2, bcrE_NOCCE);
        for (int k = 16; k < 48; k++)
            CHECK_INT(((unsigned char *)*rgid)[k], 0xee);
    }
    end();
}

TEST(an_unknown_identity_is_a_fresh_int_that_nobody_is)
{
    begin();
    int cell = grow(1, 9, 1024);
    void **rgid = filled(3 * 16, 0x5a);
    ((char *)*rgid)[16] = 1; /* the first and the third are equal */
    int ids[3] = {0};
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 3, rgid, 0, ids, sizeof ids), 2);
    CHECK(ids[0] > 0 && ids[1] > 0);
    CHECK(ids[0] != bcr_cce && ids[0] != two_of_one && ids[0] != ids[1]);
    CHECK_INT(ids[0], ids[2]);
    int again = 0;
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 1, rgid, 32, &again, sizeof again), 2);
    CHECK_INT(again, ids[0]);
    void **put = number(1);
    FAILS(bcr_enq(put, ids[0], cell, bcr_FREE), bcrE_NOCCE);
    FAILS_NULL(bcr_deq(ids[1], cell, bcr_BLOCK), bcrE_NOCCE);
    FAILS(bcr_zap(ids[0], cell), bcrE_NOCCE);
    FAILS(bcr_celllen(ids[0], cell), bcrE_NOCCE);
    CHECK_INT(value_of(put), 1);
    void **onward = bcr_rgalloc(16, 0); /* it can be passed on all the same */
    CHECK_INT(bcr_copyto(bcrT_1CCE, 1, onward, 0, &ids[0], sizeof ids[0]), 2);
    CHECK_MEM(*onward, *rgid, 16);
    end();
}

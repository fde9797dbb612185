/* SPDX-License-Identifier: MIT */
/* Regions in a CCE's hands: length, alignment, account, sharing, and IDs that are none. */
#include "cce.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/archtype.h"

TEST(data_is_aligned_to_16_bytes_and_from_64_up_to_64)
{
    begin();
    grow(0, 0, 4 << 20);
    for (int length = 0; length < 5000; length += length < 300 ? 1 : 97) {
        bcr_region rgid = bcr_rgalloc(length, 0);
        CHECK(rgid != NULL);
        CHECK(*rgid != NULL);
        CHECK_UINT((uintptr_t)*rgid % (length < 64 ? 16 : 64), 0);
        CHECK_INT(bcr_rglen(rgid, NULL), length);
        memset(*rgid, 0x5a, (size_t)length);
        if (length % 3 == 0)
            CHECK_INT(bcr_rgfree(rgid), 0);
    }
    bcr_region large = filled(1 << 20, 1);
    CHECK_UINT((uintptr_t)*large % 64, 0);
    CHECK_INT(bcr_rgfree(large), 0);
    end();
}

TEST(regions_of_length_0_go_everywhere)
{
    begin();
    int cell = grow(1, 4, 64);
    bcr_region rgid = bcr_rgalloc(0, 0);
    CHECK(rgid != NULL && *rgid != NULL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* it is charged like one byte */
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    bcr_region again = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(again, NULL), 0);
    CHECK_PTR(*again, *rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_rgmod(again), 0);
    CHECK_INT(bcr_rgfree(again), 0);
    end();
}

TEST(a_wrong_length_or_archtype_is_refused)
{
    begin();
    grow(0, 0, 256);
    FAILS_NULL(bcr_rgalloc(-1, 0), bcrE_ARG);
    FAILS_NULL(bcr_rgalloc(INT_MIN, 0), bcrE_ARG);
    const int malformed[] = {1, -1, 42, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        FAILS_NULL(bcr_rgalloc(4, malformed[i]), bcrE_ARCH);
    for (int i = 0; i < 4; i++) /* nothing was charged */
        filled(64, i);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    end();
}

TEST(a_region_has_the_archtype_that_it_was_given)
{
    begin();
    grow(0, 0, 1024);
    const int s390x = 0x03faffa5;
    int archtype = 0;
    CHECK_INT(bcr_rglen(bcr_rgalloc(3, 0), &archtype), 3);
    CHECK_INT(archtype, bcr_archtype);
    CHECK_INT(bcr_rglen(bcr_rgalloc(4, bcr_archtype), &archtype), 4);
    CHECK_INT(archtype, bcr_archtype);
    CHECK_INT(bcr_rglen(bcr_rgalloc(5, s390x), &archtype), 5);
    CHECK_INT(archtype, s390x);
    archtype = 7;
    FAILS(bcr_rglen(NULL, &archtype), bcrE_RGID);
    CHECK_INT(archtype, 7); /* written on success only */
    end();
}

TEST(a_copy_keeps_length_and_archtype)
{
    begin();
    int cell = grow(1, 1, 1024);
    const int s390x = 0x03faffa5;
    bcr_region rgid = bcr_rgalloc(5, s390x);
    memcpy(*rgid, "abcde", 5);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    int archtype;
    CHECK_INT(bcr_rglen(rgid, &archtype), 5);
    CHECK_INT(archtype, s390x);
    CHECK_MEM(*rgid, "abcde", 5);
    end();
}

/* Each live region is charged max(length, 1) rounded up to 64. */
TEST(nbytes_is_an_exact_account_of_equal_regions)
{
    begin();
    const int lengths[] = {0, 1, 63, 64, 65, 128, 1000, 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        int charge = (lengths[i] > 1 ? lengths[i] + 63 : 64) / 64 * 64;
        int area = grow(0, 0, 5 * charge);
        bcr_region rgid[5];
        for (int round = 0; round < 3; round++) {
            for (int k = 0; k < 5; k++)
                rgid[k] = filled(lengths[i], k);
            FAILS_NULL(bcr_rgalloc(lengths[i], 0), bcrE_NBYTES);
            for (int k = 0; k < 5; k++)
                CHECK_INT(bcr_rgfree(rgid[k]), 0);
        }
        CHECK_INT(bcr_cafree(area), 0);
    }
    end();
}

TEST(a_region_stays_charged_until_nobody_holds_it)
{
    begin();
    int cell = grow(1, 4, 64);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    FAILS_NULL(bcr_rgalloc(4, 0), bcrE_NBYTES); /* the cell holds it */
    as(two);
    bcr_region rgid = bcr_deq(one_of_two, cell, 0);
    as(one);
    FAILS_NULL(bcr_rgalloc(4, 0), bcrE_NBYTES); /* the other CCE does */
    as(two);
    CHECK_INT(value_of(rgid), 1);
    as(one);
    CHECK_INT(value_of(number(2)), 2);
    end();
}

TEST(rgmod_of_a_region_that_nobody_else_holds_does_nothing)
{
    begin();
    int cell = grow(1, 1, 64);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    rgid = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
    end();
}

TEST(rgmod_of_a_shared_region_gives_a_private_copy)
{
    begin();
    int cell = grow(1, 1, 128);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    bcr_region reader = bcr_read(bcr_cce, cell, 0);
    CHECK_PTR(*reader, data); /* shared, not copied */
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK(*rgid != data);
    CHECK_INT(peek(rgid), 3);
    **(int **)rgid = 4;
    CHECK_INT(value_of(reader), 3);
    CHECK_INT(take(bcr_cce, cell), 3);
    CHECK_INT(value_of(rgid), 4);
    end();
}

TEST(rgmod_without_memory_leaves_the_region_readable)
{
    begin();
    int cell = grow(1, 1, 64);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    FAILS(bcr_rgmod(rgid), bcrE_NBYTES);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
    rgid = bcr_read(bcr_cce, cell, 0);
    FAILS(bcr_rgmod(rgid), bcrE_NBYTES);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_rgmod(rgid), 0); /* nobody else holds it any more */
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
    end();
}

TEST(the_copy_belongs_to_the_heap_of_who_copies)
{
    begin();
    int cell = grow(1, 1, 64);
    bcr_region rgid = number(3);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    as(two);
    bcr_region far = bcr_deq(one_of_two, cell, 0);
    CHECK_INT(bcr_rgmod(far), 0);
    as(one);
    CHECK_INT(value_of(rgid), 3);
    CHECK_INT(value_of(number(4)), 4); /* the 64 bytes are free again */
    as(two);
    CHECK_INT(value_of(far), 3);
    end();
}

TEST(rgrealloc_changes_the_length_where_the_region_lies)
{
    begin();
    grow(0, 0, 1024);
    bcr_region rgid = filled(100, 7);
    unsigned char *data = *rgid;
    const int lengths[] = {50, 0, 100, 128, 1, 64};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        CHECK_INT(bcr_rgrealloc(rgid, lengths[i]), 0);
        CHECK_INT(bcr_rglen(rgid, NULL), lengths[i]);
        CHECK_PTR(*rgid, data);
        CHECK_INT(data[0], 7);
    }
    FAILS(bcr_rgrealloc(rgid, -1), bcrE_ARG);
    FAILS(bcr_rgrealloc(rgid, 1 << 20), bcrE_NBYTES);
    CHECK_INT(bcr_rglen(rgid, NULL), 64);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

TEST(rgrealloc_moves_the_account_with_the_length)
{
    begin();
    grow(0, 0, 256);
    bcr_region rgid = filled(256, 7);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(bcr_rgrealloc(rgid, 192), 0);
    bcr_region small = filled(64, 1);
    FAILS(bcr_rgrealloc(rgid, 193), bcrE_NBYTES);
    CHECK_INT(bcr_rglen(rgid, NULL), 192);
    CHECK_INT(bcr_rgfree(small), 0);
    CHECK_INT(bcr_rgrealloc(rgid, 256), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_rgfree(filled(256, 1)), 0);
    end();
}

TEST(rgrealloc_is_for_sole_holders)
{
    begin();
    int cell = grow(1, 1, 1024);
    bcr_region rgid = filled(100, 7);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    FAILS(bcr_rgrealloc(rgid, 50), bcrE_BUSY);
    CHECK_INT(bcr_rglen(rgid, NULL), 100);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_rgrealloc(rgid, 50), 0);
    CHECK_INT(bcr_rglen(rgid, NULL), 50);
    end();
}

TEST(an_ordinary_region_is_no_error_region_whatever_it_holds)
{
    begin();
    grow(0, 0, 1024);
    int codes[9] = {bcrE_DEAD, bcr_op_putm, 1, 1, 1, 1, 1, 1, 1};
    bcr_region rgid = bcr_rgalloc(sizeof codes, 0);
    memcpy(*rgid, codes, sizeof codes);
    CHECK_INT(bcr_rgerror(rgid), 0);
    end();
}

/* An ID that was freed, put away, or never was one: every routine that takes an ID says so and does
 * nothing. */
static void refused_everywhere(bcr_region rgid, int cell)
{
    int cells[2] = {bcr_cce, cell};
    int value = 0;
    bcr_region list[1] = {rgid};
    FAILS(bcr_rgfree(rgid), bcrE_RGID);
    FAILS(bcr_rlsrl(rgid), bcrE_RGID);
    FAILS(bcr_rgmod(rgid), bcrE_RGID);
    FAILS(bcr_rglen(rgid, NULL), bcrE_RGID);
    FAILS(bcr_rgrealloc(rgid, 8), bcrE_RGID);
    FAILS(bcr_rgwait(rgid, 0, 0), bcrE_RGID);
    FAILS(bcr_rgwait(rgid, bcr_BLOCK, 1), bcrE_RGID);
    FAILS(bcr_rgwaitm(1, list, bcr_BLOCK, 1), rgid != NULL ? bcrE_RGID : bcrE_ARG);
    FAILS(bcr_rgerror(rgid), bcrE_RGID);
    FAILS(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), bcrE_RGID);
    FAILS(bcr_write(rgid, bcr_cce, cell, bcr_NOFREE), bcrE_RGID);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_FREE), bcrE_RGID);
    FAILS(bcr_rlswl(rgid, bcr_cce, cell), bcrE_RGID);
    FAILS(bcr_wl2rl(rgid, bcr_cce, cell), bcrE_RGID);
    bcr_errno = 0;
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, bcrE_RGID);
    bcr_errno = 0;
    CHECK_INT(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, bcrE_RGID);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(peek(bcr_read(bcr_cce, cell, 0)), 99);
}

TEST(what_is_no_region_ID_is_refused_by_every_routine)
{
    begin();
    int cell = grow(1, 9, 1 << 14);
    CHECK_INT(bcr_enq(number(99), bcr_cce, cell, bcr_FREE), 0);
    bcr_region freed = number(1);
    CHECK_INT(bcr_rgfree(freed), 0);
    refused_everywhere(freed, cell);
    bcr_region put = number(2);
    CHECK_INT(bcr_write(put, bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(99), bcr_cce, cell, bcr_FREE), 0);
    refused_everywhere(put, cell);
    refused_everywhere(NULL, cell);
    void *variable = NULL;
    refused_everywhere(&variable, cell);
    refused_everywhere((bcr_region)(uintptr_t)8, cell);
    refused_everywhere((bcr_region)UINTPTR_MAX, cell);
    bcr_region held = number(3);
    refused_everywhere(held + 1, cell);                       /* beside an ID */
    refused_everywhere((bcr_region)((char *)held + 1), cell); /* in one */
    refused_everywhere(*held, cell);                          /* its data */
    as(two);
    bcr_region foreign = number(4);
    as(one);
    refused_everywhere(foreign, cell); /* another CCE's */
    CHECK_INT(value_of(held), 3);
    end();
}

TEST(thousands_of_regions_are_held_at_once)
{
    begin();
    const int regions = 20000;
    grow(0, 0, regions * 64);
    bcr_region *ids = calloc((size_t)regions, sizeof *ids);
    CHECK(ids != NULL);
    for (int i = 0; i < regions; i++)
        ids[i] = number(i);
    for (int i = 0; i < regions; i++)
        CHECK_INT(peek(ids[i]), i);
    for (int i = regions; i-- > 0;)
        CHECK_INT(value_of(ids[i]), i);
    FAILS(bcr_rgfree(ids[12345]), bcrE_RGID);
    free(ids);
    end();
}

/* SPDX-License-Identifier: MIT */
/* bcr_rgalloc, bcr_rgmod, bcr_rgrealloc, bcr_rglen, bcr_rgfree: length, alignment, account,
 * sharing, and IDs that are none. */
#include <limits.h>
#include <string.h>

#include <bcr/program.h>

#include "behave.h"
#include "numbers.h"

BEHAVIOUR_OF_OWN(data_is_aligned_to_16_bytes_and_from_64_up_to_64)
{
    grow(1, 1, 4 << 20);
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
}

BEHAVIOUR(regions_of_length_0_go_everywhere)
{
    const int cell = grow(1, 4, 1);
    bcr_region rgid = bcr_rgalloc(0, 0);
    CHECK(rgid != NULL && *rgid != NULL);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* it is charged like one byte */
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    bcr_region again = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rglen(again, NULL), 0);
    if (!place->far)
        CHECK_PTR(*again, *rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_rgmod(again), 0);
    CHECK_INT(bcr_rgfree(again), 0);
}

BEHAVIOUR_OF_OWN(a_wrong_length_or_archtype_is_refused)
{
    const int wrong[] = {1, 2, -1, 42, 77, INT_MAX, INT_MIN, 0x00faffa5, 0x12faffa5, 0x02fffff0, 0x02faffa9};
    grow(1, 1, 256);
    FAILS_NULL(bcr_rgalloc(-1, 0), bcrE_ARG);
    FAILS_NULL(bcr_rgalloc(INT_MIN, 0), bcrE_ARG);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        FAILS_NULL(bcr_rgalloc(4, wrong[i]), bcrE_ARCH);
    for (int i = 0; i < 4; i++) /* nothing was charged */
        filled(64, i);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
}

BEHAVIOUR(a_region_and_its_copy_have_the_length_and_archtype_that_it_was_given)
{
    const int cell = grow(1, 1, 1024), s390x = 0x03faffa5;
    int archtype = 0;
    bcr_region native = bcr_rgalloc(3, 0), same = bcr_rgalloc(4, bcr_archtype), rgid = bcr_rgalloc(5, s390x);
    CHECK_INT(bcr_rglen(native, &archtype), 3);
    CHECK_INT(archtype, bcr_archtype);
    CHECK_INT(bcr_rglen(same, &archtype), 4);
    CHECK_INT(archtype, bcr_archtype);
    memcpy(*rgid, "abcde", 5);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    for (int i = 0; i < 2; i++) {
        CHECK(rgid != NULL);
        CHECK_INT(bcr_rglen(rgid, &archtype), 5);
        CHECK_INT(archtype, s390x);
        CHECK_MEM(*rgid, "abcde", 5);
        CHECK_INT(bcr_rgfree(rgid), 0);
        rgid = i == 0 ? bcr_deq(there, cell, 0) : NULL;
    }
    archtype = 7;
    FAILS(bcr_rglen(NULL, &archtype), bcrE_RGID);
    CHECK_INT(archtype, 7); /* written on success only */
}

/* Each live region is charged max(length, 1). */
BEHAVIOUR_OF_OWN(nbytes_is_an_exact_account)
{
    const int lengths[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 128, 1000, 4096, 65536, 65537, 100001};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int charge = lengths[i] > 1 ? lengths[i] : 1;
        const int area = bcr_cagrow(0, 0, 0, 0, 0, 0, 5 * charge);
        bcr_region rgid[5];
        for (int round = 0; round < 3; round++) {
            for (int k = 0; k < 5; k++)
                rgid[k] = filled(lengths[i], k);
            FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
            CHECK_INT(bcr_rgfree(rgid[4]), 0);
            FAILS_NULL(bcr_rgalloc(charge + 1, 0), bcrE_NBYTES);
            rgid[4] = filled(charge, 4);
            for (int k = 0; k < 5; k++)
                CHECK_INT(bcr_rgfree(rgid[k]), 0);
        }
        CHECK_INT(bcr_cafree(area), 0);
    }
}

/* The rule of the guide of 2002, down to regions of one byte. */
BEHAVIOUR_OF_OWN(twice_the_bytes_of_the_data_are_enough)
{
    enum { REGIONS = 100 };
    const int lengths[] = {1, 4, 8, 31, 33, 65, 129, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int area = bcr_cagrow(0, 0, 0, 0, 0, REGIONS, 2 * REGIONS * lengths[i]);
        bcr_region rgid[2 * REGIONS];
        for (int k = 0; k < 2 * REGIONS; k++)
            rgid[k] = filled(lengths[i], k);
        FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
        for (int k = 0; k < 2 * REGIONS; k++)
            CHECK_INT(bcr_rgfree(rgid[k]), 0);
        CHECK_INT(bcr_cafree(area), 0);
    }
}

BEHAVIOUR_OF_OWN(without_nbytes_nothing_can_be_allocated)
{
    grow(1, 100, 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    const int area = bcr_cagrow(0, 0, 0, 0, 0, 100, 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(bcr_cafree(area), 0);
}

/* Far more and smaller regions than nrgns use up the memory before the account. */
BEHAVIOUR_OF_OWN(nrgns_tells_for_how_many_small_regions_there_is_memory)
{
    enum { REGIONS = 20000 };
    static bcr_region rgid[REGIONS];
    for (int nrgns = 0; nrgns <= REGIONS; nrgns += REGIONS) {
        const int area = bcr_cagrow(0, 0, 0, 0, 0, nrgns, REGIONS);
        int count = 0;
        while (count < REGIONS && (rgid[count] = bcr_rgalloc(1, 0)) != NULL)
            count++;
        CHECK(nrgns != 0 ? count == REGIONS : count >= 1000 && count < REGIONS && bcr_errno == bcrE_NBYTES);
        while (count-- > 0)
            CHECK_INT(bcr_rgfree(rgid[count]), 0);
        CHECK_INT(bcr_cafree(area), 0);
    }
}

BEHAVIOUR_WITHIN(a_region_stays_charged_until_nobody_holds_it)
{
    const int cell = grow(1, 4, 1000);
    CHECK_INT(by(another(), "celllen %d", cell), 0); /* started while there is memory for it */
    for (int round = 0; round < 3; round++) {
        bcr_region rgid = filled(999, 1), last = filled(0, 0);
        CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
        FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* the cell holds it */
        const int theirs = by(another(), "keep 1 %d 0", cell);
        FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES); /* the other CCE does */
        CHECK_INT(by(another(), "let_go %d", theirs), 0);
        rgid = filled(999, 2);
        FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
        CHECK_INT(bcr_rgfree(rgid), 0);
        CHECK_INT(bcr_rgfree(last), 0);
    }
}

BEHAVIOUR_WITHIN(rgmod_of_a_region_that_nobody_else_holds_does_nothing)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
    rgid = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
}

BEHAVIOUR_WITHIN(rgmod_of_a_shared_region_gives_a_private_copy)
{
    const int cell = grow(1, 1, 2 * NUMBER_BYTES);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    bcr_region reader = bcr_read(there, cell, 0);
    CHECK_PTR(*reader, data); /* shared, not copied */
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK(*rgid != data);
    CHECK_INT(peek(rgid), 3);
    write_number(rgid, 4);
    CHECK_INT(value_of(reader), 3);
    CHECK_INT(take(cell), 3);
    CHECK_INT(value_of(rgid), 4);
}

BEHAVIOUR_WITHIN(rgmod_without_memory_leaves_the_region_readable)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    bcr_region rgid = number(3);
    void *data = *rgid;
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    FAILS(bcr_rgmod(rgid), bcrE_NBYTES);
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
    rgid = bcr_read(there, cell, 0);
    FAILS(bcr_rgmod(rgid), bcrE_NBYTES);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_rgmod(rgid), 0); /* no other CCE holds it any more */
    CHECK_PTR(*rgid, data);
    CHECK_INT(value_of(rgid), 3);
}

BEHAVIOUR_OF_OTHERS_WITHIN(the_copy_belongs_to_the_memory_of_who_copies)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    CHECK_INT(by(owner, "put 1 %d 3", cell), 0);
    bcr_region rgid = bcr_read(there, cell, 0);
    CHECK_INT(bcr_rgmod(rgid), 0);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(value_of(rgid), 3);
    CHECK_INT(value_of(number(4)), 4);
    CHECK_INT(take(cell), 3);
}

BEHAVIOUR_OF_OWN(rgrealloc_changes_length_and_account_where_the_region_lies)
{
    const int lengths[] = {50, 0, 100, 128, 1, 64};
    grow(1, 1, 256);
    bcr_region rgid = filled(100, 7);
    unsigned char *data = *rgid;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        CHECK_INT(bcr_rgrealloc(rgid, lengths[i]), 0);
        CHECK_INT(bcr_rglen(rgid, NULL), lengths[i]);
        CHECK_PTR(*rgid, data);
        CHECK_INT(data[0], 7);
    }
    FAILS(bcr_rgrealloc(rgid, -1), bcrE_ARG);
    FAILS(bcr_rgrealloc(rgid, 1 << 20), bcrE_NBYTES);
    CHECK_INT(bcr_rglen(rgid, NULL), 64);
    CHECK_INT(bcr_rgfree(rgid), 0);
    rgid = filled(256, 7);
    FAILS_NULL(bcr_rgalloc(1, 0), bcrE_NBYTES);
    CHECK_INT(bcr_rgrealloc(rgid, 193), 0);
    FAILS_NULL(bcr_rgalloc(64, 0), bcrE_NBYTES);
    bcr_region small = filled(62, 1), last = filled(1, 2);
    FAILS(bcr_rgrealloc(rgid, 194), bcrE_NBYTES);
    FAILS(bcr_rgrealloc(small, 63), bcrE_NBYTES);
    CHECK_INT(bcr_rglen(rgid, NULL), 193);
    CHECK_INT(bcr_rgrealloc(last, 0), 0); /* it counts 1 as before */
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(bcr_rgfree(small), 0);
    CHECK_INT(bcr_rgfree(last), 0);
    CHECK_INT(bcr_rgrealloc(rgid, 256), 0);
}

BEHAVIOUR_WITHIN(rgrealloc_is_for_sole_holders)
{
    const int cell = grow(1, 1, 1024);
    bcr_region rgid = filled(100, 7);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    FAILS(bcr_rgrealloc(rgid, 50), bcrE_BUSY);
    CHECK_INT(bcr_rglen(rgid, NULL), 100);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(bcr_rgrealloc(rgid, 50), 0);
    CHECK_INT(bcr_rglen(rgid, NULL), 50);
}

BEHAVIOUR_WITHIN(what_one_CCE_reads_others_read_too_and_it_goes_with_the_last)
{
    const int cell = grow(1, 4, NUMBER_BYTES);
    CHECK_INT(by(another(), "celllen %d", cell), 0);
    CHECK_INT(put(cell, 5), 0);
    bcr_region mine = bcr_read(there, cell, 0);
    const int theirs = by(another(), "keep 0 %d 0", cell);
    CHECK_INT(bcr_zap(there, cell), 0);
    CHECK_INT(by(another(), "value %d", theirs), 5);
    CHECK_INT(value_of(mine), 5);
    FAILS_NULL(bcr_rgalloc(0, 0), bcrE_NBYTES);
    CHECK_INT(by(another(), "let_go %d", theirs), 0);
    CHECK_INT(value_of(number(6)), 6);
}

BEHAVIOUR_OF_OWN(an_ordinary_region_is_no_error_region_whatever_it_holds)
{
    const int codes[9] = {bcrE_DEAD, bcr_op_putm, 1, 1, 1, 1, 1, 1, 1};
    grow(1, 1, 1024);
    bcr_region rgid = bcr_rgalloc(sizeof codes, 0);
    memcpy(*rgid, codes, sizeof codes);
    CHECK_INT(bcr_rgerror(rgid), 0);
    CHECK_INT(bcr_rgkind(rgid), bcr_DATA);
}

/* Every routine that takes an ID says so and does nothing. */
static void refused_everywhere(bcr_region rgid, int cell)
{
    int cells[2] = {there, cell}, value = 0;
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
    FAILS(bcr_rgkind(rgid), bcrE_RGID);
    FAILS(bcr_enq(rgid, there, cell, bcr_FREE), bcrE_RGID);
    FAILS(bcr_write(rgid, there, cell, bcr_NOFREE), bcrE_RGID);
    FAILS(bcr_enqm(rgid, 1, cells, bcr_FREE), bcrE_RGID);
    FAILS(bcr_rlswl(rgid, there, cell), bcrE_RGID);
    FAILS(bcr_wl2rl(rgid, there, cell), bcrE_RGID);
    FAILS_WITH(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_RGID);
    FAILS_WITH(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2, bcrE_RGID);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(value_of(bcr_read(there, cell, 0)), 99);
}

BEHAVIOUR(what_is_no_region_ID_is_refused_by_every_routine)
{
    const int cell = grow(1, 9, 1 << 14);
    CHECK_INT(put(cell, 99), 0);
    bcr_region freed = number(1);
    CHECK_INT(bcr_rgfree(freed), 0);
    refused_everywhere(freed, cell);
    bcr_region gone = number(2);
    CHECK_INT(bcr_write(gone, there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(99), there, cell, bcr_FREE), 0);
    refused_everywhere(gone, cell);
    refused_everywhere(NULL, cell);
    void *variable = NULL;
    refused_everywhere(&variable, cell);
    refused_everywhere((bcr_region)(uintptr_t)8, cell);
    refused_everywhere((bcr_region)UINTPTR_MAX, cell);
    bcr_region held = number(3);
    refused_everywhere(held + 1, cell);                       /* beside an ID */
    refused_everywhere((bcr_region)((char *)held + 1), cell); /* in one */
    refused_everywhere(*held, cell);                          /* its data */
    CHECK_INT(value_of(held), 3);
}

BEHAVIOUR_OF_OWN(thousands_of_regions_are_held_at_once)
{
    enum { MANY = 20000 };
    static bcr_region ids[MANY];
    grow(1, MANY, MANY * NUMBER_BYTES);
    for (int i = 0; i < MANY; i++)
        ids[i] = number(i);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(peek(ids[i]), i);
    for (int i = MANY; i-- > 0;)
        CHECK_INT(value_of(ids[i]), i);
    FAILS(bcr_rgfree(ids[12345]), bcrE_RGID);
}

BEHAVIOUR(a_region_is_shared_while_a_cell_or_another_holds_it)
{
    const int cell = grow(1, 4, 1024);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_rgshared(rgid), 0);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_NOFREE), 0);
    if (!place->far) { /* else it is sent, and the cell's is another */
        CHECK_INT(bcr_rgshared(rgid), 1);
        CHECK_INT(by(another(), "keep 1 %d 0", cell), 0);
        CHECK_INT(bcr_rgshared(rgid), 1);
        CHECK_INT(by(another(), "let_go 0"), 0);
        CHECK_INT(bcr_rgshared(rgid), 0);
    } else {
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        CHECK_INT(take(cell), 1);
        while (bcr_rgshared(rgid) == 1) /* until the agent has let go of it */
            CHECK_INT(bcr_celllen(there, cell), 0);
    }
    CHECK_INT(bcr_rgmod(rgid), 0);
    bcr_region pending = bcr_deq(there, cell, bcr_PENDING);
    FAILS(bcr_rgshared(pending), bcrE_PENDING);
    CHECK_INT(bcr_rgfree(pending), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    FAILS(bcr_rgshared(rgid), bcrE_RGID);
}

BEHAVIOUR_OF_OWN(heapleft_counts_what_may_still_be_allocated)
{
    CHECK_INT(bcr_heapleft(), 0);
    const int area = bcr_cagrow(0, 1, 0, 0, 0, 4, 1000);
    CHECK_INT(bcr_heapleft(), 1000);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 4, 64) > 0);
    CHECK_INT(bcr_heapleft(), 1064);
    bcr_region first = bcr_rgalloc(600, 0), empty = bcr_rgalloc(0, 0);
    CHECK_INT(bcr_heapleft(), 463);
    FAILS_NULL(bcr_rgalloc(700, 0), bcrE_NBYTES);
    CHECK_INT(bcr_rgrealloc(first, 500), 0);
    CHECK_INT(bcr_heapleft(), 563);
    CHECK_INT(bcr_rgfree(empty), 0);
    CHECK_INT(bcr_rgfree(first), 0);
    CHECK_INT(bcr_heapleft(), 1064);
    CHECK_INT(bcr_cafree(area), 0);
    CHECK_INT(bcr_heapleft(), 64);
}

BEHAVIOUR_OF_OTHERS_WITHIN(heapleft_collects_what_others_have_freed)
{
    const int cell = grow(1, 8, 1024);
    const long long all = bcr_heapleft();
    for (int i = 0; i < 8; i++)
        CHECK_INT(put(cell, i), 0);
    CHECK_INT(bcr_heapleft(), all - 8 * (long long)sizeof(int));
    for (int i = 0; i < 8; i++)
        CHECK_INT(by(owner, "get 1 %d 0", cell), i);
    CHECK_INT(bcr_heapleft(), all);
}

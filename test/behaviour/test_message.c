/* SPDX-License-Identifier: MIT */
/* bcr_send, bcr_sendm, bcr_recv, and CCE IDs in regions: what arrives, what each value means, and
 * that no failure keeps a region. What descriptors mean is tested in ../unit/copydesc, copying in
 * ../unit/cells/test_copy.c. */
#include <limits.h>
#include <string.h>

#include "behave.h"

/* The bit of the byte order; memory for a small region. */
enum { MIRRORED = 1 << 24, NBYTES = 64 };

/* All regions are free: one that takes all of the memory can be had. */
static void nothing_is_held(void)
{
    CHECK_INT(bcr_rgfree(filled(NBYTES, 0)), 0);
}

BEHAVIOUR(what_is_sent_is_received)
{
    const int cell = grow(1, 9, NBYTES), archtypes[] = {0, bcr_archtype, bcr_archtype ^ MIRRORED};
    for (size_t i = 0; i < 3; i++) {
        int in[3] = {1, -2, 3}, out[3] = {0};
        CHECK_INT(bcr_send(in, sizeof in, bcrT_1INT, 3, there, cell, 1, archtypes[i]), 2);
        CHECK_INT(bcr_recv(out, sizeof out, bcrT_1INT, 3, there, cell, 1, 0), 2);
        CHECK_MEM(out, in, sizeof in);
        CHECK_INT(bcr_celllen(there, cell), 0);
        nothing_is_held();
    }
}

BEHAVIOUR(the_region_sent_has_just_the_size_and_the_archtype)
{
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_INT, 1, 5, bcrT_CHAR | bcrT_END, 1};
    const int cell = grow(1, 9, 4096);
    char in[64] = {0};
    int archtype;
    CHECK_INT(bcr_send(in, sizeof in, desc, 2, there, cell, 1, bcr_archtype ^ MIRRORED), 2 + 64 - 26);
    bcr_region rgid = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rglen(rgid, &archtype), 17);
    CHECK_INT(archtype, bcr_archtype ^ MIRRORED);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_send(NULL, 0, bcrT_1INT, 0, there, cell, 1, 0), 2);
    rgid = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rglen(rgid, &archtype), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

BEHAVIOUR(a_buffer_that_is_too_short_is_sent_as_far_as_it_goes)
{
    const int cell = grow(1, 9, 4096);
    int in[3] = {1, 2, 3};
    CHECK_INT(bcr_send(in, 11, bcrT_1INT, 3, there, cell, 1, 0), 1);
    bcr_region rgid = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_rglen(rgid, NULL), 8);
    CHECK_MEM(*rgid, in, 8);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_send(in, 0, bcrT_1INT, 1, there, cell, 1, 0), 1);
    CHECK_INT(bcr_celllen(there, cell), 1);
}

BEHAVIOUR(send_with_qlike_0_replaces_and_recv_with_qlike_0_reads)
{
    const int cell = grow(1, 9, 4096);
    int out = 0;
    for (int in = 1; in <= 3; in++)
        CHECK_INT(bcr_send(&in, sizeof in, bcrT_1INT, 1, there, cell, 0, 0), 2);
    CHECK_INT(bcr_celllen(there, cell), 1);
    CHECK_INT(bcr_recv(&out, sizeof out, bcrT_1INT, 1, there, cell, 0, 0), 2);
    CHECK_INT(out, 3);
    CHECK_INT(bcr_celllen(there, cell), 1);
}

BEHAVIOUR(sendm_puts_one_region_into_all_cells)
{
    const int cell = grow(3, 9, NBYTES);
    int cells[6] = {there, cell, there, cell + 1, there, cell + 2}, in = 5, out;
    CHECK_INT(bcr_sendm(&in, sizeof in, bcrT_1INT, 1, 3, cells, 1, 0), 2);
    if (place->far) { /* the cells have a copy of their own, and until then it counts */
        CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
        CHECK_INT(bcr_rgfree(filled(NBYTES, 0)), 0);
    } else {
        FAILS_NULL(bcr_rgalloc(NBYTES - 3, 0), bcrE_NBYTES);
        CHECK_INT(bcr_rgfree(filled(NBYTES - 4, 0)), 0); /* it counts once */
    }
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_recv(&out, sizeof out, bcrT_1INT, 1, there, cell + i, 1, 0), 2);
        CHECK_INT(out, 5);
    }
    CHECK_INT(bcr_sendm(&in, sizeof in, bcrT_1INT, 1, 0, NULL, 1, 0), 2);
    nothing_is_held();
}

BEHAVIOUR(a_send_that_fails_frees_its_region_and_says_why)
{
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1}, before[] = {-1, bcrT_CHAR | bcrT_END, 1};
    const int cell = grow(1, 1, NBYTES), full = grow(1, 0, 0);
    int in = 5, ids[2] = {1000, 1}, wrong[2] = {77, cell}, right[2] = {there, cell};
    const struct {
        const void *buffer;
        int length;
        const int *desc;
        int repl, archtype, ret, code;
    } rows[] = {
        {&in, 4, NULL, 1, 0, -2, bcrE_ARG},
        {&in, 4, bcrT_1INT, -1, 0, -2, bcrE_ARG},
        {&in, -1, bcrT_1INT, 1, 0, -2, bcrE_ARG},
        {NULL, 4, bcrT_1INT, 1, 0, -2, bcrE_ARG},
        {&in, 4, loop, 1, 0, -2, bcrE_DESC},
        {&in, 4, before, 1, 0, -2, bcrE_DESC},
        {&in, 4, bcrT_1INT, 1, 77, -2, bcrE_ARCH},
        {ids, 8, bcrT_1CCE, 2, 0, -2, bcrE_NOCCE},
        {"x", INT_MAX, bcrT_1CHAR, 65, 0, -1, bcrE_NBYTES},
    };
    putwait(0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FAILS_WITH(bcr_send(rows[i].buffer, rows[i].length, rows[i].desc, rows[i].repl, there, cell, 1,
                            rows[i].archtype),
                   rows[i].ret, rows[i].code);
        FAILS_WITH(bcr_sendm(rows[i].buffer, rows[i].length, rows[i].desc, rows[i].repl, 1, right, 1,
                             rows[i].archtype),
                   rows[i].ret, rows[i].code);
        nothing_is_held();
    }
    int small = (bcr_archtype & ~0xf0) | 0x50, large = 32768;
    FAILS_WITH(bcr_send(&large, 4, bcrT_1INT, 1, there, cell, 1, small), -2, bcrE_RANGE);
    FAILS_WITH(bcr_send(&in, 4, bcrT_1INT, 1, 77, cell, 1, 0), -2, bcrE_NOCCE);
    FAILS_WITH(bcr_sendm(&in, 4, bcrT_1INT, 1, 1, wrong, 1, 0), -2, bcrE_NOCCE);
    FAILS_WITH(bcr_sendm(&in, 4, bcrT_1INT, 1, -1, right, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_sendm(&in, 4, bcrT_1INT, 1, 1, NULL, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_send(&in, 4, bcrT_1INT, 1, there, full, 1, 0), -2, bcrE_FULL);
    FAILS_WITH(bcr_send(&in, 4, bcrT_1INT, 1, there, 999, 1, 0), -2, bcrE_NOCELL);
    FAILS_WITH(bcr_send(&in, 4, bcrT_1INT, 1, there, 0, 1, 0), -2, bcrE_RESERVED);
    nothing_is_held();
}

BEHAVIOUR(recv_returns_what_copyfm_returns)
{
    const struct {
        int repl, length, ret;
    } rows[] = {{3, 12, 2}, {2, 12, 2 + 4}, {4, 16, 1}, {3, 8, -2 - 4}, {0, 0, 2 + 12}, {1, 0, -2 - 12}};
    const int cell = grow(1, 9, NBYTES);
    int in[3] = {1, 2, 3}, out[4];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(bcr_send(in, sizeof in, bcrT_1INT, 3, there, cell, 1, 0), 2);
        CHECK_INT(bcr_recv(out, rows[i].length, bcrT_1INT, rows[i].repl, there, cell, 1, 0), rows[i].ret);
        CHECK_INT(bcr_celllen(there, cell), 0);
        nothing_is_held();
    }
}

BEHAVIOUR(recv_without_a_region_returns_minus_1)
{
    const int cell = grow(1, 9, 4096);
    int out = 7;
    FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, there, cell, 1, 0), bcrE_TIMEOUT);
    FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, there, cell, 1, 1), bcrE_TIMEOUT);
    FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, there, cell, 1, bcr_PENDING), bcrE_ARG);
    FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, there, cell + 1, 1, 0), bcrE_NOCELL);
    CHECK_INT(out, 7);
}

BEHAVIOUR(recv_with_wrong_arguments_takes_nothing)
{
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    const int cell = grow(1, 9, 4096);
    int out = 7;
    CHECK_INT(put(cell, 1), 0);
    FAILS_WITH(bcr_recv(&out, 4, NULL, 1, there, cell, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_recv(&out, 4, bcrT_1INT, -1, there, cell, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_recv(&out, -1, bcrT_1INT, 1, there, cell, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_recv(NULL, 4, bcrT_1INT, 1, there, cell, 1, 0), -2, bcrE_ARG);
    FAILS_WITH(bcr_recv(&out, 4, loop, 1, there, cell, 1, 0), -2, bcrE_DESC);
    CHECK_INT(out, 7);
    CHECK_INT(take(cell), 1);
}

BEHAVIOUR(recv_frees_what_it_cannot_copy)
{
    const int cell = grow(1, 9, NBYTES);
    const int wide = (bcr_archtype & ~0xfff0) | 0xfff0; /* int, long, long long: eight bytes each */
    int out = 7;
    bcr_region rgid = bcr_rgalloc(8, wide);
    CHECK(rgid != NULL);
    memset(*rgid, 1, 8);
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
    FAILS_WITH(bcr_recv(&out, 4, bcrT_1INT, 1, there, cell, 1, 0), -2, bcrE_RANGE);
    CHECK_INT(out, 7);
    nothing_is_held();
}

/* ---- CCE IDs ---- */

BEHAVIOUR(a_CCE_ID_that_travels_is_the_same_int_again_and_minus_1_stays)
{
    static const char zeros[16];
    const int cell = grow(1, 9, 1024);
    const bcr_cce_id ids[4] = {bcr_cce, there, -1, name_of(another())};
    bcr_cce_id met[4] = {0};
    bcr_region rgid = bcr_rgalloc(4 * 16, 0);
    CHECK_INT(bcr_copyto(bcrT_1CCE, 4, rgid, 0, ids, sizeof ids), 2);
    CHECK_MEM((char *)*rgid + 32, zeros, 16); /* -1 is zeros */
    CHECK_INT(bcr_enq(rgid, there, cell, bcr_FREE), 0);
    rgid = bcr_deq(there, cell, 0);
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 4, rgid, 0, met, sizeof met), 2);
    CHECK_MEM(met, ids, sizeof ids);
}

BEHAVIOUR_OF_OWN(an_int_that_was_never_given_out_stops_copyto_where_it_stands)
{
    const int never[] = {0, -2, 1000, INT_MAX, INT_MIN};
    grow(1, 1, 1024);
    bcr_region rgid = filled(3 * 16, 0xee);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        bcr_cce_id ids[3] = {bcr_cce, never[i], bcr_cce};
        FAILS_WITH(bcr_copyto(bcrT_1CCE, 3, rgid, 0, ids, sizeof ids), -2, bcrE_NOCCE);
        for (int k = 16; k < 48; k++)
            CHECK_INT(((unsigned char *)*rgid)[k], 0xee);
    }
}

BEHAVIOUR_OF_OWN(an_unknown_identity_is_a_fresh_int_that_nobody_is)
{
    const int cell = grow(1, 9, 1024);
    bcr_region rgid = filled(3 * 16, 0x5a);
    ((char *)*rgid)[16] = 1; /* the first and the third are equal */
    bcr_cce_id ids[3] = {0}, again = 0;
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 3, rgid, 0, ids, sizeof ids), 2);
    CHECK(ids[0] > 0 && ids[1] > 0);
    CHECK(ids[0] != bcr_cce && ids[0] != ids[1]);
    CHECK_INT(ids[0], ids[2]);
    CHECK_INT(bcr_copyfm(bcrT_1CCE, 1, rgid, 32, &again, sizeof again), 2);
    CHECK_INT(again, ids[0]);
    bcr_region kept = number(1);
    FAILS(bcr_enq(kept, ids[0], cell, bcr_FREE), bcrE_NOCCE);
    FAILS_NULL(bcr_deq(ids[1], cell, bcr_BLOCK), bcrE_NOCCE);
    FAILS(bcr_zap(ids[0], cell), bcrE_NOCCE);
    FAILS(bcr_celllen(ids[0], cell), bcrE_NOCCE);
    CHECK_INT(value_of(kept), 1);
    bcr_region onward = bcr_rgalloc(16, 0); /* it can be passed on all the same */
    CHECK_INT(bcr_copyto(bcrT_1CCE, 1, onward, 0, &ids[0], sizeof ids[0]), 2);
    CHECK_MEM(*onward, *rgid, 16);
}

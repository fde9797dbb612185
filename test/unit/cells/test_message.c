/* SPDX-License-Identifier: MIT */
/* bcr_send, bcr_sendm, bcr_recv: what arrives, what each value means, and that no failure keeps a
 * region. */
#include "cce.h"

#include <limits.h>
#include <string.h>

enum { MIRRORED = 1 << 24 };

/* A call that must fail: what it returns, and the code. */
#define CALL_FAILS(call, value, code) \
    do {                              \
        bcr_errno = -77;              \
        CHECK_INT((call), (value));   \
        CHECK_INT(bcr_errno, (code)); \
    } while (0)

TEST(what_is_sent_is_received)
{
    begin();
    int cell = grow(1, 9, 4096);
    const int archtypes[] = {0, bcr_archtype, bcr_archtype ^ MIRRORED};
    for (size_t i = 0; i < 3; i++) {
        int in[3] = {1, -2, 3}, out[3] = {0};
        CHECK_INT(bcr_send(in, sizeof in, bcrT_1INT, 3, bcr_cce, cell, 1, archtypes[i]), 2);
        as(two);
        CHECK_INT(bcr_recv(out, sizeof out, bcrT_1INT, 3, one_of_two, cell, 1, 0), 2);
        as(one);
        CHECK_MEM(out, in, sizeof in);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    }
    CHECK_INT(audit(), 0);
    end();
}

TEST(the_region_sent_has_just_the_size_and_the_archtype)
{
    begin();
    int cell = grow(1, 9, 4096), archtype;
    static const int desc[] = {0, bcrT_CHAR, 1, 0, bcrT_INT, 1, 5, bcrT_CHAR | bcrT_END, 1};
    char in[64] = {0};
    CHECK_INT(bcr_send(in, sizeof in, desc, 2, bcr_cce, cell, 1, bcr_archtype ^ MIRRORED), 2 + 64 - 26);
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(rgid, &archtype), 17);
    CHECK_INT(archtype, bcr_archtype ^ MIRRORED);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_send(NULL, 0, bcrT_1INT, 0, bcr_cce, cell, 1, 0), 2);
    rgid = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(rgid, &archtype), 0);
    CHECK_INT(bcr_rgfree(rgid), 0);
    end();
}

TEST(a_buffer_that_is_too_short_is_sent_as_far_as_it_goes)
{
    begin();
    int cell = grow(1, 9, 4096);
    int in[3] = {1, 2, 3};
    CHECK_INT(bcr_send(in, 11, bcrT_1INT, 3, bcr_cce, cell, 1, 0), 1);
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    CHECK_INT(bcr_rglen(rgid, NULL), 8);
    CHECK_MEM(*rgid, in, 8);
    CHECK_INT(bcr_rgfree(rgid), 0);
    CHECK_INT(bcr_send(in, 0, bcrT_1INT, 1, bcr_cce, cell, 1, 0), 1);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    end();
}

TEST(qlike_0_replaces_and_reads)
{
    begin();
    int cell = grow(1, 9, 4096), out = 0;
    for (int in = 1; in <= 3; in++)
        CHECK_INT(bcr_send(&in, sizeof in, bcrT_1INT, 1, bcr_cce, cell, 0, 0), 2);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(bcr_recv(&out, sizeof out, bcrT_1INT, 1, bcr_cce, cell, 0, 0), 2);
    CHECK_INT(out, 3);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    end();
}

TEST(sendm_puts_one_region_into_all_cells)
{
    begin();
    int cell = grow(3, 9, 64); /* room for one region */
    int cells[6] = {bcr_cce, cell, bcr_cce, cell + 1, bcr_cce, cell + 2}, in = 5, out;
    CHECK_INT(bcr_sendm(&in, sizeof in, bcrT_1INT, 1, 3, cells, 1, 0), 2);
    CHECK_INT(audit(), 1);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(bcr_recv(&out, sizeof out, bcrT_1INT, 1, bcr_cce, cell + i, 1, 0), 2);
        CHECK_INT(out, 5);
    }
    CHECK_INT(bcr_sendm(&in, sizeof in, bcrT_1INT, 1, 0, NULL, 1, 0), 2);
    CHECK_INT(audit(), 0);
    end();
}

TEST(a_send_that_fails_frees_its_region_and_says_why)
{
    begin();
    int cell = grow(1, 1, 64), in = 5, ids[2] = {1000, 1};
    int wrong[2] = {bcr_cce, cell + 1}, right[2] = {bcr_cce, cell};
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    static const int before[] = {-1, bcrT_CHAR | bcrT_END, 1};
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CALL_FAILS(bcr_send(rows[i].buffer, rows[i].length, rows[i].desc, rows[i].repl, bcr_cce, cell, 1,
                            rows[i].archtype),
                   rows[i].ret, rows[i].code);
        CALL_FAILS(bcr_sendm(rows[i].buffer, rows[i].length, rows[i].desc, rows[i].repl, 1, right, 1,
                             rows[i].archtype),
                   rows[i].ret, rows[i].code);
        CHECK_INT(audit(), 0);
    }
    int small = (bcr_archtype & ~0xf0) | 0x50, large = 32768;
    CALL_FAILS(bcr_send(&large, 4, bcrT_1INT, 1, bcr_cce, cell, 1, small), -2, bcrE_RANGE);
    CALL_FAILS(bcr_send(&in, 4, bcrT_1INT, 1, bcr_cce, cell + 1, 1, 0), -2, bcrE_NOCELL);
    CALL_FAILS(bcr_send(&in, 4, bcrT_1INT, 1, 77, cell, 1, 0), -2, bcrE_NOCCE);
    CALL_FAILS(bcr_send(&in, 4, bcrT_1INT, 1, bcr_cce, 0, 1, 0), -2, bcrE_RESERVED);
    CALL_FAILS(bcr_sendm(&in, 4, bcrT_1INT, 1, 1, wrong, 1, 0), -2, bcrE_NOCELL);
    CALL_FAILS(bcr_sendm(&in, 4, bcrT_1INT, 1, -1, right, 1, 0), -2, bcrE_ARG);
    CALL_FAILS(bcr_sendm(&in, 4, bcrT_1INT, 1, 1, NULL, 1, 0), -2, bcrE_ARG);
    CHECK_INT(audit(), 0);
    CHECK_INT(bcr_cagrow(100, 1, 0, 0, 0, 0, 4096), 100); /* a cell without room */
    CALL_FAILS(bcr_send(&in, 4, bcrT_1INT, 1, bcr_cce, 100, 1, 0), -2, bcrE_FULL);
    CHECK_INT(audit(), 0);
    end();
}

TEST(recv_returns_what_copyfm_returns)
{
    begin();
    int cell = grow(1, 9, 4096), in[3] = {1, 2, 3}, out[3];
    const struct {
        int repl, length, ret;
    } rows[] = {{3, 12, 2}, {2, 12, 2 + 4}, {4, 16, 1}, {3, 8, -2 - 4}, {0, 0, 2 + 12}, {1, 0, -2 - 12}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(bcr_send(in, sizeof in, bcrT_1INT, 3, bcr_cce, cell, 1, 0), 2);
        CHECK_INT(bcr_recv(out, rows[i].length < 12 ? rows[i].length : 12, bcrT_1INT, rows[i].repl, bcr_cce,
                           cell, 1, 0),
                  rows[i].ret);
        CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
        CHECK_INT(audit(), 0);
    }
    end();
}

TEST(recv_without_a_region_returns_minus_1)
{
    begin();
    int cell = grow(1, 9, 4096), out = 7;
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, bcr_cce, cell, 1, 0), -1, bcrE_TIMEOUT);
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, bcr_cce, cell, 1, 1), -1, bcrE_TIMEOUT);
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, bcr_cce, cell, 1, bcr_PENDING), -1, bcrE_ARG);
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, bcr_cce, cell + 1, 1, 0), -1, bcrE_NOCELL);
    CHECK_INT(out, 7);
    end();
}

TEST(recv_with_wrong_arguments_takes_nothing)
{
    begin();
    int cell = grow(1, 9, 4096), out = 7;
    static const int loop[] = {0, bcrT_NEST | bcrT_END, 1};
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    CALL_FAILS(bcr_recv(&out, 4, NULL, 1, bcr_cce, cell, 1, 0), -2, bcrE_ARG);
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, -1, bcr_cce, cell, 1, 0), -2, bcrE_ARG);
    CALL_FAILS(bcr_recv(&out, -1, bcrT_1INT, 1, bcr_cce, cell, 1, 0), -2, bcrE_ARG);
    CALL_FAILS(bcr_recv(NULL, 4, bcrT_1INT, 1, bcr_cce, cell, 1, 0), -2, bcrE_ARG);
    CALL_FAILS(bcr_recv(&out, 4, loop, 1, bcr_cce, cell, 1, 0), -2, bcrE_DESC);
    CHECK_INT(out, 7);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(recv_frees_what_it_cannot_copy)
{
    begin();
    int cell = grow(1, 9, 4096), out = 7;
    int wide = (bcr_archtype & ~0xfff0) | 0xfff0; /* int, long and long long of eight bytes each */
    bcr_region rgid = bcr_rgalloc(8, wide);
    CHECK(rgid != NULL);
    memset(*rgid, 1, 8);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_FREE), 0);
    CALL_FAILS(bcr_recv(&out, 4, bcrT_1INT, 1, bcr_cce, cell, 1, 0), -2, bcrE_RANGE);
    CHECK_INT(out, 7);
    CHECK_INT(audit(), 0);
    end();
}

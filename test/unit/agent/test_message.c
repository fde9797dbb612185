/* SPDX-License-Identifier: MIT */
/* Headers of orders and answers: what is written is read, byte for byte as the drawing has it, and
 * nothing else is. */
#include "links/agent/message.h"

#include <string.h>

#include "bcri/waiters.h"
#include "check.h"

static uint8_t header[BCRI_LINK_HEADER_MAX];

static const struct bcri_message order = {.kind = BCRI_MESSAGE_PUT,
                                          .flags = BCRI_MESSAGE_WRITE,
                                          .region_kind = 0x0102,
                                          .cell = 0x03040506,
                                          .msec = -1,
                                          .archtype = 0x0708090a,
                                          .request = UINT64_C(0x0b0c0d0e0f101112),
                                          .owner = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}};
static const struct bcri_message same = {.kind = BCRI_MESSAGE_SAME,
                                         .flags = BCRI_MESSAGE_WRITE,
                                         .cell = 0x03040506,
                                         .msec = -1,
                                         .request = UINT64_C(0x0b0c0d0e0f101112),
                                         .value = UINT64_C(0x1f20212223242526),
                                         .owner = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}};
static const struct bcri_message answer = {.kind = BCRI_MESSAGE_ANSWER,
                                           .code = 0x0102,
                                           .region_kind = 0x0304,
                                           .archtype = 0x05060708,
                                           .request = UINT64_C(0x090a0b0c0d0e0f10),
                                           .value = UINT64_C(0x1112131415161718)};

TEST(an_order_stands_on_the_wire_as_drawn)
{
    static const uint8_t drawn[BCRI_ORDER_BYTES] = {1,  1,  1,  2,  3,  4,  5,  6,  0xff, 0xff, 0xff, 0xff,
                                                    7,  8,  9,  10, 11, 12, 13, 14, 15,   16,   17,   18,
                                                    19, 20, 21, 22, 23, 24, 25, 26, 27,   28,   29,   30};
    CHECK_UINT(bcri_message_write(&order, header), BCRI_ORDER_BYTES);
    CHECK_MEM(header, drawn, sizeof drawn);
}

TEST(a_put_of_the_same_region_names_the_put_that_had_it)
{
    static const uint8_t drawn[BCRI_SAME_BYTES] = {
        10, 1,  0,  0,  3,  4,  5,  6,  0xff, 0xff, 0xff, 0xff, 0,  0,  0,  0,  11, 12, 13, 14, 15, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25,   26,   27,   28,   29, 30, 31, 32, 33, 34, 35, 36, 37, 38};
    struct bcri_message got;
    CHECK_UINT(bcri_message_write(&same, header), BCRI_SAME_BYTES);
    CHECK_MEM(header, drawn, sizeof drawn);
    CHECK(bcri_message_read(header, BCRI_SAME_BYTES, 0, &got));
    CHECK_UINT(got.value, same.value);
    CHECK_UINT(got.request, same.request);
}

TEST(an_answer_stands_on_the_wire_as_drawn)
{
    static const uint8_t drawn[BCRI_ANSWER_BYTES] = {7,  0,  1,  2,  0,  0,  3,  4,  0,  0,  0,
                                                     0,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                                     15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
    CHECK_UINT(bcri_message_write(&answer, header), BCRI_ANSWER_BYTES);
    CHECK_MEM(header, drawn, sizeof drawn);
}

TEST(what_is_written_is_read)
{
    struct bcri_message got;
    CHECK(bcri_message_read(header, bcri_message_write(&order, header), 100, &got));
    CHECK_INT(got.kind, order.kind);
    CHECK_UINT(got.flags, order.flags);
    CHECK_UINT(got.region_kind, order.region_kind);
    CHECK_INT(got.cell, order.cell);
    CHECK_INT(got.msec, order.msec);
    CHECK_UINT(got.archtype, order.archtype);
    CHECK_UINT(got.request, order.request);
    CHECK_MEM(got.owner, order.owner, sizeof got.owner);
    CHECK(bcri_message_read(header, bcri_message_write(&answer, header), 0, &got));
    CHECK_INT(got.kind, answer.kind);
    CHECK_UINT(got.code, answer.code);
    CHECK_UINT(got.region_kind, answer.region_kind);
    CHECK_UINT(got.archtype, answer.archtype);
    CHECK_UINT(got.request, answer.request);
    CHECK_UINT(got.value, answer.value);
}

static bool is_read(struct bcri_message message, uint32_t body_bytes)
{
    struct bcri_message got;
    return bcri_message_read(header, bcri_message_write(&message, header), body_bytes, &got);
}

TEST(what_nobody_writes_is_not_read)
{
    struct bcri_message got;
    for (uint32_t bytes = 0; bytes <= sizeof header; bytes++) {
        (void)bcri_message_write(&order, header);
        CHECK_INT(bcri_message_read(header, bytes, 0, &got), bytes == BCRI_ORDER_BYTES);
        (void)bcri_message_write(&answer, header);
        CHECK_INT(bcri_message_read(header, bytes, 0, &got), bytes == BCRI_ANSWER_BYTES);
    }
    (void)bcri_message_write(&same, header);
    for (uint32_t bytes = 0; bytes <= sizeof header; bytes++)
        CHECK_INT(bcri_message_read(header, bytes, 0, &got), bytes == BCRI_SAME_BYTES);
    struct bcri_message message = order;
    for (unsigned kind = 0; kind < 256; kind++) {
        (void)bcri_message_write(&order, header);
        header[0] = (uint8_t)kind;
        header[1] = 0;
        CHECK_INT(bcri_message_read(header, BCRI_ORDER_BYTES, 0, &got),
                  kind >= 1 && kind < BCRI_MESSAGE_KINDS && kind != BCRI_MESSAGE_ANSWER &&
                      kind != BCRI_MESSAGE_SAME);
    }
    message.flags = BCRI_MESSAGE_WRITE | BCRI_MESSAGE_RETURN;
    CHECK(!is_read(message, 0));
    message = (struct bcri_message){.kind = BCRI_MESSAGE_DATA};
    CHECK(is_read(message, 1));
    message.flags = BCRI_MESSAGE_WRITE; /* its puts say that */
    CHECK(!is_read(message, 1));
    message = same;
    CHECK(is_read(message, 0));
    CHECK(!is_read(message, 1)); /* its body has come with another */
    message.flags = BCRI_MESSAGE_RETURN;
    CHECK(!is_read(message, 0));
    message = (struct bcri_message){.kind = BCRI_MESSAGE_GET, .flags = BCRI_WANT_LOCK | BCRI_MESSAGE_LOCKS};
    CHECK(is_read(message, 0));
    CHECK(!is_read(message, 1));
    message.flags = 3;
    CHECK(!is_read(message, 0));
    message = (struct bcri_message){.kind = BCRI_MESSAGE_ZAP, .flags = 1};
    CHECK(!is_read(message, 0));
    message = answer;
    CHECK(!is_read(message, 1)); /* a failure has no body */
    message.region_kind = 0x10000;
    CHECK(!is_read(message, 0));
    message = (struct bcri_message){.kind = BCRI_MESSAGE_ANSWER, .flags = BCRI_MESSAGE_UP_TO};
    CHECK(is_read(message, 0));
    CHECK(!is_read(message, 1)); /* puts have no region that comes back */
    message.code = 1;
    CHECK(!is_read(message, 0)); /* failures are told singly */
    message = (struct bcri_message){.kind = BCRI_MESSAGE_ANSWER, .flags = 3};
    CHECK(!is_read(message, 0));
}

TEST(the_flags_of_an_answer_stand_behind_its_kind)
{
    const struct bcri_message waits = {.kind = BCRI_MESSAGE_ANSWER, .flags = BCRI_MESSAGE_WAITS};
    struct bcri_message got;
    CHECK(bcri_message_read(header, bcri_message_write(&waits, header), 0, &got));
    CHECK_UINT(header[1], 2);
    CHECK_UINT(got.flags, BCRI_MESSAGE_WAITS);
}

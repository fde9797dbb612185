/* SPDX-License-Identifier: MIT */
/* Control messages over a stream of bytes: whatever the cuts, each message once and in order. */
#include <string.h>

#include "bcri/frames.h"
#include "check.h"

static struct bcri_frames frames;
static uint8_t stream[1 << 18];
static size_t length; /* of the stream */

static void add_bytes(const void *bytes, size_t count)
{
    CHECK(count <= sizeof stream - length);
    memcpy(stream + length, bytes, count);
    length += count;
}

static void add_magic(void)
{
    add_bytes(BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
}

static void add_reply(uint32_t id, const char *text)
{
    const struct bcri_control message = {.type = BCRI_MSG_reply,
                                         .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(text),
                                         .id = id,
                                         .status = id % 256,
                                         .text = bcri_view_of(text)};
    const size_t size = bcri_frame_encode(&message, stream + length, sizeof stream - length);
    CHECK(size > BCRI_FRAME_HEAD_BYTES);
    length += size;
}

static void begin(void)
{
    memset(&frames, 0, sizeof frames);
    length = 0;
}

/* Checks that the stream, in pieces of `piece` bytes, brings replies 1, 2, ... `count` and then
 * ends as `end` says: 0, or -1. Returns the sentence. */
static const char *read_all(size_t piece, uint32_t count, int end)
{
    struct bcri_control message;
    const char *wrong = NULL;
    uint32_t got = 0;
    int came = 0;
    memset(&frames, 0, sizeof frames);
    for (size_t at = 0; at < length && came == 0;) {
        uint8_t *room;
        size_t size = bcri_frames_room(&frames, &room);
        CHECK(size >= 1);
        size = size < piece ? size : piece;
        size = size < length - at ? size : length - at;
        memcpy(room, stream + at, size);
        bcri_frames_came(&frames, size);
        at += size;
        while ((came = bcri_frames_next(&frames, &message, &wrong)) == 1) {
            CHECK_INT(message.type, BCRI_MSG_reply);
            CHECK_UINT(message.id, ++got);
        }
    }
    CHECK_UINT(got, count);
    CHECK_INT(came, end);
    return wrong;
}

TEST(messages_come_once_and_in_order_wherever_the_stream_is_cut)
{
    static char text[1024];
    memset(text, 'x', sizeof text - 1);
    begin();
    add_bytes("Welcome to host!\n", 17);
    add_magic();
    for (uint32_t id = 1; id <= 40; id++)
        add_reply(id, text + sizeof text - 1 - (id * 25 % 1000));
    for (size_t piece = 1; piece < 70; piece++)
        CHECK_PTR(read_all(piece, 40, 0), NULL);
    CHECK_PTR(read_all(4000, 40, 0), NULL);
    CHECK_PTR(read_all(sizeof stream, 40, 0), NULL);
}

TEST(a_greeting_may_hold_parts_of_the_magic_word)
{
    begin();
    for (size_t part = 1; part < BCRI_FRAMES_MAGIC_BYTES; part++)
        add_bytes(BCRI_FRAMES_MAGIC, part);
    add_magic();
    add_reply(1, "");
    for (size_t piece = 1; piece < length; piece++)
        CHECK_PTR(read_all(piece, 1, 0), NULL);
}

TEST(nothing_is_read_before_the_magic_word)
{
    begin();
    add_reply(1, "a frame, but nobody has begun");
    CHECK_PTR(read_all(7, 0, 0), NULL);
}

TEST(a_greeting_without_end_is_malformed)
{
    begin();
    memset(stream, '.', BCRI_FRAMES_GREETING);
    length = BCRI_FRAMES_GREETING;
    CHECK_PTR(read_all(1000, 0, 0), NULL);
    add_magic();
    add_reply(1, "");
    CHECK_PTR(read_all(1000, 1, 0), NULL);
    begin();
    memset(stream, '.', BCRI_FRAMES_GREETING + 1);
    length = BCRI_FRAMES_GREETING + 1;
    CHECK_STR(read_all(1000, 0, -1), "no enl speaks there");
}

TEST(a_length_over_the_limit_is_malformed_before_anything_is_read_by_it)
{
    static const uint8_t heads[][BCRI_FRAME_HEAD_BYTES] = {
        {0, 0, 0x20, 1}, {0, 1, 0, 0}, {0x80, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        begin();
        add_magic();
        add_reply(1, "");
        add_bytes(heads[i], sizeof heads[i]);
        CHECK_STR(read_all(sizeof stream, 1, -1), "longer than a message may be");
        CHECK_STR(read_all(1, 1, -1), "longer than a message may be");
    }
}

TEST(the_longest_frame_fits)
{
    begin();
    add_magic();
    add_bytes((const uint8_t[]){0, 0, 0x20, 0}, 4); /* the limit; the message is none */
    memset(stream + length, 0xc1, BCRI_CONTROL_BYTES_MAX);
    length += BCRI_CONTROL_BYTES_MAX;
    CHECK_STR(read_all(sizeof stream, 0, -1), "not a map, or cut off");
}

TEST(a_malformed_message_ends_the_stream)
{
    begin();
    add_magic();
    add_reply(1, "");
    add_bytes((const uint8_t[]){0, 0, 0, 0}, 4);
    add_reply(2, "");
    CHECK_STR(read_all(sizeof stream, 1, -1), "not a map, or cut off");
}

TEST(a_frame_is_the_same_bytes_on_every_machine)
{
    static const uint8_t want[] = "\0\0\0\x0f\x83\xa1v\x01\xa1t\xa4"
                                  "kill\xa2id\x07";
    const struct bcri_control message = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 7};
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
    const size_t size = bcri_frame_encode(&message, bytes, sizeof bytes);
    CHECK_UINT(size, sizeof want - 1);
    CHECK_MEM(bytes, want, size);
    CHECK_UINT(bcri_frame_encode(&message, bytes, size - 1), 0);
    CHECK_UINT(bcri_frame_encode(&message, bytes, 3), 0);
}

TEST(what_was_read_is_wiped)
{
    static const char secret[] = "0123456789abcdef0123456789abcdef";
    const struct bcri_control message = {.type = BCRI_MSG_agreed,
                                         .present = BCRI_HAS(host) | BCRI_HAS(random),
                                         .host = 9,
                                         .random = {secret, 32}};
    struct bcri_control got;
    const char *wrong;
    uint8_t bytes[BCRI_FRAME_BYTES_MAX], *at;
    memset(&frames, 0, sizeof frames);
    const size_t size = bcri_frame_encode(&message, bytes, sizeof bytes);
    bcri_frames_room(&frames, &at);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it is no string */
    memcpy(at, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    memcpy(at + BCRI_FRAMES_MAGIC_BYTES, bytes, size);
    memcpy(at + BCRI_FRAMES_MAGIC_BYTES + size, bytes, 5); /* the beginning of another */
    bcri_frames_came(&frames, BCRI_FRAMES_MAGIC_BYTES + size + 5);
    CHECK_INT(bcri_frames_next(&frames, &got, &wrong), 1);
    CHECK_MEM(got.random.bytes, secret, 32);
    CHECK_INT(bcri_frames_next(&frames, &got, &wrong), 0);
    CHECK_PTR(memmem(&frames, sizeof frames, secret + 16, 8), NULL);
}

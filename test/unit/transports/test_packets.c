/* SPDX-License-Identifier: MIT */
/* Packets as docs/protocol.md has them, byte for byte, and read by a second reader that shares nothing
 * with the engine. On machines of every byte order. */
#include <stdio.h>
#include <string.h>

#include "bcri/link.h"
#include "check.h"

/* ---- the second reader: written from docs/protocol.md alone */

struct second {
    const unsigned char *bytes;
    size_t at, end;
};

static unsigned long long number(struct second *s)
{
    CHECK(s->at < s->end);
    const unsigned first = s->bytes[s->at++];
    unsigned long long value = first % 64;
    for (unsigned more = (1u << first / 64) - 1; more != 0; more--) {
        CHECK(s->at < s->end);
        value = value * 256 + s->bytes[s->at++];
    }
    return value;
}

static unsigned long long fixed(const unsigned char *at, unsigned bytes)
{
    unsigned long long value = 0;
    while (bytes-- != 0)
        value = value * 256 + *at++;
    return value;
}

/* What is in a packet, in words. */
static void describe(const unsigned char *packet, size_t bytes, char *out, size_t room)
{
    int length = snprintf(out, room, "v%x phase %u lane %u host %u number %u:", packet[0], packet[1],
                          (unsigned)fixed(packet + 2, 2), (unsigned)fixed(packet + 4, 4),
                          (unsigned)fixed(packet + 8, 8));
    struct second s = {packet, 16, bytes - 8}; /* a token of 8 bytes at the end */
    while (s.at < s.end) {
        const unsigned kind = packet[s.at++];
        static const char *const name[] = {"PAD",   "PING", "ACK", "HOST", "BYTES",
                                           "TAKEN", "SKIP", "END", "GONE"};
        static const unsigned numbers[] = {0, 0, 4, 2, 4, 5, 4, 2, 2};
        unsigned long long last[5] = {0};
        CHECK(kind < 9);
        length += snprintf(out + length, room - (size_t)length, " %s", name[kind]);
        for (unsigned i = 0; i < numbers[kind]; i++) {
            last[i] = number(&s);
            /* How long an acknowledgement waited depends on the machine's mood, not on the protocol. */
            length += snprintf(out + length, room - (size_t)length, " %llu", last[i]);
        }
        unsigned long long more = kind == 2 ? 2 * last[2] : kind == 5 ? last[4] : 0;
        for (; more != 0; more--)
            length += snprintf(out + length, room - (size_t)length, " %llu", number(&s));
        if (kind == 4) {
            length += snprintf(out + length, room - (size_t)length, " '");
            for (; last[3] != 0; last[3]--)
                length += snprintf(out + length, room - (size_t)length, "%02x", packet[s.at++]);
            length += snprintf(out + length, room - (size_t)length, "'");
        }
    }
    CHECK_UINT(s.at, s.end);
}

/* ---- two ends, whose packets are looked at */

static uint8_t memory[1000];
static enum bcri_link_verdict verdict = BCRI_LINK_TAKE;
static bool closed;

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source != 0 && target != 0 && !closed;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    (void)owner;
    message->memory = memory;
    return verdict;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)source;
    (void)target;
    (void)cookie;
    *(enum bcri_link_outcome *)owner = outcome;
}

static const struct bcri_link_events events = {accept, begin, arrived, arrived, completed};

static struct bcri_link *end(uint32_t host, uint32_t peer, enum bcri_link_outcome *outcome)
{
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 0x0102030405060708};
    const struct bcri_link_config config = {.host = host,
                                            .peer = peer,
                                            .packet_max = 1200,
                                            .carrier = {.packet_max = 1200, .room = 100000},
                                            .secret = &secret};
    struct bcri_link *link = bcri_link_new(&config, &events, outcome, 1000000000);
    CHECK(link != NULL);
    return link;
}

static uint8_t packet[BCRI_LINK_PACKET_MAX];
static char text[4096], hex[4096];

/* The next packet of `from` goes to `to`. Its bytes must be those of `golden` (in hex, without the
 * token at the end), and the second reader must find in them what `want` says. */
static void pass(struct bcri_link *from, struct bcri_link *to, uint64_t now, const char *golden,
                 const char *want)
{
    const size_t bytes = bcri_link_fill(from, packet, now);
    CHECK(bytes > 24 && bytes < sizeof hex / 2);
    CHECK_UINT(fixed(packet + bytes - 8, 8), 0x0102030405060708);
    for (size_t i = 0; i < bytes - 8; i++)
        snprintf(hex + 2 * i, 3, "%02x", packet[i]);
    CHECK_STR(hex, golden);
    describe(packet, bytes, text, sizeof text);
    CHECK_STR(text, want);
    CHECK(bcri_link_receive(to, packet, bytes, now));
    CHECK_UINT(bcri_link_counts(to)->malformed, 0);
}

TEST(packets_are_as_the_protocol_says_byte_for_byte)
{
    enum bcri_link_outcome outcome[2] = {BCRI_LINK_LOST, BCRI_LINK_LOST};
    struct bcri_link *a = end(3, 0x01020304, &outcome[0]), *b = end(0x01020304, 3, &outcome[1]);
    CHECK_INT(bcri_link_send(a, 5, 70, "HEAD", 4, "body!", 5, NULL), 0);
    const size_t bytes = bcri_link_fill(a, packet, 1000000000);
    static const uint8_t golden[] = {
        0xb1, 0,    0,    0,    0,    0,    0,    3, 0,   0,   0,   0,   0,   0,   0,   0, /* head */
        3,    0x80, 0x01, 0x86, 0xa0, 0x44, 0xb0, /* HOST 100000 1200 */
        4,    5,    0x40, 70,   0,    11,   4,    5, 'H', 'E', 'A', 'D', 'b', 'o', 'd', 'y', '!', /* BYTES */
        1,    2,    3,    4,    5,    6,    7,    8}; /* the token */
    CHECK_UINT(bytes, sizeof golden);
    CHECK_MEM(packet, golden, sizeof golden);
    bcri_link_receive(b, packet, bytes, 1000000000);
    CHECK_MEM(memory, "body!", 5);
    pass(b, a, 1000000000, "b1000000010203040000000000000000020000000003800186a044b0050540460b8010000b00",
         "vb1 phase 0 lane 0 host 16909060 number 0: ACK 0 0 0 0 HOST 100000 1200 TAKEN 5 70 11 1048587 0");
    CHECK_INT(outcome[0], BCRI_LINK_ARRIVED);
    /* With nothing else to say, an acknowledgement waits for company, a millisecond at most. */
    while (bcri_link_fill(a, packet, 1000000000) != 0)
        continue;
    CHECK_INT(bcri_link_send(a, 5, 70, "", 0, "", 0, NULL), 0);
    const size_t second = bcri_link_fill(a, packet, 1000000000);
    bcri_link_receive(b, packet, second, 1000000000);
    CHECK_UINT(bcri_link_fill(b, packet, 1000000000), 0);
    CHECK_UINT(bcri_link_deadline(b), 1001000000);
    bcri_link_free(a);
    bcri_link_free(b);
}

TEST(a_refused_message_is_skipped_as_the_protocol_says)
{
    enum bcri_link_outcome outcome[2] = {BCRI_LINK_LOST, BCRI_LINK_LOST};
    struct bcri_link *a = end(1, 2, &outcome[0]), *b = end(2, 1, &outcome[1]);
    verdict = BCRI_LINK_REFUSE;
    CHECK_INT(bcri_link_send(a, 5, 7, "H", 1, "bo", 2, NULL), 0);
    pass(a, b, 1000000000, "b100000000000001000000000000000003800186a044b00405070005010248626f",
         "vb1 phase 0 lane 0 host 1 number 0: HOST 100000 1200 BYTES 5 7 0 5 '010248626f'");
    pass(b, a, 1000000000, "b1000000000000020000000000000000020000000003800186a044b005050700801000050100",
         "vb1 phase 0 lane 0 host 2 number 0: ACK 0 0 0 0 HOST 100000 1200 TAKEN 5 7 0 1048581 1 0");
    CHECK_INT(outcome[0], BCRI_LINK_LOST);
    pass(a, b, 1000000000, "b100000000000001000000000000000102000000000605070305",
         "vb1 phase 0 lane 0 host 1 number 1: ACK 0 0 0 0 SKIP 5 7 3 5");
    pass(b, a, 1000000000, "b10000000000000200000000000000010201000001050507058010000500",
         "vb1 phase 0 lane 0 host 2 number 1: ACK 1 0 0 1 TAKEN 5 7 5 1048581 0");
    CHECK_INT(outcome[0], BCRI_LINK_REFUSED);
    bcri_link_free(a);
    bcri_link_free(b);
}

TEST(a_stream_that_ends_is_told_as_the_protocol_says)
{
    enum bcri_link_outcome outcome[2] = {BCRI_LINK_ARRIVED, BCRI_LINK_ARRIVED};
    struct bcri_link *a = end(1, 2, &outcome[0]), *b = end(2, 1, &outcome[1]);
    CHECK_INT(bcri_link_send(a, 100000, 7, "H", 1, "bo", 2, NULL), 0);
    pass(a, b, 1000000000, "b100000000000001000000000000000003800186a044b004800186a0070005010248626f",
         "vb1 phase 0 lane 0 host 1 number 0: HOST 100000 1200 BYTES 100000 7 0 5 '010248626f'");
    bcri_link_end_stream(a, 100000, 7);
    pass(a, b, 1000000000, "b100000000000001000000000000000107800186a007",
         "vb1 phase 0 lane 0 host 1 number 1: END 100000 7");
    CHECK_INT(outcome[0], BCRI_LINK_LOST);
    closed = true;
    outcome[0] = BCRI_LINK_ARRIVED;
    CHECK_INT(bcri_link_send(a, 5, 7, "", 0, "", 0, NULL), 0);
    pass(a, b, 1000000000, "b100000000000001000000000000000204050700020000",
         "vb1 phase 0 lane 0 host 1 number 2: BYTES 5 7 0 2 '0000'");
    pass(b, a, 1000000000, "b1000000000000020000000000000000020200000203800186a044b0080507",
         "vb1 phase 0 lane 0 host 2 number 0: ACK 2 0 0 2 HOST 100000 1200 GONE 5 7");
    CHECK_INT(outcome[0], BCRI_LINK_LOST);
    bcri_link_free(a);
    bcri_link_free(b);
}

TEST(a_question_and_an_answer_with_gaps_are_as_the_protocol_says)
{
    enum bcri_link_outcome outcome[2] = {BCRI_LINK_LOST, BCRI_LINK_LOST};
    struct bcri_link *a = end(1, 2, &outcome[0]), *b = end(2, 1, &outcome[1]);
    static uint8_t lost[BCRI_LINK_PACKET_MAX];
    for (unsigned i = 0; i < 6; i++) {
        bcri_link_ping(a);
        if (i % 2 == 1)
            CHECK(bcri_link_fill(a, lost, 1000000000) != 0);
        else
            pass(a, b, 1000000000 + i * 1000,
                 i == 0   ? "b100000000000001000000000000000003800186a044b0"
                 : i == 2 ? "b100000000000001000000000000000201"
                          : "b100000000000001000000000000000401",
                 i == 0   ? "vb1 phase 0 lane 0 host 1 number 0: HOST 100000 1200"
                 : i == 2 ? "vb1 phase 0 lane 0 host 1 number 2: PING"
                          : "vb1 phase 0 lane 0 host 1 number 4: PING");
    }
    pass(b, a, 1000104000, "b10000000000000200000000000000000204406402000000000003800186a044b0",
         "vb1 phase 0 lane 0 host 2 number 0: ACK 4 100 2 0 0 0 0 0 HOST 100000 1200");
    bcri_link_free(a);
    bcri_link_free(b);
}

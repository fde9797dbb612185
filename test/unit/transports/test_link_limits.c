/* SPDX-License-Identifier: MIT */
/* What a peer that has the keys can make a link take, of memory and of time: what the limits
 * say. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "link_private.h"

enum { TOKEN = 42, TOKEN_BYTES = 8, TEXT_BYTES = 60000, MIB = 1 << 20 };

static struct bcri_link *link;
static uint8_t packet[BCRI_LINK_PACKET_MAX];
static uint64_t number, now = 1000000000;
static unsigned arrivals;
static enum bcri_link_verdict verdict;

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    (void)source;
    (void)target;
    return true;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    static uint8_t body[4096];
    (void)owner;
    CHECK(message->body_bytes <= sizeof body);
    message->memory = body;
    return message->target == 1 ? BCRI_LINK_TAKE : verdict;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    arrivals++;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    arrived(owner, source, target, cookie);
    CHECK(outcome == BCRI_LINK_ARRIVED || outcome == BCRI_LINK_LOST);
}

static void dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
}

static const struct bcri_link_events events = {accept, begin, arrived, dropped, completed};

static void prepare(void)
{
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = TOKEN};
    const struct bcri_link_config config = {.host = 1,
                                            .peer = 2,
                                            .packet_max = BCRI_LINK_PACKET_MAX,
                                            .carrier = {.packet_max = 1200, .room = 64 << 20},
                                            .secret = &secret};
    number = arrivals = 0;
    verdict = BCRI_LINK_TAKE;
    link = bcri_link_new(&config, &events, NULL, now);
    CHECK(link != NULL);
}

/* As if the peer had much already: so many bytes are left of what it may have. */
static void leave(uint64_t in_use_bytes, uint64_t kept_bytes)
{
    link->in_use += BCRI_LINK_IN_MAX - in_use_bytes;
    link->kept += BCRI_LINK_KEPT_MAX - kept_bytes;
}

/* The peer's next packet: the frames that stand in it from `text()` up to `end`. */
static uint8_t *text(void)
{
    return packet + BCRI_WIRE_HEAD_BYTES;
}

static bool receive(uint8_t *end)
{
    memset(packet, 0, BCRI_WIRE_HEAD_BYTES);
    packet[0] = BCRI_WIRE_VERSION;
    bcri_put_u32(packet + 4, 2);
    bcri_put_u64(packet + 8, number++);
    bcri_put_u64(end, TOKEN);
    return bcri_link_receive(link, packet, (size_t)(end - packet) + TOKEN_BYTES, now);
}

static uint8_t *put_bytes(uint8_t *at, uint32_t source, uint32_t target, uint64_t offset, uint32_t count)
{
    *at++ = BCRI_FRAME_BYTES;
    at = bcri_varint_put(at, source);
    at = bcri_varint_put(at, target);
    at = bcri_varint_put(at, offset);
    at = bcri_varint_put(at, count);
    memset(at, 0, count);
    return at + count;
}

/* A message of nothing, which its owner takes at once. */
static void send_to_one(uint32_t source, uint64_t offset)
{
    receive(put_bytes(text(), source, 1, offset, 2));
}

TEST(streams_without_end_take_a_bounded_memory_and_stop_no_other)
{
    prepare();
    send_to_one(0, 0);
    CHECK_UINT(arrivals, 1);
    leave(4 * MIB, 4 * MIB);
    uint32_t source = 1;
    for (uint32_t before = 0; link->in.count != before && source < 100000;) {
        before = link->in.count;
        uint8_t *at = text();
        for (unsigned i = 0; i < 100; i++, source++)
            at = put_bytes(at, source, 1, 0, 2);
        receive(at);
    }
    CHECK(link->in.count > 1000 && link->in.count < 100000);
    CHECK(link->in_use >= BCRI_LINK_IN_MAX && link->in_use < BCRI_LINK_IN_MAX + MIB);
    /* What there is no room for is not acknowledged, and comes again. */
    CHECK(!bcri_ranges_holds(&link->numbers, number - 1));
    arrivals = 0;
    send_to_one(0, 2);
    CHECK_UINT(arrivals, 1);
    CHECK(bcri_ranges_holds(&link->numbers, number - 1));
    bcri_link_free(link);
}

TEST(what_streams_that_stand_still_keep_is_bounded_and_stops_no_other)
{
    prepare();
    verdict = BCRI_LINK_PAUSE;
    leave(8 * MIB, 16 * MIB);
    const uint64_t kept = link->kept;
    uint32_t source = 1;
    for (uint64_t before = 1; link->kept != before && source < 1000; source++) {
        before = link->kept;
        for (uint64_t offset = 0; offset < BCRI_LINK_BUFFER_MAX; offset += BCRI_LINK_BUFFER_MAX / 32)
            receive(put_bytes(text(), source, 2, offset, BCRI_LINK_BUFFER_MAX / 32));
    }
    CHECK(source > 10 && source < 30);
    CHECK(link->kept >= BCRI_LINK_KEPT_MAX && link->kept < BCRI_LINK_KEPT_MAX + MIB);
    CHECK(!bcri_ranges_holds(&link->numbers, number - 1));
    /* A stream that goes on needs no pieces. */
    send_to_one(source, 0);
    CHECK_UINT(arrivals, 1);
    send_to_one(source, 4);
    CHECK_UINT(arrivals, 1);
    send_to_one(source, 2);
    CHECK_UINT(arrivals, 2);
    send_to_one(source, 4);
    CHECK_UINT(arrivals, 3);
    /* When the others go on, there is room again. */
    verdict = BCRI_LINK_TAKE;
    while (--source != 0)
        bcri_link_resume(link, source, 2, now);
    static uint8_t sent[BCRI_LINK_PACKET_MAX];
    for (unsigned i = 0; i < 20 && link->kept != kept; i++, now += BCRI_NS_PER_MS)
        (void)bcri_link_fill(link, sent, now);
    CHECK_UINT(link->kept, kept);
    bcri_link_free(link);
}

/* What has come of the packet before there was no room makes a piece the next; nothing else comes. */
TEST(a_piece_that_is_next_when_there_was_no_room_is_taken_on)
{
    static uint8_t sent[BCRI_LINK_PACKET_MAX];
    prepare();
    send_to_one(7, 0);
    receive(put_bytes(text(), 7, 1, 4, 40)); /* 20 messages; one is missing before them */
    CHECK_UINT(arrivals, 1);
    leave(0, MIB);
    receive(put_bytes(text(), 7, 1, 2, 42)); /* the missing one, and all others again */
    CHECK(!bcri_ranges_holds(&link->numbers, number - 1));
    send_to_one(7, 2); /* its sender has not heard that it came */
    for (unsigned i = 0; i < 20; i++, now += BCRI_NS_PER_MS)
        (void)bcri_link_fill(link, sent, now);
    CHECK_UINT(arrivals, 22);
    bcri_link_free(link);
}

TEST(gaps_of_many_streams_take_a_bounded_memory)
{
    prepare();
    leave(4 * MIB, 4 * MIB);
    for (uint32_t source = 1; source < 1000 && link->in_use < BCRI_LINK_IN_MAX; source++) {
        /* A body of 4,096, of which every other byte comes. */
        uint8_t *at = put_bytes(text(), source, 1, 0, 3);
        text()[at - text() - 2] = 0x50;
        receive(at);
        for (uint32_t done = 0; done < 2000;) {
            at = text();
            for (unsigned i = 0; i < BCRI_LINK_FRAMES_MAX && done < 2000; i++, done += 2)
                at = put_bytes(at, source, 1, 4 + done, 1);
            receive(at);
        }
    }
    CHECK(link->in_use >= BCRI_LINK_IN_MAX && link->in_use < BCRI_LINK_IN_MAX + MIB);
    CHECK(bcri_link_memory(link) < 6 * MIB);
    bcri_link_free(link);
}

TEST(a_packet_of_more_frames_than_any_has_is_malformed)
{
    prepare();
    uint8_t *at = text();
    for (unsigned i = 0; i < BCRI_LINK_FRAMES_MAX; i++)
        *at++ = BCRI_FRAME_PING;
    receive(at);
    CHECK_UINT(bcri_link_counts(link)->malformed, 0);
    *at++ = BCRI_FRAME_PING;
    receive(at);
    CHECK_UINT(bcri_link_counts(link)->malformed, 1);
    bcri_link_free(link);
}

TEST(a_packet_has_no_more_frames_than_its_receiver_takes)
{
    static uint8_t sent[BCRI_LINK_PACKET_MAX];
    prepare();
    for (uint32_t i = 0; i < 3 * BCRI_LINK_FRAMES_MAX; i++)
        CHECK_INT(bcri_link_send(link, i, 1, NULL, 0, NULL, 0, NULL), 0);
    /* What has been acknowledged since leaves much room for the next one's. */
    link->mtu.bytes = BCRI_LINK_PACKET_MAX;
    CHECK(bcri_sent_reserve(link, 4 * BCRI_LINK_FRAMES_MAX));
    const size_t bytes = bcri_link_fill(link, sent, now);
    unsigned frames = 1; /* HOST */
    CHECK_UINT(sent[BCRI_WIRE_HEAD_BYTES], BCRI_FRAME_HOST);
    for (const uint8_t *at = sent + BCRI_WIRE_HEAD_BYTES + 9; at < sent + bytes - TOKEN_BYTES; frames++) {
        struct bcri_reader reader = {.at = at + 1, .end = sent + bytes};
        CHECK_UINT(*at, BCRI_FRAME_BYTES);
        for (unsigned i = 0; i < 3; i++)
            (void)bcri_varint_get(&reader);
        at = bcri_reader_take(&reader, bcri_varint_get(&reader)) + 2;
    }
    CHECK(frames > 60 && frames <= BCRI_LINK_FRAMES_MAX);
    bcri_link_free(link);
}

TEST(an_acknowledgement_that_makes_no_sense_in_its_last_range_changes_nothing)
{
    static uint8_t sent[BCRI_LINK_PACKET_MAX];
    prepare();
    for (unsigned i = 0; i < 10; i++) {
        bcri_link_ping(link);
        CHECK(bcri_link_fill(link, sent, now) != 0);
    }
    CHECK_UINT(link->sent.eliciting, 10);
    static const uint8_t nonsense[] = {BCRI_FRAME_ACK, 9, 0, 1, 0, 7, 5};
    memcpy(text(), nonsense, sizeof nonsense);
    receive(text() + sizeof nonsense);
    CHECK_UINT(bcri_link_counts(link)->malformed, 1);
    CHECK_UINT(link->sent.eliciting, 10);
    CHECK_UINT(link->recovery.largest_acked, UINT64_MAX);
    static const uint8_t sense[] = {BCRI_FRAME_ACK, 9, 0, 1, 0, 7, 0};
    memcpy(text(), sense, sizeof sense);
    receive(text() + sizeof sense);
    CHECK_UINT(bcri_link_counts(link)->malformed, 1);
    CHECK(link->sent.eliciting < 10);
    bcri_link_free(link);
}

/* A stranger that keeps a packet that has not arrived, and sends it from elsewhere, draws no link
 * there. */
TEST(only_the_latest_packet_says_where_the_peer_is)
{
    prepare();
    CHECK(receive(text() + 1)); /* PAD */
    number += 3;
    CHECK(receive(text() + 1));
    number -= 2;
    const uint64_t received = bcri_link_counts(link)->packets_received;
    CHECK(!receive(text() + 1));
    CHECK_UINT(bcri_link_counts(link)->packets_received, received + 1);
    /* One that opens and is nonsense is not acknowledged, and may come again; it is late then. */
    number += 10;
    text()[0] = 99;
    CHECK(receive(text() + 1));
    number--;
    CHECK(!receive(text() + 1));
    CHECK_UINT(bcri_link_counts(link)->malformed, 2);
    bcri_link_free(link);
}

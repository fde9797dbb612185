/* SPDX-License-Identifier: MIT */
/* The next packet to send, and when there will be one at the latest.
 *
 * A packet has, in this order and as far as there is room: an acknowledgement, what we can receive,
 * how far streams are, and bytes of streams in turn. Acknowledgements go at once for every second
 * packet that has more than TAKEN frames, and when numbers are missing; else they wait for company
 * for BCRI_ACK_DELAY_NS. Bytes go as the congestion window allows, the rest a few packets beyond it.
 *
 * What is lost for its size alone is found out by its loss (mtu.c), and a packet that wants no answer is never found lost.
 * So such a one has at most BCRI_LINK_PACKET_MIN bytes. */
#include <assert.h>
#include <string.h>

#include "link_private.h"

/* Chunks of one packet; more streams than that share the next. */
enum { CHUNKS_MAX = 64, HOST_MAX = 1 + 8 + 8, CONTROL_PACKETS = 4, KEPT_RANGES = 8 };

/* An acknowledgement without further ranges; of each of those. */
enum { ACK_LEAST = 1 + 8 + 8 + 1 + 8, RANGE_MAX = 8 + 8 };
static_assert(BCRI_LINK_NUMBERS_MAX <= 64, "the count of further ranges is one byte");

/* The least packet has room for one frame of each kind at its longest, those with lists having one entry, and of a
 * message's head with a byte of its body. */
enum {
    HEAD_MAX = 2 + 8 + BCRI_LINK_HEADER_MAX,
    BYTES_MAX = 1 + 8 + 8 + 8 + 4 + HEAD_MAX + 1,
    TAKEN_LEAST = 1 + 8 + 8 + 8 + 8 + 1 + 8
};
static_assert(BCRI_WIRE_HEAD_BYTES + BCRI_SEAL_TAG_BYTES + ACK_LEAST + HOST_MAX + TAKEN_LEAST + BYTES_MAX <=
                  BCRI_LINK_PACKET_MIN,
              "docs/protocol.md, Packet sizes");
static_assert(BCRI_WIRE_HEAD_BYTES + BCRI_SEAL_TAG_BYTES + ACK_LEAST + HOST_MAX + 1 <= BCRI_LINK_PACKET_TINY,
              "an answer can be asked for in a tiny packet");

struct packet {
    uint8_t *at, *end;
    uint64_t acked_below;
    uint32_t first_chunk;
    bool wants_ack, has_ack, is_probe, is_try;
};

static void put_ack(struct bcri_link *link, struct packet *packet)
{
    const struct bcri_ranges *numbers = &link->numbers;
    const uint8_t *const least =
        packet->at + BCRI_LINK_PACKET_MIN - BCRI_WIRE_HEAD_BYTES - BCRI_SEAL_TAG_BYTES;
    const uint8_t *const end = packet->end < least ? packet->end : least;
    if (numbers->count == 0 || end - packet->at < ACK_LEAST)
        return;
    const struct bcri_range *range = &numbers->range[numbers->count - 1];
    uint8_t *at = packet->at;
    *at++ = BCRI_FRAME_ACK;
    at = bcri_varint_put(at, range->to - 1);
    at = bcri_varint_put(at, (link->now - link->largest_at) / BCRI_NS_PER_US);
    uint8_t *const count = at++;
    at = bcri_varint_put(at, range->to - range->from - 1);
    for (*count = 0; *count < numbers->count - 1 && end - at > RANGE_MAX + HOST_MAX; ++*count, range--) {
        at = bcri_varint_put(at, range[0].from - range[-1].to - 1);
        at = bcri_varint_put(at, range[-1].to - range[-1].from - 1);
    }
    packet->at = at;
    packet->has_ack = true;
    if (numbers->count > KEPT_RANGES)
        packet->acked_below = numbers->range[numbers->count - KEPT_RANGES].from;
}

static void put_host(struct bcri_link *link, struct packet *packet)
{
    if (!link->host_due || packet->end - packet->at < HOST_MAX || bcri_sent_room(link) == 0)
        return;
    *packet->at++ = BCRI_FRAME_HOST;
    packet->at = bcri_varint_put(packet->at, link->carrier.room);
    packet->at = bcri_varint_put(packet->at, link->own_packet_max);
    const struct bcri_chunk chunk = {.kind = BCRI_CHUNK_HOST};
    bcri_sent_add(link, &chunk);
    link->host_due = false;
    packet->wants_ack = true;
}

static void put_taken(struct bcri_link *link, struct packet *packet)
{
    while (link->owed != NULL) {
        struct bcri_in_stream *stream = BCRI_STREAM_OF(struct bcri_in_stream, owes, link->owed);
        uint8_t *at = bcri_in_fill(link, stream, packet->at, packet->end);
        if (at == packet->at)
            return;
        packet->at = at;
        packet->wants_ack = true;
    }
    link->owed_now = false;
}

/* Bytes may depend on what has changed hands, so they do not go without the word of that. Where there is too much of it
 * they wait until some was acknowledged; meanwhile nothing more changes hands that is to be ordered first. */
static bool put_unsure(struct bcri_link *link, struct packet *packet)
{
    if (link->unsure == NULL || link->turn == NULL)
        return true;
    uint8_t *const at = link->owed == NULL ? bcri_in_fill_unsure(link, packet->at, packet->end) : NULL;
    if (at == NULL)
        return false;
    packet->wants_ack |= at != packet->at;
    packet->at = at;
    return true;
}

static void put_bytes(struct bcri_link *link, struct packet *packet)
{
    while (link->turn != NULL) {
        struct bcri_turn *turn = link->turn;
        uint8_t *at =
            bcri_out_fill(link, BCRI_STREAM_OF(struct bcri_out_stream, turn, turn), packet->at, packet->end);
        if (at == packet->at)
            return; /* the first of the next packet */
        if (link->turn == turn)
            link->turn = turn->after;
        packet->at = at;
        packet->wants_ack = true;
    }
}

static size_t finish_packet(struct bcri_link *link, struct packet *packet, uint8_t *head)
{
    const uint64_t number = link->sent.next;
    if (number - link->key_first >= link->packets_per_key && link->key_confirmed) {
        bcri_sealing_advance(link->sealing);
        link->key_first = number;
        link->key_confirmed = false;
        link->counts.rekeyed++;
    }
    head[0] = BCRI_WIRE_VERSION;
    head[1] = (uint8_t)bcri_sealing_phase(link->sealing);
    bcri_put_u16(head + 2, link->lane);
    bcri_put_u32(head + 4, link->host);
    bcri_put_u64(head + 8, number);
    uint8_t *const text = head + BCRI_WIRE_HEAD_BYTES;
    const size_t length = (size_t)(packet->at - text);
    bcri_seal(link->sealing, number, head, BCRI_WIRE_HEAD_BYTES, text, length);
    const size_t total = BCRI_WIRE_HEAD_BYTES + length + bcri_sealing_overhead(link->sealing);
    const struct bcri_sent sent = {
        .time = link->now,
        .acked_below = packet->acked_below,
        .chunk = packet->first_chunk,
        .chunks = link->sent.chunk_next - packet->first_chunk,
        .bytes = (uint32_t)total,
        .state = packet->wants_ack ? BCRI_SENT_IN_FLIGHT : BCRI_SENT_COMPLETED,
        .wants_ack = packet->wants_ack,
        .is_probe = packet->is_probe,
        .is_try = packet->is_try,
    };
    bcri_sent_commit(link, &sent);
    bcri_sent_trim(link);
    if (packet->wants_ack) {
        link->recovery.last_eliciting = link->now;
        if (link->recovery.probes_due != 0)
            link->recovery.probes_due--;
    }
    if (packet->has_ack) {
        link->unacked = link->pressing = 0;
        link->ack_at = BCRI_LINK_NEVER;
        /* TAKEN frames that had no room go on their own: no acknowledgement is due that takes them. */
        link->owed_now = link->owed != NULL;
    }
    link->counts.packets_sent++;
    link->counts.bytes_sent += total;
    return total;
}

/* Of a burst of messages nothing stays: an idle link is small. */
static void give_back_slack(struct bcri_link *link)
{
    for (uint32_t i = 0; i < link->out.buckets; i++)
        for (struct bcri_stream_key *key = link->out.bucket[i]; key != NULL; key = key->next)
            bcri_out_give_back(link, (struct bcri_out_stream *)(void *)key);
    for (uint32_t i = 0; i < link->in.buckets; i++)
        for (struct bcri_stream_key *key = link->in.bucket[i]; key != NULL; key = key->next)
            bcri_in_give_back(link, (struct bcri_in_stream *)(void *)key);
    bcri_sent_give_back(link);
    bcri_ranges_shrink(&link->numbers);
    const bool is_idle = link->incomplete == 0 && link->sent.sent == NULL;
    link->slack_at = is_idle ? BCRI_LINK_NEVER : link->now + BCRI_SLACK_NS;
}

static void look_at_clock(struct bcri_link *link)
{
    bcri_recovery_timeout(link);
    if (link->now >= link->keepalive_at) {
        link->ping_due = true;
        link->keepalive_at = link->now + link->keepalive_ns;
    }
    if (link->now >= link->key_forget_at) {
        bcri_sealing_forget(link->sealing);
        link->key_forget_at = BCRI_LINK_NEVER;
    }
    if (link->now >= link->slack_at)
        give_back_slack(link);
    if (link->now >= link->retry_at) {
        link->retry_at = BCRI_LINK_NEVER;
        if (link->pieces_wait)
            bcri_in_retry(link);
    }
}

/* Room to remember one more packet. */
static bool has_record(struct bcri_link *link)
{
    bcri_sent_trim(link);
    while (link->sent.next - link->sent.oldest >= BCRI_LINK_SENT_MAX) {
        bcri_sent_lost(link, link->sent.oldest); /* which its receiver does not acknowledge, whatever comes */
        bcri_sent_trim(link);
    }
    if (bcri_sent_reserve(link, CHUNKS_MAX))
        return true;
    bcri_link_retry_soon(link);
    return false;
}

static struct packet packet_of(const struct bcri_link *link, uint8_t *head, uint32_t bytes)
{
    return (struct packet){.at = head + BCRI_WIRE_HEAD_BYTES,
                           .end = head + bytes - bcri_sealing_overhead(link->sealing),
                           .first_chunk = link->sent.chunk_next};
}

/* A question of that many bytes, on which nothing depends. A try answers those that came by its way; what it acknowledges
 * is acknowledged by the other way all the same. */
static size_t fill_probe(struct bcri_link *link, uint8_t *head, uint32_t bytes, bool is_try)
{
    struct packet packet = packet_of(link, head, bytes);
    if (is_try)
        put_ack(link, &packet);
    packet.has_ack = false;
    *packet.at++ = BCRI_FRAME_PING;
    memset(packet.at, BCRI_FRAME_PAD, (size_t)(packet.end - packet.at));
    packet.at = packet.end;
    packet.wants_ack = packet.is_probe = true;
    packet.is_try = is_try;
    return finish_packet(link, &packet, head);
}

size_t bcri_link_try(struct bcri_link *link, uint8_t *head, uint64_t now)
{
    bcri_link_tell_time(link, now);
    link->mtu.try_passed = false;
    return has_record(link) ? fill_probe(link, head, BCRI_LINK_PACKET_MIN, true) : 0;
}

size_t bcri_link_fill(struct bcri_link *link, uint8_t *head, uint64_t now)
{
    bcri_link_tell_time(link, now);
    look_at_clock(link);
    const uint64_t window = bcri_congestion_window(link);
    const bool forced = link->recovery.probes_due != 0;
    /* What is remembered of packets is bounded too; half of the records are for acknowledgements. */
    const bool has_records =
        link->sent.chunk_next - link->sent.chunk_first <= BCRI_LINK_CHUNKS_MAX - CHUNKS_MAX &&
        link->sent.eliciting < BCRI_LINK_SENT_MAX / 2;
    const uint64_t bytes = link->sent.bytes + link->mtu.bytes;
    const bool has_room = bytes + (link->sent.eliciting + 1) * BCRI_LINK_PACKET_COST <= link->peer_room;
    const bool may_send = has_records && (forced || link->sent.bytes == 0 || (has_room && bytes <= window));
    const bool may_control =
        may_send || (has_records && link->sent.bytes < window + (uint64_t)CONTROL_PACKETS * link->mtu.bytes);
    link->congestion.limited = link->turn != NULL && !may_send;
    const uint32_t probe = may_send && !forced ? bcri_mtu_probe(link) : 0;
    const bool acks = link->pressing >= 2 || (link->unacked != 0 && link->now >= link->ack_at);
    /* A question may always go: its answer is what tells that the window is not full any more. */
    const bool controls = ((link->host_due || link->owed_now) && may_control) || link->ping_due;
    if (!acks && !controls && !forced && probe == 0 && (link->turn == NULL || !may_send))
        return 0;
    if (!has_record(link))
        return 0;
    if (probe != 0) {
        link->mtu.probe = probe;
        return fill_probe(link, head, probe, false);
    }
    /* If of those that ask for an answer the tiny one alone is answered, that says something. */
    const bool is_tiny = link->recovery.probes_due == BCRI_PROBES;
    struct packet packet = packet_of(link, head, is_tiny ? BCRI_LINK_PACKET_TINY : link->mtu.bytes);
    if (link->unacked != 0)
        put_ack(link, &packet);
    if (may_control)
        put_host(link, &packet);
    if (may_control && !is_tiny)
        put_taken(link, &packet);
    if (may_send && !is_tiny && put_unsure(link, &packet))
        put_bytes(link, &packet);
    if ((forced || link->ping_due) && !packet.wants_ack && packet.at < packet.end) {
        *packet.at++ = BCRI_FRAME_PING;
        packet.wants_ack = true;
    }
    if (packet.wants_ack)
        link->ping_due = false;
    if (packet.at == head + BCRI_WIRE_HEAD_BYTES)
        return 0;
    return finish_packet(link, &packet, head);
}

uint64_t bcri_link_deadline(const struct bcri_link *link)
{
    uint64_t deadline = bcri_recovery_deadline(link);
    if (link->unacked != 0 && link->ack_at < deadline)
        deadline = link->ack_at;
    deadline = link->retry_at < deadline ? link->retry_at : deadline;
    deadline = link->keepalive_at < deadline ? link->keepalive_at : deadline;
    return link->key_forget_at < deadline ? link->key_forget_at : deadline;
}

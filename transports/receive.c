/* SPDX-License-Identifier: MIT */
/* A packet that came: is it ours, is it new, is it genuine; then its frames.
 *
 * All frames may be done twice, so a packet that could be done in part only (no memory) is simply
 * not acknowledged, and comes again under another number. */
#include "link_private.h"

/* Ranges of an ACK frame from the highest down: the highest number and how many below it. */
static bool next_range(struct bcri_reader *reader, uint64_t *from, uint64_t *to, bool first)
{
    uint64_t last;
    if (first) {
        last = bcri_varint_get(reader);
        (void)bcri_varint_get(reader); /* the delay, which the caller has read */
        (void)bcri_varint_get(reader); /* the count */
    } else {
        const uint64_t gap = bcri_varint_get(reader);
        if (*from < gap + 2)
            return false;
        last = *from - gap - 2;
    }
    const uint64_t more = bcri_varint_get(reader);
    if (reader->failed || more > last)
        return false;
    *from = last - more;
    *to = last + 1;
    return true;
}

/* A frame that makes no sense changes nothing, least of all time and again: what is acknowledged is
 * walked over once. */
static bool take_ack(struct bcri_link *link, struct bcri_reader *reader)
{
    struct bcri_range acked[BCRI_LINK_NUMBERS_MAX];
    struct bcri_reader ranges = *reader;
    const uint64_t largest = bcri_varint_get(reader);
    const uint64_t delay = bcri_varint_get(reader);
    const uint64_t count = bcri_varint_get(reader);
    if (reader->failed || largest >= link->sent.next || count >= BCRI_LINK_NUMBERS_MAX)
        return false;
    uint64_t from = 0, to = 0;
    for (uint64_t i = 0; i <= count; i++) {
        if (!next_range(&ranges, &from, &to, i == 0))
            return false;
        acked[i] = (struct bcri_range){from, to};
    }
    if (largest >= link->sent.oldest) {
        const struct bcri_sent *sent = bcri_sent_at(link, largest);
        if (sent->state == BCRI_SENT_IN_FLIGHT)
            bcri_recovery_sample(link, link->now - sent->time,
                                 delay < UINT64_MAX / BCRI_NS_PER_US ? delay * BCRI_NS_PER_US : 0);
    }
    const uint64_t in_flight = link->sent.bytes;
    for (uint64_t i = 0; i <= count; i++)
        bcri_sent_acked(link, acked[i].from, acked[i].to);
    *reader = ranges;
    struct bcri_recovery *recovery = &link->recovery;
    if (recovery->largest_acked == UINT64_MAX || largest > recovery->largest_acked)
        recovery->largest_acked = largest;
    const bool is_news = link->sent.bytes < in_flight;
    bcri_recovery_detect(link); /* which asks how long nothing was answered */
    if (is_news) {
        recovery->probe_count = 0;
        recovery->probes_due = 0;
    }
    bcri_sent_trim(link);
    return true;
}

/* Of two HOST frames the one in the later packet counts, whichever comes first. */
static bool take_host(struct bcri_link *link, struct bcri_reader *reader, uint64_t number)
{
    const uint32_t room = bcri_varint_get_u32(reader);
    const uint32_t packet_max = bcri_varint_get_u32(reader);
    if (reader->failed)
        return false;
    if (number < link->host_number)
        return true;
    link->host_number = number;
    const uint32_t least = 4 * BCRI_LINK_PACKET_BASE;
    link->peer_room = room < least ? least : room;
    if (packet_max != link->peer_packet_max) {
        link->peer_packet_max = packet_max;
        bcri_mtu_limits(link, false);
    }
    return true;
}

static enum bcri_in_result take_bytes(struct bcri_link *link, struct bcri_reader *reader)
{
    const uint32_t source = bcri_varint_get_u32(reader);
    const uint32_t target = bcri_varint_get_u32(reader);
    const uint64_t offset = bcri_varint_get(reader);
    const uint64_t bytes = bcri_varint_get(reader);
    const uint8_t *data = bcri_reader_take(reader, bytes);
    if (reader->failed || bytes == 0)
        return BCRI_IN_NONSENSE;
    return bcri_in_bytes(link, source, target, offset, data, (uint32_t)bytes);
}

static bool take_taken(struct bcri_link *link, struct bcri_reader *reader)
{
    const uint32_t source = bcri_varint_get_u32(reader);
    const uint32_t target = bcri_varint_get_u32(reader);
    const uint64_t taken = bcri_varint_get(reader);
    const uint64_t limit = bcri_varint_get(reader);
    const uint64_t refused = bcri_varint_get(reader);
    if (reader->failed || refused > (uint64_t)(reader->end - reader->at))
        return false;
    struct bcri_out_stream *stream = bcri_stream_find(&link->out, source, target);
    if (stream != NULL)
        return bcri_out_taken(link, stream, taken, limit, reader, refused);
    for (uint64_t i = 0; i < refused; i++) /* the stream has ended here */
        (void)bcri_varint_get(reader);
    return !reader->failed;
}

static enum bcri_in_result take_skip(struct bcri_link *link, struct bcri_reader *reader)
{
    const uint32_t source = bcri_varint_get_u32(reader);
    const uint32_t target = bcri_varint_get_u32(reader);
    const uint64_t from = bcri_varint_get(reader);
    const uint64_t to = bcri_varint_get(reader);
    return reader->failed ? BCRI_IN_NONSENSE : bcri_in_skip(link, source, target, from, to);
}

/* The sender has ended the stream. */
static bool take_end(struct bcri_link *link, struct bcri_reader *reader)
{
    const uint32_t source = bcri_varint_get_u32(reader);
    const uint32_t target = bcri_varint_get_u32(reader);
    struct bcri_in_stream *stream = bcri_stream_find(&link->in, source, target);
    if (!reader->failed && stream != NULL)
        bcri_in_end(link, stream, false);
    return !reader->failed;
}

/* The receiver has ended the stream, or there never was one. */
static bool take_gone(struct bcri_link *link, struct bcri_reader *reader)
{
    const uint32_t source = bcri_varint_get_u32(reader);
    const uint32_t target = bcri_varint_get_u32(reader);
    struct bcri_out_stream *stream = bcri_stream_find(&link->out, source, target);
    if (!reader->failed && stream != NULL)
        bcri_out_end(link, stream, false);
    return !reader->failed;
}

/* What a packet's frames ask of its receiver, the most of all. */
enum answer { ANSWER_NONE, ANSWER_LATER, ANSWER_SOON };

static enum answer answer_to(uint8_t kind)
{
    switch (kind) {
    case BCRI_FRAME_PAD:
    case BCRI_FRAME_ACK: return ANSWER_NONE;
    /* Were it answered as soon as data, with a TAKEN frame, that would be answered too, and so on. */
    case BCRI_FRAME_TAKEN: return ANSWER_LATER;
    default: return ANSWER_SOON;
    }
}

/* What has no room is left, and the rest is done: a stream that is paused is not to stop another. */
static enum bcri_in_result take_frames(struct bcri_link *link, struct bcri_reader *reader, uint64_t number,
                                       enum answer *answer_out)
{
    enum bcri_in_result result = BCRI_IN_OK, all = BCRI_IN_OK;
    *answer_out = ANSWER_NONE;
    for (uint32_t frames = 1; result != BCRI_IN_NONSENSE && reader->at != reader->end; frames++) {
        const uint8_t kind = *reader->at++;
        bool makes_sense = true;
        if (frames > BCRI_LINK_FRAMES_MAX)
            return BCRI_IN_NONSENSE;
        result = BCRI_IN_OK;
        *answer_out = answer_to(kind) > *answer_out ? answer_to(kind) : *answer_out;
        switch (kind) {
        case BCRI_FRAME_PAD: reader->at = reader->end; break;
        case BCRI_FRAME_PING: break;
        case BCRI_FRAME_ACK: makes_sense = take_ack(link, reader); break;
        case BCRI_FRAME_HOST: makes_sense = take_host(link, reader, number); break;
        case BCRI_FRAME_BYTES: result = take_bytes(link, reader); break;
        case BCRI_FRAME_TAKEN: makes_sense = take_taken(link, reader); break;
        case BCRI_FRAME_SKIP: result = take_skip(link, reader); break;
        case BCRI_FRAME_END: makes_sense = take_end(link, reader); break;
        case BCRI_FRAME_GONE: makes_sense = take_gone(link, reader); break;
        default: makes_sense = false;
        }
        result = makes_sense ? result : BCRI_IN_NONSENSE;
        all = result != BCRI_IN_OK ? result : all;
    }
    return all;
}

/* The number has been done with: it is acknowledged, and refused if it comes again. */
static void note_number(struct bcri_link *link, uint64_t number, enum answer answer)
{
    const uint32_t count = link->numbers.count;
    const bool in_order = count == 0 || number == link->numbers.range[count - 1].to;
    const bool largest = count == 0 || number >= link->numbers.range[count - 1].to;
    if (!bcri_ranges_add(&link->numbers, number, number + 1))
        return;
    if (largest)
        link->largest_at = link->now;
    if (link->numbers.count > BCRI_LINK_NUMBERS_MAX) {
        link->floor = link->numbers.range[1].from;
        bcri_ranges_drop_below(&link->numbers, link->floor);
    }
    if (answer == ANSWER_NONE)
        return;
    if (link->unacked == 0)
        link->ack_at = link->now + BCRI_ACK_DELAY_NS;
    link->unacked++;
    /* The sender is to learn of a gap at once. */
    link->pressing += !in_order ? 2 : answer == ANSWER_SOON ? 1 : 0;
}

bool bcri_link_sender(const uint8_t *packet, size_t packet_bytes, uint32_t *host_out)
{
    if (packet_bytes < BCRI_WIRE_HEAD_BYTES || packet[0] != BCRI_WIRE_VERSION)
        return false;
    *host_out = bcri_get_u32(packet + 4);
    return true;
}

uint16_t bcri_link_lane(const uint8_t *packet)
{
    return bcri_get_u16(packet + 2);
}

/* Whether the packet could be the peer's, as far as its head and its length tell. */
static bool is_plausible(const struct bcri_link *link, const uint8_t *packet, size_t packet_bytes)
{
    /* A peer that has not had our limit yet may send as much. */
    const uint32_t most =
        link->own_packet_max < BCRI_LINK_PACKET_BASE ? BCRI_LINK_PACKET_BASE : link->own_packet_max;
    return packet_bytes > BCRI_WIRE_HEAD_BYTES + bcri_sealing_overhead(link->sealing) &&
           packet_bytes <= most && packet[0] == BCRI_WIRE_VERSION && packet[1] <= 1 &&
           bcri_get_u16(packet + 2) == link->lane && bcri_get_u32(packet + 4) == link->peer &&
           bcri_get_u64(packet + 8) < BCRI_VARINT_MAX && !bcri_link_is_worn_out(link);
}

bool bcri_link_receive(struct bcri_link *link, uint8_t *packet, size_t packet_bytes, uint64_t now)
{
    bcri_link_tell_time(link, now);
    if (!is_plausible(link, packet, packet_bytes)) {
        link->counts.refused++;
        return false;
    }
    const uint64_t number = bcri_get_u64(packet + 8);
    if (number < link->floor || bcri_ranges_holds(&link->numbers, number)) {
        link->counts.repeated++;
        return false;
    }
    uint8_t *const text = packet + BCRI_WIRE_HEAD_BYTES;
    const size_t text_bytes = packet_bytes - BCRI_WIRE_HEAD_BYTES;
    const bool had_previous = bcri_sealing_has_previous(link->sealing);
    if (!bcri_open(link->sealing, number, packet[1], packet, BCRI_WIRE_HEAD_BYTES, text, text_bytes)) {
        link->counts.refused++;
        link->counts.forged++;
        return false;
    }
    if (!had_previous && bcri_sealing_has_previous(link->sealing))
        link->key_forget_at = link->now + 3 * bcri_recovery_probe_ns(link);
    link->counts.packets_received++;
    link->counts.bytes_received += packet_bytes;
    link->heard_at = link->now;
    if (link->keepalive_ns != 0)
        link->keepalive_at = link->now + link->keepalive_ns;
    struct bcri_reader reader = {.at = text, .end = text + text_bytes - bcri_sealing_overhead(link->sealing)};
    const bool is_newest = number >= link->newest;
    if (is_newest)
        link->newest = number + 1;
    enum answer answer;
    const enum bcri_in_result result = take_frames(link, &reader, number, &answer);
    if (result == BCRI_IN_OK)
        note_number(link, number, answer);
    else if (result == BCRI_IN_NONSENSE)
        link->counts.malformed++;
    return is_newest;
}

/* SPDX-License-Identifier: MIT */
/* What of a stream goes into a packet: bytes, cut anywhere but within a head, and the frames that tell that a body
 * or the rest of the stream will not come. */
#include <string.h>

#include "out_stream.h"

/* Type, source, target, offset and length of a BYTES frame at their longest. */
enum { FRAME_HEAD_MAX = 1 + 8 + 8 + 8 + 4, SKIP_MAX = 1 + 8 + 8 + 8 + 8, END_MAX = 1 + 8 + 8 };

/* Nothing new may be sent of a message whose head does not fit below the limit. */
static bool may_send_next(const struct bcri_out_stream *stream)
{
    if (stream->next >= stream->end || stream->next >= stream->limit)
        return false;
    const struct bcri_out_message *message = bcri_out_message_at(stream, stream->sending);
    return message->start != stream->next || bcri_out_body_of(message) <= stream->limit;
}

static bool has_some(const struct bcri_out_stream *stream)
{
    return stream->ended ? stream->end_due
                         : stream->skips_due != 0 || stream->lost.count != 0 || may_send_next(stream);
}

void bcri_out_take_turn(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (has_some(stream))
        bcri_turn_take(&link->turn, &stream->turn);
    else
        bcri_turn_leave(&link->turn, &stream->turn);
}

/* Bytes of the stream for one frame. */
struct extract {
    uint64_t from, to;
    uint32_t which; /* the message that `from` is in; then that of the last byte that was copied */
    uint32_t bytes; /* that were copied */
};

/* Copies [from, to) or as much as there is room for, whole heads only. */
static void copy_bytes(const struct bcri_out_stream *stream, struct extract *extract, uint8_t *at,
                       const uint8_t *end)
{
    const uint64_t to = extract->to;
    uint64_t offset = extract->from;
    const struct bcri_out_message *message = bcri_out_message_at(stream, extract->which);
    while (offset < to) {
        const uint64_t room = (uint64_t)(end - at);
        uint64_t bytes;
        if (offset == bcri_out_end_of(message)) {
            message = bcri_out_message_at(stream, ++extract->which);
            continue;
        }
        if (offset < bcri_out_body_of(message)) {
            if (message->head_bytes > room || bcri_out_body_of(message) > to)
                break;
            bytes = message->head_bytes;
            memcpy(at, message->head, message->head_bytes);
        } else {
            bytes = (bcri_out_end_of(message) < to ? bcri_out_end_of(message) : to) - offset;
            bytes = bytes < room ? bytes : room;
            if (bytes == 0)
                break;
            memcpy(at, message->body + (offset - bcri_out_body_of(message)), (size_t)bytes);
        }
        at += bytes;
        offset += bytes;
    }
    extract->bytes = (uint32_t)(offset - extract->from);
}

/* One BYTES frame, of as much as fits. Returns where to go on, `at` if nothing fits. */
static uint8_t *fill_bytes(struct bcri_link *link, struct bcri_out_stream *stream, struct extract *extract,
                           uint8_t *at, const uint8_t *end)
{
    const uint64_t room = (uint64_t)(end - at);
    extract->bytes = 0;
    if (room <= FRAME_HEAD_MAX || bcri_sent_room(link) == 0)
        return at;
    /* The length's own length is that of the most that can follow. */
    const uint64_t most = extract->to - extract->from < room ? extract->to - extract->from : room;
    uint8_t *to_at = at;
    *to_at++ = BCRI_FRAME_BYTES;
    to_at = bcri_varint_put(to_at, stream->key.source);
    to_at = bcri_varint_put(to_at, stream->key.target);
    to_at = bcri_varint_put(to_at, extract->from);
    uint8_t *const length_at = to_at;
    const size_t length_bytes = bcri_varint_bytes(most);
    to_at += length_bytes;
    copy_bytes(stream, extract, to_at, end);
    const uint32_t bytes = extract->bytes;
    if (bytes == 0)
        return at;
    if (length_bytes == 1)
        *length_at = (uint8_t)bytes;
    else if (length_bytes == 2)
        bcri_put_u16(length_at, (uint16_t)(bytes | 0x4000u));
    else
        bcri_put_u32(length_at, bytes | 0x80000000u);
    const struct bcri_chunk chunk = {
        .stream = stream, .offset = extract->from, .bytes = bytes, .kind = BCRI_CHUNK_BYTES};
    bcri_sent_add(link, &chunk);
    stream->chunks++;
    return to_at + bytes;
}

static uint8_t *fill_skips(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                           const uint8_t *end)
{
    for (; stream->skips_due != 0; stream->skip_from++) {
        struct bcri_out_message *message = bcri_out_message_at(stream, stream->skip_from);
        if (!message->skip_due)
            continue;
        if (end - at < SKIP_MAX || bcri_sent_room(link) == 0)
            return at;
        *at++ = BCRI_FRAME_SKIP;
        at = bcri_varint_put(at, stream->key.source);
        at = bcri_varint_put(at, stream->key.target);
        at = bcri_varint_put(at, bcri_out_body_of(message));
        at = bcri_varint_put(at, bcri_out_end_of(message));
        const struct bcri_chunk chunk = {.stream = stream, .offset = message->start, .kind = BCRI_CHUNK_SKIP};
        bcri_sent_add(link, &chunk);
        stream->chunks++;
        message->skip_due = false;
        stream->skips_due--;
    }
    return at;
}

static uint8_t *fill_end(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                         const uint8_t *end)
{
    if (end - at < END_MAX || bcri_sent_room(link) == 0)
        return at;
    *at++ = BCRI_FRAME_END;
    at = bcri_varint_put(at, stream->key.source);
    at = bcri_varint_put(at, stream->key.target);
    const struct bcri_chunk chunk = {.stream = stream, .kind = BCRI_CHUNK_END};
    bcri_sent_add(link, &chunk);
    stream->chunks++;
    stream->end_due = false;
    bcri_turn_leave(&link->turn, &stream->turn);
    return at;
}

static uint8_t *fill_lost(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                          const uint8_t *end, bool *fits)
{
    while (stream->lost.count != 0 && *fits) {
        const struct bcri_range lost = stream->lost.range[0];
        struct extract extract = {
            .from = lost.from, .to = lost.to, .which = bcri_out_find(stream, lost.from)};
        at = fill_bytes(link, stream, &extract, at, end);
        link->counts.resent += extract.bytes;
        /* Dropping from the front never needs memory. */
        bcri_ranges_drop_below(&stream->lost, lost.from + extract.bytes);
        *fits = extract.bytes != 0;
    }
    return at;
}

uint8_t *bcri_out_fill(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                       const uint8_t *end)
{
    if (stream->ended)
        return fill_end(link, stream, at, end);
    bool fits = true;
    at = fill_skips(link, stream, at, end);
    at = fill_lost(link, stream, at, end, &fits);
    while (fits && may_send_next(stream)) {
        struct extract extract = {.from = stream->next,
                                  .to = stream->end < stream->limit ? stream->end : stream->limit,
                                  .which = stream->sending};
        at = fill_bytes(link, stream, &extract, at, end);
        fits = extract.bytes != 0;
        stream->next += extract.bytes;
        if (fits)
            stream->sending =
                extract.which +
                (bcri_out_end_of(bcri_out_message_at(stream, extract.which)) == stream->next ? 1 : 0);
    }
    bcri_out_take_turn(link, stream);
    return at;
}

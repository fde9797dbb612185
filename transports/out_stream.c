/* SPDX-License-Identifier: MIT */
/* The sending side of a stream.
 *
 * A stream is a row of bytes: of each message its head, which tells the lengths and has the header,
 * then its body. Frames carry pieces of that row, cut anywhere but within a head. A message leaves
 * when the receiver says that it has taken all up to its end.
 *
 * A message that the receiver refuses: its body is cut off where it lies, and a SKIP frame tells the
 * receiver that it will not come. The receiver goes on naming the message until then, and counts it
 * as taken only after that, so that no order of losses makes a refused message look taken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link_private.h"
#include "ring.h"

/* Type, source, target, offset and length of a BYTES frame at their longest. */
enum { FRAME_HEAD_MAX = 1 + 5 + 5 + 8 + 4, SKIP_MAX = 1 + 5 + 5 + 8 + 8, END_MAX = 1 + 5 + 5 };

static struct bcri_out_message *message_at(const struct bcri_out_stream *stream, uint32_t which)
{
    return &stream->message[(stream->first + which) & (stream->capacity - 1)];
}

static uint64_t body_of(const struct bcri_out_message *message)
{
    return message->start + message->head_bytes;
}

static uint64_t end_of(const struct bcri_out_message *message)
{
    return body_of(message) + message->body_bytes;
}

/* Which message the byte at `offset` is in. */
static uint32_t find(const struct bcri_out_stream *stream, uint64_t offset)
{
    uint32_t low = 0, high = stream->messages;
    if (stream->sending < high && message_at(stream, stream->sending)->start <= offset) {
        low = stream->sending;
        if (low + 1 == high || message_at(stream, low + 1)->start > offset)
            return low;
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (message_at(stream, middle)->start <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether a message that is not completed ends at `offset`, which is at most the stream's end. */
static bool ends_message(const struct bcri_out_stream *stream, uint64_t offset)
{
    return offset == stream->end || message_at(stream, find(stream, offset))->start == offset;
}

static void free_messages(struct bcri_link *link, struct bcri_out_stream *stream)
{
    link->memory -= stream->capacity * sizeof *stream->message;
    free(stream->message);
    stream->message = NULL;
    stream->capacity = stream->first = 0;
}

static void release(struct bcri_link *link, struct bcri_out_stream *stream)
{
    free_messages(link, stream);
    link->memory -= sizeof *stream;
    bcri_ranges_free(&stream->lost);
    free(stream);
}

static struct bcri_out_stream *obtain(struct bcri_link *link, uint32_t source, uint32_t target)
{
    struct bcri_out_stream *stream = bcri_stream_find(&link->out, source, target);
    if (stream != NULL)
        return stream;
    stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->key = (struct bcri_stream_key){.source = source, .target = target};
    stream->limit = BCRI_LINK_BUFFER_MAX;
    /* One range is always there: out_chunk_lost cannot fail. */
    if (!bcri_ranges_add(&stream->lost, 0, 1) || !bcri_stream_insert(&link->out, &stream->key)) {
        bcri_ranges_free(&stream->lost);
        free(stream);
        return NULL;
    }
    stream->lost.count = 0;
    link->memory += sizeof *stream;
    return stream;
}

static bool grow(struct bcri_link *link, struct bcri_out_stream *stream)
{
    struct bcri_out_message *grown =
        bcri_ring_grown(stream->message, &stream->capacity, stream->first, stream->messages, sizeof *grown,
                        BCRI_FIRST_MESSAGES, &link->memory);
    if (grown != NULL)
        stream->message = grown;
    return grown != NULL;
}

static void take_turn_if_due(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (bcri_out_has_some(stream))
        bcri_turn_take(&link->turn, &stream->turn);
    else
        bcri_turn_leave(&link->turn, &stream->turn);
}

int bcri_out_queue(struct bcri_link *link, uint32_t source, uint32_t target, const void *header,
                   uint32_t header_bytes, const void *body, uint32_t body_bytes, void *cookie)
{
    struct bcri_out_stream *stream = obtain(link, source, target);
    if (stream == NULL || (stream->messages == stream->capacity && !grow(link, stream)))
        return -ENOMEM;
    struct bcri_out_message *message = message_at(stream, stream->messages);
    message->start = stream->end;
    message->body = body;
    message->body_bytes = body_bytes;
    message->cookie = cookie;
    message->refused = message->skip_due = false;
    uint8_t *at = bcri_varint_put(message->head, header_bytes);
    at = bcri_varint_put(at, body_bytes);
    if (header_bytes != 0)
        memcpy(at, header, header_bytes);
    message->head_bytes = (uint8_t)(at + header_bytes - message->head);
    stream->messages++;
    stream->end = end_of(message);
    link->incomplete++;
    link->slack_at = link->now + BCRI_SLACK_NS;
    bcri_turn_take(&link->turn, &stream->turn);
    return 0;
}

/* Nothing new may be sent of a message whose head does not fit below the limit. */
static bool may_send_next(const struct bcri_out_stream *stream)
{
    if (stream->next >= stream->end || stream->next >= stream->limit)
        return false;
    const struct bcri_out_message *message = message_at(stream, find(stream, stream->next));
    return message->start != stream->next || body_of(message) <= stream->limit;
}

bool bcri_out_has_some(const struct bcri_out_stream *stream)
{
    return stream->ended ? stream->end_due
                         : stream->skips_due != 0 || stream->lost.count != 0 || may_send_next(stream);
}

/* Copies the stream's bytes from `from` up to `to` or to the end of the room, whole heads only.
 * Returns how many. */
static uint32_t copy_bytes(struct bcri_out_stream *stream, uint64_t from, uint64_t to, uint8_t *at,
                           const uint8_t *end)
{
    uint32_t which = find(stream, from), copied = 0;
    while (from + copied < to) {
        const struct bcri_out_message *message = message_at(stream, which);
        const uint64_t offset = from + copied;
        const uint64_t room = (uint64_t)(end - at);
        if (offset < body_of(message)) {
            if (message->head_bytes > room || body_of(message) > to)
                break;
            memcpy(at, message->head, message->head_bytes);
            at += message->head_bytes;
            copied += message->head_bytes;
        } else if (offset == end_of(message)) {
            which++;
        } else {
            uint64_t bytes = (end_of(message) < to ? end_of(message) : to) - offset;
            bytes = bytes < room ? bytes : room;
            if (bytes == 0)
                break;
            memcpy(at, message->body + (offset - body_of(message)), (size_t)bytes);
            at += bytes;
            copied += (uint32_t)bytes;
        }
    }
    return copied;
}

/* One BYTES frame of [from, to), as much as fits. Returns where to go on, `at` if nothing fits. */
static uint8_t *fill_bytes(struct bcri_link *link, struct bcri_out_stream *stream, uint64_t from, uint64_t to,
                           uint8_t *at, const uint8_t *end, uint32_t *sent_out)
{
    const uint64_t room = (uint64_t)(end - at);
    *sent_out = 0;
    if (room <= FRAME_HEAD_MAX || bcri_sent_room(link) == 0)
        return at;
    /* The length's own length is that of the most that can follow. */
    const uint64_t most = to - from < room ? to - from : room;
    uint8_t *to_at = at;
    *to_at++ = BCRI_FRAME_BYTES;
    to_at = bcri_varint_put(to_at, stream->key.source);
    to_at = bcri_varint_put(to_at, stream->key.target);
    to_at = bcri_varint_put(to_at, from);
    uint8_t *const length_at = to_at;
    const size_t length_bytes = bcri_varint_bytes(most);
    to_at += length_bytes;
    const uint32_t bytes = copy_bytes(stream, from, to, to_at, end);
    if (bytes == 0)
        return at;
    if (length_bytes == 1)
        *length_at = (uint8_t)bytes;
    else if (length_bytes == 2)
        bcri_put_u16(length_at, (uint16_t)(bytes | 0x4000u));
    else
        bcri_put_u32(length_at, bytes | 0x80000000u);
    const struct bcri_chunk chunk = {
        .stream = stream, .offset = from, .bytes = bytes, .kind = BCRI_CHUNK_BYTES};
    bcri_sent_add(link, &chunk);
    stream->chunks++;
    *sent_out = bytes;
    return to_at + bytes;
}

static void owe_skip(struct bcri_out_stream *stream, uint32_t which)
{
    message_at(stream, which)->skip_due = true;
    if (stream->skips_due++ == 0 || which < stream->skip_from)
        stream->skip_from = which;
}

static uint8_t *fill_skips(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                           const uint8_t *end)
{
    for (; stream->skips_due != 0; stream->skip_from++) {
        struct bcri_out_message *message = message_at(stream, stream->skip_from);
        if (!message->skip_due)
            continue;
        if (end - at < SKIP_MAX || bcri_sent_room(link) == 0)
            return at;
        *at++ = BCRI_FRAME_SKIP;
        at = bcri_varint_put(at, stream->key.source);
        at = bcri_varint_put(at, stream->key.target);
        at = bcri_varint_put(at, body_of(message));
        at = bcri_varint_put(at, end_of(message));
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

uint8_t *bcri_out_fill(struct bcri_link *link, struct bcri_out_stream *stream, uint8_t *at,
                       const uint8_t *end)
{
    if (stream->ended)
        return fill_end(link, stream, at, end);
    uint32_t bytes = 1;
    at = fill_skips(link, stream, at, end);
    while (stream->lost.count != 0 && bytes != 0) {
        const struct bcri_range lost = stream->lost.range[0];
        at = fill_bytes(link, stream, lost.from, lost.to, at, end, &bytes);
        link->counts.resent += bytes;
        /* Dropping from the front never needs memory. */
        bcri_ranges_drop_below(&stream->lost, lost.from + bytes);
    }
    while (bytes != 0 && may_send_next(stream)) {
        const uint64_t to = stream->end < stream->limit ? stream->end : stream->limit;
        at = fill_bytes(link, stream, stream->next, to, at, end, &bytes);
        stream->next += bytes;
        if (bytes != 0)
            stream->sending = find(stream, stream->next - 1);
    }
    take_turn_if_due(link, stream);
    return at;
}

void bcri_out_chunk_completed(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (--stream->chunks == 0 && stream->ended && !stream->end_due)
        release(link, stream);
}

void bcri_out_chunk_lost(struct bcri_link *link, struct bcri_out_stream *stream,
                         const struct bcri_chunk *chunk)
{
    if (chunk->kind == BCRI_CHUNK_END) {
        stream->end_due = true;
        bcri_turn_take(&link->turn, &stream->turn);
        return;
    }
    if (stream->ended || stream->messages == 0)
        return;
    if (chunk->kind == BCRI_CHUNK_SKIP) {
        const uint32_t which = find(stream, chunk->offset);
        const struct bcri_out_message *message = message_at(stream, which);
        if (message->start == chunk->offset && message->refused && !message->skip_due)
            owe_skip(stream, which);
    } else {
        uint64_t from = chunk->offset < stream->taken ? stream->taken : chunk->offset;
        const uint64_t to = chunk->offset + chunk->bytes;
        /* What was refused since is not sent again. */
        while (from < to) {
            const struct bcri_out_message *message = message_at(stream, find(stream, from));
            uint64_t stop = message->refused ? body_of(message) : end_of(message);
            stop = stop < to ? stop : to;
            if (!bcri_ranges_add(&stream->lost, from, stop)) {
                /* Without memory for the exact ranges everything behind the first is sent again. */
                from = stream->lost.count != 0 && stream->lost.range[0].from < from
                           ? stream->lost.range[0].from
                           : from;
                stream->lost.range[0] = (struct bcri_range){from, stream->next};
                stream->lost.count = 1;
                break;
            }
            from = end_of(message);
        }
    }
    take_turn_if_due(link, stream);
}

static bool refuse(struct bcri_out_stream *stream, uint64_t start)
{
    if (stream->messages == 0 || start < stream->taken)
        return true; /* of an older packet than the last */
    const uint32_t which = find(stream, start);
    struct bcri_out_message *message = message_at(stream, which);
    if (message->start != start || stream->next < body_of(message))
        return false;
    if (message->refused)
        return true;
    message->refused = true;
    owe_skip(stream, which);
    if (stream->next < end_of(message))
        stream->next = end_of(message);
    /* If there is no memory for two ranges where there was one, bytes are sent that nobody wants. */
    (void)bcri_ranges_remove(&stream->lost, body_of(message), end_of(message));
    return true;
}

bool bcri_out_taken(struct bcri_link *link, struct bcri_out_stream *stream, uint64_t taken, uint64_t limit,
                    struct bcri_reader *refused, uint64_t refused_count)
{
    for (uint64_t i = 0; i < refused_count; i++) {
        const uint64_t start = bcri_varint_get(refused);
        if (refused->failed || !refuse(stream, start))
            return false;
    }
    if (taken > stream->next || (taken > stream->taken && !ends_message(stream, taken)))
        return false;
    if (limit > stream->limit)
        stream->limit = limit;
    if (taken > stream->taken) {
        stream->taken = taken;
        bcri_ranges_drop_below(&stream->lost, taken);
        while (stream->messages != 0 && end_of(message_at(stream, 0)) <= taken) {
            const struct bcri_out_message done = *message_at(stream, 0);
            if (done.skip_due)
                stream->skips_due--;
            stream->first = (stream->first + 1) & (stream->capacity - 1);
            stream->messages--;
            stream->sending -= stream->sending != 0;
            stream->skip_from -= stream->skip_from != 0;
            link->incomplete--;
            link->events->completed(link->owner, stream->key.source, stream->key.target, done.cookie,
                                    done.refused ? BCRI_LINK_REFUSED : BCRI_LINK_ARRIVED);
        }
    }
    take_turn_if_due(link, stream);
    return true;
}

void bcri_out_end(struct bcri_link *link, struct bcri_out_stream *stream, bool tell)
{
    bcri_stream_remove(&link->out, &stream->key);
    bcri_turn_leave(&link->turn, &stream->turn);
    stream->ended = true;
    bcri_ranges_free(&stream->lost);
    while (stream->messages != 0) {
        void *cookie = message_at(stream, 0)->cookie;
        stream->first = (stream->first + 1) & (stream->capacity - 1);
        stream->messages--;
        link->incomplete--;
        link->events->completed(link->owner, stream->key.source, stream->key.target, cookie, BCRI_LINK_LOST);
    }
    if (tell && stream->next != 0) {
        stream->end_due = true;
        bcri_turn_take(&link->turn, &stream->turn);
    } else if (stream->chunks == 0) {
        release(link, stream);
    }
}

void bcri_out_forget(struct bcri_link *link, struct bcri_out_stream *stream)
{
    bcri_turn_leave(&link->turn, &stream->turn);
    stream->end_due = false;
    if (stream->chunks == 0)
        release(link, stream);
}

void bcri_out_give_back(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (stream->messages == 0)
        free_messages(link, stream);
    bcri_ranges_shrink(&stream->lost);
}

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

#include "out_stream.h"
#include "ring.h"

/* Whether a message that is not completed ends at `offset`, which is at most the stream's end. */
static bool ends_message(const struct bcri_out_stream *stream, uint64_t offset)
{
    return offset == stream->end ||
           bcri_out_message_at(stream, bcri_out_find(stream, offset))->start == offset;
}

static void free_messages(struct bcri_link *link, struct bcri_out_stream *stream)
{
    link->memory -= stream->capacity * sizeof *stream->message;
    free(stream->message);
    stream->message = NULL;
    stream->capacity = stream->first = 0;
}

static void release_out_stream(struct bcri_link *link, struct bcri_out_stream *stream)
{
    free_messages(link, stream);
    link->memory -= sizeof *stream;
    bcri_ranges_free(&stream->lost);
    free(stream);
}

static struct bcri_out_stream *obtain_out_stream(struct bcri_link *link, uint32_t source, uint32_t target)
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

static bool grow_messages(struct bcri_link *link, struct bcri_out_stream *stream)
{
    struct bcri_out_message *grown =
        bcri_ring_grown(stream->message, &stream->capacity, stream->first, stream->messages, sizeof *grown,
                        BCRI_FIRST_MESSAGES, &link->memory);
    if (grown != NULL)
        stream->message = grown;
    return grown != NULL;
}

int bcri_out_queue(struct bcri_link *link, uint32_t source, uint32_t target, const void *header,
                   uint32_t header_bytes, const void *body, uint32_t body_bytes, void *cookie)
{
    struct bcri_out_stream *stream = obtain_out_stream(link, source, target);
    if (stream == NULL || (stream->messages == stream->capacity && !grow_messages(link, stream)))
        return -ENOMEM;
    struct bcri_out_message *message = bcri_out_message_at(stream, stream->messages);
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
    stream->end = bcri_out_end_of(message);
    link->incomplete++;
    link->slack_at = link->now + BCRI_SLACK_NS;
    bcri_turn_take(&link->turn, &stream->turn);
    return 0;
}

static void owe_skip(struct bcri_out_stream *stream, uint32_t which)
{
    bcri_out_message_at(stream, which)->skip_due = true;
    if (stream->skips_due++ == 0 || which < stream->skip_from)
        stream->skip_from = which;
}

void bcri_out_chunk_completed(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (--stream->chunks == 0 && stream->ended && !stream->end_due)
        release_out_stream(link, stream);
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
        const uint32_t which = bcri_out_find(stream, chunk->offset);
        const struct bcri_out_message *message = bcri_out_message_at(stream, which);
        if (message->start == chunk->offset && message->refused && !message->skip_due)
            owe_skip(stream, which);
    } else {
        uint64_t from = chunk->offset < stream->taken ? stream->taken : chunk->offset;
        const uint64_t to = chunk->offset + chunk->bytes;
        /* What was refused since is not sent again. */
        while (from < to) {
            const struct bcri_out_message *message = bcri_out_message_at(stream, bcri_out_find(stream, from));
            uint64_t stop = message->refused ? bcri_out_body_of(message) : bcri_out_end_of(message);
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
            from = bcri_out_end_of(message);
        }
    }
    bcri_out_take_turn(link, stream);
}

static bool refuse(struct bcri_out_stream *stream, uint64_t start)
{
    if (stream->messages == 0 || start < stream->taken)
        return true; /* of an older packet than the last */
    const uint32_t which = bcri_out_find(stream, start);
    struct bcri_out_message *message = bcri_out_message_at(stream, which);
    if (message->start != start || stream->next < bcri_out_body_of(message))
        return false;
    if (message->refused)
        return true;
    message->refused = true;
    owe_skip(stream, which);
    if (stream->next < bcri_out_end_of(message)) {
        stream->next = bcri_out_end_of(message);
        stream->sending = which + 1;
    }
    /* If there is no memory for two ranges where there was one, bytes are sent that nobody wants. */
    (void)bcri_ranges_remove(&stream->lost, bcri_out_body_of(message), bcri_out_end_of(message));
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
        while (stream->messages != 0 && bcri_out_end_of(bcri_out_message_at(stream, 0)) <= taken) {
            const struct bcri_out_message done = *bcri_out_message_at(stream, 0);
            if (done.skip_due)
                stream->skips_due--;
            stream->first = (stream->first + 1) & (stream->capacity - 1);
            stream->messages--;
            stream->sending--; /* it was sent wholly */
            stream->skip_from -= stream->skip_from != 0;
            link->incomplete--;
            link->events->completed(link->owner, stream->key.source, stream->key.target, done.cookie,
                                    done.refused ? BCRI_LINK_REFUSED : BCRI_LINK_ARRIVED);
        }
    }
    bcri_out_take_turn(link, stream);
    return true;
}

void bcri_out_end(struct bcri_link *link, struct bcri_out_stream *stream, bool tell)
{
    bcri_stream_remove(&link->out, &stream->key);
    bcri_turn_leave(&link->turn, &stream->turn);
    stream->ended = true;
    bcri_ranges_free(&stream->lost);
    while (stream->messages != 0) {
        void *cookie = bcri_out_message_at(stream, 0)->cookie;
        stream->first = (stream->first + 1) & (stream->capacity - 1);
        stream->messages--;
        link->incomplete--;
        link->events->completed(link->owner, stream->key.source, stream->key.target, cookie, BCRI_LINK_LOST);
    }
    if (tell && stream->next != 0) {
        stream->end_due = true;
        bcri_turn_take(&link->turn, &stream->turn);
    } else if (stream->chunks == 0) {
        release_out_stream(link, stream);
    }
}

void bcri_out_forget(struct bcri_link *link, struct bcri_out_stream *stream)
{
    bcri_turn_leave(&link->turn, &stream->turn);
    stream->end_due = false;
    if (stream->chunks == 0)
        release_out_stream(link, stream);
}

void bcri_out_give_back(struct bcri_link *link, struct bcri_out_stream *stream)
{
    if (stream->messages == 0)
        free_messages(link, stream);
    bcri_ranges_shrink(&stream->lost);
}

/* SPDX-License-Identifier: MIT */
/* What the sender of a stream is told: how far it is taken and may go, which messages are refused, that it has
 * ended. Each packet that told something is counted, and what a lost one told is told again as it is then. */
#include "in_stream.h"

enum { REFUSED_IN_FRAME = 32, TAKEN_HEAD = 1 + 8 + 8 + 8 + 8 + 1, OFFSET = 8 };

void bcri_in_owe(struct bcri_link *link, struct bcri_in_stream *stream, bool now)
{
    bcri_turn_take(&link->owed, &stream->owes);
    link->owed_now |= now;
}

void bcri_in_become_gone(struct bcri_link *link, struct bcri_in_stream *stream)
{
    stream->gone = true;
    link->gone++;
    bcri_turn_leave(&link->unsure, &stream->unsure);
    bcri_in_owe(link, stream, true);
}

void bcri_in_add_refused(struct bcri_in_stream *stream, uint32_t which)
{
    const uint32_t index = stream->first + which;
    if (stream->refused++ == 0)
        stream->first_refused = index;
    else
        bcri_in_message_at(stream, stream->last_refused - stream->first)->after = index;
    bcri_in_message_at(stream, which)->before = stream->last_refused;
    stream->last_refused = index;
}

void bcri_in_remove_refused(struct bcri_in_stream *stream, uint32_t which)
{
    const uint32_t index = stream->first + which;
    const struct bcri_in_message *message = bcri_in_message_at(stream, which);
    stream->refused--;
    if (index == stream->first_refused)
        stream->first_refused = message->after;
    else
        bcri_in_message_at(stream, message->before - stream->first)->after = message->after;
    if (index == stream->last_refused)
        stream->last_refused = message->before;
    else
        bcri_in_message_at(stream, message->after - stream->first)->before = message->before;
}

static uint64_t limit_of(const struct bcri_in_stream *stream)
{
    return stream->begun + BCRI_LINK_BUFFER_MAX;
}

static void note_chunk(struct bcri_link *link, struct bcri_in_stream *stream)
{
    const struct bcri_chunk chunk = {.stream = stream, .offset = stream->taken, .kind = BCRI_CHUNK_TAKEN};
    bcri_sent_add(link, &chunk);
    stream->chunks++;
    stream->told_in = link->sent.next + 1;
    bcri_turn_leave(&link->owed, &stream->owes);
}

/* The first `count` refused messages are named. */
static uint8_t *fill_taken(struct bcri_link *link, struct bcri_in_stream *stream, uint8_t *at, uint32_t count)
{
    *at++ = BCRI_FRAME_TAKEN;
    at = bcri_varint_put(at, stream->key.source);
    at = bcri_varint_put(at, stream->key.target);
    stream->limit = limit_of(stream);
    at = bcri_varint_put(at, stream->taken);
    at = bcri_varint_put(at, stream->limit);
    at = bcri_varint_put(at, count);
    for (uint32_t i = 0, index = stream->first_refused; i < count; i++) {
        const struct bcri_in_message *message = bcri_in_message_at(stream, index - stream->first);
        at = bcri_varint_put(at, message->start);
        index = message->after;
    }
    note_chunk(link, stream);
    return at;
}

uint8_t *bcri_in_fill(struct bcri_link *link, struct bcri_in_stream *stream, uint8_t *at, const uint8_t *end)
{
    uint32_t count = stream->refused < REFUSED_IN_FRAME ? stream->refused : REFUSED_IN_FRAME;
    const bool fits = end - at >= TAKEN_HEAD + (count != 0 ? OFFSET : 0);
    if (!fits || bcri_sent_room(link) == 0)
        return at;
    if (!stream->gone) {
        const uint32_t room = (uint32_t)(end - at - TAKEN_HEAD) / OFFSET;
        return fill_taken(link, stream, at, count < room ? count : room);
    }
    *at++ = BCRI_FRAME_GONE;
    at = bcri_varint_put(at, stream->key.source);
    at = bcri_varint_put(at, stream->key.target);
    note_chunk(link, stream);
    return at;
}

/* The next stream of which the packet that is being made has to tell something; NULL: there is none. */
static struct bcri_in_stream *next_unsure(const struct bcri_link *link, struct bcri_turn **turn)
{
    while (*turn != NULL) {
        struct bcri_in_stream *stream = BCRI_STREAM_OF(struct bcri_in_stream, unsure, *turn);
        *turn = (*turn)->after != link->unsure ? (*turn)->after : NULL;
        if (stream->told_in != link->sent.next + 1)
            return stream;
    }
    return NULL;
}

/* All or none: or packets would go out that tell the same again, and carry nothing. */
uint8_t *bcri_in_fill_unsure(struct bcri_link *link, uint8_t *at, const uint8_t *end)
{
    struct bcri_in_stream *stream;
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (struct bcri_turn *turn = link->unsure; (stream = next_unsure(link, &turn)) != NULL;) {
        bytes += 1 + bcri_varint_bytes(stream->key.source) + bcri_varint_bytes(stream->key.target) +
                 bcri_varint_bytes(stream->taken) + bcri_varint_bytes(limit_of(stream)) + 1;
        if (bytes > (uint64_t)(end - at) || ++count > bcri_sent_room(link))
            return NULL;
    }
    for (struct bcri_turn *turn = link->unsure; (stream = next_unsure(link, &turn)) != NULL;)
        at = fill_taken(link, stream, at, 0);
    return at;
}

void bcri_in_known(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t taken)
{
    if (taken >= stream->handed)
        bcri_turn_leave(&link->unsure, &stream->unsure);
}

void bcri_in_chunk_completed(struct bcri_link *link, struct bcri_in_stream *stream)
{
    if (--stream->chunks != 0)
        return;
    if (stream->ended)
        bcri_in_release(link, stream);
    else if (stream->gone && stream->owes.after == NULL)
        bcri_in_forget(link, stream); /* the sender knows */
}

void bcri_in_chunk_lost(struct bcri_link *link, struct bcri_in_stream *stream)
{
    if (!stream->ended)
        bcri_in_owe(link, stream, true);
}

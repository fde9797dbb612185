/* SPDX-License-Identifier: MIT */
/* The receiving side of a stream.
 *
 * `taken` and `begun` cut the stream's bytes in three. Messages below `taken` have arrived. Messages
 * from there to `begun` have begun: they have memory, and their bytes are copied there in whatever
 * order they come. What comes from behind `begun` is kept in pieces until the message before it has
 * begun; the sender may be ahead of `begun` by BCRI_LINK_BUFFER_MAX bytes, which bounds the pieces.
 *
 * A packet of which something cannot be kept is not acknowledged. All here may be done twice.
 *
 * Where the peer has reached a limit of the link, all is as if there were no memory. Pieces have a
 * limit of their own: what streams that stand still keep there takes no room from those that go on. */
#include <stdlib.h>
#include <string.h>

#include "in_stream.h"
#include "ring.h"

/* A ring that is larger is given back when it is empty. */
enum { KEPT_MESSAGES = 64 };

/* The limits hold but for what is added last. */
static bool may_use(const struct bcri_link *link)
{
    return link->in_use < BCRI_LINK_IN_MAX;
}

static void use(struct bcri_link *link, size_t bytes)
{
    link->memory += bytes;
    link->in_use += bytes;
}

static void give_back(struct bcri_link *link, size_t bytes)
{
    link->memory -= bytes;
    link->in_use -= bytes;
}

static void free_placed(struct bcri_link *link, struct bcri_in_stream *stream)
{
    give_back(link, stream->placed.capacity * sizeof(struct bcri_range));
    bcri_ranges_free(&stream->placed);
}

static void free_messages(struct bcri_link *link, struct bcri_in_stream *stream)
{
    give_back(link, stream->capacity * sizeof *stream->message);
    free(stream->message);
    stream->message = NULL;
    stream->capacity = 0;
}

void bcri_in_release(struct bcri_link *link, struct bcri_in_stream *stream)
{
    free_messages(link, stream);
    free_placed(link, stream);
    give_back(link, sizeof *stream);
    free(stream);
}

void bcri_in_forget(struct bcri_link *link, struct bcri_in_stream *stream)
{
    bcri_stream_remove(&link->in, &stream->key);
    bcri_turn_leave(&link->owed, &stream->owes);
    bcri_turn_leave(&link->unsure, &stream->unsure);
    link->gone -= stream->gone;
    stream->ended = true;
    if (stream->chunks == 0)
        bcri_in_release(link, stream);
}

static struct bcri_in_stream *obtain_in_stream(struct bcri_link *link, uint32_t source, uint32_t target)
{
    struct bcri_in_stream *stream = may_use(link) ? calloc(1, sizeof *stream) : NULL;
    if (stream == NULL)
        return NULL;
    stream->key = (struct bcri_stream_key){.source = source, .target = target};
    stream->limit = BCRI_LINK_BUFFER_MAX;
    if (!bcri_stream_insert(&link->in, &stream->key)) {
        free(stream);
        return NULL;
    }
    use(link, sizeof *stream);
    return stream;
}

static bool reserve_message(struct bcri_link *link, struct bcri_in_stream *stream)
{
    if (stream->messages < stream->capacity)
        return true;
    size_t more = 0;
    struct bcri_in_message *grown =
        may_use(link) ? bcri_ring_grown(stream->message, &stream->capacity, stream->first, stream->messages,
                                        sizeof *grown, BCRI_FIRST_MESSAGES, &more)
                      : NULL;
    use(link, more);
    if (grown != NULL)
        stream->message = grown;
    return grown != NULL;
}

static bool add_placed(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t from, uint64_t to)
{
    const uint32_t before = stream->placed.capacity;
    if (stream->placed.count == before && !may_use(link))
        return false;
    const bool done = bcri_ranges_add(&stream->placed, from, to);
    use(link, (stream->placed.capacity - before) * sizeof(struct bcri_range));
    return done;
}

/* Hands over the messages that are there, in order. Returns whether there were any. */
static bool hand_over(struct bcri_link *link, struct bcri_in_stream *stream)
{
    const uint64_t before = stream->taken;
    while (stream->messages != 0) {
        const struct bcri_in_message message = *bcri_in_message_at(stream, 0);
        const bool there = message.refused
                               ? message.skipped
                               : stream->placed.count != 0 && stream->placed.range[0].from <= stream->taken &&
                                     stream->placed.range[0].to >= message.end;
        if (!there)
            break;
        stream->first++;
        stream->messages--;
        stream->taken = message.end;
        bcri_ranges_drop_below(&stream->placed, message.end);
        if (message.changes_hands) {
            stream->handed = message.end;
            bcri_turn_take(&link->unsure, &stream->unsure);
        }
        if (!message.refused)
            link->events->arrived(link->owner, stream->key.source, stream->key.target, message.cookie);
    }
    if (stream->taken == before)
        return false;
    /* Or streams that have had much would leave no room for the next ones. */
    if (stream->capacity > KEPT_MESSAGES)
        bcri_in_give_back(link, stream);
    bcri_in_owe(link, stream, false);
    return true;
}

/* Noting [from, to) takes no range of its own, or there may be one more. */
static bool may_place(const struct bcri_ranges *placed, uint64_t from, uint64_t to)
{
    return placed->count < BCRI_LINK_PIECES_MAX || (from != 0 && bcri_ranges_holds(placed, from - 1)) ||
           bcri_ranges_holds(placed, from) || bcri_ranges_holds(placed, to);
}

/* Bytes below `begun` go where they belong. */
static bool place_bytes(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t offset,
                        const uint8_t *data, uint64_t bytes)
{
    uint32_t low = 0, high = stream->messages;
    while (low < high) { /* the first message that ends behind `offset` */
        const uint32_t middle = low + (high - low) / 2;
        if (bcri_in_message_at(stream, middle)->end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; bytes != 0 && low < stream->messages; low++) {
        const struct bcri_in_message *message = bcri_in_message_at(stream, low);
        const uint64_t here = message->end - offset < bytes ? message->end - offset : bytes;
        if (!message->refused && offset + here > message->body) {
            const uint64_t heads = offset < message->body ? message->body - offset : 0;
            if (!may_place(&stream->placed, offset, offset + here) ||
                !add_placed(link, stream, offset, offset + here))
                return false;
            memcpy(message->memory + (offset + heads - message->body), data + heads, (size_t)(here - heads));
        }
        offset += here;
        data += here;
        bytes -= here;
    }
    return true;
}

static bool may_begin(const struct bcri_in_stream *stream)
{
    return !stream->paused && stream->messages < BCRI_LINK_BEGUN_MAX;
}

/* The message whose head is at `begun`, the first of `bytes` bytes at `data`. */
static enum bcri_in_result begin_message(struct bcri_link *link, struct bcri_in_stream *stream,
                                         const uint8_t *data, uint64_t bytes)
{
    struct bcri_reader reader = {.at = data, .end = data + bytes};
    struct bcri_link_message message = {.source = stream->key.source, .target = stream->key.target};
    message.header_bytes = bcri_varint_get_u32(&reader);
    message.body_bytes = bcri_varint_get_u32(&reader);
    message.header = bcri_reader_take(&reader, message.header_bytes);
    if (reader.failed || message.header_bytes > BCRI_LINK_HEADER_MAX ||
        message.body_bytes > BCRI_LINK_BODY_MAX)
        return BCRI_IN_NONSENSE;
    if (!reserve_message(link, stream))
        return BCRI_IN_NO_ROOM;
    struct bcri_in_message begun = {.start = stream->begun};
    begun.body = begun.start + (uint64_t)(reader.at - data);
    begun.end = begun.body + message.body_bytes;
    if (!add_placed(link, stream, begun.start, begun.body))
        return BCRI_IN_NO_ROOM;
    switch (link->events->begin(link->owner, &message)) {
    case BCRI_LINK_TAKE:
        begun.memory = message.memory;
        begun.cookie = message.cookie;
        begun.changes_hands = message.changes_hands;
        break;
    case BCRI_LINK_REFUSE:
        begun.refused = true;
        bcri_in_owe(link, stream, true);
        break;
    default:
        stream->paused = true;
        /* At the end of the set: that takes no memory. */
        (void)bcri_ranges_remove(&stream->placed, begun.start, begun.body);
        return BCRI_IN_OK;
    }
    *bcri_in_message_at(stream, stream->messages++) = begun;
    if (begun.refused)
        bcri_in_add_refused(stream, stream->messages - 1);
    stream->begun = begun.end;
    if (stream->begun + BCRI_LINK_BUFFER_MAX >= stream->limit + BCRI_LINK_BUFFER_MAX / 2)
        bcri_in_owe(link, stream, true);
    return BCRI_IN_OK;
}

/* Does with bytes from `taken` on what can be done: places, begins, keeps. */
static enum bcri_in_result consume(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t offset,
                                   const uint8_t *data, uint64_t bytes)
{
    while (bytes != 0) {
        uint64_t here = bytes;
        if (offset < stream->begun) {
            here = stream->begun - offset < bytes ? stream->begun - offset : bytes;
            if (!place_bytes(link, stream, offset, data, here))
                return BCRI_IN_NO_ROOM;
        } else if (offset == stream->begun && may_begin(stream)) {
            const enum bcri_in_result result = begin_message(link, stream, data, bytes);
            if (result != BCRI_IN_OK)
                return result;
            continue; /* they are below `begun` now, or the stream is paused */
        } else {
            return bcri_pieces_keep(link, stream, offset, data, bytes);
        }
        offset += here;
        data += here;
        bytes -= here;
    }
    return BCRI_IN_OK;
}

/* Pieces that `begun` has reached. A piece that cannot be consumed now stays. */
static enum bcri_in_result consume_pieces(struct bcri_link *link, struct bcri_in_stream *stream)
{
    while (stream->piece != NULL && stream->piece->offset <= stream->begun &&
           (may_begin(stream) || stream->piece->offset < stream->begun)) {
        struct bcri_piece *piece = stream->piece;
        stream->piece = piece->next;
        stream->pieces--;
        const enum bcri_in_result result = consume(link, stream, piece->offset, piece->data, piece->bytes);
        if (result != BCRI_IN_OK) {
            piece->next = stream->piece;
            stream->piece = piece;
            stream->pieces++;
            return result;
        }
        bcri_piece_free(link, piece);
    }
    return BCRI_IN_OK;
}

/* Does what pieces and arrived messages allow; each allows more of the other. Pieces for which there
 * is no memory now are tried again: their sender has been told that they are here. */
static enum bcri_in_result advance(struct bcri_link *link, struct bcri_in_stream *stream)
{
    enum bcri_in_result result;
    do
        result = consume_pieces(link, stream);
    while (hand_over(link, stream) && result == BCRI_IN_OK);
    if (result != BCRI_IN_NO_ROOM)
        return result;
    link->pieces_wait = true;
    bcri_link_retry_soon(link);
    return BCRI_IN_OK;
}

void bcri_in_retry(struct bcri_link *link)
{
    link->pieces_wait = false;
    for (uint32_t i = 0; i < link->in.buckets; i++)
        for (struct bcri_stream_key *key = link->in.bucket[i]; key != NULL; key = key->next)
            (void)advance(link, (struct bcri_in_stream *)(void *)key);
    link->owed_now |= link->owed != NULL;
}

enum bcri_in_result bcri_in_bytes(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t offset,
                                  const uint8_t *data, uint32_t bytes)
{
    struct bcri_in_stream *stream = bcri_stream_find(&link->in, source, target);
    link->slack_at = link->now + BCRI_SLACK_NS;
    if (stream == NULL) {
        const bool accepted = link->events->accept(link->owner, source, target);
        stream = accepted || link->gone < BCRI_LINK_GONE_MAX ? obtain_in_stream(link, source, target) : NULL;
        if (stream == NULL)
            return BCRI_IN_NO_ROOM;
        if (!accepted)
            bcri_in_become_gone(link, stream);
    }
    if (stream->gone)
        return BCRI_IN_OK; /* and its sender will know */
    const uint64_t end = offset + bytes;
    if (end > stream->begun + BCRI_LINK_BUFFER_MAX)
        return BCRI_IN_NONSENSE;
    if (end <= stream->taken) {
        bcri_in_owe(link, stream, false); /* the sender does not know */
        return BCRI_IN_OK;
    }
    if (offset < stream->taken) {
        data += stream->taken - offset;
        offset = stream->taken;
    }
    const enum bcri_in_result result = consume(link, stream, offset, data, end - offset);
    /* Also if there was no room: pieces that `begun` has reached may have been told as here, and nothing
     * else may come that would take them on. */
    const enum bcri_in_result advanced = advance(link, stream);
    return result == BCRI_IN_OK ? advanced : result;
}

enum bcri_in_result bcri_in_skip(struct bcri_link *link, uint32_t source, uint32_t target, uint64_t from,
                                 uint64_t to)
{
    struct bcri_in_stream *stream = bcri_stream_find(&link->in, source, target);
    if (stream == NULL || stream->gone || to <= stream->taken)
        return BCRI_IN_OK;
    uint32_t low = 0, high = stream->messages;
    while (low < high) { /* the first message whose body is at `from` or behind it */
        const uint32_t middle = low + (high - low) / 2;
        if (bcri_in_message_at(stream, middle)->body < from)
            low = middle + 1;
        else
            high = middle;
    }
    struct bcri_in_message *message = low < stream->messages ? bcri_in_message_at(stream, low) : NULL;
    if (message == NULL || message->body != from || message->end != to || !message->refused)
        return BCRI_IN_NONSENSE;
    if (!message->skipped)
        bcri_in_remove_refused(stream, low);
    message->skipped = true;
    bcri_in_owe(link, stream, true);
    return advance(link, stream);
}

void bcri_in_resume(struct bcri_link *link, struct bcri_in_stream *stream)
{
    stream->paused = false;
    (void)advance(link, stream);
    link->owed_now |= link->owed != NULL;
}

void bcri_in_end(struct bcri_link *link, struct bcri_in_stream *stream, bool tell)
{
    if (!stream->gone)
        bcri_in_become_gone(link, stream);
    while (stream->piece != NULL) {
        struct bcri_piece *piece = stream->piece;
        stream->piece = piece->next;
        stream->pieces--;
        bcri_piece_free(link, piece);
    }
    free_placed(link, stream);
    while (stream->messages != 0) {
        const struct bcri_in_message message = *bcri_in_message_at(stream, 0);
        stream->first++;
        stream->messages--;
        if (!message.refused)
            link->events->dropped(link->owner, stream->key.source, stream->key.target, message.cookie);
    }
    if (!tell)
        bcri_in_forget(link, stream);
}

void bcri_in_give_back(struct bcri_link *link, struct bcri_in_stream *stream)
{
    if (stream->messages != 0)
        return;
    free_messages(link, stream);
    free_placed(link, stream);
}

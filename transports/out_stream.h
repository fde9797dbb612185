/* SPDX-License-Identifier: MIT */
/* What the two files of a stream's sending side share: where its messages lie in the row of bytes. */
#ifndef BCRI_OUT_STREAM_H
#define BCRI_OUT_STREAM_H

#include "link_private.h"

static inline struct bcri_out_message *bcri_out_message_at(const struct bcri_out_stream *stream,
                                                           uint32_t which)
{
    return &stream->message[(stream->first + which) & (stream->capacity - 1)];
}

static inline uint64_t bcri_out_body_of(const struct bcri_out_message *message)
{
    return message->start + message->head_bytes;
}

static inline uint64_t bcri_out_end_of(const struct bcri_out_message *message)
{
    return bcri_out_body_of(message) + message->body_bytes;
}

/* Which message the byte at `offset` is in. Most often it is the one that is being sent. */
static inline uint32_t bcri_out_find(const struct bcri_out_stream *stream, uint64_t offset)
{
    uint32_t low = 0, high = stream->messages;
    if (stream->sending < high && bcri_out_message_at(stream, stream->sending)->start <= offset) {
        low = stream->sending;
        if (low + 1 == high || bcri_out_message_at(stream, low + 1)->start > offset)
            return low;
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (bcri_out_message_at(stream, middle)->start <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The stream takes its turn if it has something to send, and leaves the ring otherwise. */
void bcri_out_take_turn(struct bcri_link *link, struct bcri_out_stream *stream);

#endif

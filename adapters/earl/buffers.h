/* SPDX-License-Identifier: MIT */
/* What the files of buffers have for each other. */
#ifndef EARL_BUFFERS_H
#define EARL_BUFFERS_H

#include "engine.h"

struct earl_buffer {
    struct earl_piece *pieces, *last;
    struct earl_incoming *incoming; /* a message that came: pieces are its own; NULL: one that is packed */
    size_t length;
    size_t room; /* in the last packet, behind its data */
    size_t next; /* the next packet's length */
    uint8_t format;
    uint8_t made_as; /* its format at first: an empty one takes that of what is added to it */
    bool was_sent;   /* the head of the first packet is that of a message on its way */
    unsigned context;
    int tag;
    size_t sent; /* its length */
    /* Where unpacking is: a piece, and bytes of it. */
    const struct earl_piece *at;
    size_t offset, taken;
    struct earl_piece copied; /* a message that came in no packet any more */
};

/* Where a buffer ends, and cutting off what was packed since, when the rest of it finds no memory. */
struct earl_buffer_end {
    struct earl_piece *last;
    size_t bytes, room, length;
};
struct earl_buffer_end earl_buffer_end(const earl_buffer *buffer);
void earl_buffer_cut(struct earl *earl, earl_buffer *buffer, const struct earl_buffer_end *end);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of a stream's receiving side share. */
#ifndef BCRI_IN_STREAM_H
#define BCRI_IN_STREAM_H

#include "link_private.h"

static inline struct bcri_in_message *bcri_in_message_at(const struct bcri_in_stream *stream, uint32_t which)
{
    return &stream->message[(stream->first + which) & (stream->capacity - 1)];
}

/* in_pieces.c */
/* Keeps those of [offset, offset + bytes) that no piece has. */
enum bcri_in_result bcri_pieces_keep(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t offset,
                                     const uint8_t *data, uint64_t bytes);
void bcri_piece_free(struct bcri_link *link, struct bcri_piece *piece);

/* in_told.c */
/* A TAKEN or GONE frame is to go; `now`: without waiting for company. */
void bcri_in_owe(struct bcri_link *link, struct bcri_in_stream *stream, bool now);
/* A message that begins now is refused. */
void bcri_in_add_refused(struct bcri_in_stream *stream, uint32_t which);
/* Its body has been skipped. */
void bcri_in_remove_refused(struct bcri_in_stream *stream, uint32_t which);
/* The stream has ended here, or never begins: its sender is to learn of it. */
void bcri_in_become_gone(struct bcri_link *link, struct bcri_in_stream *stream);

/* in_stream.c */
/* Frees a stream that has ended, of which no packet in flight tells. */
void bcri_in_release(struct bcri_link *link, struct bcri_in_stream *stream);
/* The stream is found by nobody any more; it is released when no packet in flight tells of it. */
void bcri_in_forget(struct bcri_link *link, struct bcri_in_stream *stream);

#endif

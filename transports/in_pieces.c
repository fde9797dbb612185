/* SPDX-License-Identifier: MIT */
/* Bytes that came before their message could begin: kept in pieces, by offset, until it can. */
#include <stdlib.h>
#include <string.h>

#include "in_stream.h"

enum { PIECE_BYTES = 64 << 10 }; /* a larger one takes nothing more */

/* `bytes` more, or less, are kept in pieces. */
static void note_kept(struct bcri_link *link, int64_t bytes)
{
    link->memory += (size_t)bytes;
    link->kept += (uint64_t)bytes;
}

void bcri_piece_free(struct bcri_link *link, struct bcri_piece *piece)
{
    note_kept(link, -(int64_t)(sizeof *piece + piece->capacity));
    free(piece);
}

/* A piece that has no next one, or a gap behind it, takes what follows it, until it is large. Otherwise
 * a paused stream of small messages would soon have too many. */
static bool append(struct bcri_link *link, struct bcri_piece **at, const uint8_t *data, size_t bytes)
{
    struct bcri_piece *piece = *at;
    if (piece->capacity - piece->bytes < bytes) {
        const size_t all = piece->bytes + bytes, more = all / 4 < 1024 ? all / 4 : 1024;
        const size_t capacity = all + more;
        piece = link->kept < BCRI_LINK_KEPT_MAX ? realloc(piece, sizeof *piece + capacity) : NULL;
        if (piece == NULL)
            return false;
        note_kept(link, (int64_t)(capacity - piece->capacity));
        piece->capacity = (uint32_t)capacity;
        *at = piece;
    }
    memcpy(piece->data + piece->bytes, data, bytes);
    piece->bytes += (uint32_t)bytes;
    return true;
}

static bool insert(struct bcri_link *link, struct bcri_in_stream *stream, struct bcri_piece **at,
                   uint64_t offset, const uint8_t *data, size_t bytes)
{
    const bool may_keep = stream->pieces < BCRI_LINK_PIECES_MAX && link->kept < BCRI_LINK_KEPT_MAX;
    struct bcri_piece *piece = may_keep ? malloc(sizeof *piece + bytes) : NULL;
    if (piece == NULL)
        return false;
    piece->next = *at;
    piece->offset = offset;
    piece->bytes = piece->capacity = (uint32_t)bytes;
    memcpy(piece->data, data, bytes);
    *at = piece;
    stream->pieces++;
    note_kept(link, (int64_t)(sizeof *piece + bytes));
    return true;
}

enum bcri_in_result bcri_pieces_keep(struct bcri_link *link, struct bcri_in_stream *stream, uint64_t offset,
                                     const uint8_t *data, uint64_t bytes)
{
    struct bcri_piece **at = &stream->piece, **before = NULL;
    while (bytes != 0) {
        while (*at != NULL && (*at)->offset + (*at)->bytes <= offset) {
            before = at;
            at = &(*at)->next;
        }
        uint64_t here = bytes, known = 0;
        if (*at != NULL && (*at)->offset < offset + bytes) {
            here = (*at)->offset > offset ? (*at)->offset - offset : 0;
            known = (*at)->offset + (*at)->bytes - offset - here;
            known = known < bytes - here ? known : bytes - here;
        }
        if (here != 0) {
            const bool follows = before != NULL && (*before)->offset + (*before)->bytes == offset &&
                                 (*before)->bytes < PIECE_BYTES;
            if (follows ? !append(link, before, data, (size_t)here)
                        : !insert(link, stream, at, offset, data, (size_t)here))
                return BCRI_IN_NO_ROOM;
            if (follows)
                at = &(*before)->next;
        }
        offset += here + known;
        data += here + known;
        bytes -= here + known;
    }
    return BCRI_IN_OK;
}

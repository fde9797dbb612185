/* SPDX-License-Identifier: MIT */
/* splices.c -- buffers within buffers: items that are passed on as they came, and buffers that are items of others.
 *
 * A nested buffer stands as HEAD bytes, MARK with its format and its length, most significant byte first, then its items as they are. */
#include "buffers.h"
#include "engine.h"
#include "types.h"

enum { HEAD = 9, CHUNK = 4096, MARK = 0xb0, FORMATS = 8 };

/* The bytes of all of `from`, in no format of their own. */
static int add_all(struct earl *earl, earl_buffer *into, const earl_buffer *from)
{
    int code = EARL_OK;
    const struct earl_buffer_end end = earl_buffer_end(into);
    for (const struct earl_piece *piece = from->pieces; piece != NULL && code == EARL_OK; piece = piece->next)
        code = earl_do_pack(earl, into, EARL_BYTE, piece->data, piece->length, 1);
    if (code != EARL_OK)
        earl_buffer_cut(earl, into, &end);
    return code;
}

int earl_do_buffer_append(struct earl *earl, earl_buffer *into, const earl_buffer *from)
{
    if (into == NULL || from == NULL || into == from || into->incoming != NULL)
        return EARL_E_ARG;
    if (into->length != 0 && into->format != from->format)
        return EARL_E_ARG;
    into->format = EARL_FORMAT_NONE; /* bytes of any */
    const int code = add_all(earl, into, from);
    into->format = from->format;
    return code;
}

int earl_do_nest(struct earl *earl, earl_buffer *into, const earl_buffer *from)
{
    unsigned char head[HEAD];
    if (into == NULL || from == NULL || into == from)
        return EARL_E_ARG;
    head[0] = (unsigned char)(MARK | from->format);
    for (int i = 1; i < HEAD; i++)
        head[i] = (unsigned char)((uint64_t)from->length >> (HEAD - 1 - i) * 8);
    const struct earl_buffer_end end = earl_buffer_end(into);
    int code = earl_do_pack(earl, into, EARL_BYTE, head, HEAD, 1);
    if (code == EARL_OK && (code = add_all(earl, into, from)) != EARL_OK)
        earl_buffer_cut(earl, into, &end);
    return code;
}

/* Moves bytes, which are there, from where unpacking is in `from` to the end of `into`. */
static int move_bytes(struct earl *earl, earl_buffer *into, earl_buffer *from, size_t length)
{
    unsigned char bytes[CHUNK];
    int code = EARL_OK;
    while (length != 0 && code == EARL_OK) {
        const size_t many = length < CHUNK ? length : CHUNK;
        code = earl_do_unpack(from, EARL_BYTE, bytes, many, 1);
        if (code == EARL_OK)
            code = earl_do_pack(earl, into, EARL_BYTE, bytes, many, 1);
        length -= many;
    }
    return code;
}

int earl_do_unnest(struct earl *earl, earl_buffer *from, earl_buffer **nested)
{
    unsigned char head[HEAD];
    uint64_t length = 0;
    if (from == NULL || nested == NULL)
        return EARL_E_ARG;
    const earl_buffer before = *from;
    int code = earl_do_unpack(from, EARL_BYTE, head, HEAD, 1);
    if (code != EARL_OK)
        return code;
    for (int i = 1; i < HEAD; i++)
        length = length << 8 | head[i];
    earl_buffer *made = NULL;
    if ((head[0] ^ MARK) >= FORMATS || length > from->length - from->taken)
        code = EARL_E_END; /* no buffer was nested here */
    else if ((made = earl_do_buffer_make(earl, true)) == NULL)
        code = EARL_E_MEMORY;
    else
        code = move_bytes(earl, made, from, (size_t)length);
    if (code == EARL_OK) {
        made->format = head[0] ^ MARK;
        *nested = made;
        return EARL_OK;
    }
    if (made != NULL)
        earl_do_buffer_free(earl, made);
    from->at = before.at;
    from->offset = before.offset;
    from->taken = before.taken;
    return code;
}

/* SPDX-License-Identifier: MIT */
/* buffers.c -- typed items, packed into packets that then go as they are.
 *
 * A buffer is a list of packets, each twice as long as the one before, up to a part of a long message. The first has room for the head
 * of a FIRST, the others for that of a MORE. When the buffer is sent, receivers and the buffer share the packets, so these are not
 * written any more: what is packed later begins a new one; a first head that differs goes into a copy. A message that came is its
 * pieces. */
#include "buffers.h"
#include "engine.h"
#include "types.h"

enum { FIRST_PACKET = 512, SHORT_MOST = 256 };

static earl_buffer *new_buffer(struct earl *earl)
{
    if (earl->buffers.size == 0)
        earl_pool_begin(&earl->buffers, sizeof(struct earl_buffer));
    earl_buffer *buffer = earl_pool_take(&earl->buffers);
    if (buffer != NULL)
        *buffer = (earl_buffer){.next = FIRST_PACKET};
    return buffer;
}

earl_buffer *earl_do_buffer_make(struct earl *earl, bool is_raw)
{
    earl_buffer *buffer = new_buffer(earl);
    if (buffer != NULL)
        buffer->format = buffer->made_as = is_raw ? EARL_FORMAT_NONE : (uint8_t)earl_format_own();
    return buffer;
}

static void free_pieces(struct earl *earl, struct earl_piece *first)
{
    for (struct earl_piece *piece; (piece = first) != NULL;) {
        first = piece->next;
        earl->target->release(earl->self, piece->packet);
        earl_pool_give(&earl->pieces, piece);
    }
}

void earl_do_buffer_free(struct earl *earl, earl_buffer *buffer)
{
    if (buffer->incoming != NULL)
        earl_incoming_free(earl, buffer->incoming);
    else
        free_pieces(earl, buffer->pieces);
    earl_pool_give(&earl->buffers, buffer);
}

/* A first packet that nobody else has stays. */
int earl_do_buffer_clear(struct earl *earl, earl_buffer *buffer)
{
    if (buffer == NULL || buffer->incoming != NULL)
        return EARL_E_ARG;
    struct earl_piece *first = buffer->pieces;
    const bool stays = first != NULL && first->next == NULL &&
                       first->length + buffer->room == FIRST_PACKET - EARL_HEAD_FIRST &&
                       !earl->target->is_shared(earl->self, first->packet);
    if (!stays) {
        free_pieces(earl, first);
        first = NULL;
    }
    *buffer = (earl_buffer){.next = FIRST_PACKET, .format = buffer->made_as, .made_as = buffer->made_as};
    if (first != NULL) {
        first->length = 0;
        buffer->pieces = buffer->last = first;
        buffer->room = FIRST_PACKET - EARL_HEAD_FIRST;
        buffer->next = 2 * (size_t)FIRST_PACKET;
    }
    return EARL_OK;
}

/* ---- packing ---- */

static size_t head_of(const earl_buffer *buffer, const struct earl_piece *piece)
{
    return piece == buffer->pieces ? EARL_HEAD_FIRST : EARL_HEAD;
}

/* Begins a packet, for at least `wanted` bytes if one can have so many. */
static int add_packet(struct earl *earl, earl_buffer *buffer, size_t wanted)
{
    const size_t head = buffer->pieces == NULL ? EARL_HEAD_FIRST : EARL_HEAD;
    while (buffer->next < EARL_PART_LARGE && buffer->next < head + wanted)
        buffer->next *= 2;
    earl_packet packet = earl_outgoing_memory(earl, buffer->next);
    struct earl_piece *piece = packet == NULL ? NULL : earl_pool_take(&earl->pieces);
    if (piece == NULL) {
        if (packet != NULL)
            earl->target->release(earl->self, packet);
        return EARL_E_MEMORY;
    }
    *piece = (struct earl_piece){NULL, packet, (const unsigned char *)*packet + head, 0};
    earl_head_write(*packet, EARL_MORE, 0, (uint32_t)earl->process, EARL_BUFFER_ID);
    if (buffer->pieces == NULL)
        buffer->pieces = piece;
    else
        buffer->last->next = piece;
    buffer->last = piece;
    buffer->room = buffer->next - head;
    if (buffer->next < EARL_PART_LARGE)
        buffer->next *= 2;
    return EARL_OK;
}

struct earl_buffer_end earl_buffer_end(const earl_buffer *buffer)
{
    struct earl_piece *last = buffer->last;
    return (struct earl_buffer_end){last, last == NULL ? 0 : last->length, buffer->room, buffer->length};
}

void earl_buffer_cut(struct earl *earl, earl_buffer *buffer, const struct earl_buffer_end *end)
{
    struct earl_piece *piece = end->last == NULL ? buffer->pieces : end->last->next;
    while (piece != NULL) {
        struct earl_piece *next = piece->next;
        earl->target->release(earl->self, piece->packet);
        earl_pool_give(&earl->pieces, piece);
        piece = next;
    }
    buffer->last = end->last;
    buffer->room = end->room;
    buffer->length = end->length;
    if (end->last == NULL) {
        buffer->pieces = NULL;
    } else {
        end->last->next = NULL;
        end->last->length = end->bytes;
    }
}

/* An item may begin in one packet and end in the next one. */
static int add_bytes(struct earl *earl, earl_buffer *buffer, const unsigned char *from, size_t length)
{
    while (length != 0) {
        if (buffer->last == NULL || buffer->room == 0) {
            const int code = add_packet(earl, buffer, length);
            if (code != EARL_OK)
                return code;
        }
        struct earl_piece *piece = buffer->last;
        const size_t bytes = length < buffer->room ? length : buffer->room;
        memcpy((unsigned char *)*piece->packet + head_of(buffer, piece) + piece->length, from, bytes);
        piece->length += bytes;
        buffer->room -= bytes;
        from += bytes;
        length -= bytes;
    }
    return EARL_OK;
}

int earl_do_pack(struct earl *earl, earl_buffer *buffer, enum earl_type type, const void *items, size_t count,
                 ptrdiff_t stride)
{
    const size_t size = earl_type_size(type, earl_format_own());
    if (buffer == NULL || buffer->incoming != NULL || size == 0 || (items == NULL && count != 0) ||
        count > INT64_MAX / size)
        return EARL_E_ARG;
    if (buffer->format != EARL_FORMAT_NONE && buffer->format != earl_format_own())
        return EARL_E_ARG;
    const struct earl_buffer_end end = earl_buffer_end(buffer);
    int code = EARL_OK;
    if (stride == 1) {
        code = add_bytes(earl, buffer, items, count * size);
    } else {
        const unsigned char *item = items;
        for (size_t i = 0; i < count && code == EARL_OK; i++, item += stride * (ptrdiff_t)size)
            code = add_bytes(earl, buffer, item, size);
    }
    if (code == EARL_OK)
        buffer->length += count * size;
    else
        earl_buffer_cut(earl, buffer, &end);
    return code;
}

/* ---- unpacking ---- */

int earl_rewind(earl_buffer *buffer)
{
    if (buffer == NULL)
        return EARL_E_ARG;
    buffer->at = NULL;
    buffer->offset = buffer->taken = 0;
    return EARL_OK;
}

long long earl_buffer_length(const earl_buffer *buffer)
{
    return buffer == NULL ? EARL_E_ARG : (long long)buffer->length;
}

int earl_buffer_is_raw(const earl_buffer *buffer)
{
    return buffer == NULL ? EARL_E_ARG : buffer->format == EARL_FORMAT_NONE;
}

/* The next bytes, up to `most` of them, that stand together; there are some. */
static const unsigned char *next_bytes(earl_buffer *buffer, size_t most, size_t *many)
{
    if (buffer->at == NULL)
        buffer->at = buffer->pieces;
    while (buffer->offset == buffer->at->length) {
        buffer->at = buffer->at->next;
        buffer->offset = 0;
    }
    const size_t left = buffer->at->length - buffer->offset;
    const unsigned char *bytes = buffer->at->data + buffer->offset;
    *many = left < most ? left : most;
    return bytes;
}

static void skip(earl_buffer *buffer, size_t bytes)
{
    buffer->offset += bytes;
    buffer->taken += bytes;
}

/* One item, which may begin in one piece and end in another. */
static bool take_item(earl_buffer *buffer, enum earl_type type, void *to, size_t size)
{
    unsigned char item[16];
    const earl_buffer before = *buffer;
    for (size_t have = 0, many = 0; have < size; have += many) {
        const unsigned char *bytes = next_bytes(buffer, size - have, &many);
        memcpy(item + have, bytes, many);
        skip(buffer, many);
    }
    if (earl_translate(type, buffer->format, to, item, 1))
        return true;
    *buffer = before;
    return false;
}

int earl_do_unpack(earl_buffer *buffer, enum earl_type type, void *items, size_t count, ptrdiff_t stride)
{
    const size_t size = buffer == NULL ? 0 : earl_type_size(type, buffer->format);
    const size_t own = earl_type_size(type, earl_format_own());
    if (buffer == NULL || size == 0 || (items == NULL && count != 0))
        return EARL_E_ARG;
    if (count > (buffer->length - buffer->taken) / size)
        return EARL_E_END;
    unsigned char *to = items;
    while (count != 0) {
        size_t many;
        const unsigned char *from = next_bytes(buffer, stride == 1 ? count * size : size, &many);
        size_t whole = many / size;
        if (whole == 0) {
            if (!take_item(buffer, type, to, size))
                return EARL_E_RANGE;
            whole = 1;
        } else {
            /* Longs of another size are taken one by one, so that those before one that does not fit are taken. */
            whole = size != own ? 1 : whole;
            if (!earl_translate(type, buffer->format, to, from, whole))
                return EARL_E_RANGE;
            skip(buffer, whole * size);
        }
        to += (ptrdiff_t)(whole * own) * (stride == 1 ? 1 : stride);
        count -= whole;
    }
    return EARL_OK;
}

/* ---- on their way ---- */

/* The first packet's head; in a copy of the packet, if others hold it with another head. */
static int write_head(struct earl *earl, earl_buffer *buffer, unsigned context, int tag)
{
    if (buffer->pieces == NULL) {
        const int code = add_packet(earl, buffer, 0);
        if (code != EARL_OK)
            return code;
    }
    if (buffer->room != 0) { /* what is packed from now on begins a packet */
        struct earl_piece *last = buffer->last;
        earl->target->shorten(earl->self, last->packet, head_of(buffer, last) + last->length);
        buffer->room = 0;
        buffer->next = FIRST_PACKET;
    }
    if (buffer->was_sent && buffer->context == context && buffer->tag == tag &&
        buffer->sent == buffer->length)
        return EARL_OK;
    struct earl_piece *first = buffer->pieces;
    if (earl->target->is_shared(earl->self, first->packet)) {
        earl_packet copy = earl_outgoing_memory(earl, EARL_HEAD_FIRST + first->length);
        if (copy == NULL)
            return EARL_E_MEMORY;
        memcpy(*copy, *first->packet, EARL_HEAD_FIRST + first->length);
        earl->target->release(earl->self, first->packet);
        first->packet = copy;
        first->data = (const unsigned char *)*copy + EARL_HEAD_FIRST;
    }
    earl_head_write(*first->packet, EARL_FIRST | (uint32_t)buffer->format << EARL_FORMAT_SHIFT, context,
                    (uint32_t)earl->process, (uint32_t)tag);
    earl_first_write(*first->packet, EARL_BUFFER_ID, 0, buffer->length);
    buffer->was_sent = true;
    buffer->context = context;
    buffer->tag = tag;
    buffer->sent = buffer->length;
    return EARL_OK;
}

/* To this process itself: copies, since it may unpack while the buffer is packed further. */
static int to_own(struct earl *earl, const earl_buffer *buffer)
{
    for (const struct earl_piece *piece = buffer->pieces; piece != NULL; piece = piece->next) {
        const size_t whole = head_of(buffer, piece) + piece->length;
        earl_packet copy = earl_outgoing_memory(earl, whole);
        if (copy == NULL)
            return EARL_E_MEMORY;
        memcpy(*copy, *piece->packet, whole);
        earl_dispatch(earl, copy, NULL);
    }
    return EARL_OK;
}

/* One packet to one process, in a copy that is given away: two processes that held the packet would both have to let it go. */
static int post_short(struct earl *earl, const earl_buffer *buffer, int process, unsigned context, int tag)
{
    earl_packet packet = earl_outgoing_memory(earl, EARL_HEAD + buffer->length);
    if (packet == NULL)
        return EARL_E_MEMORY;
    unsigned char *bytes = *packet;
    earl_head_write(bytes, EARL_WHOLE | (uint32_t)buffer->format << EARL_FORMAT_SHIFT, context,
                    (uint32_t)earl->process, (uint32_t)tag);
    if (buffer->length != 0)
        memcpy(bytes + EARL_HEAD, buffer->pieces->data, buffer->length);
    earl_peer(earl, process)->sends++;
    return earl_outgoing_put(earl, process, packet, false);
}

int earl_do_buffer_post(struct earl *earl, earl_buffer *buffer, int count, const int *processes,
                        unsigned context, int tag)
{
    if (buffer == NULL || buffer->incoming != NULL || count < 0 || (processes == NULL && count > 0) ||
        tag < 0)
        return EARL_E_ARG;
    for (int i = 0; i < count; i++)
        if (!earl_is_process(earl, processes[i]))
            return EARL_E_PROCESS;
    const bool is_short =
        buffer->length <= SHORT_MOST && (buffer->pieces == NULL || buffer->pieces->next == NULL);
    if (is_short && count == 1 && processes[0] != earl->process)
        return post_short(earl, buffer, processes[0], context, tag);
    int code = write_head(earl, buffer, context, tag);
    if (code != EARL_OK)
        return code;
    earl->is_in_parts = true;
    for (int i = 0; i < count; i++) {
        earl_peer(earl, processes[i])->sends++;
        int sent = processes[i] == earl->process ? to_own(earl, buffer) : EARL_OK;
        const struct earl_piece *piece = processes[i] == earl->process ? NULL : buffer->pieces;
        for (; piece != NULL && sent == EARL_OK; piece = piece->next)
            sent = earl_outgoing_share(earl, processes[i], piece->packet, true);
        code = code != EARL_OK ? code : sent;
    }
    earl->is_in_parts = false;
    return code;
}

int earl_do_buffer_send(struct earl *earl, earl_buffer *buffer, int count, const int *processes,
                        unsigned context, int tag)
{
    const int code = earl_do_buffer_post(earl, buffer, count, processes, context, tag);
    if (code == EARL_E_ARG || code == EARL_E_PROCESS)
        return code;
    const int gone = earl_outgoing_wait(earl, count, processes);
    return code != EARL_OK ? code : gone;
}

int earl_do_buffer_receive(struct earl *earl, const struct earl_wanted *wanted, bool waits,
                           earl_buffer **result, struct earl_envelope *envelope)
{
    struct earl_incoming *incoming = NULL;
    if (result == NULL)
        return EARL_E_ARG;
    earl_buffer *buffer = new_buffer(earl);
    const int code = buffer == NULL ? EARL_E_MEMORY : earl_do_take(earl, wanted, waits, &incoming);
    if (code <= 0) {
        if (buffer != NULL)
            earl_pool_give(&earl->buffers, buffer);
        return code;
    }
    buffer->incoming = incoming;
    buffer->format = incoming->format;
    buffer->length = (size_t)incoming->message.envelope.length;
    buffer->pieces = incoming->pieces;
    if (incoming->copy != NULL) {
        buffer->copied = (struct earl_piece){NULL, NULL, incoming->copy, buffer->length};
        buffer->pieces = &buffer->copied;
    }
    if (envelope != NULL)
        *envelope = incoming->message.envelope;
    *result = buffer;
    return 1;
}

/* SPDX-License-Identifier: MIT */
/* incoming.c -- messages from their first packet to their receive.
 *
 *    came whole    a receive wants it: copied to its buffer, and gone
 *                  none does: kept, in the match tables. Few bytes are copied, else the packet is kept: it is of its sender's
 *                  memory, which so bounds what one can send that others do not receive
 *    comes in      the same, with each part copied to the receive's buffer, or kept behind the others, as it comes; the sender is
 *    parts         told once a receive has got hold of it */
#include "engine.h"

/* Bytes behind the struct, in each pool. */
static const size_t rooms[EARL_POOLS] = {0, 128, EARL_COPIED_MAX};

static struct earl_incoming *new_incoming(struct earl *earl, const struct earl_envelope *envelope, int pool)
{
    if (earl->incoming[pool].size == 0)
        earl_pool_begin(&earl->incoming[pool], sizeof(struct earl_incoming) + rooms[pool]);
    struct earl_incoming *incoming = earl_pool_take(&earl->incoming[pool]);
    if (incoming != NULL) {
        *incoming = (struct earl_incoming){.pool = (uint8_t)pool};
        incoming->message.envelope = *envelope;
    }
    return incoming;
}

/* There is no memory for what was not asked for: the message cannot be kept, and its sender is not to believe otherwise. */
static _Noreturn void fail_memory(void)
{
    earl_fail("receive", "no memory for a message that nobody has received yet");
}

static void store(struct earl_open *receive, size_t offset, const unsigned char *data, size_t length)
{
    if (offset >= receive->room)
        return;
    memcpy(receive->buffer + offset, data, length < receive->room - offset ? length : receive->room - offset);
}

static void complete(struct earl *earl, struct earl_open *receive, const struct earl_envelope *envelope)
{
    receive->envelope = *envelope;
    if (envelope->code == EARL_OK && (size_t)envelope->length > receive->room)
        receive->envelope.code = EARL_E_CUT;
    earl_open_done(earl, receive);
}

void earl_incoming_tell(struct earl *earl, struct earl_incoming *incoming)
{
    if (earl->tools != NULL && !incoming->is_told)
        earl_tools_match(earl, &incoming->message.envelope, incoming->number, incoming->is_synchronous);
    incoming->is_told = true;
}

static struct earl_open *wanted_by(struct earl *earl, const struct earl_envelope *envelope,
                                   struct earl_open *current)
{
    if (earl->match.posted_count != 0) {
        struct earl_receive *receive = earl_match_arrive(&earl->match, envelope);
        if (receive != NULL)
            return (struct earl_open *)receive;
    }
    if (current != NULL && !current->is_done && current->kind == EARL_OPEN_RECEIVE &&
        earl_match_fits(&current->receive.wanted, envelope) && current->claimed == NULL)
        return current;
    return NULL;
}

static void add_piece(struct earl *earl, struct earl_incoming *incoming, earl_packet packet,
                      const unsigned char *data, size_t length)
{
    struct earl_piece *piece = earl_pool_take(&earl->pieces);
    if (piece == NULL)
        fail_memory();
    *piece = (struct earl_piece){NULL, packet, data, length};
    if (incoming->pieces == NULL)
        incoming->pieces = piece;
    else
        incoming->last->next = piece;
    incoming->last = piece;
}

/* Into the tables; or, if it is all there and a take waits for such a one, to that. The first that fits is the take's, so one of which
 * parts are yet to come ends this: the take finds it in the tables. */
static void keep(struct earl *earl, struct earl_incoming *incoming)
{
    const bool is_wanted = earl->taker != NULL && earl_match_fits(earl->taker, &incoming->message.envelope);
    if (is_wanted)
        earl->taker = NULL;
    if (is_wanted && incoming->is_complete)
        earl->taken = incoming;
    else if (!earl_match_keep(&earl->match, &incoming->message))
        fail_memory();
}

/* packet NULL: the bytes are in none. */
static struct earl_incoming *keep_whole(struct earl *earl, const struct earl_envelope *envelope,
                                        earl_packet packet, const unsigned char *data)
{
    const size_t length = (size_t)envelope->length;
    const bool copies =
        length <= EARL_COPIED_MAX && (packet == NULL || earl->copied + length <= earl->copied_limit);
    int pool = 0;
    while (copies && rooms[pool] < length)
        pool++;
    struct earl_incoming *incoming = new_incoming(earl, envelope, pool);
    if (incoming == NULL)
        fail_memory();
    incoming->is_complete = true;
    keep(earl, incoming);
    incoming->arrived = length;
    if (length == 0)
        return incoming;
    if (!copies && packet != NULL) {
        add_piece(earl, incoming, packet, data, length);
        return incoming;
    }
    incoming->copy = copies ? (unsigned char *)(incoming + 1) : earl_pages(length);
    if (incoming->copy == NULL)
        fail_memory();
    memcpy(incoming->copy, data, length);
    earl->copied += copies ? length : 0;
    return incoming;
}

/* A message that is all there: given to its receive, or kept; returns it if it is kept. */
static struct earl_incoming *come(struct earl *earl, const struct earl_envelope *envelope, earl_packet packet,
                                  const unsigned char *data, struct earl_open *current, bool is_synchronous)
{
    struct earl_open *receive = wanted_by(earl, envelope, current);
    const long long number = ++earl_peer(earl, envelope->source)->comes;
    if (receive == NULL) {
        struct earl_incoming *incoming = keep_whole(earl, envelope, packet, data);
        incoming->number = number;
        incoming->is_synchronous = is_synchronous;
        return incoming;
    }
    if (earl->tools != NULL)
        earl_tools_match(earl, envelope, number, is_synchronous);
    if (envelope->length != 0)
        store(receive, 0, data, (size_t)envelope->length);
    complete(earl, receive, envelope);
    return NULL;
}

bool earl_incoming_whole(struct earl *earl, const struct earl_envelope *envelope, uint32_t format,
                         earl_packet packet, const unsigned char *data, struct earl_open *current)
{
    struct earl_incoming *kept = come(earl, envelope, packet, data, current, false);
    if (kept != NULL)
        kept->format = (uint8_t)format;
    return kept != NULL && kept->pieces != NULL;
}

void earl_incoming_own(struct earl *earl, const struct earl_envelope *envelope, const unsigned char *data,
                       const struct earl_open *send)
{
    struct earl_incoming *kept = come(earl, envelope, NULL, data, NULL, send != NULL);
    if (send == NULL)
        return;
    if (kept == NULL) {
        earl_send_matched(earl, earl->process, (uint32_t)send->request, send->serial);
        return;
    }
    kept->id = (uint32_t)send->request;
    kept->serial = send->serial;
}

/* ---- in parts ---- */

static void tell_matched(struct earl *earl, const struct earl_incoming *incoming)
{
    const int source = incoming->message.envelope.source;
    if (source == earl->process) {
        earl_send_matched(earl, source, incoming->id, incoming->serial);
        return;
    }
    const int code = earl_outgoing_answer(earl, source, EARL_MATCHED, incoming->serial, incoming->id);
    if (code != EARL_OK && code != EARL_E_ENDED)
        earl_fail("receive", "process %d cannot be answered: %s", source, earl_strerror(code));
}

void earl_incoming_accept(struct earl *earl, struct earl_incoming *incoming)
{
    earl_incoming_tell(earl, incoming);
    if (!incoming->is_complete)
        earl_expect(earl, incoming->message.envelope.source);
    if (incoming->is_synchronous || !incoming->is_complete)
        tell_matched(earl, incoming);
}

/* A receive has got hold of a message of which parts may be yet to come. */
static void attach(struct earl *earl, struct earl_incoming *incoming, struct earl_open *receive)
{
    receive->claimed = incoming; /* so that no further message is for it */
    incoming->receive = receive;
    earl_incoming_accept(earl, incoming);
}

static struct earl_incoming **place_of(struct earl *earl, int source, uint32_t id)
{
    struct earl_incoming **place = &earl_peer(earl, source)->arriving;
    while (*place != NULL && (*place)->id != id)
        place = &(*place)->next;
    return place;
}

static void finish(struct earl *earl, struct earl_incoming *incoming)
{
    incoming->is_complete = true;
    if (incoming->receive == NULL)
        return;
    struct earl_open *receive = incoming->receive;
    receive->claimed = NULL;
    complete(earl, receive, &incoming->message.envelope);
    earl_incoming_free(earl, incoming);
}

/* The next bytes of a message; returns whether their packet is kept. */
static bool take_part(struct earl *earl, struct earl_incoming *incoming, earl_packet packet,
                      const unsigned char *data, size_t length)
{
    const size_t total = (size_t)incoming->message.envelope.length, at = incoming->arrived;
    bool is_kept = false;
    if (length > total - at)
        length = total - at; /* a sender that errs */
    incoming->arrived += length;
    if (incoming->receive != NULL) {
        store(incoming->receive, at, data, length);
    } else if (incoming->copy != NULL) {
        memcpy(incoming->copy + at, data, length);
    } else if (length != 0) {
        add_piece(earl, incoming, packet, data, length);
        is_kept = true;
    }
    return is_kept;
}

bool earl_incoming_first(struct earl *earl, const struct earl_envelope *envelope, earl_packet packet,
                         const unsigned char *data, size_t length, struct earl_open *current)
{
    uint32_t id, serial;
    uint64_t total;
    earl_first_read(data, &id, &serial, &total);
    if (total > INT64_MAX || *place_of(earl, envelope->source, id) != NULL) {
        earl->strange++;
        return false;
    }
    struct earl_incoming *incoming = new_incoming(earl, envelope, 0);
    if (incoming == NULL)
        fail_memory();
    incoming->message.envelope.length = (long long)total;
    incoming->number = ++earl_peer(earl, envelope->source)->comes;
    incoming->id = id;
    incoming->serial = serial;
    const uint32_t kind = earl_head_read(data).kind;
    incoming->is_synchronous = (kind & EARL_SYNCHRONOUS) != 0;
    incoming->format = (uint8_t)(kind >> EARL_FORMAT_SHIFT);
    incoming->is_complete = length - EARL_HEAD_FIRST >= total;
    struct earl_open *receive = wanted_by(earl, &incoming->message.envelope, current);
    if (receive != NULL)
        attach(earl, incoming, receive);
    else
        keep(earl, incoming);
    const bool is_kept = take_part(earl, incoming, packet, data + EARL_HEAD_FIRST, length - EARL_HEAD_FIRST);
    if (incoming->is_complete) {
        finish(earl, incoming);
    } else {
        incoming->next = earl_peer(earl, envelope->source)->arriving;
        earl_peer(earl, envelope->source)->arriving = incoming;
    }
    return is_kept;
}

bool earl_incoming_more(struct earl *earl, int source, uint32_t id, earl_packet packet,
                        const unsigned char *data, size_t length)
{
    struct earl_incoming **place = place_of(earl, source, id), *incoming = *place;
    if (incoming == NULL) {
        earl->strange++;
        return false;
    }
    const bool is_kept = take_part(earl, incoming, packet, data, length);
    if (incoming->arrived == (size_t)incoming->message.envelope.length) {
        *place = incoming->next;
        finish(earl, incoming);
    }
    return is_kept;
}

void earl_incoming_ended(struct earl *earl, int process)
{
    for (struct earl_incoming *incoming; (incoming = earl_peer(earl, process)->arriving) != NULL;) {
        earl_peer(earl, process)->arriving = incoming->next;
        if (incoming->message.links[EARL_EXACT].next != NULL) { /* nobody has got hold of it */
            earl_match_drop(&earl->match, &incoming->message);
            earl_incoming_free(earl, incoming);
            continue;
        }
        incoming->message.envelope.code = EARL_E_ENDED;
        finish(earl, incoming);
    }
}

/* ---- to their receive ---- */

static void free_pieces(struct earl *earl, struct earl_incoming *incoming)
{
    for (struct earl_piece *piece; (piece = incoming->pieces) != NULL;) {
        incoming->pieces = piece->next;
        earl->target->release(earl->self, piece->packet);
        earl_pool_give(&earl->pieces, piece);
    }
}

void earl_incoming_free(struct earl *earl, struct earl_incoming *incoming)
{
    free_pieces(earl, incoming);
    if (incoming->copy != NULL) {
        const size_t length = (size_t)incoming->message.envelope.length;
        if (incoming->copy == (unsigned char *)(incoming + 1))
            earl->copied -= length;
        else
            earl_pages_free(incoming->copy, length);
    }
    earl_pool_give(&earl->incoming[incoming->pool], incoming);
}

/* A buffer that was sent has all its packets already. Without pages for a copy the packets stay, and the sender may wait. */
void earl_incoming_copy(struct earl *earl, struct earl_incoming *incoming)
{
    size_t at = 0;
    if (incoming->id == EARL_BUFFER_ID || incoming->copy != NULL)
        return;
    unsigned char *copy = earl_pages((size_t)incoming->message.envelope.length);
    if (copy == NULL)
        return;
    for (const struct earl_piece *piece = incoming->pieces; piece != NULL; piece = piece->next) {
        memcpy(copy + at, piece->data, piece->length);
        at += piece->length;
    }
    free_pieces(earl, incoming);
    incoming->copy = copy;
}

void earl_incoming_receive(struct earl *earl, struct earl_incoming *incoming, struct earl_open *receive)
{
    size_t at = 0;
    if (incoming->copy != NULL)
        store(receive, 0, incoming->copy, incoming->arrived);
    for (const struct earl_piece *piece = incoming->pieces; piece != NULL; piece = piece->next) {
        store(receive, at, piece->data, piece->length);
        at += piece->length;
    }
    free_pieces(earl, incoming);
    attach(earl, incoming, receive);
    if (incoming->is_complete)
        finish(earl, incoming);
}

void earl_incoming_end(struct earl *earl)
{
    for (struct earl_peer *peer = NULL; (peer = earl_peer_next(earl, peer)) != NULL;)
        for (struct earl_incoming *incoming; (incoming = peer->arriving) != NULL;) {
            peer->arriving = incoming->next;
            if (incoming->message.links[EARL_EXACT].next != NULL)
                earl_match_drop(&earl->match, &incoming->message);
            earl_incoming_free(earl, incoming);
        }
    for (struct earl_message *message; (message = earl_match_any(&earl->match)) != NULL;) {
        earl_match_drop(&earl->match, message);
        earl_incoming_free(earl, (struct earl_incoming *)message);
    }
}

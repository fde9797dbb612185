/* SPDX-License-Identifier: MIT */
/* send.c -- messages to their receiver: in one packet, or in parts.
 *
 *    one packet      at once; without memory for it the message goes in parts, the first of which has no bytes
 *    parts go        while there is memory and room, and not much has gone that nobody has asked for; a sender that waits goes on
 *                    unasked, and takes more memory
 *    parked          until a receive has got hold of the message; a sender that waits goes on once there is memory and room. It
 *                    is not queued: one that is received, and stands behind, would wait for memory that is there for it alone
 *    queued          a receive has got hold of it: the rest goes in work of its own, which waits for memory and room
 *    done            all has been copied; of a synchronous send also: a receive has got hold of it */
#include "engine.h"

static size_t part_of(size_t length)
{
    return length <= EARL_PART_LIMIT ? EARL_PART_SMALL : EARL_PART_LARGE;
}

void earl_send_finish(struct earl *earl, struct earl_open *send, int code)
{
    if (code == EARL_OK && send->is_synchronous && !send->is_matched)
        return;
    send->envelope.code = code;
    if (send->is_copy)
        earl_pages_free((void *)(uintptr_t)send->data, send->length + 1);
    send->is_copy = false;
    earl_open_done(earl, send);
}

/* How many bytes the next part has. */
static size_t next_bytes(const struct earl_open *send)
{
    const size_t left = send->length - send->sent, most = part_of(send->length) - EARL_HEAD;
    return left < most ? left : most;
}

/* The next part, in a packet of its own; NULL: no memory. */
static earl_packet next_part(struct earl *earl, struct earl_open *send, enum earl_patience patience)
{
    const size_t bytes = next_bytes(send);
    earl_packet packet = earl->target->allocate(earl->self, EARL_HEAD + bytes, patience);
    if (packet == NULL)
        return NULL;
    earl_head_write(*packet, EARL_MORE, 0, (uint32_t)earl->process, (uint32_t)send->request);
    memcpy((unsigned char *)*packet + EARL_HEAD, send->data + send->sent, bytes);
    send->sent += bytes;
    return packet;
}

earl_packet earl_send_part(struct earl *earl, struct earl_open *send)
{
    return next_part(earl, send, EARL_MUST);
}

void earl_send_rest(struct earl *earl, struct earl_open *send)
{
    int code = EARL_OK;
    while (code == EARL_OK && send->sent < send->length) {
        earl_packet packet = next_part(earl, send, EARL_PART);
        if (packet == NULL) {
            code = EARL_E_MEMORY;
            break;
        }
        if (earl->target->put(earl->self, send->process, packet, false, EARL_WAIT) == EARL_PUT_DONE)
            continue;
        earl->target->release(earl->self, packet);
        earl_peer(earl, send->process)->has_ended = true;
        code = EARL_E_ENDED;
    }
    send->is_queued = false;
    if (!send->is_done)
        earl_send_finish(earl, send, code);
}

/* Sends as many parts as go now, of a send that no receive has got hold of. waits: the caller does nothing else until it is done. */
static void push(struct earl *earl, struct earl_open *send, bool waits)
{
    int code = EARL_OK;
    while (code == EARL_OK && send->sent < send->length) {
        earl_packet packet = NULL;
        if (earl_peer(earl, send->process)->first == NULL && (waits || send->sent < EARL_UNASKED))
            packet = next_part(earl, send, waits ? EARL_GROW : EARL_NOW);
        if (packet == NULL)
            break;
        code = earl_outgoing_put(earl, send->process, packet, false);
    }
    if (code != EARL_OK || (send->sent == send->length && !send->is_synchronous))
        earl_send_finish(earl, send, code);
    else
        earl_expect(earl, send->process); /* it is parked, or done once it is received */
}

/* A FIRST, with so many bytes of the message. */
static earl_packet first_packet(struct earl *earl, const struct earl_open *send, size_t bytes,
                                enum earl_patience patience)
{
    earl_packet packet = earl->target->allocate(earl->self, EARL_HEAD_FIRST + bytes, patience);
    if (packet == NULL)
        return NULL;
    earl_head_write(*packet, EARL_FIRST | (send->is_synchronous ? (uint32_t)EARL_SYNCHRONOUS : 0u),
                    send->envelope.context, (uint32_t)earl->process, (uint32_t)send->envelope.tag);
    earl_first_write(*packet, (uint32_t)send->request, send->serial, send->length);
    if (bytes != 0)
        memcpy((unsigned char *)*packet + EARL_HEAD_FIRST, send->data, bytes);
    return packet;
}

earl_packet earl_send_announcement(struct earl *earl, const struct earl_open *send)
{
    return first_packet(earl, send, 0, EARL_MUST);
}

/* To this process itself: no packet is needed. send: of a synchronous one. */
static void to_own(struct earl *earl, unsigned context, int tag, const void *data, size_t length,
                   const struct earl_open *send)
{
    const struct earl_envelope envelope = {context, earl->process, tag, EARL_OK, (long long)length};
    earl_incoming_own(earl, &envelope, data, send);
}

/* Begins a send in parts, or a synchronous one. */
static void begin(struct earl *earl, struct earl_open *send, unsigned context, int tag, bool waits)
{
    const size_t most = part_of(send->length) - EARL_HEAD_FIRST;
    size_t bytes = send->length < most ? send->length : most;
    if (send->process == earl->process) {
        send->sent = send->length;
        if (send->is_synchronous) { /* it may be over then */
            to_own(earl, context, tag, send->data, send->length, send);
            return;
        }
        to_own(earl, context, tag, send->data, send->length, NULL);
        earl_send_finish(earl, send, EARL_OK);
        return;
    }
    earl_packet packet = first_packet(earl, send, bytes, EARL_GROW);
    if (packet == NULL && earl_peer(earl, send->process)->first != NULL && !earl->in_signal) {
        send->is_to_announce = true; /* behind what is queued */
        if (earl_outgoing_queue(earl, send) != EARL_OK)
            earl_send_finish(earl, send, EARL_E_MEMORY);
        earl_expect(earl, send->process);
        return;
    }
    if (packet == NULL) {
        bytes = 0;
        packet = earl_send_announcement(earl, send);
    }
    if (packet == NULL) {
        earl_send_finish(earl, send, EARL_E_MEMORY);
        return;
    }
    send->sent = bytes;
    const int code = earl_outgoing_put(earl, send->process, packet, false);
    if (code == EARL_OK)
        push(earl, send, waits);
    else
        earl_send_finish(earl, send, code);
}

/* A message in one packet; NULL: no memory. */
static earl_packet whole(struct earl *earl, unsigned context, int tag, const void *data, size_t length)
{
    earl_packet packet = earl->target->allocate(earl->self, EARL_HEAD + length, EARL_GROW);
    if (packet == NULL)
        return NULL;
    earl_head_write(*packet, EARL_WHOLE, context, (uint32_t)earl->process, (uint32_t)tag);
    if (length != 0)
        memcpy((unsigned char *)*packet + EARL_HEAD, data, length);
    return packet;
}

static bool is_whole(size_t length)
{
    return length <= EARL_WHOLE_MAX - EARL_HEAD;
}

static int check(struct earl *earl, int process, int tag, const void *data, size_t length)
{
    const uint64_t bytes = length; /* where a size has 32 bits, it is never too large */
    if (tag < 0 || bytes > INT64_MAX || (data == NULL && length != 0))
        return EARL_E_ARG;
    return earl_is_process(earl, process) ? EARL_OK : EARL_E_PROCESS;
}

static struct earl_open *new_send(struct earl *earl, int process, int tag, unsigned context, const void *data,
                                  size_t length, bool is_synchronous)
{
    struct earl_open *send = earl_open_new(earl, EARL_OPEN_SEND);
    if (send == NULL)
        return NULL;
    send->process = process;
    send->data = data;
    send->length = length;
    send->serial = ++earl->sends;
    send->is_synchronous = is_synchronous;
    send->envelope = (struct earl_envelope){context, process, tag, EARL_OK, (long long)length};
    return send;
}

static int wait_done(struct earl *earl, struct earl_open *send)
{
    int code = EARL_OK;
    struct earl_demand *demand = NULL; /* for memory for the next part */
    while (!send->is_done && code >= 0) {
        const bool is_parked = !send->is_matched && send->sent < send->length;
        if (demand != NULL && (demand->is_done || !is_parked))
            demand = earl_demand_end(earl, demand);
        if (is_parked && demand == NULL) {
            push(earl, send, true);
            if (send->is_done)
                break;
            if (send->sent < send->length && earl_peer(earl, send->process)->first == NULL)
                demand = earl_demand_begin(earl, EARL_HEAD + next_bytes(send));
        }
        code = earl_wait_step(earl, NULL, "send", send->process, send->envelope.tag);
    }
    if (demand != NULL)
        earl_demand_end(earl, demand);
    if (!send->is_done)
        return code; /* nobody will ask for it; its work may go on, with data that the caller may change */
    code = send->envelope.code;
    earl_open_free(earl, send);
    return code;
}

/* In a signal handler no work runs, so a send that is not over at once gets a copy of what it sends. */
static int send_from_signal(struct earl *earl, struct earl_open *send, unsigned context, int tag)
{
    void *copy = earl_pages(send->length + 1);
    if (copy == NULL) {
        earl_open_free(earl, send);
        return EARL_E_MEMORY;
    }
    if (send->length != 0)
        memcpy(copy, send->data, send->length);
    send->data = copy;
    send->is_copy = true;
    send->is_abandoned = true;
    begin(earl, send, context, tag, false);
    return EARL_OK;
}

int earl_do_send(struct earl *earl, int process, unsigned context, int tag, const void *data, size_t length,
                 bool is_synchronous)
{
    const int code = check(earl, process, tag, data, length);
    if (code != EARL_OK)
        return code;
    earl_peer(earl, process)->sends++;
    if (process == earl->process && !is_synchronous) {
        to_own(earl, context, tag, data, length, NULL);
        return EARL_OK;
    }
    /* Without memory it is announced, as long ones are: its receiver may wait for it before it takes what the memory is full of. */
    earl_packet packet = is_whole(length) && !is_synchronous ? whole(earl, context, tag, data, length) : NULL;
    if (packet != NULL)
        return earl_outgoing_put(earl, process, packet, true);
    struct earl_open *send = new_send(earl, process, tag, context, data, length, is_synchronous);
    if (send == NULL)
        return EARL_E_MEMORY;
    if (earl->in_signal)
        return send_from_signal(earl, send, context, tag);
    begin(earl, send, context, tag, true);
    return wait_done(earl, send);
}

earl_request earl_do_isend(struct earl *earl, int process, unsigned context, int tag, const void *data,
                           size_t length, bool is_synchronous)
{
    int code = check(earl, process, tag, data, length);
    struct earl_open *send =
        code == EARL_OK ? new_send(earl, process, tag, context, data, length, is_synchronous) : NULL;
    if (send == NULL)
        return code != EARL_OK ? code : EARL_E_MEMORY;
    earl_peer(earl, process)->sends++;
    if (process == earl->process || !is_whole(length) || is_synchronous) {
        begin(earl, send, context, tag, false);
        return send->request;
    }
    earl_packet packet = whole(earl, context, tag, data, length);
    if (packet == NULL) { /* it is announced, and goes once it is asked for */
        begin(earl, send, context, tag, false);
        return send->request;
    }
    code = earl_outgoing_put(earl, process, packet, false);
    send->sent = length;
    earl_send_finish(earl, send, code);
    return send->request;
}

int earl_do_sendm(struct earl *earl, int count, const int *processes, unsigned context, int tag,
                  const void *data, size_t length)
{
    int code = count < 0 || (processes == NULL && count > 0) ? EARL_E_ARG : EARL_OK;
    for (int i = 0; i < count && code == EARL_OK; i++)
        code = check(earl, processes[i], tag, data, length);
    if (code != EARL_OK)
        return code;
    earl_packet packet = is_whole(length) ? whole(earl, context, tag, data, length) : NULL;
    if (packet == NULL) {
        for (int i = 0; i < count; i++) {
            const int sent = earl_do_send(earl, processes[i], context, tag, data, length, false);
            code = code != EARL_OK ? code : sent;
        }
        return code;
    }
    for (int i = 0; i < count; i++) {
        int sent = EARL_E_MEMORY;
        if (processes[i] != earl->process)
            sent = earl_outgoing_share(earl, processes[i], packet, false);
        if (sent == EARL_E_MEMORY)
            sent = earl_do_send(earl, processes[i], context, tag, data, length, false);
        else
            earl_peer(earl, processes[i])->sends++;
        code = code != EARL_OK ? code : sent;
    }
    earl->target->release(earl->self, packet);
    const int gone = earl_outgoing_wait(earl, count, processes);
    return code != EARL_OK ? code : gone;
}

void earl_send_matched(struct earl *earl, int process, uint32_t id, uint32_t serial)
{
    struct earl_open *send = earl_open_of(earl, (earl_request)id);
    if (send == NULL || send->kind != EARL_OPEN_SEND || send->process != process || send->serial != serial ||
        send->is_matched)
        return; /* a send that was done before it was matched */
    send->is_matched = true;
    if (send->is_queued || send->is_done)
        return; /* its work ends it, perhaps with a last part that waits for room */
    const int code = send->sent == send->length ? EARL_OK : earl_outgoing_queue(earl, send);
    if (code != EARL_OK || send->sent == send->length)
        earl_send_finish(earl, send, code);
}

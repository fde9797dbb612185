/* SPDX-License-Identifier: MIT */
/* outgoing.c -- packets on their way to a process whose inbox is full, and memory for packets.
 *
 * Each process has a queue. While it is empty, packets are put at once. One that finds the inbox full goes into it, and work begins
 * (target->later) that puts one after the other, waiting for room, until the queue is empty; what is sent meanwhile queues up
 * behind. So order is kept, sends to other processes go on, and so does the taking in of what comes. */
#include "engine.h"

static struct earl_outgoing *append(struct earl *earl, struct earl_peer *peer, earl_packet packet,
                                    struct earl_open *send)
{
    struct earl_outgoing *item = earl_pool_take(&earl->outgoing);
    if (item == NULL)
        return NULL;
    *item = (struct earl_outgoing){.packet = packet, .send = send};
    if (peer->first == NULL)
        peer->first = item;
    else
        peer->last->next = item;
    peer->last = item;
    peer->queued++;
    return item;
}

/* The packet that stands first, and so all behind it, finds the process at its end. */
static void lose_first(struct earl *earl, struct earl_peer *peer)
{
    peer->has_ended = true;
    if (peer->lost_from == 0)
        peer->lost_from = peer->served + 1;
    earl->target->release(earl->self, peer->first->packet);
}

static void serve_item(struct earl *earl, struct earl_peer *peer, const struct earl_outgoing *item)
{
    if (item->send != NULL)
        earl_send_rest(earl, item->send);
    if (item->packet == NULL)
        return;
    if (peer->has_ended ||
        earl->target->put(earl->self, peer->process, item->packet, false, EARL_WAIT) != EARL_PUT_DONE)
        lose_first(earl, peer);
}

static earl_packet new_answer(struct earl *earl, uint32_t kind, uint32_t serial, uint32_t id)
{
    earl_packet packet = earl->target->allocate(earl->self, EARL_HEAD, EARL_MUST);
    if (packet != NULL)
        earl_head_write(*packet, kind, serial, (uint32_t)earl->process, id);
    return packet;
}

/* The turn of an announcement or answer has come: it is a packet then; or it is nothing, if it is over. */
static void make_packet(struct earl *earl, const struct earl_peer *peer)
{
    struct earl_outgoing *item = peer->first;
    struct earl_open *send = item->send;
    if (item->kind != 0 && item->packet == NULL && !peer->has_ended)
        item->packet = new_answer(earl, item->kind, item->serial, item->id);
    if (send == NULL || !send->is_to_announce)
        return;
    item->send = NULL;
    send->is_to_announce = send->is_queued = false;
    if (!peer->has_ended)
        item->packet = earl_send_announcement(earl, send);
    if (item->packet == NULL)
        earl_send_finish(earl, send, peer->has_ended ? EARL_E_ENDED : EARL_E_MEMORY);
    else if (send->length == 0)
        earl_send_finish(earl, send, EARL_OK);
}

/* Work: empties a queue. What it serves stays first in it until it is done, so that nothing overtakes. */
static void serve(void *argument)
{
    struct earl_peer *peer = argument;
    struct earl *earl = peer->earl;
    while (peer->first != NULL) {
        struct earl_outgoing *item = peer->first;
        make_packet(earl, peer);
        peer->is_waiting = true;
        serve_item(earl, peer, item);
        peer->is_waiting = false;
        peer->first = item->next;
        peer->served++;
        earl_pool_give(&earl->outgoing, item);
        earl->target->wake(earl->self);
    }
    peer->is_served = false;
}

static int begin(struct earl *earl, struct earl_peer *peer)
{
    if (peer->is_served)
        return EARL_OK;
    peer->is_served = true;
    if (earl->target->later(earl->self, serve, peer))
        return EARL_OK;
    peer->is_served = false;
    return EARL_E_MEMORY;
}

static int wait_for(struct earl *earl, const struct earl_peer *peer, uint64_t ticket)
{
    int code = EARL_OK;
    if (earl->in_signal) /* work does not run in a signal handler; the packet has all that it needs */
        return EARL_OK;
    while (code >= 0 && peer->served < ticket)
        code = earl_wait_step(earl, NULL, "send", peer->process, EARL_ANY);
    /* The process may have ended since it got the packet. */
    return code < 0 ? code : peer->lost_from != 0 && peer->lost_from <= ticket ? EARL_E_ENDED : EARL_OK;
}

/* What a refusal means. */
static int refused(struct earl_peer *peer, enum earl_put put)
{
    if (put == EARL_PUT_FAILED)
        return EARL_E_SYSTEM;
    peer->has_ended = true;
    return EARL_E_ENDED;
}

static int put_later(struct earl *earl, struct earl_peer *peer, earl_packet packet)
{
    if (append(earl, peer, packet, NULL) != NULL)
        return begin(earl, peer);
    earl->target->release(earl->self, packet);
    return EARL_E_MEMORY;
}

int earl_outgoing_put(struct earl *earl, int process, earl_packet packet, bool waits)
{
    struct earl_peer *peer = earl_peer(earl, process);
    enum earl_put put = EARL_PUT_FULL;
    if (peer->has_ended)
        put = EARL_PUT_ENDED;
    else if (peer->first == NULL)
        put = earl->target->put(earl->self, process, packet, false, EARL_NOW);
    if (put == EARL_PUT_DONE)
        return EARL_OK;
    if (put != EARL_PUT_FULL) {
        earl->target->release(earl->self, packet);
        return refused(peer, put);
    }
    const int code = put_later(earl, peer, packet);
    return code != EARL_OK || !waits ? code : wait_for(earl, peer, peer->queued);
}

int earl_outgoing_wait(struct earl *earl, int count, const int *processes)
{
    int code = EARL_OK;
    for (int i = 0; i < count; i++) {
        const struct earl_peer *peer = earl_peer(earl, processes[i]);
        const int sent = processes[i] != earl->process && peer->first != NULL
                             ? wait_for(earl, peer, peer->queued)
                             : EARL_OK;
        code = code != EARL_OK ? code : sent;
    }
    return code;
}

int earl_outgoing_share(struct earl *earl, int process, earl_packet packet, bool waits)
{
    struct earl_peer *peer = earl_peer(earl, process);
    enum earl_put put = EARL_PUT_FULL;
    if (peer->has_ended)
        return EARL_E_ENDED;
    if (peer->first == NULL)
        put = earl->target->put(earl->self, process, packet, true, EARL_NOW);
    if (put == EARL_PUT_DONE)
        return EARL_OK;
    if (put != EARL_PUT_FULL)
        return refused(peer, put);
    const size_t length = earl->target->length(earl->self, packet);
    earl_packet own =
        waits ? earl_outgoing_memory(earl, length) : earl->target->allocate(earl->self, length, EARL_GROW);
    if (own == NULL)
        return EARL_E_MEMORY;
    memcpy(*own, *packet, length);
    return put_later(earl, peer, own);
}

int earl_outgoing_answer(struct earl *earl, int process, uint32_t kind, uint32_t serial, uint32_t id)
{
    struct earl_peer *peer = earl_peer(earl, process);
    if (peer->has_ended)
        return EARL_E_ENDED;
    earl_packet packet = new_answer(earl, kind, serial, id);
    if (packet == NULL)
        return EARL_E_MEMORY;
    const enum earl_put put = earl->target->put(earl->self, process, packet, false, EARL_NOW);
    if (put == EARL_PUT_DONE)
        return EARL_OK;
    earl->target->release(earl->self, packet);
    if (put != EARL_PUT_FULL)
        return refused(peer, put);
    struct earl_outgoing *item = append(earl, peer, NULL, NULL);
    if (item == NULL)
        return EARL_E_MEMORY;
    item->kind = kind;
    item->serial = serial;
    item->id = id;
    return begin(earl, peer);
}

int earl_outgoing_queue(struct earl *earl, struct earl_open *send)
{
    struct earl_peer *peer = earl_peer(earl, send->process);
    if (send->is_queued)
        return EARL_OK;
    if (append(earl, peer, NULL, send) == NULL)
        return EARL_E_MEMORY;
    send->is_queued = true;
    return begin(earl, peer);
}

/* ---- in a signal handler ---- */

static void take_off(struct earl *earl, struct earl_peer *peer)
{
    struct earl_outgoing *item = peer->first;
    peer->first = item->next;
    peer->served++;
    earl_pool_give(&earl->outgoing, item);
}

/* Of a send that stands first: its next part, which stands before it then. False: there is no memory now. */
static bool put_part_before(struct earl *earl, struct earl_peer *peer)
{
    struct earl_outgoing *part = earl_pool_take(&earl->outgoing);
    earl_packet packet = part == NULL ? NULL : earl_send_part(earl, peer->first->send);
    if (packet == NULL) {
        if (part != NULL)
            earl_pool_give(&earl->outgoing, part);
        return false;
    }
    *part = (struct earl_outgoing){.next = peer->first, .packet = packet};
    peer->first = part;
    peer->queued++;
    return true;
}

/* What the work would do next, if it need not wait for that. */
static bool serve_now(struct earl *earl, struct earl_peer *peer)
{
    make_packet(earl, peer);
    struct earl_open *send = peer->first->send;
    if (send == NULL && peer->first->packet == NULL) {
        take_off(earl, peer);
        return true;
    }
    if (send != NULL && (peer->has_ended || send->sent == send->length)) {
        take_off(earl, peer);
        send->is_queued = false;
        earl_send_finish(earl, send, peer->has_ended ? EARL_E_ENDED : EARL_OK);
        return true;
    }
    if (send != NULL && !put_part_before(earl, peer))
        return false;
    earl_packet packet = peer->first->packet;
    const enum earl_put put = peer->has_ended
                                  ? EARL_PUT_ENDED
                                  : earl->target->put(earl->self, peer->process, packet, false, EARL_NOW);
    if (put == EARL_PUT_FULL)
        return false;
    if (put != EARL_PUT_DONE)
        lose_first(earl, peer);
    take_off(earl, peer);
    return true;
}

bool earl_outgoing_go(struct earl *earl)
{
    bool has_any = false;
    for (struct earl_peer *peer = NULL; (peer = earl_peer_next(earl, peer)) != NULL;) {
        has_any = has_any || (peer->first != NULL && !peer->is_waiting);
        while (peer->first != NULL && !peer->is_waiting && serve_now(earl, peer))
            ;
    }
    return has_any;
}

/* ---- memory ---- */

static void free_demand(struct earl *earl, struct earl_demand *demand)
{
    if (demand->packet != NULL)
        earl->target->release(earl->self, demand->packet);
    earl_pool_give(&earl->demands, demand);
    earl->demand_count--;
}

/* Work: waits for memory. */
static void allocate(void *argument)
{
    struct earl_demand *demand = argument;
    struct earl *earl = demand->earl;
    demand->packet = earl->target->allocate(earl->self, demand->length, EARL_WAIT);
    demand->is_done = true;
    if (demand->is_over)
        free_demand(earl, demand);
    else
        earl->target->wake(earl->self);
}

struct earl_demand *earl_demand_begin(struct earl *earl, size_t length)
{
    struct earl_demand *demand = earl_pool_take(&earl->demands);
    if (demand == NULL)
        return NULL;
    *demand = (struct earl_demand){earl, length, NULL, false, false};
    earl->demand_count++;
    if (earl->target->later(earl->self, allocate, demand))
        return demand;
    free_demand(earl, demand);
    return NULL;
}

struct earl_demand *earl_demand_end(struct earl *earl, struct earl_demand *demand)
{
    demand->is_over = true;
    if (demand->is_done)
        free_demand(earl, demand);
    return NULL;
}

earl_packet earl_outgoing_memory(struct earl *earl, size_t length)
{
    earl_packet packet = earl->target->allocate(earl->self, length, EARL_GROW);
    if (packet != NULL)
        return packet;
    if (earl->in_signal) /* where no work runs */
        return earl->target->allocate(earl->self, length, EARL_WAIT);
    struct earl_demand *demand = earl_demand_begin(earl, length);
    int code = EARL_OK;
    while (demand != NULL && !demand->is_done && code >= 0)
        code = earl_wait_step(earl, NULL, "send, for memory", EARL_ANY, EARL_ANY);
    if (demand == NULL)
        return NULL;
    packet = demand->packet;
    demand->packet = NULL;
    earl_demand_end(earl, demand);
    return packet;
}

static bool is_any_queued(const struct earl *earl)
{
    for (const struct earl_peer *peer = NULL; (peer = earl_peer_next(earl, peer)) != NULL;)
        if (peer->first != NULL)
            return true;
    return false;
}

void earl_outgoing_end(struct earl *earl)
{
    int code = 0;
    earl_send_abandoned(earl);
    while (code >= 0 && is_any_queued(earl)) /* of all: what comes may be answers, by which more goes */
        code = earl_wait_step(earl, NULL, "the end, for what was sent", EARL_ANY, EARL_ANY);
}

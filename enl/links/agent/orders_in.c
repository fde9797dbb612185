/* SPDX-License-Identifier: MIT */
/* orders_in.c -- the messages of orders of CCEs elsewhere, until they stand in their streams: whether there is memory and
 * room for one, or it waits for that, or is refused. serve.c has them performed. docs/states/order.md. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/drop.h"

#include "links/agent/serve.h"

/* ---- the record of a message that comes, of an order or an answer ---- */

struct arrival *bcri_arrival_new(struct peer *peer, const struct bcri_message *message)
{
    struct arrival *arrival = record_take(&peer->agent->arrivals, sizeof *arrival);
    if (arrival != NULL)
        *arrival = (struct arrival){.peer = peer, .message = *message};
    return arrival;
}

void bcri_arrival_free(struct stream_in *stream, struct arrival *arrival)
{
    if (stream != NULL) {
        stream->count--;
        arrival->peer->orders--;
    }
    if (arrival->payload != NULL)
        bcri_payload_release(arrival->payload);
    record_give(&arrival->peer->agent->arrivals, arrival);
}

enum bcri_link_verdict bcri_arrival_accept(struct bcri_link_message *message, struct arrival *arrival)
{
    const struct bcri_slot_shm *body = arrival->payload != NULL ? arrival->payload->region : arrival->region;
    message->memory = message->body_bytes != 0 ? (void *)bcri_load(&body->data) : NULL;
    message->cookie = arrival;
    return BCRI_LINK_TAKE;
}

/* ---- orders ---- */

/* Model: share.pml */
static enum bcri_link_verdict begin_data(struct peer *peer, struct arrival *arrival, uint32_t bytes)
{
    const struct bcri_message *message = &arrival->message;
    if (bcri_payload_find(peer, message->request) != NULL)
        return BCRI_LINK_REFUSE; /* numbers are used once */
    const bool fits =
        peer->payload_bytes == 0 || peer->payload_bytes + bytes <= peer->agent->peer_payloads_max;
    if (!fits || !bcri_arrival_find_room(peer->agent, arrival, bytes))
        return BCRI_LINK_PAUSE;
    if (!bcri_payload_new(peer, message, bytes, arrival->region, &arrival->payload)) {
        bcri_slot_drop(peer->agent->ctx, arrival->region);
        return BCRI_LINK_REFUSE;
    }
    arrival->region = NULL;
    (void)bcri_payload_use(arrival->payload);
    return BCRI_LINK_TAKE;
}

/* PAUSE: it has overtaken its DATA, or that lies aside and finds no room.
 * Model: share.pml */
static enum bcri_link_verdict begin_same(struct peer *peer, struct arrival *arrival)
{
    struct payload *payload = bcri_payload_find(peer, arrival->message.value);
    if (payload != NULL ? payload->is_refused : peer->payloads_unknown != 0)
        return BCRI_LINK_REFUSE;
    if (payload == NULL)
        return BCRI_LINK_PAUSE;
    if (!bcri_payload_use(payload)) {
        bcri_payloads_make_room(peer->agent);
        if (!bcri_payload_use(payload))
            return BCRI_LINK_PAUSE;
    }
    arrival->payload = payload;
    return BCRI_LINK_TAKE;
}

/* Time is up, or it is more than the pool takes, or too much is remembered of its host. */
static enum bcri_link_verdict refuse_order(struct peer *peer, const struct bcri_message *read, bool is_full)
{
    struct payload *payload;
    if (read->kind == BCRI_MESSAGE_DATA && bcri_payload_find(peer, read->request) == NULL &&
        bcri_payload_new(peer, read, 0, NULL, &payload))
        payload->was_full = is_full;
    return BCRI_LINK_REFUSE;
}

/* When the CCE of an order that comes now has waited for as long as it wants to. What it has taken goes back however long
 * that takes. */
static uint64_t late_at(const struct bcri_agent *agent, const struct bcri_message *read)
{
    const bool has_time = read->kind == BCRI_MESSAGE_GET || read->kind == BCRI_MESSAGE_DATA ||
                          ((read->kind == BCRI_MESSAGE_PUT || read->kind == BCRI_MESSAGE_SAME) &&
                           (read->flags & BCRI_MESSAGE_RETURN) == 0);
    return has_time && read->msec >= 0 ? agent->now + (uint64_t)read->msec * 1000 * 1000 : AGENT_NEVER;
}

/* Whether what is next in a stream has waited for room as long as its CCE waits for it. There may be room in a moment
 * while the pool is to grow. A SAME that has overtaken its DATA does not wait for room. */
static bool gives_up(const struct stream_in *stream, const struct bcri_message *read)
{
    const struct bcri_agent *agent = stream->peer->agent;
    if ((read->flags & BCRI_MESSAGE_AT_ONCE) == 0 ||
        (read->kind == BCRI_MESSAGE_SAME && bcri_payload_find(stream->peer, read->value) == NULL))
        return false;
    return stream->late_at <= agent->now && !agent->pool_asked;
}

/* A CCE that waits for a put which is refused takes the cell for full if it is not told. */
static void tell_no_memory(struct peer *peer, const struct bcri_link_message *message,
                           const struct bcri_message *read)
{
    const struct payload *payload =
        read->kind == BCRI_MESSAGE_SAME ? bcri_payload_find(peer, read->value) : NULL;
    const struct bcri_message answer = {
        .kind = BCRI_MESSAGE_ANSWER, .code = bcrE_NOMEM, .request = read->request};
    if ((read->flags & BCRI_MESSAGE_AT_ONCE) != 0 && read->kind != BCRI_MESSAGE_DATA &&
        (payload == NULL || !payload->was_full))
        (void)bcri_agent_send(peer, message->target | BCRI_ANSWERS, message->source, &answer, NULL, NULL);
}

enum bcri_link_verdict bcri_orders_in_begin(struct peer *peer, struct bcri_link_message *message,
                                            const struct bcri_message *read)
{
    struct bcri_agent *agent = peer->agent;
    struct stream_in *stream = message->body_bytes <= agent->pool_bytes / 2
                                   ? bcri_serve_stream(peer, message->source, message->target)
                                   : NULL;
    if (stream == NULL) {
        tell_no_memory(peer, message, read);
        return refuse_order(peer, read, false);
    }
    if (stream->late_at == 0)
        stream->late_at = late_at(agent, read);
    if (stream->count >= STREAM_ORDERS_MAX) {
        stream->paused = true;
        return BCRI_LINK_PAUSE;
    }
    struct arrival *arrival = peer->orders < PEER_ORDERS_MAX ? bcri_arrival_new(peer, read) : NULL;
    enum bcri_link_verdict verdict = arrival != NULL ? BCRI_LINK_TAKE : BCRI_LINK_PAUSE;
    if (arrival != NULL && read->kind == BCRI_MESSAGE_PUT &&
        !bcri_arrival_find_room(agent, arrival, message->body_bytes))
        verdict = BCRI_LINK_PAUSE;
    else if (arrival != NULL && read->kind == BCRI_MESSAGE_DATA)
        verdict = begin_data(peer, arrival, message->body_bytes);
    else if (arrival != NULL && read->kind == BCRI_MESSAGE_SAME)
        verdict = begin_same(peer, arrival);
    if (verdict == BCRI_LINK_TAKE) {
        stream->count++;
        peer->orders++;
        arrival->late_at = stream->late_at;
        stream->late_at = 0;
        return bcri_arrival_accept(message, arrival);
    }
    if (arrival != NULL)
        bcri_arrival_free(NULL, arrival);
    if (verdict == BCRI_LINK_REFUSE)
        tell_no_memory(peer, message, read);
    else if (gives_up(stream, read))
        verdict = refuse_order(peer, read, true);
    if (verdict == BCRI_LINK_PAUSE) { /* the pool has no room for it, or there is too much of its host */
        stream->paused = true;
        if (list_is_empty(&agent->no_room))
            agent->resume_at = agent->now + AGAIN_NS;
        if (!is_listed(&stream->in_no_room))
            list_append(&agent->no_room, &stream->in_no_room);
        return BCRI_LINK_PAUSE;
    }
    stream->late_at = 0;
    bcri_stream_is_ready(stream); /* which ends it if nothing is left of it */
    return BCRI_LINK_REFUSE;
}

void bcri_orders_in_arrived(struct peer *peer, uint32_t source, uint32_t target, struct arrival *arrival)
{
    struct stream_in *stream = bcri_serve_stream_find(peer, source, target);
    if (arrival->message.kind == BCRI_MESSAGE_DATA)
        bcri_payload_has_come(arrival->payload, true);
    STAILQ_INSERT_TAIL(&stream->orders, arrival, entry);
    bcri_stream_is_ready(stream);
}

void bcri_orders_in_dropped(struct peer *peer, uint32_t source, uint32_t target, struct arrival *arrival)
{
    struct stream_in *stream =
        (source & BCRI_ANSWERS) == 0 ? bcri_serve_stream_find(peer, source, target) : NULL;
    if (arrival->message.kind == BCRI_MESSAGE_DATA)
        bcri_payload_has_come(arrival->payload, false);
    if (arrival->region != NULL)
        bcri_slot_drop(peer->agent->ctx, arrival->region);
    bcri_arrival_free(stream, arrival);
    if (stream != NULL)
        bcri_serve_stream_over(stream);
}

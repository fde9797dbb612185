/* SPDX-License-Identifier: MIT */
/* serve.c -- orders of CCEs elsewhere: their messages, and the streams in whose order they are performed
 * (perform.c). docs/states/order.md. */
#include "links/agent/serve.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/drop.h"

#include "links/agent/ask.h"

/* Orders of a stream that are not performed, beyond which the link pauses it: so many puts one CCE may have
 * on their way. */
#define STREAM_ORDERS_MAX BCRI_OUTBOX_WINDOW
enum { RESUMES_MAX = 64 }; /* at a time */

/* ---- streams ---- */

static void is_ready(struct stream *stream)
{
    if (!is_listed(&stream->in_queue))
        list_append(&stream->peer->agent->ready, &stream->in_queue);
}

/* The pool has no room for what is next, or there is too much of its host. */
static void pause_for_room(struct stream *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    stream->paused = true;
    if (list_is_empty(&agent->no_room))
        agent->resume_at = agent->now + AGAIN_NS;
    if (!is_listed(&stream->in_no_room))
        list_append(&agent->no_room, &stream->in_no_room);
}

static void resume(struct stream *stream)
{
    if (!stream->paused || stream->count >= STREAM_ORDERS_MAX || stream->peer->link == NULL)
        return;
    stream->paused = false; /* unless it is paused again now */
    bcri_link_resume(stream->peer->link, stream->source, stream->target, stream->peer->agent->now);
}

static void resume_some(struct bcri_agent *agent)
{
    const struct item *last = agent->no_room.head.before;
    struct stream *stream;
    for (int i = 0; i < RESUMES_MAX; i++) {
        stream = FIRST_OF(&agent->no_room, struct stream, in_no_room);
        if (stream == NULL)
            break;
        const bool was_last = &stream->in_no_room == last;
        list_remove(&stream->in_no_room);
        resume(stream);
        bcri_serve_stream_over(stream);
        if (was_last)
            break;
    }
    agent->resume_at = list_is_empty(&agent->no_room) ? AGENT_NEVER : agent->now + AGAIN_NS;
}

/* ---- answers that wait for the pool to grow ---- */

struct paused_answers {
    struct paused_answers *next;
    uint32_t source, target;
};

/* False: no memory. */
static bool pause_answers(struct peer *peer, const struct bcri_link_message *message)
{
    struct paused_answers *paused = malloc(sizeof *paused);
    if (paused == NULL)
        return false;
    *paused = (struct paused_answers){
        .next = peer->paused_answers, .source = message->source, .target = message->target};
    peer->paused_answers = paused;
    return true;
}

void bcri_serve_go_on(struct peer *peer)
{
    struct paused_answers *paused = peer->paused_answers;
    peer->paused_answers = NULL;
    while (paused != NULL) {
        struct paused_answers *next = paused->next;
        if (peer->link != NULL)
            bcri_link_resume(peer->link, paused->source, paused->target, peer->agent->now);
        free(paused);
        paused = next;
    }
}

/* ---- messages ---- */

static struct incoming *new_incoming(struct peer *peer, const struct bcri_message *message)
{
    struct incoming *incoming = record_take(&peer->agent->incoming);
    if (incoming != NULL)
        *incoming = (struct incoming){.peer = peer, .message = *message};
    return incoming;
}

static void free_incoming(struct stream *stream, struct incoming *incoming)
{
    struct peer *peer = incoming->peer;
    if (stream != NULL) {
        stream->count--;
        peer->orders--;
    }
    if (incoming->payload != NULL)
        bcri_payload_release(incoming->payload);
    record_give(&peer->agent->incoming, incoming);
}

static enum bcri_link_verdict take(struct bcri_link_message *message, struct incoming *incoming)
{
    const struct bcri_slot_shm *body =
        incoming->payload != NULL ? incoming->payload->region : incoming->region;
    message->memory = message->body_bytes != 0 ? (void *)bcri_load(&body->data) : NULL;
    message->cookie = incoming;
    return BCRI_LINK_TAKE;
}

/* Room in the pool for the body of a message. */
static bool find_room(struct bcri_agent *agent, struct incoming *incoming, uint32_t bytes)
{
    const struct bcri_message *message = &incoming->message;
    incoming->region = bcri_agent_alloc(agent, bytes, message->archtype, message->error);
    if (incoming->region != NULL)
        return true;
    bcri_payloads_make_room(agent);
    incoming->region = bcri_agent_alloc(agent, bytes, message->archtype, message->error);
    return incoming->region != NULL;
}

/* A region that nobody waits for, or for which there is no room, goes back. Its host answers the order when it is back. */
static enum bcri_link_verdict begin_answer(struct peer *peer, struct bcri_link_message *message,
                                           const struct bcri_message *read)
{
    struct bcri_agent *agent = peer->agent;
    struct order *order = bcri_ask_find(peer, read->request);
    const bool has_region =
        order != NULL && bcri_order_is_get(order->op) && read->code == 0 && read->flags == 0;
    if (order == NULL || (message->body_bytes != 0 && !has_region) ||
        (read->flags != 0 && !bcri_order_is_put(order->op)))
        return BCRI_LINK_REFUSE;
    struct incoming *incoming = new_incoming(peer, read);
    if (incoming != NULL && (!has_region || find_room(agent, incoming, message->body_bytes)))
        return take(message, incoming);
    if (incoming != NULL)
        free_incoming(NULL, incoming);
    if (agent->pool_asked && message->body_bytes <= agent->pool_bytes / 2 && pause_answers(peer, message))
        return BCRI_LINK_PAUSE;
    if (!has_region)
        bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
    return BCRI_LINK_REFUSE;
}

/* Model: share.pml */
static enum bcri_link_verdict begin_data(struct peer *peer, struct incoming *incoming, uint32_t bytes)
{
    const struct bcri_message *message = &incoming->message;
    if (bcri_payload_find(peer, message->request) != NULL)
        return BCRI_LINK_REFUSE; /* numbers are used once */
    if (!bcri_payload_fits(peer, bytes) || !find_room(peer->agent, incoming, bytes))
        return BCRI_LINK_PAUSE;
    if (!bcri_payload_new(peer, message, bytes, incoming->region, &incoming->payload)) {
        bcri_slot_drop(peer->agent->ctx, incoming->region);
        return BCRI_LINK_REFUSE;
    }
    incoming->region = NULL;
    (void)bcri_payload_use(incoming->payload);
    return BCRI_LINK_TAKE;
}

/* PAUSE: it has overtaken its DATA, or that lies aside and finds no room.
 * Model: share.pml */
static enum bcri_link_verdict begin_same(struct peer *peer, struct incoming *incoming)
{
    struct payload *payload = bcri_payload_find(peer, incoming->message.value);
    if (payload != NULL ? payload->is_refused : peer->payloads_unknown != 0)
        return BCRI_LINK_REFUSE;
    if (payload == NULL)
        return BCRI_LINK_PAUSE;
    if (!bcri_payload_use(payload)) {
        bcri_payloads_make_room(peer->agent);
        if (!bcri_payload_use(payload))
            return BCRI_LINK_PAUSE;
    }
    incoming->payload = payload;
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
static bool gives_up(const struct stream *stream, const struct bcri_message *read)
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

static enum bcri_link_verdict begin_order(struct peer *peer, struct bcri_link_message *message,
                                          const struct bcri_message *read)
{
    struct bcri_agent *agent = peer->agent;
    struct stream *stream = message->body_bytes <= agent->pool_bytes / 2
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
    struct incoming *incoming = peer->orders < PEER_ORDERS_MAX ? new_incoming(peer, read) : NULL;
    enum bcri_link_verdict verdict = incoming != NULL ? BCRI_LINK_TAKE : BCRI_LINK_PAUSE;
    if (incoming != NULL && read->kind == BCRI_MESSAGE_PUT &&
        !find_room(agent, incoming, message->body_bytes))
        verdict = BCRI_LINK_PAUSE;
    else if (incoming != NULL && read->kind == BCRI_MESSAGE_DATA)
        verdict = begin_data(peer, incoming, message->body_bytes);
    else if (incoming != NULL && read->kind == BCRI_MESSAGE_SAME)
        verdict = begin_same(peer, incoming);
    if (verdict == BCRI_LINK_TAKE) {
        stream->count++;
        peer->orders++;
        incoming->late_at = stream->late_at;
        stream->late_at = 0;
        return take(message, incoming);
    }
    if (incoming != NULL)
        free_incoming(NULL, incoming);
    if (verdict == BCRI_LINK_REFUSE)
        tell_no_memory(peer, message, read);
    else if (gives_up(stream, read))
        verdict = refuse_order(peer, read, true);
    if (verdict == BCRI_LINK_PAUSE) {
        pause_for_room(stream);
        return BCRI_LINK_PAUSE;
    }
    stream->late_at = 0;
    is_ready(stream); /* which ends it if nothing is left of it */
    return BCRI_LINK_REFUSE;
}

enum bcri_link_verdict bcri_serve_begin(struct peer *peer, struct bcri_link_message *message)
{
    struct bcri_message read;
    if (!bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read)) {
        bcri_agent_note(peer->agent, peer->host, "it has sent a message that makes no sense");
        return BCRI_LINK_REFUSE;
    }
    const bool is_answer = (message->source & BCRI_ANSWERS) != 0;
    if (is_answer != (read.kind == BCRI_MESSAGE_ANSWER || read.kind == BCRI_MESSAGE_FORGET) ||
        (message->target == BCRI_DATA_TARGET) != (read.kind == BCRI_MESSAGE_DATA))
        return BCRI_LINK_REFUSE;
    if (read.kind == BCRI_MESSAGE_FORGET) { /* needs no memory, so it is done at once */
        bcri_payload_over(peer, read.request);
        return BCRI_LINK_TAKE;
    }
    return is_answer ? begin_answer(peer, message, &read) : begin_order(peer, message, &read);
}

void bcri_serve_arrived(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming)
{
    if (incoming == NULL)
        return;
    const struct bcri_message *message = &incoming->message;
    if (message->kind != BCRI_MESSAGE_ANSWER) {
        if (message->kind == BCRI_MESSAGE_DATA)
            bcri_payload_has_come(incoming->payload, true);
        struct stream *stream = bcri_serve_stream_find(peer, source, target);
        *stream->end = incoming;
        stream->end = &incoming->next;
        is_ready(stream);
        return;
    }
    struct order *order = bcri_ask_find(peer, message->request);
    if (order != NULL && message->flags == BCRI_MESSAGE_UP_TO)
        bcri_ask_done_up_to(order);
    else if (order != NULL && message->flags == BCRI_MESSAGE_WAITS)
        bcri_ask_waits(order);
    else if (order != NULL)
        bcri_ask_answer(order, (int)message->code, message->value, incoming->region);
    else if (incoming->region != NULL) /* the asker has ended since the message began */
        bcri_slot_drop(peer->agent->ctx, incoming->region);
    free_incoming(NULL, incoming);
}

void bcri_serve_dropped(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming)
{
    struct stream *stream =
        (source & BCRI_ANSWERS) == 0 ? bcri_serve_stream_find(peer, source, target) : NULL;
    if (incoming == NULL)
        return;
    if (incoming->message.kind == BCRI_MESSAGE_DATA)
        bcri_payload_has_come(incoming->payload, false);
    if (incoming->region != NULL)
        bcri_slot_drop(peer->agent->ctx, incoming->region);
    free_incoming(stream, incoming);
    if (stream != NULL)
        bcri_serve_stream_over(stream);
}

/* ---- running ---- */

static void perform_all(struct stream *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct incoming *incoming;
    while ((incoming = stream->first) != NULL) {
        const enum performed performed = bcri_perform(stream, incoming);
        if (performed == PERFORM_PARKED) {
            list_append(&agent->parked_streams, &stream->in_queue);
            bcri_agent_parks(agent);
        }
        if (performed != PERFORMED)
            break;
        if ((stream->first = incoming->next) == NULL)
            stream->end = &stream->first;
        free_incoming(stream, incoming);
    }
    if (!is_listed(&stream->in_no_room))
        resume(stream);
    bcri_serve_stream_over(stream);
}

void bcri_serve_run(struct bcri_agent *agent)
{
    if (agent->resume_at <= agent->now)
        resume_some(agent);
    bcri_waits_expire(agent);
    for (bool more = true; more;) {
        struct stream *stream;
        more = bcri_waits_run(agent);
        while ((stream = FIRST_OF(&agent->ready, struct stream, in_queue)) != NULL) {
            more = true;
            list_remove(&stream->in_queue);
            perform_all(stream);
        }
    }
    bcri_locks_run(agent);
    bcri_serve_answer_puts(agent);
    run_by(agent, agent->resume_at);
    const struct deadline *next = deadlines_next(&agent->deadlines);
    if (next != NULL)
        run_by(agent, next->at_ns);
}

void bcri_serve_again(struct bcri_agent *agent)
{
    list_move(&agent->parked_streams, &agent->ready);
    list_move(&agent->parked_locks, &agent->dead_locks);
    bcri_waits_again(agent);
}

/* What has come whole is carried out; what waits for a region is withdrawn. */
void bcri_serve_lost(struct peer *peer)
{
    struct item *next, *at = peer->streams.head.next;
    for (; at != &peer->streams.head; at = next) {
        struct stream *stream = RECORD_OF(at, struct stream, of_peer);
        next = at->next;
        stream->paused = false;
        list_remove(&stream->in_no_room);
        list_remove(&stream->in_owing);
        bcri_serve_stream_end(stream);
        bcri_serve_stream_over(stream);
    }
    bcri_payloads_lost(peer);
}

static void free_stream(struct stream *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct served *served;
    struct incoming *incoming;
    list_append(&agent->ready, &stream->in_queue); /* it is not freed before the end */
    while ((served = FIRST_OF(&stream->served, struct served, of_stream)) != NULL)
        bcri_served_free(served);
    while ((incoming = stream->first) != NULL) {
        stream->first = incoming->next;
        free_incoming(stream, incoming);
    }
    bcri_locks_end(stream);
    stream->count = 0;
    stream->paused = false;
    list_remove(&stream->in_queue);
    list_remove(&stream->in_owing);
    bcri_serve_stream_over(stream);
}

/* There is no link any more. */
void bcri_serve_free(struct bcri_agent *agent)
{
    struct write_lock *lock;
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next) {
        bcri_serve_go_on(peer);
        for (struct item *at = peer->streams.head.next; at != &peer->streams.head; at = at->next)
            list_remove(&RECORD_OF(at, struct stream, of_peer)->in_queue);
    }
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next)
        for (struct stream *stream; (stream = FIRST_OF(&peer->streams, struct stream, of_peer)) != NULL;)
            free_stream(stream);
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next)
        bcri_payloads_free(peer);
    list_move(&agent->parked_locks, &agent->dead_locks);
    while ((lock = FIRST_OF(&agent->dead_locks, struct write_lock, of_stream)) != NULL)
        bcri_lock_free(lock);
    free(agent->spare_cell);
    free(agent->deadlines.heap);
}

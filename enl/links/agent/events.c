/* SPDX-License-Identifier: MIT */
/* events.c -- what the links tell the agent: each event goes from here to whom it is for. A message for an order of this
 * host's CCEs comes in a stream of answers, and goes, when it is there, to answer.c; any other is an order of a CCE elsewhere,
 * and goes to orders_in.c. What was sent is over for an order (answer.c), or for what was served (waits.c).
 * docs/states/order.md. */
#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/drop.h"

#include "links/agent/ask.h"
#include "links/agent/serve.h"

/* ---- answers that wait for the pool to grow ---- */

struct paused_answers {
    struct paused_answers *next;
    uint32_t source, target;
};

void bcri_answers_go_on(struct peer *peer)
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

/* ---- answers ---- */

/* The order of an answer from that host; NULL: it is over, or there is none. */
static struct order *order_of(const struct peer *peer, uint64_t request)
{
    struct order *order = bcri_order_find(peer->agent, request);
    return order != NULL && order->stream != NULL && order->stream->peer == peer ? order : NULL;
}

/* A region that nobody waits for, or for which there is no room, goes back. Its host answers the order when it is back. */
static enum bcri_link_verdict answer_begins(struct peer *peer, struct bcri_link_message *message,
                                            const struct bcri_message *read)
{
    struct bcri_agent *agent = peer->agent;
    struct order *order = order_of(peer, read->request);
    const bool has_region =
        order != NULL && bcri_order_is_get(order->op) && read->code == 0 && read->flags == 0;
    if (order == NULL || (message->body_bytes != 0 && !has_region) ||
        (read->flags != 0 && !bcri_order_is_put(order->op)))
        return BCRI_LINK_REFUSE;
    if (!has_region) { /* needs no memory, so it is done at once */
        if (read->flags == BCRI_MESSAGE_UP_TO)
            bcri_ask_done_up_to(order);
        else if (read->flags == BCRI_MESSAGE_WAITS)
            bcri_ask_waits(order);
        else
            bcri_ask_answer(order, (int)read->code, read->value, NULL);
        return BCRI_LINK_TAKE;
    }
    message->changes_hands = true;
    struct arrival *arrival = bcri_arrival_new(peer, read);
    if (arrival != NULL && bcri_arrival_find_room(agent, arrival, message->body_bytes))
        return bcri_arrival_accept(message, arrival);
    if (arrival != NULL)
        bcri_arrival_free(NULL, arrival);
    const bool may_fit = agent->pool_asked && message->body_bytes <= agent->pool_bytes / 2;
    struct paused_answers *paused = may_fit ? malloc(sizeof *paused) : NULL;
    if (paused != NULL) {
        *paused = (struct paused_answers){peer->paused_answers, message->source, message->target};
        peer->paused_answers = paused;
        return BCRI_LINK_PAUSE;
    }
    return BCRI_LINK_REFUSE;
}

/* ---- all messages ---- */

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return (source & ~BCRI_ANSWERS) < BCRI_CCE_MAX && (target < BCRI_CCE_MAX || target == BCRI_DATA_TARGET);
}

static bool is_answer(uint32_t source)
{
    return (source & BCRI_ANSWERS) != 0;
}

/* What comes while the agent has rested comes before it runs again: what is counted from that moment must not be
 * counted from its last run. */
static void look_at_clock(const struct peer *peer)
{
    if (peer->link != NULL && bcri_link_now(peer->link) > peer->agent->now)
        peer->agent->now = bcri_link_now(peer->link);
}

static enum bcri_link_verdict message_begins(void *owner, struct bcri_link_message *message)
{
    struct peer *peer = owner;
    struct bcri_message read;
    look_at_clock(peer);
    peer->agent->messages++;
    if (!bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read)) {
        bcri_agent_note(peer->agent, peer->host, "it has sent a message that makes no sense");
        return BCRI_LINK_REFUSE;
    }
    if (is_answer(message->source) !=
            (read.kind == BCRI_MESSAGE_ANSWER || read.kind == BCRI_MESSAGE_FORGET) ||
        (message->target == BCRI_DATA_TARGET) != (read.kind == BCRI_MESSAGE_DATA))
        return BCRI_LINK_REFUSE;
    if (read.kind == BCRI_MESSAGE_FORGET) { /* needs no memory, so it is done at once */
        bcri_payload_over(peer, read.request);
        return BCRI_LINK_TAKE;
    }
    return is_answer(message->source) ? answer_begins(peer, message, &read)
                                      : bcri_orders_in_begin(peer, message, &read);
}

/* Without a cookie there is nothing to do any more. Of answers those with a region have one. */
static void message_arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    struct peer *peer = owner;
    struct arrival *arrival = cookie;
    look_at_clock(peer);
    if (cookie != NULL && !is_answer(source))
        bcri_orders_in_arrived(peer, source, target, arrival);
    if (cookie == NULL || !is_answer(source))
        return;
    struct order *order = order_of(peer, arrival->message.request);
    if (order != NULL)
        bcri_ask_answer(order, 0, 0, arrival->region);
    else /* the requester has ended since the message began */
        bcri_slot_drop(peer->agent->ctx, arrival->region);
    bcri_arrival_free(NULL, arrival);
}

static void message_dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    if (cookie != NULL)
        bcri_orders_in_dropped(owner, source, target, cookie);
}

static void message_completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                              enum bcri_link_outcome outcome)
{
    (void)source, (void)target;
    look_at_clock(owner);
    if (((uintptr_t)cookie & 1) != 0)
        bcri_served_completed((void *)((char *)cookie - 1), outcome);
    else if (cookie != NULL)
        bcri_ask_completed(cookie, outcome);
}

const struct bcri_link_events bcri_agent_link_events = {.accept = accept_stream,
                                                        .begin = message_begins,
                                                        .arrived = message_arrived,
                                                        .dropped = message_dropped,
                                                        .completed = message_completed};

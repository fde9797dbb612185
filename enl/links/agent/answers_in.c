/* SPDX-License-Identifier: MIT */
/* answers_in.c -- the messages of answers, until they have come: answer.c has them from there into the IDs of this host's
 * CCEs. docs/states/order.md. */
#include "links/agent/incoming.h"

#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/drop.h"

#include "links/agent/ask.h"

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

void bcri_answers_in_go_on(struct peer *peer)
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

/* A region that nobody waits for, or for which there is no room, goes back. Its host answers the order when it is back. */
enum bcri_link_verdict bcri_answers_in_begin(struct peer *peer, struct bcri_link_message *message,
                                             const struct bcri_message *read)
{
    struct bcri_agent *agent = peer->agent;
    struct order *order = bcri_ask_find(peer, read->request);
    const bool has_region =
        order != NULL && bcri_order_is_get(order->op) && read->code == 0 && read->flags == 0;
    if (order == NULL || (message->body_bytes != 0 && !has_region) ||
        (read->flags != 0 && !bcri_order_is_put(order->op)))
        return BCRI_LINK_REFUSE;
    struct incoming *incoming = bcri_incoming_new(peer, read);
    if (incoming != NULL && (!has_region || bcri_incoming_find_room(agent, incoming, message->body_bytes)))
        return bcri_incoming_accept(message, incoming);
    if (incoming != NULL)
        bcri_incoming_free(NULL, incoming);
    if (agent->pool_asked && message->body_bytes <= agent->pool_bytes / 2 && pause_answers(peer, message))
        return BCRI_LINK_PAUSE;
    if (!has_region)
        bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
    return BCRI_LINK_REFUSE;
}

void bcri_answers_in_arrived(struct peer *peer, struct incoming *incoming)
{
    const struct bcri_message *message = &incoming->message;
    struct order *order = bcri_ask_find(peer, message->request);
    if (order != NULL && message->flags == BCRI_MESSAGE_UP_TO)
        bcri_ask_done_up_to(order);
    else if (order != NULL && message->flags == BCRI_MESSAGE_WAITS)
        bcri_ask_waits(order);
    else if (order != NULL)
        bcri_ask_answer(order, (int)message->code, message->value, incoming->region);
    else if (incoming->region != NULL) /* the requester has ended since the message began */
        bcri_slot_drop(peer->agent->ctx, incoming->region);
    bcri_incoming_free(NULL, incoming);
}

void bcri_answers_in_dropped(struct peer *peer, struct incoming *incoming)
{
    if (incoming->region != NULL)
        bcri_slot_drop(peer->agent->ctx, incoming->region);
    bcri_incoming_free(NULL, incoming);
}

/* SPDX-License-Identifier: MIT */
/* orders_out.c -- orders of this host's CCEs: their records and numbers, and their messages to the hosts of the cells. ask.c
 * takes them out of the outboxes, answer.c has the answers. docs/states/order.md. */
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "base/grow.h"
#include "bcri/region.h"

#include "links/agent/ask.h"

struct order *bcri_order_new(struct requester *requester, uint32_t op, struct stream_out *stream)
{
    struct bcri_agent *agent = requester->agent;
    const bool is_last = agent->place_free == NO_PLACE;
    const uint32_t place = is_last ? agent->place_count : agent->place_free;
    if (!enl_grow(&agent->places, &agent->place_room, place + 1ul, sizeof *agent->places))
        return NULL;
    struct order *order = record_take(&agent->orders, sizeof *order);
    if (order == NULL)
        return NULL;
    if (is_last)
        agent->places[agent->place_count++].next_free = NO_PLACE;
    *order = (struct order){.requester = requester,
                            .op = op,
                            .stream = stream,
                            .request = (uint64_t)++agent->order_last << 32 | place};
    agent->place_free = agent->places[place].next_free;
    agent->places[place].order = order;
    requester->datas += op == ORDER_DATA;
    list_append(&requester->orders, &order->of_requester);
    return order;
}

/* ---- sending ---- */

static struct bcri_message message_of(const struct order *order, const struct bcri_region_shm *header)
{
    static const struct {
        enum bcri_message_kind kind;
        uint32_t flags;
    } messages[] = {[BCRI_ORDER_TAKE] = {BCRI_MESSAGE_GET, BCRI_WANT_TAKE},
                    [BCRI_ORDER_READ] = {BCRI_MESSAGE_GET, BCRI_WANT_READ},
                    [BCRI_ORDER_LOCK] = {BCRI_MESSAGE_GET, BCRI_WANT_LOCK},
                    [BCRI_ORDER_PUT] = {BCRI_MESSAGE_PUT, 0},
                    [BCRI_ORDER_WRITE] = {BCRI_MESSAGE_PUT, BCRI_MESSAGE_WRITE},
                    [BCRI_ORDER_RETURN] = {BCRI_MESSAGE_PUT, BCRI_MESSAGE_RETURN},
                    [BCRI_ORDER_ZAP] = {BCRI_MESSAGE_ZAP, 0},
                    [BCRI_ORDER_LENGTH] = {BCRI_MESSAGE_LENGTH, 0},
                    [ORDER_ENDED] = {BCRI_MESSAGE_ENDED, 0},
                    [ORDER_DATA] = {BCRI_MESSAGE_DATA, 0},
                    [ORDER_NOTICE] = {BCRI_MESSAGE_NOTICE, 0}};
    struct bcri_message message = {.kind = messages[order->op].kind,
                                   .flags = messages[order->op].flags,
                                   .request = order->request,
                                   .cell = order->cell,
                                   .msec = (int)(uint32_t)order->key,
                                   .archtype = header != NULL ? header->archtype : 0,
                                   .region_kind = header != NULL ? header->kind : 0};
    memcpy(message.owner, order->owner + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, BCRI_SECRET_BYTES);
    if (bcri_order_is_get(order->op) && (order->key & BCRI_ORDER_LOCKS) != 0)
        message.flags |= BCRI_MESSAGE_LOCKS;
    if ((order->key & BCRI_ORDER_ANSWERED) != 0)
        message.flags |= BCRI_MESSAGE_AT_ONCE;
    return message;
}

static void send_order(struct order *order)
{
    struct bcri_ctx *ctx = order->requester->agent->ctx;
    const struct bcri_region_shm *header =
        order->region != NULL ? bcri_at_held(ctx, bcri_slot_region(bcri_load(&order->region->word))) : NULL;
    struct bcri_message message = message_of(order, header);
    struct share *const share = order->share;
    const bool is_data = order->op == ORDER_DATA, is_same = share != NULL && !is_data && share->data != 0;
    if (is_same) {
        message.kind = BCRI_MESSAGE_SAME;
        message.value = share->data;
    }
    order->sent = true;
    if (bcri_agent_send(order->stream->peer, order->requester->index,
                        is_data ? BCRI_DATA_TARGET : order->stream->target, &message,
                        is_same ? NULL : order->region, order)) {
        if (is_data && share != NULL)
            share->data = order->request;
        return;
    }
    order->sent = false;
    if (order->op == ORDER_NOTICE)
        bcri_agent_note(order->requester->agent, order->stream->peer->host,
                        "there was no memory to tell it of the end of a CCE that is watched there");
    bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
}

void bcri_order_send(struct order *order)
{
    struct peer *peer = order->stream->peer;
    if (peer->lost) {
        bcri_ask_answer(order, bcrE_DEAD, 0, NULL);
        return;
    }
    if (peer->link != NULL) {
        send_order(order);
        return;
    }
    if (!peer->wanted)
        peer->agent->events->wants_link(peer->agent->owner, peer->host);
    peer->wanted = true;
    order->sent = true; /* it stands in a list */
    STAILQ_INSERT_TAIL(&peer->waiting, order, waiting);
}

void bcri_ask_send_waiting(struct peer *peer)
{
    struct orders waiting = STAILQ_HEAD_INITIALIZER(waiting);
    STAILQ_CONCAT(&waiting, &peer->waiting);
    for (struct order *order; (order = STAILQ_FIRST(&waiting)) != NULL;) {
        STAILQ_REMOVE_HEAD(&waiting, waiting);
        order->sent = false;
        if (order->answered && !order_outlives(order))
            bcri_order_end_if_over(order); /* its CCE has ended */
        else
            send_order(order);
    }
}

/* ---- hosts that are lost, or unknown ---- */

void bcri_ask_fail(struct peer *peer, int code)
{
    struct bcri_agent *agent = peer->agent;
    for (struct order *order; (order = STAILQ_FIRST(&peer->waiting)) != NULL;) {
        STAILQ_REMOVE_HEAD(&peer->waiting, waiting);
        order->sent = false;
        if (order->op == ORDER_ENDED || order->op == ORDER_NOTICE)
            order->answered = true;
        if (order->answered)
            bcri_order_end_if_over(order);
    }
    for (uint32_t i = 0; i < agent->place_count; i++) {
        struct order *order = agent->places[i].order;
        if (order != NULL && order->stream != NULL && order->stream->peer == peer && !order->answered)
            bcri_ask_answer(order, code, 0, NULL);
    }
}

/* SPDX-License-Identifier: MIT */
/* ask.c -- orders of this host's CCEs: out of their outboxes, to the hosts of the cells. answer.c has the
 * answers. docs/states/order.md. */
#include "links/agent/ask.h"

#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "bcri/cces.h"
#include "bcri/drop.h"
#include "bcri/region.h"

enum { TAKEN_TOGETHER = 32 }; /* entries, before their CCE is told */

/* ---- taking entries ---- */

struct stream_out *bcri_stream_to(struct requester *requester, const uint8_t *owner)
{
    struct bcri_agent *agent = requester->agent;
    const uint32_t host = bcri_identity_host(owner), target = bcri_identity_index(owner);
    const uint64_t key = (uint64_t)host << 32 | (uint64_t)requester->index << 16 | (target & 0xffffu);
    struct stream_out *stream;
    EACH_WITH (stream, &agent->streams_out, key, struct stream_out, at)
        if (stream->requester == requester && stream->target == target)
            return stream;
    struct peer *peer = bcri_peer_of(agent, host);
    if (peer == NULL || (stream = malloc(sizeof *stream)) == NULL)
        return NULL;
    *stream = (struct stream_out){.requester = requester, .peer = peer, .target = target};
    bcri_table_add(&agent->streams_out, &stream->at, key);
    list_append(&requester->streams_out, &stream->of_requester);
    return stream;
}

/* Takes the hold of a put over: the agent's ID names the region before the CCE's is free, or, if the CCE waits for
 * the answer, names none. False: not now, for want of memory for an ID. A region that the agent cannot map stays held
 * by the CCE's ID until that ends; the put fails. */
static bool take_region(struct order *order, struct bcri_slot_shm *slot)
{
    struct bcri_ctx *ctx = order->requester->agent->ctx;
    const bcri_ref ref = bcri_slot_region(bcri_load(&slot->word));
    const bool answered = (order->key & BCRI_ORDER_ANSWERED) != 0;
    if (bcri_at(ctx, ref) == NULL) {
        if (!answered)
            bcri_store_release(&slot->word, bcri_slot_word(BCRI_SLOT_KEPT, 0, ref));
        return true;
    }
    if ((order->region = bcri_slot_take(ctx)) == NULL)
        return false;
    bcri_slot_name(order->region, ref, bcri_region_data(ctx, ref));
    bcri_store_release(&slot->word, answered ? bcri_slot_word(BCRI_SLOT_ORDERED, 0, BCRI_REF_NONE) : 0);
    return true;
}

static void publish_taken(struct requester *requester)
{
    bcri_store_release(&requester->outbox->taken, requester->taken);
}

/* When it is answered, the CCE counts on this entry's being taken. */
static bool take_sync(struct requester *requester, struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    const struct bcri_message sync = {.kind = BCRI_MESSAGE_SYNC};
    const struct stream_out *stream;
    struct order *order = bcri_order_new(requester, BCRI_ORDER_SYNC, NULL);
    if (order == NULL)
        return false;
    order->key = bcri_load(&slot->key);
    order->slot_ref = slot_ref;
    bcri_store(&slot->given, order->request);
    requester->taken++;
    publish_taken(requester);
    requester->taken--;
    bcri_ask_sync(order);
    if (!list_is_empty(
            &requester->syncs)) /* it waits: hosts are to answer at once; without memory they do so later */
        EACH_OF (stream, &requester->streams_out, struct stream_out, of_requester)
            if (!list_is_empty(&stream->puts))
                (void)bcri_agent_send(stream->peer, requester->index, stream->target, &sync, NULL, NULL);
    return true;
}

/* The region of a bcr_putm goes to its host once. Without memory, or if a CCE has its count, the put goes by itself. */
static void share_region(struct order *order)
{
    const bcri_ref ref = bcri_slot_region(bcri_load(&order->region->word));
    order->share = bcri_share_find(order->stream, ref);
    if (order->share != NULL &&
        order->share->key != order->key) { /* a handler's, which waits for another time */
        bcri_shares_close(order->requester, BCRI_REF_NONE);
        order->share = NULL;
    }
    if (order->share == NULL) {
        struct order *data = bcri_order_new(order->requester, ORDER_DATA, order->stream);
        if (data == NULL)
            return;
        data->key = order->key;
        if ((order->share = bcri_share_new(data, ref)) == NULL) {
            data->answered = true;
            bcri_order_end_if_over(data);
            return;
        }
        bcri_shares_close(order->requester, ref); /* all SAMEs of the last DATA were sent before this one */
        bcri_order_send(data);
    }
    order->share->orders++;
}

/* False: not now. */
static bool take_order(struct requester *requester, struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    const uint32_t op = bcri_load(&slot->kind) & 0xffu;
    if (bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_ORDERED || op >= BCRI_ORDER_OPS)
        return true; /* no order, so the CCE has not written it */
    if (op == BCRI_ORDER_SYNC)
        return take_sync(requester, slot, slot_ref);
    const bool is_put = bcri_order_is_put(op);
    const uint64_t identity[2] = {bcri_load(&slot->next), bcri_load(&slot->prev)};
    uint8_t owner[BCRI_IDENTITY_BYTES];
    memcpy(owner, identity, sizeof owner);
    struct stream_out *stream = bcri_stream_to(requester, owner);
    struct order *order = stream != NULL ? bcri_order_new(requester, op, stream) : NULL;
    if (order == NULL)
        return false;
    memcpy(order->owner, owner, sizeof owner);
    order->key = bcri_load(&slot->key);
    order->cell = (int)bcri_load(&slot->sub);
    order->slot_ref = BCRI_REF_NONE;
    if (is_put && !take_region(order, slot)) {
        order->answered = true;
        bcri_order_end_if_over(order);
        return false;
    }
    if (!is_put || (order->key & BCRI_ORDER_ANSWERED) != 0)
        order->slot_ref = slot_ref;
    if (is_put && order->region == NULL) {
        bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
        return true;
    }
    if (is_put) {
        list_append(&stream->puts, &order->in_queue);
        if ((order->key & BCRI_ORDER_SHARES) != 0)
            share_region(order);
    }
    if (bcri_order_is_get(op))
        bcri_store(&slot->given, order->request); /* for a CANCEL */
    bcri_order_send(order);
    return true;
}

/* The answer of a get that is cancelled comes from its cell. False: not now. */
static bool take_cancel(struct requester *requester, const struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    const uint64_t request = bcri_load(&slot->given);
    struct order *order = bcri_order_find(requester->agent, request);
    if (order == NULL || order->slot_ref != slot_ref)
        return true;
    const bool is_sync = order->op == BCRI_ORDER_SYNC;
    if (!is_sync && !bcri_order_is_get(order->op))
        return true;
    if (is_sync || order->stream->peer->link == NULL) { /* it was never sent */
        bcri_ask_answer(order, bcrE_TIMEOUT, 0, NULL);
        return true;
    }
    const struct bcri_message message = {.kind = BCRI_MESSAGE_CANCEL, .request = request};
    return bcri_agent_send(order->stream->peer, requester->index, order->stream->target, &message, NULL,
                           NULL);
}

/* False: not now, for want of memory, also to map the ID. An entry that leads nowhere the CCE has not written. */
static bool take_entry(struct requester *requester, enum bcri_outbox_kind kind, bcri_ref slot_ref)
{
    struct bcri_ctx *ctx = requester->agent->ctx;
    if (kind == BCRI_OUTBOX_PUTM_OVER) {
        bcri_shares_close(requester, BCRI_REF_NONE);
        return true;
    }
    struct bcri_slot_shm *slot = bcri_at(ctx, slot_ref);
    if (slot == NULL)
        return bcri_leads_nowhere(ctx, slot_ref);
    return kind == BCRI_OUTBOX_CANCEL ? take_cancel(requester, slot, slot_ref)
                                      : take_order(requester, slot, slot_ref);
}

/* Model: outbox.pml */
static bool take_next(struct requester *requester)
{
    struct bcri_agent *agent = requester->agent;
    enum bcri_outbox_kind kind;
    bcri_ref slot_ref;
    if (!bcri_outbox_look(requester->outbox, requester->taken, &kind, &slot_ref))
        return false;
    if (!take_entry(requester, kind, slot_ref)) {
        if (agent->ask_at > agent->now + AGAIN_NS)
            agent->ask_at = agent->now + AGAIN_NS;
        return false;
    }
    if (++requester->taken % TAKEN_TOGETHER == 0)
        publish_taken(requester);
    return true;
}

/* ---- ends ---- */

/* Tells the hosts of which this CCE has ordered something. False: no memory, for the rest. */
static bool tell_ends(struct requester *requester)
{
    struct stream_out *stream;
    EACH_OF (stream, &requester->streams_out, struct stream_out, of_requester) {
        if (stream->end_told)
            continue;
        struct order *order = bcri_order_new(requester, ORDER_ENDED, stream);
        if (order == NULL)
            return false;
        stream->end_told = true;
        bcri_order_send(order);
    }
    return true;
}

void bcri_ask_tell_ends(struct bcri_agent *agent)
{
    struct requester *requester;
    EACH_OF (requester, &agent->ending, struct requester, of_agent) {
        if (!requester->ends_to_tell)
            continue;
        requester->ends_to_tell = !tell_ends(requester);
        if (requester->ends_to_tell)
            agent->ask_at = agent->now + AGAIN_NS;
        bcri_requester_free_if_over(requester);
    }
}

/* Without memory for all that its outbox says, another time: nobody drops what that names until `forgotten` is told.
 * Model: outbox.pml */
static void forget_if_taken(struct requester *requester)
{
    struct bcri_agent *agent = requester->agent;
    const uint32_t index = requester->index;
    enum bcri_outbox_kind kind;
    bcri_ref slot_ref;
    if (bcri_outbox_look(requester->outbox, requester->taken, &kind, &slot_ref))
        return;
    requester->outbox = NULL;
    bcri_shares_close(requester, BCRI_REF_NONE);
    bcri_table_remove(&agent->requesters_by_ring, &requester->by_ring);
    list_remove(&requester->of_agent);
    list_append(&agent->ending, &requester->of_agent);
    /* Else the next CCE with this number would get the error regions of this one. */
    struct untold *untold;
    EACH_OF (untold, &agent->untold, struct untold, of_agent)
        if (untold->index == index) {
            list_remove(&untold->of_agent);
            record_free(untold);
        }
    struct order *order;
    EACH_OF (order, &requester->orders, struct order, of_requester) {
        struct bcri_slot_shm *slot = bcri_order_id(order);
        if (slot != NULL)
            bcri_store_release(&slot->word, 0);
        order->slot_ref = BCRI_REF_NONE;
        if (order_outlives(order))
            continue;
        order->answered = true;
        bcri_order_end_if_over(order);
    }
    requester->forgotten = requester->ends_to_tell = true;
    bcri_ask_tell_ends(agent);
    agent->events->forgotten(agent->owner, index);
}

/* ---- taking all ---- */

/* Model: wake.pml */
static void take_entries(struct requester *requester)
{
    const uint64_t taken = requester->taken;
    while (take_next(requester))
        ;
    if (requester->taken != taken)
        publish_taken(requester);
    if (requester->has_ended)
        forget_if_taken(requester);
}

void bcri_ask_take_all(struct bcri_agent *agent)
{
    struct requester *requester;
    EACH_OF (requester, &agent->requesters, struct requester, of_agent)
        take_entries(requester);
}

void bcri_ask_take_of(struct bcri_agent *agent, uint32_t low)
{
    struct requester *requester;
    EACH_WITH (requester, &agent->requesters_by_ring, low, struct requester, by_ring)
        take_entries(requester);
}

void bcri_agent_forget(struct bcri_agent *agent, uint32_t index)
{
    struct requester *requester;
    EACH_OF (requester, &agent->requesters, struct requester, of_agent)
        if (requester->index == index) {
            requester->has_ended = true;
            take_entries(requester);
            return;
        }
    agent->events->forgotten(agent->owner, index);
}

/* ---- the end ---- */

static void drop_streams_of(struct requester *requester, const struct peer *peer)
{
    struct stream_out *stream;
    EACH_OF (stream, &requester->streams_out, struct stream_out, of_requester) {
        if (stream->peer != peer)
            continue;
        bcri_shares_close(requester, BCRI_REF_NONE); /* a bcr_putm that goes on begins others */
        list_remove(&stream->of_requester);
        bcri_table_remove(&requester->agent->streams_out, &stream->at);
        record_free(stream);
    }
}

void bcri_ask_drop_streams(struct peer *peer)
{
    struct requester *requester;
    EACH_OF (requester, &peer->agent->requesters, struct requester, of_agent)
        drop_streams_of(requester, peer);
    EACH_OF (requester, &peer->agent->ending, struct requester, of_agent)
        drop_streams_of(requester, peer);
}

void bcri_ask_free(struct bcri_agent *agent)
{
    struct requester *requester;
    list_move(&agent->ending, &agent->requesters);
    EACH_OF (requester, &agent->requesters, struct requester, of_agent)
        bcri_shares_close(requester, BCRI_REF_NONE);
    for (uint32_t i = 0; i < agent->place_count; i++) {
        struct order *order = agent->places[i].order;
        if (order != NULL && order->share != NULL)
            bcri_order_let_go(order);
        free(order);
    }
    bcri_shares_end(agent);
    free(agent->places);
    while ((requester = FIRST_OF(&agent->requesters, struct requester, of_agent)) != NULL) {
        requester->orders = (struct list){0};
        requester->forgotten = true;
        requester->ends_to_tell = false;
        bcri_requester_free_if_over(requester);
    }
    struct untold *untold;
    while ((untold = TAKE_FIRST(&agent->untold, struct untold, of_agent)) != NULL)
        record_free(untold);
}

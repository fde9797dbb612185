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

/* How many entries are taken before their CCE is told. */
enum { TAKEN_TOGETHER = 32, FIRST_PLACES = 64 };

/* ---- orders ---- */

/* Makes more places. False: no memory. */
static bool make_places(struct bcri_agent *agent)
{
    const uint32_t count = agent->place_count != 0 ? 2 * agent->place_count : FIRST_PLACES;
    struct place *places = realloc(agent->places, count * sizeof *places);
    if (places == NULL)
        return false;
    for (uint32_t i = agent->place_count; i < count; i++)
        places[i] = (struct place){.next_free = i + 1 < count ? i + 1 : NO_PLACE};
    agent->place_free = agent->place_count;
    agent->places = places;
    agent->place_count = count;
    return true;
}

static struct order *new_order(struct requester *requester, uint32_t op, struct route *route)
{
    struct bcri_agent *agent = requester->agent;
    if (agent->place_free == NO_PLACE && !make_places(agent))
        return NULL;
    struct order *order = record_take(&agent->orders);
    if (order == NULL)
        return NULL;
    const uint32_t place = agent->place_free;
    *order = (struct order){.requester = requester,
                            .op = op,
                            .route = route,
                            .request = (uint64_t)++agent->order_last << 32 | place};
    agent->place_free = agent->places[place].next_free;
    agent->places[place].order = order;
    agent->order_count++;
    requester->datas += op == ORDER_DATA;
    list_append(&requester->orders, &order->of_requester);
    return order;
}

/* ---- sending ---- */

static struct bcri_message message_of(const struct order *order, const struct bcri_region_shm *header)
{
    struct bcri_message message = {.request = order->request,
                                   .cell = order->cell,
                                   .msec = (int)(uint32_t)order->key,
                                   .archtype = header != NULL ? header->archtype : 0,
                                   .error = header != NULL ? header->error : 0};
    memcpy(message.owner, order->owner + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, BCRI_SECRET_BYTES);
    switch (order->op) {
    case BCRI_ORDER_PUT: message.kind = BCRI_MESSAGE_PUT; break;
    case BCRI_ORDER_WRITE:
        message.kind = BCRI_MESSAGE_PUT;
        message.flags = BCRI_MESSAGE_WRITE;
        break;
    case BCRI_ORDER_RETURN:
        message.kind = BCRI_MESSAGE_PUT;
        message.flags = BCRI_MESSAGE_RETURN;
        break;
    case BCRI_ORDER_ZAP: message.kind = BCRI_MESSAGE_ZAP; break;
    case BCRI_ORDER_LENGTH: message.kind = BCRI_MESSAGE_LENGTH; break;
    case ORDER_ENDED: message.kind = BCRI_MESSAGE_ENDED; break;
    case ORDER_DATA: message.kind = BCRI_MESSAGE_DATA; break;
    default:
        message.kind = BCRI_MESSAGE_GET;
        message.flags = order->op | ((order->key & BCRI_ORDER_LOCKS) != 0 ? BCRI_MESSAGE_LOCKS : 0);
    }
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
    if (bcri_agent_send(order->route->peer, order->requester->index,
                        is_data ? BCRI_DATA_TARGET : order->route->target, &message,
                        is_same ? NULL : order->region, order)) {
        if (is_data && share != NULL)
            share->data = order->request;
        return;
    }
    order->sent = false;
    bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
}

static void send_or_wait(struct order *order)
{
    struct peer *peer = order->route->peer;
    if (peer->lost) {
        bcri_ask_answer(order, bcrE_DEAD, 0, NULL);
        return;
    }
    if (peer->link != NULL) {
        send_order(order);
        return;
    }
    bcri_peer_want_link(peer);
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

/* ---- taking entries ---- */

/* What an ID says; false: it is no order, so the CCE has not written it. */
static bool read_order(const struct bcri_slot_shm *slot, uint32_t *op_out)
{
    *op_out = bcri_load(&slot->kind) & 0xffu;
    return bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_ORDERED && *op_out < BCRI_ORDER_OPS;
}

/* The way to an owner. NULL: no memory. */
static struct route *route_to(struct requester *requester, const uint8_t *owner)
{
    struct bcri_agent *agent = requester->agent;
    const uint32_t host = bcri_identity_host(owner), target = bcri_identity_index(owner);
    const uint64_t key = (uint64_t)host << 32 | (uint64_t)requester->index << 16 | (target & 0xffffu);
    struct entry *at = table_find(&agent->routes, key);
    for (; at != NULL; at = table_next(at->next, key)) {
        struct route *route = RECORD_OF(at, struct route, at);
        if (route->requester == requester && route->target == target)
            return route;
    }
    struct peer *peer = bcri_peer_of(agent, host);
    struct route *route = peer != NULL ? calloc(1, sizeof *route) : NULL;
    if (route == NULL)
        return NULL;
    route->requester = requester;
    route->peer = peer;
    route->target = target;
    bcri_table_add(&agent->routes, &route->at, key);
    list_append(&requester->routes, &route->of_requester);
    list_init(&route->puts);
    return route;
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

/* The CCE waits for its puts: their hosts are to answer at once. Without memory they answer a little later. */
static void tell_waiting(struct requester *requester)
{
    const struct bcri_message sync = {.kind = BCRI_MESSAGE_SYNC};
    if (list_is_empty(&requester->syncs))
        return;
    for (struct item *at = requester->busy.head.next; at != &requester->busy.head; at = at->next) {
        const struct route *route = RECORD_OF(at, struct route, of_busy);
        (void)bcri_agent_send(route->peer, requester->index, route->target, &sync, NULL, NULL);
    }
}

/* When it is answered, the CCE counts on this entry's being taken. */
static bool take_sync(struct requester *requester, struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    struct order *order = new_order(requester, BCRI_ORDER_SYNC, NULL);
    if (order == NULL)
        return false;
    order->key = bcri_load(&slot->key);
    order->slot_ref = slot_ref;
    bcri_store(&slot->given, order->request);
    requester->taken++;
    publish_taken(requester);
    requester->taken--;
    bcri_ask_sync(order);
    tell_waiting(requester);
    return true;
}

/* The region of a bcr_putm goes to its host once. Without memory, or if a CCE has its count, the put goes by itself. */
static void share_region(struct order *order)
{
    const bcri_ref ref = bcri_slot_region(bcri_load(&order->region->word));
    order->share = bcri_share_find(order->route, ref);
    if (order->share != NULL &&
        order->share->key != order->key) { /* a handler's, which waits for another time */
        bcri_shares_close(order->requester, BCRI_REF_NONE);
        order->share = NULL;
    }
    if (order->share == NULL) {
        struct order *data = new_order(order->requester, ORDER_DATA, order->route);
        if (data == NULL)
            return;
        data->key = order->key;
        if ((order->share = bcri_share_new(data, ref)) == NULL) {
            data->answered = true;
            bcri_order_end_if_over(data);
            return;
        }
        bcri_shares_close(order->requester, ref); /* all SAMEs of the last DATA were sent before this one */
        send_or_wait(data);
    }
    order->share->orders++;
}

/* False: not now. */
static bool take_order(struct requester *requester, struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    uint32_t op;
    if (!read_order(slot, &op))
        return true;
    if (op == BCRI_ORDER_SYNC)
        return take_sync(requester, slot, slot_ref);
    const bool is_put = bcri_order_is_put(op);
    const uint64_t identity[2] = {bcri_load(&slot->next), bcri_load(&slot->prev)};
    uint8_t owner[BCRI_IDENTITY_BYTES];
    memcpy(owner, identity, sizeof owner);
    struct route *route = route_to(requester, owner);
    struct order *order = route != NULL ? new_order(requester, op, route) : NULL;
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
        list_append(&route->puts, &order->in_queue);
        if (!is_listed(&route->of_busy))
            list_append(&requester->busy, &route->of_busy);
        if ((order->key & BCRI_ORDER_SHARES) != 0)
            share_region(order);
    }
    if (bcri_order_is_get(op))
        bcri_store(&slot->given, order->request); /* for a CANCEL */
    send_or_wait(order);
    return true;
}

/* The answer of a get that is cancelled comes from its cell. False: not now. */
static bool take_cancel(struct requester *requester, const struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    const struct bcri_agent *agent = requester->agent;
    const uint64_t request = bcri_load(&slot->given);
    const uint32_t place = (uint32_t)request;
    struct order *order = place < agent->place_count ? agent->places[place].order : NULL;
    if (order == NULL || order->request != request || order->slot_ref != slot_ref || order->answered)
        return true;
    const bool is_sync = order->op == BCRI_ORDER_SYNC;
    if (!is_sync && !bcri_order_is_get(order->op))
        return true;
    if (is_sync || order->route->peer->link == NULL) { /* it was never sent */
        bcri_ask_answer(order, bcrE_TIMEOUT, 0, NULL);
        return true;
    }
    const struct bcri_message message = {.kind = BCRI_MESSAGE_CANCEL, .request = request};
    return bcri_agent_send(order->route->peer, requester->index, order->route->target, &message, NULL, NULL);
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
    struct item *next, *at = requester->routes.head.next;
    for (; at != &requester->routes.head; at = next) {
        struct route *route = RECORD_OF(at, struct route, of_requester);
        next = at->next;
        if (route->end_told)
            continue;
        struct order *order = new_order(requester, ORDER_ENDED, route);
        if (order == NULL)
            return false;
        route->end_told = true;
        send_or_wait(order);
    }
    return true;
}

void bcri_ask_tell_ends(struct bcri_agent *agent)
{
    struct item *next, *at = agent->ending.head.next;
    for (; at != &agent->ending.head; at = next) {
        struct requester *requester = RECORD_OF(at, struct requester, of_agent);
        next = at->next;
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
    bcri_ask_forget_untold(agent, index);
    struct item *next, *at = requester->orders.head.next;
    for (; at != &requester->orders.head; at = next) {
        struct order *order = RECORD_OF(at, struct order, of_requester);
        struct bcri_slot_shm *slot = bcri_order_id(order);
        next = at->next;
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
    if (agent->events->forgotten != NULL)
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
    struct item *next, *at = agent->requesters.head.next;
    for (; at != &agent->requesters.head; at = next) {
        next = at->next;
        take_entries(RECORD_OF(at, struct requester, of_agent));
    }
}

void bcri_ask_take_of(struct bcri_agent *agent, uint32_t low)
{
    struct entry *next, *at = table_find(&agent->requesters_by_ring, low);
    for (; at != NULL; at = next) {
        next = table_next(at->next, low);
        take_entries(RECORD_OF(at, struct requester, by_ring));
    }
}

void bcri_ask_forget(struct requester *requester)
{
    requester->has_ended = true;
    take_entries(requester);
}

/* ---- hosts that are lost, or unknown ---- */

void bcri_ask_fail(struct peer *peer, int code)
{
    struct bcri_agent *agent = peer->agent;
    for (struct order *order; (order = STAILQ_FIRST(&peer->waiting)) != NULL;) {
        STAILQ_REMOVE_HEAD(&peer->waiting, waiting);
        order->sent = false;
        if (order->op == ORDER_ENDED)
            order->answered = true;
        if (order->answered)
            bcri_order_end_if_over(order);
    }
    for (uint32_t i = 0; i < agent->place_count; i++) {
        struct order *order = agent->places[i].order;
        if (order != NULL && order->route != NULL && order->route->peer == peer && !order->answered)
            bcri_ask_answer(order, code, 0, NULL);
    }
}

static void drop_routes_of(struct requester *requester, const struct peer *peer)
{
    struct item *next, *at = requester->routes.head.next;
    for (; at != &requester->routes.head; at = next) {
        struct route *route = RECORD_OF(at, struct route, of_requester);
        next = at->next;
        if (route->peer != peer)
            continue;
        bcri_shares_close(requester, BCRI_REF_NONE); /* a bcr_putm that goes on begins others */
        list_remove(at);
        bcri_table_remove(&requester->agent->routes, &route->at);
        record_free(route);
    }
}

void bcri_ask_drop_routes(struct peer *peer)
{
    const struct list *const lists[] = {&peer->agent->requesters, &peer->agent->ending};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (struct item *at = lists[i]->head.next; at != &lists[i]->head; at = at->next)
            drop_routes_of(RECORD_OF(at, struct requester, of_agent), peer);
}

void bcri_ask_free(struct bcri_agent *agent)
{
    struct requester *requester;
    list_move(&agent->ending, &agent->requesters);
    for (struct item *at = agent->requesters.head.next; at != &agent->requesters.head; at = at->next)
        bcri_shares_close(RECORD_OF(at, struct requester, of_agent), BCRI_REF_NONE);
    for (uint32_t i = 0; i < agent->place_count; i++) {
        struct order *order = agent->places[i].order;
        if (order != NULL && order->share != NULL)
            bcri_order_let_go(order);
        free(order);
    }
    bcri_shares_end(agent);
    free(agent->places);
    while ((requester = FIRST_OF(&agent->requesters, struct requester, of_agent)) != NULL) {
        list_init(&requester->orders);
        requester->forgotten = true;
        requester->ends_to_tell = false;
        bcri_requester_free_if_over(requester);
    }
    struct untold *untold;
    while ((untold = FIRST_OF(&agent->untold, struct untold, of_agent)) != NULL) {
        list_remove(&untold->of_agent);
        record_free(untold);
    }
}

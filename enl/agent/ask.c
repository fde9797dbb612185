/* SPDX-License-Identifier: MIT */
/* ask.c -- orders of this host's CCEs: out of their outboxes, to the hosts of the cells, and the
 * answers back into their IDs. docs/states/order.md. */
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/cell0.h"
#include "bcri/drop.h"
#include "bcri/region.h"

#include "private.h"

#define TRY_AGAIN_NS (UINT64_C(1000) * 1000) /* when there was no memory */

/* ---- orders ---- */

static struct order *new_order(struct asker *asker, uint32_t op)
{
    struct bcri_agent *agent = asker->agent;
    struct order *order = calloc(1, sizeof *order);
    if (order == NULL)
        return NULL;
    if (agent->order_count == agent->order_room) {
        const uint32_t room = agent->order_room != 0 ? 2 * agent->order_room : 64;
        struct order **orders = realloc(agent->orders, room * sizeof(struct order *));
        if (orders == NULL) {
            free(order);
            return NULL;
        }
        memset(orders + agent->order_room, 0, (room - agent->order_room) * sizeof(struct order *));
        agent->orders = orders;
        agent->order_room = room;
    }
    while (agent->orders[agent->order_hint] != NULL)
        agent->order_hint = (agent->order_hint + 1) % agent->order_room;
    agent->orders[agent->order_hint] = order;
    agent->order_count++;
    order->request = (uint64_t)++agent->order_last << 32 | agent->order_hint;
    order->asker = asker;
    order->op = op;
    order->next = asker->orders;
    order->at = &asker->orders;
    if (order->next != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed has been taken out of its list */
        order->next->at = &order->next;
    asker->orders = order;
    return order;
}

struct order *bcri_ask_find(struct peer *peer, uint64_t request)
{
    const struct bcri_agent *agent = peer->agent;
    const uint32_t place = (uint32_t)request;
    struct order *order = place < agent->order_room ? agent->orders[place] : NULL;
    return order != NULL && order->request == request && order->peer == peer && !order->answered ? order
                                                                                                 : NULL;
}

static void free_asker(struct asker *asker)
{
    struct asker **at = &asker->agent->askers;
    while (*at != asker)
        at = &(*at)->next;
    *at = asker->next;
    for (struct route *route = asker->routes; route != NULL;) {
        struct route *next = route->next;
        free(route);
        route = next;
    }
    free(asker);
}

/* Frees an order that is over, and its CCE's part when that was the last of a CCE that has ended. */
static void end_if_over(struct order *order)
{
    struct asker *asker = order->asker;
    struct bcri_agent *agent = asker->agent;
    if (!order->answered || order->sent)
        return;
    if (order->region != NULL)
        bcri_slot_drop(agent->ctx, order->region);
    agent->orders[(uint32_t)order->request] = NULL;
    agent->order_count--;
    *order->at = order->next;
    if (order->next != NULL)
        order->next->at = order->at;
    free(order);
    if (asker->forgotten && asker->orders == NULL)
        free_asker(asker);
}

/* ---- answers ---- */

static struct bcri_slot_shm *id_of(const struct order *order)
{
    return order->slot_ref != BCRI_REF_NONE ? bcri_at(order->asker->agent->ctx, order->slot_ref) : NULL;
}

/* The one store that answers. From then on the ID is the CCE's. */
static void answer_id(struct order *order, uint64_t word, int code, uint64_t value)
{
    struct bcri_slot_shm *slot = id_of(order);
    order->slot_ref = BCRI_REF_NONE;
    if (slot == NULL)
        return;
    bcri_store(&slot->given, (uint64_t)code);
    if (code == 0)
        bcri_store(&slot->key, value);
    bcri_store_release(&slot->word, word);
    bcri_bell_ring_index(order->asker->agent->ctx, order->asker->index, BCRI_REF_NONE);
}

/* False: the agent is parked. */
static bool put_error(struct bcri_agent *agent, const struct untold *error)
{
    agent->ctx->daemon.parked = 0;
    return bcri_error_put(agent->ctx, error->index, error->code, error->op, error->owner, error->cell) !=
           bcrE_TIMEOUT;
}

void bcri_ask_tell_again(struct bcri_agent *agent)
{
    while (agent->untold != NULL) {
        struct untold *untold = agent->untold;
        if (!put_error(agent, untold)) {
            agent->parked = true;
            return;
        }
        agent->untold = untold->next;
        free(untold);
    }
}

/* A put has failed, which its CCE could not know when it ordered it. */
static void tell(const struct order *order, int code)
{
    struct bcri_agent *agent = order->asker->agent;
    const bool regions = (order->key & BCRI_ORDER_ERRORS) != 0 && order->asker->outbox != NULL;
    bcri_agent_note(agent, "a put of CCE %u into cell %d of CCE %u on host %u failed: %s",
                    order->asker->index, order->cell, bcri_identity_index(order->owner),
                    bcri_identity_host(order->owner), bcr_strerror(code));
    struct untold error = {.next = agent->untold,
                           .index = order->asker->index,
                           .code = code,
                           .op = (order->key & BCRI_ORDER_PUTM) != 0 ? bcr_op_putm : bcr_op_put,
                           .cell = order->cell};
    memcpy(error.owner, order->owner, sizeof error.owner);
    if (!regions || put_error(agent, &error))
        return;
    struct untold *untold = malloc(sizeof *untold);
    if (untold == NULL)
        return;
    *untold = error;
    agent->untold = untold;
    agent->parked = true;
}

/* Answers the CCE's SYNCs that wait for puts which are completed now. */
static void look_at_syncs(struct asker *asker)
{
    struct order *next;
    for (struct order *order = asker->orders; order != NULL; order = next) {
        next = order->next;
        if (order->op != BCRI_ORDER_SYNC || (int64_t)(asker->completed - order->key) < 0)
            continue;
        answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, BCRI_REF_NONE), 0, 0);
        order->answered = true;
        end_if_over(order);
    }
}

static void complete_put(struct order *order, int code)
{
    struct asker *asker = order->asker;
    asker->completed++;
    if (code != 0 && order->op != BCRI_ORDER_RETURN)
        tell(order, code);
    if (asker->outbox == NULL)
        return;
    bcri_store_release(&asker->outbox->completed, asker->completed);
    look_at_syncs(asker);
}

/* The CCE's ID takes the hold of the agent's. */
static void hand_over(struct order *order, struct bcri_slot_shm *region)
{
    struct bcri_ctx *ctx = order->asker->agent->ctx;
    const bcri_ref ref = bcri_slot_region(bcri_load(&region->word));
    if (id_of(order) == NULL) {
        bcri_slot_drop(ctx, region);
        return;
    }
    bcri_store(&region->word, 0);
    bcri_slot_give(ctx, region);
    answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, ref), 0, 0);
}

void bcri_ask_answer(struct order *order, int code, uint64_t value, struct bcri_slot_shm *region)
{
    order->answered = true;
    if (bcri_order_is_put(order->op))
        complete_put(order, code);
    else if (region != NULL)
        hand_over(order, region);
    else if (code != 0 || bcri_order_is_get(order->op))
        answer_id(order, bcri_slot_word(BCRI_SLOT_FAILED, 0, BCRI_REF_NONE), code != 0 ? code : bcrE_INTERNAL,
                  0);
    else
        answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, BCRI_REF_NONE), 0, value);
    end_if_over(order);
}

/* The link has done with the message of an order. A put whose region was refused is over. */
void bcri_ask_completed(struct order *order, enum bcri_link_outcome outcome)
{
    struct bcri_agent *agent = order->asker->agent;
    order->sent = false;
    if (order->region != NULL) {
        bcri_slot_drop(agent->ctx, order->region);
        order->region = NULL;
    }
    if (order->op == ORDER_ENDED)
        order->answered = true;
    if (order->answered || outcome == BCRI_LINK_ARRIVED)
        end_if_over(order);
    else if (outcome == BCRI_LINK_REFUSED)
        bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
    else if (order->peer->link != NULL) /* its stream has ended */
        bcri_ask_answer(order, bcrE_DEAD, 0, NULL);
    /* else bcri_ask_lost answers */
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
    default:
        message.kind = BCRI_MESSAGE_GET;
        message.flags = order->op | ((order->key & BCRI_ORDER_LOCKS) != 0 ? BCRI_MESSAGE_LOCKS : 0);
    }
    return message;
}

static void send_order(struct order *order)
{
    struct bcri_ctx *ctx = order->asker->agent->ctx;
    const struct bcri_region_shm *header =
        order->region != NULL ? bcri_at_held(ctx, bcri_slot_region(bcri_load(&order->region->word))) : NULL;
    const struct bcri_message message = message_of(order, header);
    order->sent = true;
    if (bcri_agent_send(order->peer, order->asker->index, bcri_identity_index(order->owner), &message,
                        order->region, (struct sent){.order = order}))
        return;
    order->sent = false;
    bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
}

static void send_or_wait(struct order *order)
{
    struct peer *peer = order->peer;
    if (peer->lost) {
        bcri_ask_answer(order, bcrE_DEAD, 0, NULL);
        return;
    }
    if (peer->link != NULL) {
        send_order(order);
        return;
    }
    order->sent = true; /* it stands in a list */
    order->next_waiting = NULL;
    *peer->waiting_end = order;
    peer->waiting_end = &order->next_waiting;
}

void bcri_ask_send_waiting(struct peer *peer)
{
    struct order *order = peer->waiting;
    peer->waiting = NULL;
    peer->waiting_end = &peer->waiting;
    while (order != NULL) {
        struct order *next = order->next_waiting;
        order->sent = false;
        if (order->answered && !bcri_order_is_put(order->op))
            end_if_over(order); /* its CCE has ended */
        else
            send_order(order);
        order = next;
    }
}

/* ---- taking entries ---- */

/* What an ID says; false: it is no order, so the CCE has not written it. */
static bool read_order(const struct bcri_slot_shm *slot, uint32_t *op_out)
{
    *op_out = bcri_load(&slot->kind) & 0xffu;
    return bcri_slot_state(bcri_load_acquire(&slot->word)) == BCRI_SLOT_ORDERED && *op_out < BCRI_ORDER_OPS;
}

static bool note_route(struct asker *asker, struct peer *peer, const uint8_t *owner)
{
    for (const struct route *route = asker->routes; route != NULL; route = route->next)
        if (memcmp(route->owner, owner, BCRI_IDENTITY_BYTES) == 0)
            return true;
    struct route *route = calloc(1, sizeof *route);
    if (route == NULL)
        return false;
    route->next = asker->routes;
    route->peer = peer;
    memcpy(route->owner, owner, BCRI_IDENTITY_BYTES);
    asker->routes = route;
    return true;
}

/* Takes the hold of a put over: the agent's ID names the region before the CCE's is free. False: not
 * now, for want of memory for an ID. A region that the agent cannot map stays held by the CCE's ID
 * until that ends; the put fails. */
static bool take_region(struct order *order, struct bcri_slot_shm *slot)
{
    struct bcri_ctx *ctx = order->asker->agent->ctx;
    const bcri_ref ref = bcri_slot_region(bcri_load(&slot->word));
    if (bcri_at(ctx, ref) == NULL) {
        bcri_store_release(&slot->word, bcri_slot_word(BCRI_SLOT_KEPT, 0, ref));
        return true;
    }
    if ((order->region = bcri_slot_take(ctx)) == NULL)
        return false;
    bcri_slot_name(order->region, ref, bcri_region_data(ctx, ref));
    bcri_store_release(&slot->word, 0);
    return true;
}

static void forget_new(struct order *order)
{
    order->answered = true;
    end_if_over(order);
}

/* False: not now. */
static bool take_order(struct asker *asker, struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    struct bcri_agent *agent = asker->agent;
    uint32_t op;
    if (!read_order(slot, &op))
        return true;
    struct order *order = new_order(asker, op);
    if (order == NULL)
        return false;
    order->key = bcri_load(&slot->key);
    order->cell = (int)bcri_load(&slot->sub);
    order->slot_ref = bcri_order_is_put(op) ? BCRI_REF_NONE : slot_ref;
    if (op == BCRI_ORDER_SYNC) {
        bcri_store(&slot->given, order->request);
        look_at_syncs(asker);
        return true;
    }
    const uint64_t identity[2] = {bcri_load(&slot->next), bcri_load(&slot->prev)};
    memcpy(order->owner, identity, sizeof order->owner);
    order->peer = bcri_agent_peer(agent, bcri_identity_host(order->owner));
    if (order->peer == NULL || !note_route(asker, order->peer, order->owner) ||
        (bcri_order_is_put(op) && !take_region(order, slot))) {
        forget_new(order);
        return false;
    }
    if (bcri_order_is_put(op) && order->region == NULL)
        bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
    else {
        if (bcri_order_is_get(op))
            bcri_store(&slot->given, order->request); /* for a CANCEL */
        send_or_wait(order);
    }
    return true;
}

/* The answer of a get that is cancelled comes from its cell. False: not now. */
static bool take_cancel(struct asker *asker, const struct bcri_slot_shm *slot, bcri_ref slot_ref)
{
    const struct bcri_agent *agent = asker->agent;
    const uint64_t request = bcri_load(&slot->given);
    const uint32_t place = (uint32_t)request;
    struct order *order = place < agent->order_room ? agent->orders[place] : NULL;
    if (order == NULL || order->request != request || order->slot_ref != slot_ref || order->answered)
        return true;
    const bool is_sync = order->op == BCRI_ORDER_SYNC;
    if (!is_sync && !bcri_order_is_get(order->op))
        return true;
    if (is_sync || order->peer->link == NULL) { /* it was never sent */
        bcri_ask_answer(order, bcrE_TIMEOUT, 0, NULL);
        return true;
    }
    const struct bcri_message message = {.kind = BCRI_MESSAGE_CANCEL, .request = request};
    return bcri_agent_send(order->peer, asker->index, bcri_identity_index(order->owner), &message, NULL,
                           (struct sent){0});
}

/* Model: outbox.pml */
static bool take_next(struct asker *asker)
{
    struct bcri_agent *agent = asker->agent;
    enum bcri_outbox_kind kind;
    bcri_ref slot_ref;
    if (!bcri_outbox_look(asker->outbox, asker->taken, &kind, &slot_ref))
        return false;
    struct bcri_slot_shm *slot = bcri_at(agent->ctx, slot_ref);
    if (slot != NULL && !(kind == BCRI_OUTBOX_CANCEL ? take_cancel(asker, slot, slot_ref)
                                                     : take_order(asker, slot, slot_ref))) {
        if (agent->deadline > agent->now + TRY_AGAIN_NS)
            agent->deadline = agent->now + TRY_AGAIN_NS;
        return false;
    }
    asker->taken++;
    bcri_store_release(&asker->outbox->taken, asker->taken);
    return true;
}

void bcri_ask_take(struct bcri_agent *agent)
{
    for (struct asker *asker = agent->askers, *next; asker != NULL; asker = next) {
        next = asker->next;
        while (asker->outbox != NULL && take_next(asker))
            ;
    }
}

/* ---- ends ---- */

static void tell_ended(struct asker *asker, const struct route *route)
{
    struct order *order = new_order(asker, ORDER_ENDED);
    if (order == NULL)
        return; /* the other host waits for this CCE until the program ends */
    order->peer = route->peer;
    memcpy(order->owner, route->owner, sizeof order->owner);
    send_or_wait(order);
}

/* Else the next CCE with this number would get the error regions of this one. */
static void forget_untold(struct bcri_agent *agent, uint32_t index)
{
    for (struct untold **at = &agent->untold; *at != NULL;) {
        struct untold *untold = *at;
        if (untold->index != index) {
            at = &untold->next;
            continue;
        }
        *at = untold->next;
        free(untold);
    }
}

/* Model: outbox.pml */
void bcri_ask_forget(struct asker *asker)
{
    while (take_next(asker))
        ;
    asker->outbox = NULL;
    forget_untold(asker->agent, asker->index);
    struct order *next;
    for (struct order *order = asker->orders; order != NULL; order = next) {
        struct bcri_slot_shm *slot = id_of(order);
        next = order->next;
        if (bcri_order_is_put(order->op))
            continue;
        if (slot != NULL)
            bcri_store_release(&slot->word, 0);
        order->slot_ref = BCRI_REF_NONE;
        order->answered = true;
        end_if_over(order);
    }
    for (const struct route *route = asker->routes; route != NULL; route = route->next)
        tell_ended(asker, route);
    asker->forgotten = true;
    if (asker->orders == NULL)
        free_asker(asker);
}

void bcri_ask_lost(struct peer *peer)
{
    struct bcri_agent *agent = peer->agent;
    for (struct order *order = peer->waiting, *next; order != NULL; order = next) {
        next = order->next_waiting;
        order->sent = false;
        if (order->op == ORDER_ENDED)
            order->answered = true;
        if (order->answered)
            end_if_over(order);
    }
    peer->waiting = NULL;
    peer->waiting_end = &peer->waiting;
    for (uint32_t i = 0; i < agent->order_room; i++)
        if (agent->orders[i] != NULL && agent->orders[i]->peer == peer && !agent->orders[i]->answered)
            bcri_ask_answer(agent->orders[i], bcrE_DEAD, 0, NULL);
}

void bcri_ask_free(struct bcri_agent *agent)
{
    for (uint32_t i = 0; i < agent->order_room; i++)
        free(agent->orders[i]);
    free(agent->orders);
    while (agent->askers != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed has been taken out of its list */
        free_asker(agent->askers);
    for (struct untold *untold = agent->untold, *next; untold != NULL; untold = next) {
        next = untold->next;
        free(untold);
    }
}

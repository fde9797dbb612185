/* SPDX-License-Identifier: MIT */
/* answer.c -- the answers of orders, into the IDs of this host's CCEs. docs/states/order.md. */
#include "links/agent/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "bcri/bell.h"
#include "bcri/cell0.h"
#include "bcri/drop.h"

struct order *bcri_order_find(const struct bcri_agent *agent, uint64_t request)
{
    const uint32_t place = (uint32_t)request;
    struct order *order = place < agent->place_count ? agent->places[place].order : NULL;
    return order != NULL && order->request == request && !order->answered ? order : NULL;
}

void bcri_requester_free_if_over(struct requester *requester)
{
    struct bcri_agent *agent = requester->agent;
    struct stream_out *stream;
    if (!requester->forgotten || !list_is_empty(&requester->orders) || requester->ends_to_tell)
        return;
    list_remove(&requester->of_agent);
    while ((stream = TAKE_FIRST(&requester->streams_out, struct stream_out, of_requester)) != NULL) {
        bcri_table_remove(&agent->streams_out, &stream->at);
        record_free(stream);
    }
    record_free(requester);
}

/* ---- into IDs ---- */

/* What the CCE is told: also whether the whole host has ended. */
static uint32_t code_as_told(const struct order *order, int code)
{
    const bool lost = code == bcrE_DEAD && order->stream != NULL && order->stream->peer->lost;
    return (uint32_t)code | (lost ? BCRI_ORDER_HOST_LOST : 0);
}

/* The one store that answers. From then on the ID is the CCE's, and still says which cell the order was for. */
static void answer_id(struct order *order, uint64_t word, int code, uint64_t value)
{
    struct bcri_slot_shm *slot = bcri_order_id(order);
    order->slot_ref = BCRI_REF_NONE;
    if (slot == NULL)
        return;
    bcri_store(&slot->given, bcri_order_given(code_as_told(order, code), bcri_current_cpu()));
    if (code == 0)
        bcri_store(&slot->key, value);
    bcri_store_release(&slot->word, word);
    bcri_bell_ring_index(order->requester->agent->ctx, order->requester->index, BCRI_REF_NONE);
}

/* ---- the end of an order ---- */

static void publish_completed(struct requester *requester);

/* Model: outbox.pml */
void bcri_order_end_if_over(struct order *order)
{
    struct requester *requester = order->requester;
    struct bcri_agent *agent = requester->agent;
    const struct bcri_slot_shm *slot;
    const uint32_t place = (uint32_t)order->request;
    if (!order->answered || order->sent)
        return;
    if (order->region != NULL)
        bcri_order_let_go(order);
    if (bcri_order_is_put(order->op) && (slot = bcri_order_id(order)) != NULL) {
        /* The CCE waits for it, and has its region for itself again if that was not put: so it is answered when the link
         * and the agent have let go of that. A region that could not be taken is held by the ID still. */
        const bcri_ref left = bcri_slot_region(bcri_load(&slot->word));
        answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, left), order->code, 0);
    }
    if (order->op == ORDER_DATA) {
        requester->datas--;
        publish_completed(requester);
    }
    if (order->over != NULL)
        order->over(order);
    agent->places[place] = (struct order_place){.next_free = agent->place_free};
    agent->place_free = place;
    list_remove(&order->of_requester);
    list_remove(&order->in_queue);
    record_give(&agent->orders, order);
    if (requester->go_on != NULL)
        requester->go_on(requester);
    else
        bcri_requester_free_if_over(requester);
}

/* ---- errors of puts ---- */

/* The next put there is to tell. No put can fail before the CCE has read what was told BCRI_OUTBOX_WINDOW puts
 * ago. */
static void tell_outbox(const struct order *order, int code)
{
    struct requester *requester = order->requester;
    struct bcri_outbox_shm *outbox = requester->outbox;
    if (outbox == NULL)
        return;
    struct bcri_failure_shm *failure = &outbox->failure[requester->failed % BCRI_OUTBOX_WINDOW];
    uint64_t identity[2];
    memcpy(identity, order->owner, sizeof identity);
    bcri_store(&failure->owner[0], identity[0]);
    bcri_store(&failure->owner[1], identity[1]);
    bcri_store(&failure->cell, (uint32_t)order->cell);
    bcri_store(&failure->code, code_as_told(order, code));
    bcri_store_release(&outbox->failed, ++requester->failed);
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
    struct untold *untold;
    while ((untold = FIRST_OF(&agent->untold, struct untold, of_agent)) != NULL) {
        if (!put_error(agent, untold)) {
            bcri_agent_parks(agent);
            return;
        }
        list_remove(&untold->of_agent);
        record_free(untold);
    }
}

/* A put has failed, which its CCE could not know when it ordered it. `owner_ordinal` is 1 more than the ordinal
 * of the cell's owner, as its host has told; 0: unknown. */
static void tell_put_failed(const struct order *order, int code, uint64_t owner_ordinal)
{
    struct bcri_agent *agent = order->requester->agent;
    const bool regions = (order->key & BCRI_ORDER_ERRORS) != 0 && order->requester->outbox != NULL;
    char requester[BCRI_CCE_TEXT_MAX], owner[32] = "a CCE";
    if (owner_ordinal != 0)
        snprintf(owner, sizeof owner, "CCE %u", (uint32_t)owner_ordinal - 1);
    bcri_agent_note(
        agent, bcri_identity_host(order->owner), "a put of %s into cell %d of %s there failed: %s%s",
        bcri_cce_text(agent->ctx, order->requester->index, requester), order->cell, owner, bcr_strerror(code),
        code == bcrE_NOMEM ? "; or the region is more than half of recvpool (bcrrc) there" : "");
    struct untold error = {.index = order->requester->index,
                           .code = code,
                           .op = (order->key & BCRI_ORDER_PUTM) != 0 ? bcr_op_putm : bcr_op_put,
                           .cell = order->cell};
    memcpy(error.owner, order->owner, sizeof error.owner);
    tell_outbox(order, code);
    /* Errors come in the order in which the puts failed, so not past one that waits. */
    if (!regions || (list_is_empty(&agent->untold) && put_error(agent, &error)))
        return;
    struct untold *untold = malloc(sizeof *untold);
    if (untold == NULL)
        return;
    *untold = error;
    list_append(&agent->untold, &untold->of_agent);
    bcri_agent_parks(agent);
}

/* What a get had taken for nothing does not go back. Where the cell is gone, no CCE could get it anyway. */
static void tell_lost(const struct order *order, int code)
{
    struct bcri_agent *agent = order->requester->agent;
    char requester[BCRI_CCE_TEXT_MAX];
    if (code != bcrE_NOCELL && code != bcrE_DEAD)
        bcri_agent_note(agent, bcri_identity_host(order->owner),
                        "a region that %s gives back to cell %d of a CCE there is lost: %s",
                        bcri_cce_text(agent->ctx, order->requester->index, requester), order->cell,
                        bcr_strerror(code));
}

/* ---- puts ---- */

/* Answers the CCE's SYNCs that wait for puts which are completed now. */
static void look_at_syncs(struct requester *requester)
{
    uint64_t next_at = UINT64_MAX;
    struct order *order;
    EACH_OF (order, &requester->syncs, struct order, in_queue) {
        if (order->key > requester->told) {
            next_at = order->key < next_at ? order->key : next_at;
            continue;
        }
        answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, BCRI_REF_NONE), 0, 0);
        order->answered = true;
        bcri_order_end_if_over(order);
    }
    requester->sync_at = next_at;
}

void bcri_ask_sync(struct order *order)
{
    list_append(&order->requester->syncs, &order->in_queue);
    look_at_syncs(order->requester);
}

static void count_put(struct order *order, int code, uint64_t owner_ordinal)
{
    order->requester->completed++;
    order->code = code;
    if (code != 0 && order->op == BCRI_ORDER_RETURN)
        tell_lost(order, code);
    else if (code != 0 && (order->key & BCRI_ORDER_ANSWERED) == 0)
        tell_put_failed(order, code, owner_ordinal);
}

/* While the link has the region of a bcr_putm, the CCE is not told of the last put: its own region is held. */
static void publish_completed(struct requester *requester)
{
    const uint64_t kept_back = requester->datas != 0 && requester->completed != 0;
    if (requester->outbox == NULL || requester->completed - kept_back <= requester->told)
        return;
    requester->told = requester->completed - kept_back;
    bcri_store_release(&requester->outbox->completed, requester->told);
    if (requester->told >= requester->sync_at)
        look_at_syncs(requester);
}

/* ---- answers ---- */

/* The CCE's ID takes the hold of the agent's. */
static void hand_over(struct order *order, struct bcri_slot_shm *region)
{
    struct bcri_ctx *ctx = order->requester->agent->ctx;
    const bcri_ref ref = bcri_slot_region(bcri_load(&region->word));
    if (bcri_order_id(order) == NULL) {
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
    if (bcri_order_is_put(order->op)) {
        list_remove(&order->in_queue);
        count_put(order, code, value);
        publish_completed(order->requester);
    } else if (region != NULL)
        hand_over(order, region);
    else if (code != 0 || bcri_order_is_get(order->op))
        answer_id(order, bcri_slot_word(BCRI_SLOT_FAILED, 0, BCRI_REF_NONE), code != 0 ? code : bcrE_INTERNAL,
                  0);
    else
        answer_id(order, bcri_slot_word(BCRI_SLOT_ANSWERED, 0, BCRI_REF_NONE), 0, value);
    bcri_order_end_if_over(order);
}

/* What the link has not called arrived may have been refused: then it was none of those. */
void bcri_ask_done_up_to(struct order *last)
{
    struct stream_out *stream = last->stream;
    struct requester *requester = last->requester;
    bool more = bcri_order_is_put(last->op) && is_listed(&last->in_queue);
    if (!more)
        return;
    while (more) {
        struct order *order = FIRST_OF(&stream->puts, struct order, in_queue);
        more = order != last;
        list_remove(&order->in_queue);
        order->done = true;
        order->answered = !order->sent;
        if (order->answered)
            count_put(order, 0, 0);
        if (!more)
            publish_completed(requester);
        bcri_order_end_if_over(order); /* after the last of a CCE that has ended there is no requester */
    }
}

/* The link has done with the message of an order. A put whose region was refused is over. */
void bcri_ask_completed(struct order *order, enum bcri_link_outcome outcome)
{
    order->sent = false;
    if (order->region != NULL)
        bcri_order_let_go(order);
    if (order_has_no_answer(order))
        order->answered = true;
    if (order->done && !order->answered && outcome == BCRI_LINK_ARRIVED)
        bcri_ask_answer(order, 0, 0, NULL);
    else if (order->answered || outcome == BCRI_LINK_ARRIVED)
        bcri_order_end_if_over(order);
    else if (outcome == BCRI_LINK_REFUSED) /* any other reason was told by an answer */
        bcri_ask_answer(order, (order->key & BCRI_ORDER_ANSWERED) != 0 ? bcrE_FULL : bcrE_NOMEM, 0, NULL);
    else if (order->stream->peer->link != NULL) /* its stream has ended */
        bcri_ask_answer(order, bcrE_DEAD, 0, NULL);
    /* else bcri_ask_fail answers */
}

/* SPDX-License-Identifier: MIT */
/* perform.c -- orders of CCEs elsewhere, performed in shared memory by the code that CCEs use. What cannot
 * have a lock now parks its stream, and no other. docs/states/order.md. */
#include <string.h>

#include "bcr/error.h"
#include "bcri/act.h"
#include "bcri/cces.h"
#include "bcri/drop.h"
#include "bcri/lock.h"

#include "links/agent/serve.h"

/* The agent's name for the owner: identities have no secret for those who are not of the program. */
static uint64_t cell_key_of(struct bcri_agent *agent, const struct stream_in *stream,
                            const struct bcri_message *message)
{
    uint8_t identity[BCRI_IDENTITY_BYTES];
    bcri_identity_name(identity, agent->ctx->host->number, stream->target);
    memcpy(identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, message->owner, BCRI_SECRET_BYTES);
    return bcri_resolved_key(bcri_cce_find(agent->ctx, identity), message->cell);
}

/* For the requester's sentence: 1 more than the ordinal of the CCE that the order is for; 0: another has its record. */
static uint64_t owner_ordinal(const struct stream_in *stream, const struct bcri_message *message)
{
    const struct bcri_record_shm *record = bcri_record(stream->peer->agent->ctx, stream->target);
    const bool same = record != NULL && memcmp(record->id.identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES,
                                               message->owner, BCRI_SECRET_BYTES) == 0;
    return same ? (uint64_t)record->id.ordinal + 1 : 0;
}

/* The order is performed. Without memory for its answer it stays where it is, and those behind it wait. */
static enum performed has_been_performed(struct stream_in *stream, struct arrival *arrival, uint32_t flags,
                                         int code, uint64_t value)
{
    arrival->answer =
        (struct bcri_message){.kind = BCRI_MESSAGE_ANSWER,
                              .flags = flags,
                              .code = (uint32_t)code,
                              .request = arrival->message.request,
                              .value = code != 0 ? owner_ordinal(stream, &arrival->message) : value};
    return bcri_serve_answer(stream, &arrival->answer) ? PERFORMED : PERFORM_PARKED;
}

/* A put that has found no room waits. Returns as the act does. */
static struct bcri_acted put_waiting(struct stream_in *stream, const struct arrival *arrival, uint64_t key,
                                     bool write)
{
    const struct bcri_message *message = &arrival->message;
    struct bcri_slot_shm *waits;
    struct served *served = bcri_served_new(stream, message->request, BCRI_WANT_TAKE);
    if (served == NULL)
        return bcri_act_failed(bcrE_NOMEM);
    const struct bcri_acted acted =
        bcri_act_put_waiting(stream->peer->agent->ctx, key, write, arrival->region, &waits);
    if (acted.outcome == BCRI_ACT_WAITS)
        bcri_served_waits(served, SERVED_PUT_WAITS, waits, arrival->late_at);
    else
        bcri_served_free(served);
    return acted;
}

/* A put of a bcr_putm takes a hold of its own. Without one it has failed. */
static enum performed hold_payload(struct stream_in *stream, struct arrival *arrival)
{
    struct payload *payload = arrival->payload;
    if (!payload->has_come && !payload->is_refused) {
        list_append(&payload->blocked, &stream->in_queue);
        return PERFORM_BLOCKED;
    }
    const struct bcri_acted held = bcri_payload_hold(payload, &arrival->region);
    if (held.outcome == BCRI_ACT_PARKED)
        return PERFORM_PARKED;
    arrival->payload = NULL;
    bcri_payload_release(payload);
    return held.error == 0 ? PERFORMED : has_been_performed(stream, arrival, 0, held.error, 0);
}

static enum performed perform_put(struct stream_in *stream, struct arrival *arrival)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct bcri_ctx *ctx = agent->ctx;
    const struct bcri_message *message = &arrival->message;
    const uint64_t key = cell_key_of(agent, stream, message);
    const bool write = (message->flags & BCRI_MESSAGE_WRITE) != 0;
    const bool returns = (message->flags & BCRI_MESSAGE_RETURN) != 0;
    if (arrival->payload != NULL) {
        const enum performed held = hold_payload(stream, arrival);
        if (held != PERFORMED || arrival->region == NULL)
            return held;
    }
    struct bcri_acted acted =
        returns ? bcri_act_return(ctx, key, arrival->region) : bcri_act_put(ctx, key, write, arrival->region);
    /* Of a host that is lost nobody would withdraw it, should it wait with a time. */
    const bool may_wait =
        arrival->late_at == AGENT_NEVER || (arrival->late_at > agent->now && !stream->peer->lost);
    if (acted.error == bcrE_FULL && may_wait && !returns)
        acted = put_waiting(stream, arrival, key, write);
    switch (acted.outcome) {
    case BCRI_ACT_PARKED: return PERFORM_PARKED;
    case BCRI_ACT_WAITS: return has_been_performed(stream, arrival, BCRI_MESSAGE_WAITS, 0, 0);
    case BCRI_ACT_FAILED:
        bcri_slot_drop(ctx, arrival->region);
        return has_been_performed(stream, arrival, 0, acted.error, 0);
    case BCRI_ACT_DONE: break;
    }
    bcri_serve_put_done(stream, message->request);
    if ((message->flags & BCRI_MESSAGE_AT_ONCE) != 0)
        (void)bcri_serve_put_answers(stream); /* without memory a little later */
    return PERFORMED;
}

static enum performed perform_get(struct stream_in *stream, struct arrival *arrival)
{
    const struct bcri_message *message = &arrival->message;
    struct bcri_agent *agent = stream->peer->agent;
    const enum bcri_want want = (enum bcri_want)(message->flags & BCRI_MESSAGE_WANT);
    const uint64_t key = cell_key_of(agent, stream, message);
    struct bcri_slot_shm *slot;
    bcri_ref ref;
    if (stream->peer->lost)
        return PERFORMED;
    struct bcri_acted acted = bcri_act_find(agent->ctx, key, &ref);
    const bool found = acted.outcome == BCRI_ACT_DONE;
    struct wanted_cell *cell = found ? bcri_cell_find(agent, ref) : NULL;
    if (cell != NULL && cell->going_back != 0) {
        list_append(&cell->blocked, &stream->in_queue);
        return PERFORM_BLOCKED;
    }
    struct served *served = found ? bcri_served_new(stream, message->request, want) : NULL;
    if (served != NULL)
        acted = bcri_act_get(agent->ctx, key, want, (message->flags & BCRI_MESSAGE_LOCKS) != 0,
                             message->msec != 0, &slot);
    else if (found)
        acted = bcri_act_failed(bcrE_NOMEM);
    if (served != NULL && acted.outcome == BCRI_ACT_DONE)
        bcri_served_has(served, slot);
    else if (served != NULL && acted.outcome == BCRI_ACT_WAITS)
        bcri_served_waits(served, SERVED_GET_WAITS, slot, arrival->late_at);
    else if (served != NULL)
        bcri_served_free(served);
    if (acted.outcome == BCRI_ACT_PARKED)
        return PERFORM_PARKED;
    return acted.error == 0 ? PERFORMED : has_been_performed(stream, arrival, 0, acted.error, 0);
}

static enum performed zap_or_length(struct stream_in *stream, struct arrival *arrival)
{
    const struct bcri_message *message = &arrival->message;
    struct bcri_agent *agent = stream->peer->agent;
    const uint64_t key = cell_key_of(agent, stream, message);
    uint64_t length = 0;
    const struct bcri_acted acted = message->kind == BCRI_MESSAGE_ZAP
                                        ? bcri_act_zap(agent->ctx, key)
                                        : bcri_act_length(agent->ctx, key, &length);
    if (acted.outcome == BCRI_ACT_PARKED)
        return PERFORM_PARKED;
    return has_been_performed(stream, arrival, 0, acted.error, acted.error == 0 ? length : 0);
}

/* Nothing of it has happened. */
static enum performed give_up_order(struct stream_in *stream, struct arrival *arrival)
{
    if (arrival->payload != NULL)
        bcri_payload_release(arrival->payload);
    else if (arrival->region != NULL)
        bcri_slot_drop(stream->peer->agent->ctx, arrival->region);
    arrival->payload = NULL;
    arrival->region = NULL;
    return has_been_performed(stream, arrival, 0,
                              arrival->message.kind == BCRI_MESSAGE_GET ? bcrE_TIMEOUT : bcrE_FULL, 0);
}

static enum performed perform_order(struct stream_in *stream, struct arrival *arrival)
{
    const struct bcri_message *message = &arrival->message;
    struct served *served;
    switch (message->kind) {
    case BCRI_MESSAGE_PUT:
    case BCRI_MESSAGE_SAME: return perform_put(stream, arrival);
    case BCRI_MESSAGE_GET: return perform_get(stream, arrival);
    case BCRI_MESSAGE_DATA: return PERFORMED; /* puts in other streams have waited for it */
    case BCRI_MESSAGE_CANCEL:
        if ((served = bcri_served_find(stream, message->request)) != NULL)
            bcri_served_over(served);
        return PERFORMED;
    case BCRI_MESSAGE_ENDED: /* the next CCE with its number has puts of its own */
        if (!bcri_serve_put_answers(stream))
            return PERFORM_PARKED;
        bcri_serve_stream_end(stream);
        return PERFORMED;
    case BCRI_MESSAGE_NOTICE: return bcri_notice_perform(stream, message) ? PERFORMED : PERFORM_PARKED;
    case BCRI_MESSAGE_SYNC: return bcri_serve_put_answers(stream) ? PERFORMED : PERFORM_PARKED;
    default: return zap_or_length(stream, arrival);
    }
}

enum performed bcri_perform(struct stream_in *stream, struct arrival *arrival)
{
    if (arrival->answer.kind != 0)
        return bcri_serve_answer(stream, &arrival->answer) ? PERFORMED : PERFORM_PARKED;
    const enum performed performed = perform_order(stream, arrival);
    struct bcri_ctx *ctx = stream->peer->agent->ctx;
    /* Time is up, and a CCE that is stopped has the first lock that the order needs. One that is not releases it in a moment. */
    const bool is_late = performed == PERFORM_PARKED && arrival->answer.kind == 0 &&
                         arrival->late_at <= stream->peer->agent->now && ctx->daemon.parked != 0 &&
                         bcri_holder_is_stopped(ctx, ctx->daemon.parked);
    return is_late ? give_up_order(stream, arrival) : performed;
}

/* SPDX-License-Identifier: MIT */
/* payload.c -- regions of bcr_putm that have come for several cells of this host (DATA), and are kept for the puts that name
 * them (SAME) until the requester's host says that there are no more (FORGET).
 *
 * Why nothing waits for ever. A SAME begins only when its DATA has, and so has its room; until then nothing behind
 * it begins. DATA of one requester begin in their order, and of each all SAMEs were sent before the next DATA. So before a
 * SAME of the oldest payload there stand but puts, which wait for room in the pool, and they get it: a payload
 * that only waits for further SAMEs, and has no other holders, leaves the pool for private memory when somebody finds no
 * room there, and comes back with the next SAME. How much may lie there is bounded for each host, by DATA that wait. */
#include <stdlib.h>
#include <string.h>

#include "bcr/error.h"
#include "bcri/act.h"
#include "bcri/drop.h"
#include "bcri/region.h"

#include "links/agent/serve.h"

struct payload *bcri_payload_find(const struct peer *peer, uint64_t data)
{
    struct payload *payload;
    EACH_WITH (payload, &peer->agent->payloads, data, struct payload, at)
        if (payload->peer == peer)
            return payload;
    return NULL;
}

bool bcri_payload_new(struct peer *peer, const struct bcri_message *message, uint32_t bytes,
                      struct bcri_slot_shm *region, struct payload **payload_out)
{
    struct payload *payload = bcri_peer_alloc(peer, sizeof *payload);
    if (payload == NULL) {
        peer->payloads_unknown++;
        return false;
    }
    *payload = (struct payload){.peer = peer,
                                .bytes = region != NULL ? bytes : 0,
                                .archtype = message->archtype,
                                .region_kind = message->region_kind,
                                .region = region,
                                .is_refused = region == NULL};
    peer->payload_bytes += payload->bytes;
    bcri_table_add(&peer->agent->payloads, &payload->at, message->request);
    list_append(&peer->payloads, &payload->of_peer);
    if (!list_is_empty(&peer->agent->no_room))
        peer->agent->resume_at = peer->agent->now; /* SAMEs that have overtaken it may be there */
    *payload_out = payload;
    return true;
}

static void free_payload(struct payload *payload)
{
    struct peer *peer = payload->peer;
    bcri_table_remove(&peer->agent->payloads, &payload->at);
    list_remove(&payload->of_peer);
    list_remove(&payload->of_unused);
    peer->bytes -= sizeof *payload;
    peer->payload_bytes -= payload->bytes;
    free(payload->aside);
    record_free(payload);
}

/* Model: share.pml */
static void free_if_over(struct payload *payload)
{
    if (!payload->is_over || payload->users != 0)
        return;
    if (payload->region != NULL)
        bcri_slot_drop(payload->peer->agent->ctx, payload->region);
    free_payload(payload);
}

/* Model: share.pml */
void bcri_payload_over(struct peer *peer, uint64_t data)
{
    struct payload *payload = bcri_payload_find(peer, data);
    if (payload == NULL) {
        peer->payloads_unknown -= peer->payloads_unknown != 0;
        return;
    }
    payload->is_over = true;
    free_if_over(payload);
}

void bcri_payload_has_come(struct payload *payload, bool whole)
{
    struct bcri_agent *agent = payload->peer->agent;
    payload->has_come = true;
    if (!whole) {
        payload->is_refused = true;
        bcri_slot_drop(agent->ctx, payload->region);
        payload->region = NULL;
    }
    list_move(&payload->blocked, &agent->ready);
}

void bcri_payload_release(struct payload *payload)
{
    if (--payload->users == 0 && payload->region != NULL)
        list_append(&payload->peer->agent->unused_payloads, &payload->of_unused);
    free_if_over(payload);
}

/* Then it would stay in the pool without the agent's hold, too. */
static bool has_other_holders(const struct payload *payload)
{
    const bcri_ref ref = bcri_slot_region(bcri_load(&payload->region->word));
    const struct bcri_region_shm *const header = bcri_at_held(payload->peer->agent->ctx, ref);
    return BCRI_COUNT(bcri_load(&header->count)) != 1;
}

/* Model: share.pml */
void bcri_payloads_make_room(struct bcri_agent *agent)
{
    struct payload *payload;
    EACH_OF (payload, &agent->unused_payloads, struct payload, of_unused) {
        if (has_other_holders(payload) || (payload->aside = malloc(payload->bytes + 1)) == NULL)
            continue;
        memcpy(payload->aside, (const void *)bcri_load(&payload->region->data), payload->bytes);
        bcri_slot_drop(agent->ctx, payload->region);
        payload->region = NULL;
        list_remove(&payload->of_unused);
    }
}

/* Model: share.pml */
bool bcri_payload_use(struct payload *payload)
{
    if (payload->aside != NULL) {
        payload->region =
            bcri_agent_alloc(payload->peer->agent, payload->bytes, payload->archtype, payload->region_kind);
        if (payload->region == NULL)
            return false;
        memcpy((void *)bcri_load(&payload->region->data), payload->aside, payload->bytes);
        free(payload->aside);
        payload->aside = NULL;
    }
    list_remove(&payload->of_unused);
    payload->users++;
    return true;
}

bool bcri_arrival_find_room(struct bcri_agent *agent, struct arrival *arrival, uint32_t bytes)
{
    const struct bcri_message *message = &arrival->message;
    arrival->region = bcri_agent_alloc(agent, bytes, message->archtype, message->region_kind);
    if (arrival->region != NULL)
        return true;
    bcri_payloads_make_room(agent);
    arrival->region = bcri_agent_alloc(agent, bytes, message->archtype, message->region_kind);
    return arrival->region != NULL;
}

struct bcri_acted bcri_payload_hold(const struct payload *payload, struct bcri_slot_shm **slot_out)
{
    struct bcri_ctx *ctx = payload->peer->agent->ctx;
    struct bcri_slot_shm *slot = payload->region != NULL ? bcri_slot_take(ctx) : NULL;
    if (slot == NULL)
        return bcri_act_failed(bcrE_NOMEM);
    ctx->daemon.parked = 0;
    const int error = bcri_slot_hold(ctx, bcri_slot_region(bcri_load(&payload->region->word)), slot);
    if (error != 0) {
        bcri_slot_give(ctx, slot);
        return error == bcrE_TIMEOUT ? bcri_acted(BCRI_ACT_PARKED) : bcri_act_failed(error);
    }
    *slot_out = slot;
    return bcri_acted(BCRI_ACT_DONE);
}

void bcri_payloads_lost(struct peer *peer)
{
    struct payload *payload;
    EACH_OF (payload, &peer->payloads, struct payload, of_peer) {
        payload->is_over = true;
        free_if_over(payload);
    }
    peer->payloads_unknown = 0;
}

void bcri_payloads_free(struct peer *peer)
{
    struct payload *payload;
    while ((payload = FIRST_OF(&peer->payloads, struct payload, of_peer)) != NULL)
        free_payload(payload);
}

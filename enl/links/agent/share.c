/* SPDX-License-Identifier: MIT */
/* share.c -- the puts of one bcr_putm to cells of one host, as the requester's agent sees them. The region goes there once, as
 * DATA, in a stream that each requester has for that. The puts name it (SAME), each in the stream to its owner. When
 * no further one can come, the other host is told (FORGET).
 *
 * Why all puts are of the same region: as long as a share is open, or an order of it is on its way, the agent holds
 * the region, so nobody writes there and no other region can have its reference. */
#include <stdlib.h>

#include "bcri/drop.h"

#include "links/agent/ask.h"

static uint64_t share_key_of(const struct stream_out *stream, bcri_ref ref)
{
    return ref ^ (uint64_t)stream->peer->host << 32 ^ (uint64_t)stream->requester->index << 16;
}

struct share *bcri_share_find(const struct stream_out *stream, bcri_ref ref)
{
    const uint64_t key = share_key_of(stream, ref);
    struct share *share;
    EACH_WITH (share, &stream->requester->agent->shares, key, struct share, at)
        if (share->ref == ref && share->peer == stream->peer && share->source == stream->requester->index)
            return share;
    return NULL;
}

struct share *bcri_share_new(struct order *data, bcri_ref ref)
{
    struct requester *requester = data->requester;
    struct bcri_ctx *ctx = requester->agent->ctx;
    struct share *share = malloc(sizeof *share);
    struct bcri_slot_shm *slot = share != NULL ? bcri_slot_take(ctx) : NULL;
    if (slot == NULL || bcri_slot_hold(ctx, ref, slot) != 0) {
        if (slot != NULL)
            bcri_slot_give(ctx, slot);
        free(share);
        return NULL;
    }
    *share = (struct share){.peer = data->stream->peer,
                            .ref = ref,
                            .key = data->key,
                            .source = requester->index,
                            .target = data->stream->target,
                            .orders = 1,
                            .is_open = true};
    bcri_table_add(&requester->agent->shares, &share->at, share_key_of(data->stream, ref));
    list_append(&requester->shares, &share->of_requester);
    data->region = slot;
    data->share = share;
    return share;
}

/* Model: share.pml */
void bcri_shares_end(struct bcri_agent *agent)
{
    struct share *share;
    while ((share = FIRST_OF(&agent->shares_over, struct share, of_requester)) != NULL) {
        const struct bcri_message forget = {.kind = BCRI_MESSAGE_FORGET, .request = share->data};
        if (share->data != 0 && share->peer->link != NULL &&
            !bcri_agent_send(share->peer, share->source | BCRI_ANSWERS, share->target, &forget, NULL, NULL)) {
            agent->ask_at = agent->now + AGAIN_NS;
            return;
        }
        list_remove(&share->of_requester);
        record_free(share);
    }
}

static void end_share(struct share *share)
{
    struct bcri_agent *agent = share->peer->agent;
    list_remove(&share->of_requester);
    list_append(&agent->shares_over, &share->of_requester);
    bcri_shares_end(agent);
}

/* Model: share.pml */
void bcri_shares_close(struct requester *requester, bcri_ref but)
{
    struct bcri_agent *agent = requester->agent;
    struct share *share;
    EACH_OF (share, &requester->shares, struct share, of_requester) {
        if (share->ref == but)
            continue;
        list_remove(&share->of_requester);
        bcri_table_remove(&agent->shares, &share->at);
        share->is_open = false;
        if (share->region != NULL)
            bcri_slot_drop(agent->ctx, share->region);
        share->region = NULL;
        if (share->orders == 0)
            end_share(share);
    }
}

/* Model: share.pml */
void bcri_order_let_go(struct order *order)
{
    struct share *share = order->share;
    struct bcri_slot_shm *region = order->region;
    order->region = NULL;
    order->share = NULL;
    if (share != NULL && share->is_open && share->region == NULL)
        share->region = region;
    else
        bcri_slot_drop(order->requester->agent->ctx, region);
    if (share != NULL && --share->orders == 0 && !share->is_open)
        end_share(share);
}

/* SPDX-License-Identifier: MIT */
/* notice.c -- that a CCE has ended, told to another host whose CCE watches it (bcr_watch). The notice is the last order in the
 * stream from the one to the other, so the other host's agent meets it when it has performed all orders before it. */
#include <stdlib.h>
#include <string.h>

#include "links/agent/ask.h"
#include "links/agent/serve.h"

enum { HOW_BITS = 8, STARTER_BIT = 16 };

/* A requester of its own: that of the CCE may be gone. Streams are told apart by the CCEs' numbers, so it is the same stream. */
bool bcri_agent_notice(struct bcri_agent *agent, const struct bcri_notice *notice)
{
    struct requester *requester = calloc(1, sizeof *requester);
    if (requester == NULL)
        return false;
    *requester = (struct requester){.agent = agent,
                                    .index = bcri_identity_index(notice->ended),
                                    .sync_at = UINT64_MAX,
                                    .has_ended = true,
                                    .forgotten = true};
    list_append(&agent->ending, &requester->of_agent);
    struct stream_out *stream = bcri_stream_to(requester, notice->watcher);
    struct order *order = stream != NULL ? bcri_order_new(requester, ORDER_NOTICE, stream) : NULL;
    if (order == NULL) {
        bcri_requester_free_if_over(requester);
        return false;
    }
    order->cell = notice->ordinal;
    order->key =
        (uint64_t)notice->to_starter << STARTER_BIT | (uint64_t)notice->how << HOW_BITS | notice->number;
    memcpy(order->owner, notice->ended, sizeof order->owner);
    bcri_order_send(order);
    return true;
}

bool bcri_notice_perform(const struct stream_in *stream, const struct bcri_message *message)
{
    struct bcri_agent *agent = stream->peer->agent;
    const uint32_t told = (uint32_t)message->msec;
    struct bcri_notice notice = {.ordinal = message->cell,
                                 .how = (uint8_t)(told >> HOW_BITS),
                                 .number = (uint8_t)told,
                                 .to_starter = (told >> STARTER_BIT & 1) != 0};
    bcri_identity_name(notice.ended, stream->peer->host, stream->source);
    memcpy(notice.ended + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, message->owner, BCRI_SECRET_BYTES);
    bcri_identity_name(notice.watcher, agent->ctx->host->number, stream->target);
    return agent->events->ended(agent->owner, &notice);
}

/* SPDX-License-Identifier: MIT */
/* incoming.c -- the records of messages that come, and the memory for what they carry. */
#include "links/agent/incoming.h"

#include "links/agent/serve.h"

struct incoming *bcri_incoming_new(struct peer *peer, const struct bcri_message *message)
{
    struct incoming *incoming = malloc(sizeof *incoming);
    if (incoming != NULL)
        *incoming = (struct incoming){.peer = peer, .message = *message};
    return incoming;
}

void bcri_incoming_free(struct stream *stream, struct incoming *incoming)
{
    if (stream != NULL) {
        stream->count--;
        incoming->peer->orders--;
    }
    if (incoming->payload != NULL)
        bcri_payload_release(incoming->payload);
    free(incoming);
}

bool bcri_incoming_find_room(struct bcri_agent *agent, struct incoming *incoming, uint32_t bytes)
{
    const struct bcri_message *message = &incoming->message;
    incoming->region = bcri_agent_alloc(agent, bytes, message->archtype, message->error);
    if (incoming->region != NULL)
        return true;
    bcri_payloads_make_room(agent);
    incoming->region = bcri_agent_alloc(agent, bytes, message->archtype, message->error);
    return incoming->region != NULL;
}

enum bcri_link_verdict bcri_incoming_accept(struct bcri_link_message *message, struct incoming *incoming)
{
    const struct bcri_slot_shm *body =
        incoming->payload != NULL ? incoming->payload->region : incoming->region;
    message->memory = message->body_bytes != 0 ? (void *)bcri_load(&body->data) : NULL;
    message->cookie = incoming;
    return BCRI_LINK_TAKE;
}

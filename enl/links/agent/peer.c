/* SPDX-License-Identifier: MIT */
/* peer.c -- other hosts as the agent knows them: what is remembered for them and sent to them; and what all
 * parts of the agent tell. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bcri/clock.h"
#include "bcri/region.h"

#include "links/agent/private.h"

/* Where the kernel has no membarrier, a holder's release may miss that the agent is parked: then the
 * agent looks again after this time. */
#define LOOK_AGAIN_NS (10 * BCRI_NS_PER_MS)

void bcri_agent_note(struct bcri_agent *agent, uint32_t host, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    agent->events->note(agent->owner, host, sentence);
}

bool bcri_peer_remember(struct peer *peer, size_t bytes)
{
    const uint64_t most = peer->agent->peer_bytes_max;
    if (peer->bytes + bytes <= most) {
        peer->bytes += bytes;
        return true;
    }
    if (!peer->was_too_much) {
        peer->was_too_much = true;
        bcri_agent_note(peer->agent, peer->host,
                        "it has more than %llu MiB of orders waiting here: further ones fail",
                        (unsigned long long)most >> 20);
    }
    return false;
}

void *bcri_peer_alloc(struct peer *peer, size_t bytes)
{
    if (!bcri_peer_remember(peer, bytes))
        return NULL;
    void *memory = malloc(bytes);
    if (memory == NULL)
        peer->bytes -= bytes;
    return memory;
}

void bcri_agent_parks(struct bcri_agent *agent)
{
    if (agent->retry_at == AGENT_NEVER)
        agent->retry_at = agent->now + LOOK_AGAIN_NS;
}

struct peer *bcri_peer_find(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer;
    LIST_FOREACH (peer, &agent->peers, of_agent)
        if (peer->host == host)
            break;
    return peer;
}

struct peer *bcri_peer_of(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = bcri_peer_find(agent, host);
    if (peer != NULL || (peer = calloc(1, sizeof *peer)) == NULL)
        return peer;
    peer->agent = agent;
    peer->host = host;
    STAILQ_INIT(&peer->waiting);
    LIST_INSERT_HEAD(&agent->peers, peer, of_agent);
    return peer;
}

bool bcri_agent_send(struct peer *peer, uint32_t source, uint32_t target, const struct bcri_message *message,
                     struct bcri_slot_shm *region, void *cookie)
{
    struct bcri_ctx *ctx = peer->agent->ctx;
    uint8_t header[BCRI_LINK_HEADER_MAX];
    const void *body = NULL;
    uint32_t body_bytes = 0;
    if (peer->link == NULL)
        return false;
    peer->agent->messages++;
    if (is_listed(&peer->of_owing)) { /* what is kept back goes with it */
        peer->owing_at = 0;
        list_remove(&peer->of_owing);
        list_prepend(&peer->agent->owing, &peer->of_owing);
    }
    if (region != NULL) {
        const bcri_ref ref = bcri_slot_region(bcri_load(&region->word));
        const struct bcri_region_shm *at = bcri_at_held(ctx, ref);
        body = (const void *)bcri_header_data(ctx, ref, at);
        body_bytes = at->length;
    }
    return bcri_link_send(peer->link, source, target, header, bcri_message_write(message, header), body,
                          body_bytes, cookie) == 0;
}

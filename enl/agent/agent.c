/* SPDX-License-Identifier: MIT */
/* agent.c -- the agent as whoever runs it sees it: agent.h. Its links, and the order in which it does
 * things. */
#include "bcri/agent.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bcri/act.h"
#include "bcri/clock.h"
#include "bcri/drop.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/repair.h"

#include "private.h"

/* Where the kernel has no membarrier, a holder's release may miss that the agent is parked: then the
 * agent looks again after this time. */
#define LOOK_AGAIN_NS (10 * BCRI_NS_PER_MS)

void bcri_agent_note(struct bcri_agent *agent, const char *format, ...)
{
    char sentence[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (agent->events->note != NULL)
        agent->events->note(agent->owner, sentence);
}

/* ---- the receive pool ---- */

#define POOL_FIRST_BYTES (UINT64_C(2) << 20)
#define POOL_SPARE_BYTES (UINT64_C(64) << 10) /* beside a large region */
#define POOL_AGAIN_NS    BCRI_NS_PER_S        /* when there was no memory */

/* Asks for as much again as there is, and for `length` at least, unless that was asked. */
static void want_pool(struct bcri_agent *agent, uint64_t length)
{
    struct bcri_heap_piece piece;
    const uint64_t least = length + POOL_SPARE_BYTES;
    if (agent->pool_asked || agent->events->wants_pool == NULL || agent->now < agent->pool_again ||
        !bcri_heap_pool_next(agent->ctx, agent->pool, least > agent->pool_now ? least : agent->pool_now,
                             &piece))
        return;
    agent->pool_asked = agent->events->wants_pool(agent->owner, &piece);
}

void bcri_agent_grown(struct bcri_agent *agent, const struct bcri_heap_piece *piece, bool reserved)
{
    agent->pool_asked = false;
    if (reserved) {
        bcri_heap_pool_grow(agent->ctx, agent->pool, piece);
        agent->pool_now += (uint64_t)(piece->end - piece->first) * BCRI_HEAP_PAGE;
    } else {
        bcri_agent_note(agent, "no memory for more than %llu MiB of regions from other hosts",
                        (unsigned long long)agent->pool_now >> 20);
        agent->pool_again = agent->now + POOL_AGAIN_NS;
    }
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next)
        bcri_serve_go_on(peer);
    agent->again = true;
}

struct bcri_slot_shm *bcri_agent_alloc(struct bcri_agent *agent, uint32_t length, uint32_t archtype,
                                       uint32_t error)
{
    struct bcri_ctx *ctx = agent->ctx;
    bcri_ref ref;
    struct bcri_region_shm *region;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return NULL;
    if (bcri_heap_alloc(ctx, length, archtype, &ref, &region) != 0) {
        bcri_slot_give(ctx, slot);
        want_pool(agent, length);
        return NULL;
    }
    if (bcri_heap_charged(ctx) > agent->pool_now / 2)
        want_pool(agent, 0);
    region->error = (uint16_t)error;
    bcri_slot_name(slot, ref, bcri_header_data(ctx, ref, region));
    bcri_store_release(&region->count, BCRI_COUNT_ONE);
    return slot;
}

/* ---- links ---- */

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return (source & ~BCRI_ANSWERS) < BCRI_CCE_MAX && target < BCRI_CCE_MAX;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    return bcri_serve_begin(owner, message);
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    bcri_serve_arrived(owner, source, target, cookie);
}

static void dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    bcri_serve_dropped(owner, source, target, cookie);
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    struct sent *sent = cookie;
    (void)owner, (void)source, (void)target;
    if (sent == NULL)
        return;
    if (sent->order != NULL)
        bcri_ask_completed(sent->order, outcome);
    else
        bcri_serve_completed(sent->served, outcome);
    free(sent);
}

static const struct bcri_link_events link_events = {
    .accept = accept_stream, .begin = begin, .arrived = arrived, .dropped = dropped, .completed = completed};

bool bcri_agent_send(struct peer *peer, uint32_t source, uint32_t target, const struct bcri_message *message,
                     struct bcri_slot_shm *region, struct sent sent)
{
    struct bcri_ctx *ctx = peer->agent->ctx;
    uint8_t header[BCRI_LINK_HEADER_MAX];
    const uint32_t bytes = bcri_message_write(message, header);
    const bool told = sent.order != NULL || sent.served != NULL;
    struct sent *cookie = told ? malloc(sizeof *cookie) : NULL;
    const void *body = NULL;
    uint32_t body_bytes = 0;
    if (region != NULL) {
        const bcri_ref ref = bcri_slot_region(bcri_load(&region->word));
        const struct bcri_region_shm *at = bcri_at_held(ctx, ref);
        body = (const void *)bcri_region_data(ctx, ref);
        body_bytes = at->length;
    }
    if (cookie != NULL)
        *cookie = sent;
    if (peer->link != NULL && (cookie != NULL || !told) &&
        bcri_link_send(peer->link, source, target, header, bytes, body, body_bytes, cookie) == 0)
        return true;
    free(cookie);
    return false;
}

static struct peer *find_peer(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = agent->peers;
    while (peer != NULL && peer->host != host)
        peer = peer->next;
    return peer;
}

static struct peer *peer_of(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = find_peer(agent, host);
    if (peer != NULL || (peer = calloc(1, sizeof *peer)) == NULL)
        return peer;
    peer->agent = agent;
    peer->host = host;
    peer->waiting_end = &peer->waiting;
    peer->next = agent->peers;
    agent->peers = peer;
    return peer;
}

struct peer *bcri_agent_peer(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = peer_of(agent, host);
    if (peer != NULL && peer->link == NULL && !peer->lost && !peer->wanted) {
        peer->wanted = agent->events->wants_link(agent->owner, host);
    }
    return peer;
}

struct bcri_link *bcri_agent_link(struct bcri_agent *agent, uint32_t host,
                                  const struct bcri_link_config *config, uint64_t now)
{
    struct peer *peer = peer_of(agent, host);
    if (peer == NULL || peer->link != NULL || peer->lost)
        return NULL;
    peer->link = bcri_link_new(config, &link_events, peer, now);
    if (peer->link != NULL)
        bcri_ask_send_waiting(peer);
    return peer->link;
}

void bcri_agent_lost(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = peer_of(agent, host);
    if (peer == NULL || peer->lost)
        return;
    struct bcri_link *link = peer->link;
    peer->lost = true;
    peer->link = NULL; /* nothing is sent any more */
    if (link != NULL)
        bcri_link_free(link);
    bcri_ask_lost(peer);
    bcri_serve_lost(peer);
    agent->again = true;
}

/* ---- CCEs ---- */

static struct asker *find_asker(const struct bcri_agent *agent, uint32_t index)
{
    struct asker *asker = agent->askers;
    while (asker != NULL && (asker->index != index || asker->outbox == NULL))
        asker = asker->next;
    return asker;
}

int bcri_agent_outbox(struct bcri_agent *agent, uint32_t index, bcri_ref outbox)
{
    struct asker *asker = calloc(1, sizeof *asker);
    if (asker == NULL || (asker->outbox = bcri_at(agent->ctx, outbox)) == NULL) {
        free(asker);
        return bcrE_NOMEM;
    }
    asker->agent = agent;
    asker->index = index;
    asker->next = agent->askers;
    agent->askers = asker;
    agent->again = true;
    return 0;
}

void bcri_agent_forget(struct bcri_agent *agent, uint32_t index)
{
    struct asker *asker = find_asker(agent, index);
    if (asker != NULL)
        bcri_ask_forget(asker);
    if (agent->events->forgotten != NULL)
        agent->events->forgotten(agent->owner, index);
}

/* ---- running ---- */

struct bcri_agent *bcri_agent_new(struct bcri_ctx *ctx, uint64_t pool_bytes,
                                  const struct bcri_agent_events *events, void *owner)
{
    struct bcri_agent *agent = calloc(1, sizeof *agent);
    const uint64_t first =
        events->wants_pool != NULL && pool_bytes > POOL_FIRST_BYTES ? POOL_FIRST_BYTES : pool_bytes;
    uint32_t pool;
    if (agent == NULL)
        return NULL;
    /* What small regions leave behind does not hold up a large one for ever. */
    if (bcri_heap_pool_add(ctx, first + POOL_SPARE_BYTES, pool_bytes + POOL_SPARE_BYTES, &pool) != 0) {
        free(agent);
        return NULL;
    }
    *agent = (struct bcri_agent){.ctx = ctx,
                                 .events = events,
                                 .owner = owner,
                                 .pool = pool,
                                 .pool_bytes = pool_bytes,
                                 .pool_now = first,
                                 .deadline = BCRI_LINK_NEVER,
                                 .bell_seen = bcri_load_acquire(&ctx->bell->bell)};
    return agent;
}

void bcri_agent_free(struct bcri_agent *agent)
{
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next) {
        struct bcri_link *link = peer->link;
        peer->link = NULL;
        if (link != NULL)
            bcri_link_free(link);
    }
    bcri_ask_free(agent);
    for (struct served *served = agent->served, *next; served != NULL; served = next) {
        next = served->next;
        free(served);
    }
    for (struct peer *peer = agent->peers, *next; peer != NULL; peer = next) {
        next = peer->next;
        bcri_serve_free(peer);
        free(peer);
    }
    free(agent);
}

void bcri_agent_run(struct bcri_agent *agent, uint64_t now)
{
    agent->now = now;
    do {
        const uint32_t rung = bcri_load_acquire(&agent->ctx->bell->bell);
        const bool look = agent->again || agent->parked || rung != agent->bell_seen || agent->deadline <= now;
        agent->bell_seen = rung;
        agent->again = agent->parked = false;
        agent->deadline = BCRI_LINK_NEVER;
        bcri_ask_take(agent);
        bcri_serve_run(agent, look);
        bcri_ask_tell_again(agent);
        if (!bcri_looks_done(agent->ctx))
            agent->parked = true;
    } while (agent->again);
    if (agent->ctx->daemon.corrupt) {
        agent->ctx->daemon.corrupt = false;
        bcri_agent_note(agent,
                        "shared memory is corrupt: the agent has met a wild write; enl audit says where");
    }
    if (agent->parked && agent->deadline > now + LOOK_AGAIN_NS)
        agent->deadline = now + LOOK_AGAIN_NS;
}

uint64_t bcri_agent_deadline(const struct bcri_agent *agent)
{
    return agent->deadline;
}

bool bcri_agent_is_idle(const struct bcri_agent *agent)
{
    return agent->order_count == 0 && agent->served == NULL && agent->untold == NULL && !agent->parked;
}

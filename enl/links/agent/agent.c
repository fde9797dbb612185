/* SPDX-License-Identifier: MIT */
/* agent.c -- the agent as whoever runs it sees it: agent.h. Its links, and the order in which it does
 * things. */
#include "bcri/agent.h"

#include <stdlib.h>

#include "bcri/clock.h"
#include "bcri/repair.h"

#include "links/agent/ask.h"
#include "links/agent/serve.h"

void bcri_agent_grown(struct bcri_agent *agent, const struct bcri_heap_piece *piece, bool reserved)
{
    bcri_pool_grown(agent, piece, reserved);
    struct peer *peer;
    LIST_FOREACH (peer, &agent->peers, of_agent)
        bcri_answers_go_on(peer);
    agent->resume_at = agent->now;
}

/* ---- links ---- */

struct bcri_link *bcri_agent_link(struct bcri_agent *agent, uint32_t host,
                                  const struct bcri_link_config *config, uint64_t now)
{
    struct peer *peer = bcri_peer_of(agent, host);
    if (peer == NULL || peer->link != NULL || peer->lost)
        return NULL;
    peer->link = bcri_link_new(config, &bcri_agent_link_events, peer, now);
    if (peer->link != NULL)
        bcri_ask_send_waiting(peer);
    return peer->link;
}

bool bcri_agent_lost(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = bcri_peer_of(agent, host);
    if (peer == NULL || peer->lost)
        return peer != NULL;
    struct bcri_link *link = peer->link;
    peer->lost = true;
    peer->link = NULL; /* nothing is sent any more */
    if (link != NULL)
        bcri_link_free(link);
    bcri_ask_fail(peer, bcrE_DEAD);
    bcri_serve_lost(peer);
    return true;
}

bool bcri_agent_has_lost(struct bcri_agent *agent, uint32_t host)
{
    const struct peer *peer = bcri_peer_find(agent, host);
    return peer != NULL && peer->lost;
}

/* Without a link nothing has come from there, and nothing was sent: only orders and their streams know it. */
void bcri_agent_unknown(struct bcri_agent *agent, uint32_t host)
{
    struct peer *peer = bcri_peer_find(agent, host);
    if (peer == NULL || peer->link != NULL || peer->lost)
        return;
    bcri_ask_fail(peer, bcrE_NOCCE);
    bcri_ask_drop_streams(peer);
    LIST_REMOVE(peer, of_agent);
    free(peer);
}

/* ---- CCEs ---- */

int bcri_agent_outbox(struct bcri_agent *agent, uint32_t index, bcri_ref outbox)
{
    struct requester *requester = calloc(1, sizeof *requester);
    if (requester == NULL || (requester->outbox = bcri_at(agent->ctx, outbox)) == NULL) {
        free(requester);
        return bcrE_NOMEM;
    }
    requester->agent = agent;
    requester->index = index;
    requester->sync_at = UINT64_MAX;
    list_append(&agent->requesters, &requester->of_agent);
    bcri_table_add(&agent->requesters_by_ring, &requester->by_ring, bcri_outbox_ring(outbox));
    agent->ask_at = 0;
    return 0;
}

/* ---- running ---- */

struct bcri_agent *bcri_agent_new(struct bcri_ctx *ctx, uint64_t pool_bytes,
                                  const struct bcri_agent_events *events, void *owner)
{
    struct bcri_agent *agent = calloc(1, sizeof *agent);
    if (agent == NULL)
        return NULL;
    *agent = (struct bcri_agent){.ctx = ctx,
                                 .events = events,
                                 .owner = owner,
                                 .pool_bytes = pool_bytes,
                                 .peer_bytes_max = PEER_BYTES_MAX,
                                 .peer_payloads_max = PEER_PAYLOADS_MAX,
                                 .deadline = AGENT_NEVER,
                                 .retry_at = AGENT_NEVER,
                                 .ask_at = AGENT_NEVER,
                                 .resume_at = AGENT_NEVER,
                                 .place_free = NO_PLACE,
                                 .bell_seen = bcri_load_acquire(&ctx->bell->bell)};
    if (bcri_pool_make(agent))
        return agent;
    free(agent);
    return NULL;
}

void bcri_agent_free(struct bcri_agent *agent)
{
    struct peer *peer;
    LIST_FOREACH (peer, &agent->peers, of_agent) {
        struct bcri_link *link = peer->link;
        peer->link = NULL;
        if (link != NULL)
            bcri_link_free(link);
    }
    bcri_serve_free(agent);
    bcri_ask_free(agent);
    while ((peer = LIST_FIRST(&agent->peers)) != NULL) {
        LIST_REMOVE(peer, of_agent);
        record_free(peer);
    }
    bcri_table_free(&agent->requesters_by_ring);
    bcri_table_free(&agent->streams_out);
    bcri_table_free(&agent->streams);
    bcri_table_free(&agent->served);
    bcri_table_free(&agent->cells);
    bcri_table_free(&agent->shares);
    bcri_table_free(&agent->payloads);
    records_free(&agent->orders);
    records_free(&agent->arrivals);
    records_free(&agent->serveds);
    free(agent);
}

/* Each ring has named the cell where a request was served, or the outbox of an order, if it could. False:
 * not all of the rings since the last look have, and anything may have changed. */
static bool look_where_rung(struct bcri_agent *agent, uint32_t from, uint32_t to)
{
    uint32_t lows[BCRI_RUNG_FOR] = {0};
    if (to - from > BCRI_RUNG_FOR)
        return false;
    for (uint32_t number = from; number != to; number++) {
        const uint64_t told = bcri_load_acquire(&agent->ctx->bell->rung_for[number % BCRI_RUNG_FOR]);
        lows[number - from] = (uint32_t)told;
        if ((uint32_t)(told >> 32) != number || (uint32_t)told == 0)
            return false;
    }
    for (uint32_t i = 0; i < to - from; i++) {
        bcri_ask_take_of(agent, lows[i]);
        bcri_cells_look_at(agent, lows[i]);
    }
    return true;
}

void bcri_agent_run(struct bcri_agent *agent, uint64_t now)
{
    const uint32_t rung = bcri_load_acquire(&agent->ctx->bell->bell), seen = agent->bell_seen;
    agent->now = now;
    agent->bell_seen = rung;
    agent->deadline = AGENT_NEVER;
    const bool named = look_where_rung(agent, seen, rung);
    if (!named || agent->retry_at <= now) {
        agent->retry_at = AGENT_NEVER;
        bcri_cells_look_at_all(agent);
        bcri_serve_again(agent);
        bcri_ask_tell_again(agent);
    }
    if (!named || agent->ask_at <= now) {
        agent->ask_at = AGENT_NEVER;
        bcri_ask_tell_ends(agent);
        bcri_shares_end(agent);
        bcri_ask_take_all(agent);
    }
    bcri_serve_run(agent);
    if (!bcri_looks_done(agent->ctx))
        bcri_agent_parks(agent);
    if (agent->ctx->daemon.corrupt) {
        agent->ctx->daemon.corrupt = false;
        bcri_agent_note(agent, BCRI_NO_HOST,
                        "shared memory is corrupt: the agent has met a wild write, or what two threads of a "
                        "CCE in BCR at once have left; enl audit says where");
    }
    run_by(agent, agent->retry_at);
    run_by(agent, agent->ask_at);
}

/* What links have told since the last run is to be done at once. */
uint64_t bcri_agent_deadline(const struct bcri_agent *agent)
{
    const bool is_due =
        !list_is_empty(&agent->ready) || !list_is_empty(&agent->over) || !list_is_empty(&agent->giving_back);
    return is_due ? agent->now : agent->deadline;
}

bool bcri_agent_rests(const struct bcri_agent *agent, uint64_t *messages_out)
{
    *messages_out = agent->messages;
    const struct list *const busy[] = {&agent->ending,      &agent->untold,         &agent->shares_over,
                                       &agent->owing,       &agent->ready,          &agent->over,
                                       &agent->giving_back, &agent->dead_locks,     &agent->parked_waits,
                                       &agent->no_room,     &agent->parked_streams, &agent->parked_cells,
                                       &agent->parked_locks};
    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
        if (!list_is_empty(busy[i]))
            return false;
    const struct peer *peer;
    LIST_FOREACH (peer, &agent->peers, of_agent)
        if (!STAILQ_EMPTY(&peer->waiting) || peer->paused_answers != NULL ||
            (peer->link != NULL && !bcri_link_is_idle(peer->link)))
            return false;
    return !agent->pool_asked && bcri_agent_deadline(agent) == AGENT_NEVER &&
           agent->bell_seen == bcri_load_acquire(&agent->ctx->bell->bell);
}

/* SPDX-License-Identifier: MIT */
/* See agents.h. */
#include "agents.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent_idle.h"
#include "bcri/audit.h"
#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "check.h"
#include "memory.h"

static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 0x1234567890abcdefu};

static void wants_link(void *owner, uint32_t number)
{
    struct world_host *host = owner;
    if (number > WORLD_HOSTS) {
        host->wants_unknown = number;
        return;
    }
    CHECK_UINT(number, host == &host->world->host[0] ? 2 : 1);
    host->wants_link = true;
}

static void forgotten(void *owner, uint32_t index)
{
    struct world_host *host = owner;
    (void)index;
    host->forgotten++;
}

static void note(void *owner, uint32_t about, const char *sentence)
{
    (void)about;
    struct world_host *host = owner;
    host->notes++;
    snprintf(host->note, sizeof host->note, "%s", sentence);
}

/* The first time there is no memory for it. */
static bool ended(void *owner, const struct bcri_notice *notice)
{
    struct world_host *host = owner;
    host->heard = *notice;
    return host->ends++ != 0;
}

static const struct bcri_agent_events events = {
    .wants_link = wants_link, .forgotten = forgotten, .ended = ended, .note = note};

static void outbox(void *context, uint32_t member, bcri_ref at)
{
    struct world_host *host = context;
    pthread_mutex_lock(&host->world->mutex);
    CHECK_INT(bcri_agent_outbox(host->agent, member, at), 0);
    pthread_mutex_unlock(&host->world->mutex);
}

static void open_host(struct world *world, unsigned at, uint64_t pool_bytes)
{
    struct world_host *host = &world->host[at];
    host->world = world;
    host->group = group_open_host(at + 1);
    host->agent_ctx = group_join(host->group);
    host->agent_ctx->daemon.parks = true;
    host->agent = bcri_agent_new(host->agent_ctx, pool_bytes, &events, host);
    CHECK(host->agent != NULL);
    group_has_agent(host->group, host->agent_ctx->index, outbox, host);
    for (unsigned i = 0; i < WORLD_CCES; i++)
        host->cce[i] = group_join(host->group);
}

void world_open(struct world *world, uint64_t seed, uint64_t pool_bytes)
{
    memset(world, 0, sizeof *world);
    pthread_mutex_init(&world->mutex, NULL);
    world->network = sim_new(seed);
    world->alarm_at = BCRI_LINK_NEVER;
    for (unsigned at = 0; at < WORLD_HOSTS; at++)
        open_host(world, at, pool_bytes);
    sim_join(world->network, &world->host[0].end, &world->host[1].end);
}

static void introduce(struct world *world)
{
    const uint64_t now = sim_now(world->network);
    for (unsigned at = 0; at < WORLD_HOSTS; at++) {
        struct world_host *host = &world->host[at];
        const struct bcri_link_config config = {.host = at + 1,
                                                .peer = 2 - at,
                                                .packet_max = 1452,
                                                .carrier = {.packet_max = 1452, .room = 1 << 20},
                                                .secret = &secret};
        host->wants_link = false;
        if (host->end.link == NULL && !host->gone) {
            host->end.link = bcri_agent_link(host->agent, 2 - at, &config, now);
            CHECK(host->end.link != NULL);
        }
    }
}

/* One that an earlier one has replaced rings, too, and is none any more. */
static void alarm_rings(void *context, uint64_t at)
{
    struct world *world = context;
    if (world->alarm_at == at)
        world->alarm_at = BCRI_LINK_NEVER;
}

static void turn(struct world *world, uint64_t now)
{
    const bool watched = memory_watch(true);
    for (unsigned at = 0; at < WORLD_HOSTS; at++)
        bcri_agent_run(world->host[at].agent, now);
    (void)memory_watch(watched);
    /* What an agent sends now leaves after the CCE has ordered it, by the clock of both. */
    if (world->started_ns != 0 && !atomic_load(&world->over))
        sim_pass(world->network, SIM_S + bcri_clock_ns() - world->started_ns);
    if (world->host[0].wants_link || world->host[1].wants_link)
        introduce(world);
    for (unsigned at = 0; at < WORLD_HOSTS; at++) {
        sim_flush(&world->host[at].end);
        const uint64_t deadline = bcri_agent_deadline(world->host[at].agent);
        if (deadline < world->alarm_at) {
            world->alarm_at = deadline;
            sim_alarm(world->network, deadline, alarm_rings, world, deadline);
        }
    }
}

void world_turn(struct world *world)
{
    turn(world, sim_now(world->network));
}

static bool is_idle(const struct world *world)
{
    for (unsigned at = 0; at < WORLD_HOSTS; at++)
        if (!agent_is_idle(world->host[at].agent) ||
            (world->host[at].end.link != NULL && !bcri_link_is_idle(world->host[at].end.link)))
            return false;
    return true;
}

static bool turn_and_look(void *context)
{
    struct world *world = context;
    turn(world, sim_now(world->network));
    return is_idle(world);
}

bool world_settle(struct world *world, uint64_t until)
{
    return sim_run(world->network, sim_now(world->network) + until, turn_and_look, world);
}

static bool turn_once(void *context)
{
    struct world *world = context;
    turn(world, sim_now(world->network));
    return false;
}

static void *turn_all(void *context)
{
    struct world *world = context;
    while (!atomic_load(&world->over)) {
        const uint64_t now = SIM_S + bcri_clock_ns() - world->started_ns;
        pthread_mutex_lock(&world->mutex);
        (void)sim_run(world->network, now, turn_once, world);
        turn(world, now);
        pthread_mutex_unlock(&world->mutex);
        const struct timespec rest = {.tv_nsec = 20000};
        nanosleep(&rest, NULL);
    }
    return NULL;
}

void world_start(struct world *world)
{
    world->started_ns = bcri_clock_ns();
    CHECK_INT(pthread_create(&world->thread, NULL, turn_all, world), 0);
}

void world_stop(struct world *world)
{
    atomic_store(&world->over, true);
    CHECK_INT(pthread_join(world->thread, NULL), 0);
}

bcr_cce_id world_name(struct bcri_ctx *from, struct bcri_ctx *to)
{
    int id;
    CHECK_INT(bcri_cce_decode(from, to->record->id.identity, &id), 0);
    return id;
}

static void print_finding(void *arg, const char *sentence)
{
    printf("audit of host %d: %s\n", *(int *)arg + 1, sentence);
}

uint64_t world_audit(struct world *world)
{
    uint64_t regions = 0;
    for (int at = 0; at < WORLD_HOSTS; at++) {
        struct bcri_audit audit = {.found = print_finding, .arg = &at};
        CHECK_INT(bcri_audit(group_enl(world->host[at].group), &audit), 0);
        CHECK_UINT(audit.findings, 0);
        regions += audit.regions;
    }
    return regions;
}

void world_die(struct world *world, unsigned at, unsigned nth)
{
    struct world_host *host = &world->host[at];
    struct bcri_ctx *ctx = host->cce[nth];
    if (bcri_self_find() == ctx)
        bcri_self_set(NULL);
    pthread_mutex_lock(&world->mutex);
    bcri_cce_dying(group_host(host->group), ctx->index);
    bcri_agent_forget(host->agent, ctx->index);
    pthread_mutex_unlock(&world->mutex);
}

void world_walk(struct world *world, unsigned at, unsigned nth)
{
    struct world_host *host = &world->host[at];
    struct bcri_ctx *ctx = host->cce[nth];
    host->cce[nth] = NULL;
    pthread_mutex_lock(&world->mutex);
    group_leave(host->group, ctx);
    pthread_mutex_unlock(&world->mutex);
}

void world_kill(struct world *world, unsigned at, unsigned nth)
{
    const unsigned forgotten = world->host[at].forgotten;
    world_die(world, at, nth);
    CHECK_UINT(world->host[at].forgotten, forgotten + 1);
    world_walk(world, at, nth);
}

void world_cut(struct world *world)
{
    pthread_mutex_lock(&world->mutex);
    for (unsigned at = 0; at < WORLD_HOSTS; at++) {
        world->host[at].gone = true;
        world->host[at].end.link = NULL;
        CHECK(bcri_agent_lost(world->host[at].agent, 2 - at));
    }
    pthread_mutex_unlock(&world->mutex);
}

void world_close(struct world *world)
{
    for (unsigned at = 0; at < WORLD_HOSTS; at++)
        for (unsigned i = 0; i < WORLD_CCES; i++)
            if (world->host[at].cce[i] != NULL)
                world_kill(world, at, i);
    CHECK(world_settle(world, 3600 * SIM_S));
    CHECK_UINT(world_audit(world), 0);
    for (unsigned at = 0; at < WORLD_HOSTS; at++) {
        struct world_host *host = &world->host[at];
        CHECK(!host->agent_ctx->daemon.corrupt);
        bcri_agent_free(host->agent);
        group_check_ids(host->agent_ctx);
        group_leave(host->group, host->agent_ctx);
        group_close(host->group);
    }
    sim_free(world->network);
    pthread_mutex_destroy(&world->mutex);
}

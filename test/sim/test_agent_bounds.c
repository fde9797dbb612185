/* SPDX-License-Identifier: MIT */
/* An agent and a host with the key that sends it bursts: all of one arrives before the agent performs any. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "agents.h"

#include "agent_idle.h"
#include "bcri/cces.h"
#include "bcri/record.h"
#include "bcri/self.h"
#include "check.h"
#include "links/agent/serve.h"
#include "regions.h"

enum { POOL_BYTES = 1 << 18 };

static struct world world;
static struct bcri_link *agents, *others;
static struct bcri_ctx *owner;
static uint64_t now;
static uint32_t requester; /* of orders */
static int cell;
static unsigned answers[100], refused; /* by code */
static uint8_t body[POOL_BYTES];

static bool accept_all(void *context, uint32_t source, uint32_t target)
{
    (void)context, (void)source, (void)target;
    return true;
}

static enum bcri_link_verdict count_answer(void *context, struct bcri_link_message *message)
{
    struct bcri_message read;
    (void)context;
    CHECK(bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read));
    CHECK(read.code < 100);
    answers[read.code]++;
    message->memory = body;
    return BCRI_LINK_TAKE;
}

static void nothing_arrives(void *context, uint32_t source, uint32_t target, void *cookie)
{
    (void)context, (void)source, (void)target, (void)cookie;
}

static void count_refused(void *context, uint32_t source, uint32_t target, void *cookie,
                          enum bcri_link_outcome outcome)
{
    (void)context, (void)source, (void)target, (void)cookie;
    refused += outcome == BCRI_LINK_REFUSED;
}

/* A link between the agent and a host whose orders the test sends. */
static void open_link(uint32_t host, struct bcri_link **ours, struct bcri_link **theirs)
{
    static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 7};
    static const struct bcri_link_events counting = {.accept = accept_all,
                                                     .begin = count_answer,
                                                     .arrived = nothing_arrives,
                                                     .dropped = nothing_arrives,
                                                     .completed = count_refused};
    struct bcri_link_config config = {.host = 1,
                                      .peer = host,
                                      .packet_max = 1452,
                                      .carrier = {.packet_max = 1452, .room = 1 << 24},
                                      .secret = &secret};
    *ours = bcri_agent_link(world.host[0].agent, host, &config, now);
    config.host = host, config.peer = 1;
    *theirs = bcri_link_new(&config, &counting, NULL, now);
    CHECK(*ours != NULL && *theirs != NULL);
}

static void open_world(void)
{
    world_open(&world, 1, POOL_BYTES);
    now = sim_now(world.network);
    owner = world.host[0].cce[0];
    bcri_self_set(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 1, 4, 1 << 18);
    bcri_self_set(NULL);
    open_link(2, &agents, &others);
    memset(answers, 0, sizeof answers);
    refused = 0;
    requester = 1;
}

static void close_world(void)
{
    world_cut(&world);
    bcri_link_free(others);
    world_close(&world);
}

/* All that either has to say comes to the other, while the agent performs nothing. */
static void exchange(void)
{
    uint8_t packet[BCRI_LINK_PACKET_MAX];
    for (unsigned quiet = 0; quiet < 20; quiet++) {
        size_t bytes;
        now += SIM_MS;
        for (; (bytes = bcri_link_fill(others, packet, now)) != 0; quiet = 0)
            (void)bcri_link_receive(agents, packet, bytes, now);
        for (; (bytes = bcri_link_fill(agents, packet, now)) != 0; quiet = 0)
            (void)bcri_link_receive(others, packet, bytes, now);
    }
}

static void perform(void)
{
    exchange();
    bcri_agent_run(world.host[0].agent, now);
    exchange();
}

static void send_order(enum bcri_message_kind kind, uint32_t body_bytes, const uint8_t *identity)
{
    static uint64_t request;
    request++;
    struct bcri_message message = {.kind = kind, .cell = cell, .request = request};
    uint8_t header[BCRI_LINK_HEADER_MAX];
    memcpy(message.owner, identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, BCRI_SECRET_BYTES);
    CHECK_INT(bcri_link_send(others, requester, owner->index, header, bcri_message_write(&message, header),
                             body, body_bytes, NULL),
              0);
}

TEST(a_put_that_is_too_large_is_refused_behind_a_stream_that_was_full)
{
    open_world();
    for (unsigned i = 0; i < BCRI_OUTBOX_WINDOW; i++)
        send_order(BCRI_MESSAGE_ZAP, 0, owner->record->id.identity);
    send_order(BCRI_MESSAGE_PUT, POOL_BYTES / 2 + 1, owner->record->id.identity);
    exchange();
    CHECK_UINT(LIST_FIRST(&world.host[0].agent->peers)->orders, BCRI_OUTBOX_WINDOW);
    perform();
    perform();
    CHECK_UINT(answers[0], BCRI_OUTBOX_WINDOW);
    CHECK_UINT(refused, 1);
    CHECK_UINT(LIST_FIRST(&world.host[0].agent->peers)->bytes, 0);
    close_world();
}

TEST(owners_that_do_not_exist_take_no_memory)
{
    enum { ORDERS = 5000, TOGETHER = 500 };
    uint8_t identity[BCRI_IDENTITY_BYTES];
    open_world();
    send_order(BCRI_MESSAGE_LENGTH, 0, owner->record->id.identity);
    perform();
    const uint32_t known = world.host[0].agent_ctx->ids->count;
    memcpy(identity, owner->record->id.identity, sizeof identity);
    for (unsigned i = 1; i <= ORDERS; i++) {
        identity[4] = (uint8_t)(owner->record->id.identity[4] ^ i);
        identity[5] = (uint8_t)(owner->record->id.identity[5] ^ i >> 8);
        send_order(BCRI_MESSAGE_LENGTH, 0, identity);
        if (i % TOGETHER == 0)
            perform();
    }
    send_order(BCRI_MESSAGE_LENGTH, 0, owner->record->id.identity);
    perform();
    CHECK_UINT(answers[bcrE_NOCCE], ORDERS);
    CHECK_UINT(answers[0], 2);
    CHECK_UINT(world.host[0].agent_ctx->ids->count, known);
    close_world();
}

static void take_error(int code)
{
    const bcr_region error = bcr_get(1, bcr_cce, 0, 0);
    CHECK_INT(bcr_rgerror(error), code);
    CHECK_INT(bcr_rgfree(error), 0);
}

/* Later there may be one of that number. */
TEST(orders_to_a_host_that_never_was_fail_and_nothing_of_it_is_remembered)
{
    enum { NEVER_WAS = 77 };
    uint8_t identity[BCRI_IDENTITY_BYTES];
    bcr_cce_id nobody;
    open_world();
    struct bcri_agent *const agent = world.host[0].agent;
    memcpy(identity, owner->record->id.identity, sizeof identity);
    bcri_identity_name(identity, NEVER_WAS, 3);
    bcri_self_set(owner);
    owner->flags |= bcr_errors;
    CHECK_INT(bcri_cce_decode(owner, identity, &nobody), 0);
    for (int round = 0; round < 2; round++) {
        const int cells[] = {nobody, 1, nobody, 2};
        const bcr_region waits = bcr_get(1, nobody, 1, bcr_PENDING);
        CHECK_INT(bcr_putm(1, filled(100, 1), 2, cells, bcr_FREE), 0);
        bcri_agent_run(agent, now += SIM_MS);
        CHECK_UINT(world.host[0].wants_unknown, NEVER_WAS);
        world.host[0].wants_unknown = 0;
        CHECK(bcri_peer_find(agent, NEVER_WAS) != NULL);
        bcri_agent_unknown(agent, NEVER_WAS);
        bcri_agent_run(agent, now += SIM_MS);
        CHECK(bcri_peer_find(agent, NEVER_WAS) == NULL);
        CHECK(agent_is_idle(agent));
        CHECK_INT(bcr_rgwait(waits, 0, 0), -1);
        CHECK_INT(bcr_errno, bcrE_NOCCE);
        CHECK_INT(bcr_putdone(0), 1);
        take_error(bcrE_NOCCE);
        take_error(bcrE_NOCCE);
        FAILS(bcr_putm(1, filled(100, 1), 2, cells, bcr_FREE), bcrE_NOCCE); /* the next is told */
        take_error(bcrE_NOCCE);
        take_error(bcrE_NOCCE);
    }
    bcri_self_set(NULL);
    close_world();
}

/* What the C library has given out, and not got back. */
static size_t allocated(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Hosts whose CCEs have put, got and asked here, and are quiet now. `others` lie in the same memory. */
TEST(an_idle_host_takes_less_than_64_KiB)
{
    enum { HOSTS = 100, SOURCES = 20, MOST = 64 << 10 };
    static struct bcri_link *link[HOSTS], *other[HOSTS];
    open_world();
    struct bcri_link *const link_of_first = agents, *const first = others;
    bcri_agent_run(world.host[0].agent, now);
    const size_t before = allocated();
    for (unsigned i = 0; i < HOSTS; i++) {
        open_link(10 + i, &link[i], &other[i]);
        agents = link[i], others = other[i];
        for (unsigned k = 0; k < SOURCES; k++)
            for (unsigned n = 0; n < 20; n++) {
                requester = k;
                send_order(n % 2 == 0 ? BCRI_MESSAGE_PUT : BCRI_MESSAGE_GET, n % 2 == 0 ? 2000 : 0,
                           owner->record->id.identity);
                if (n % 2 != 0)
                    perform();
            }
        perform();
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        agents = link[i], others = other[i];
        now += SIM_S; /* what a burst took is given back */
        bcri_link_ping(agents);
        bcri_link_ping(others);
        exchange();
    }
    size_t theirs = 0, pages = 0;
    for (unsigned i = 0; i < HOSTS; i++) {
        theirs += bcri_link_memory(other[i]);
        pages += 2 * 4096; /* each link has a page for its keys, which does not come from malloc */
    }
    const size_t after = allocated();
    if (after != before) { /* sanitizers have an allocator of their own */
        const size_t each = (after - before + pages - theirs) / HOSTS;
        printf("  a host that is quiet takes %zu bytes, %zu of them its link's\n", each,
               bcri_link_memory(link[0]));
        CHECK(each < MOST);
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        CHECK(bcri_agent_lost(world.host[0].agent, 10 + i));
        bcri_link_free(other[i]);
    }
    agents = link_of_first, others = first;
    close_world();
}

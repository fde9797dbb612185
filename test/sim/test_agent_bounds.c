/* SPDX-License-Identifier: MIT */
/* An agent and a host with the key that sends it bursts: all of one arrives before the agent performs any. */
#include <string.h>

#include "agents.h"

#include "bcri/cces.h"
#include "bcri/record.h"
#include "bcri/self.h"
#include "check.h"
#include "serve.h"

enum { POOL_BYTES = 1 << 18 };

static struct world world;
static struct bcri_link *agents, *others;
static struct bcri_ctx *owner;
static uint64_t now;
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

static void open_world(void)
{
    static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 7};
    static const struct bcri_link_events counting = {.accept = accept_all,
                                                     .begin = count_answer,
                                                     .arrived = nothing_arrives,
                                                     .dropped = nothing_arrives,
                                                     .completed = count_refused};
    struct bcri_link_config config = {
        .packet_max = 1452, .carrier = {.packet_max = 1452, .room = 1 << 24}, .secret = &secret};
    world_open(&world, 1, POOL_BYTES);
    now = sim_now(world.network);
    owner = world.host[0].cce[0];
    bcri_self_set(owner);
    cell = bcr_cagrow(0, 0, 0, 0, 1, 4, 1 << 18);
    bcri_self_set(NULL);
    config.host = 1, config.peer = 2;
    agents = bcri_agent_link(world.host[0].agent, 2, &config, now);
    config.host = 2, config.peer = 1;
    others = bcri_link_new(&config, &counting, NULL, now);
    CHECK(agents != NULL && others != NULL);
    memset(answers, 0, sizeof answers);
    refused = 0;
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
    CHECK_INT(bcri_link_send(others, 1, owner->index, header, bcri_message_write(&message, header), body,
                             body_bytes, NULL),
              0);
}

TEST(a_put_that_is_too_large_is_refused_behind_a_stream_that_was_full)
{
    open_world();
    for (unsigned i = 0; i < BCRI_OUTBOX_WINDOW; i++)
        send_order(BCRI_MESSAGE_ZAP, 0, owner->record->id.identity);
    send_order(BCRI_MESSAGE_PUT, POOL_BYTES / 2 + 1, owner->record->id.identity);
    exchange();
    CHECK_UINT(world.host[0].agent->peers->orders, BCRI_OUTBOX_WINDOW);
    perform();
    perform();
    CHECK_UINT(answers[0], BCRI_OUTBOX_WINDOW);
    CHECK_UINT(refused, 1);
    CHECK_UINT(world.host[0].agent->peers->bytes, 0);
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

/* SPDX-License-Identifier: MIT */
/* An agent whose other host has gone mad: that host has the key and sends orders and answers of all
 * kinds, ends streams in the midst of messages, and answers what was never asked. Nothing breaks, all
 * structures of the agent's host agree, and when the mad host is lost no region is left of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"

#include "bcri/record.h"
#include "bcri/self.h"
#include "check.h"
#include "links/agent/serve.h"

enum { CELLS = 3, STEPS = 600, ORDERS_MAX = 200, SEEN = 64, BODY_MAX = 20000 };

static struct world world;
static uint64_t dice;
static uint64_t seen[SEEN]; /* the numbers of orders that the mad host was sent */
static unsigned seen_count;
static uint8_t body[BODY_MAX], received[1 << 21];

static uint32_t draw(uint32_t bound)
{
    return (uint32_t)test_rand_below(&dice, bound);
}

static bool accept_any(void *owner, uint32_t source, uint32_t target)
{
    (void)owner, (void)source, (void)target;
    return draw(50) != 0;
}

static enum bcri_link_verdict begin_any(void *owner, struct bcri_link_message *message)
{
    struct bcri_message read;
    (void)owner;
    if (bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read) &&
        read.kind != BCRI_MESSAGE_ANSWER)
        seen[seen_count++ % SEEN] = read.request;
    message->memory = received;
    return draw(4) == 0 || message->body_bytes > sizeof received ? BCRI_LINK_REFUSE : BCRI_LINK_TAKE;
}

static void nothing_arrives(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner, (void)source, (void)target, (void)cookie;
}

static void nothing_completes(void *owner, uint32_t source, uint32_t target, void *cookie,
                              enum bcri_link_outcome outcome)
{
    (void)owner, (void)source, (void)target, (void)cookie, (void)outcome;
}

static const struct bcri_link_events mad = {.accept = accept_any,
                                            .begin = begin_any,
                                            .arrived = nothing_arrives,
                                            .dropped = nothing_arrives,
                                            .completed = nothing_completes};

static void send_something(struct bcri_link *link)
{
    const struct bcri_ctx *target = world.host[0].cce[draw(WORLD_CCES)];
    struct bcri_message message = {.kind = (enum bcri_message_kind)(1 + draw(BCRI_MESSAGE_KINDS - 1)),
                                   .flags = draw(3) == 0 ? draw(8) : 0,
                                   .code = draw(3) == 0 ? draw(70) : 0,
                                   .region_kind = draw(10) == 0 ? draw(70) : 0,
                                   .request = draw(8) == 0 ? draw(1000) : seen[draw(SEEN)],
                                   .cell = draw(10) == 0 ? (int)draw(UINT32_MAX) : (int)draw(CELLS + 2),
                                   .msec = draw(2) == 0 ? -1 : (int)draw(20),
                                   .value = draw(4), /* of a SAME */
                                   .archtype = draw(UINT32_MAX)};
    if (message.kind == BCRI_MESSAGE_DATA || message.kind == BCRI_MESSAGE_FORGET)
        message.request = draw(6);
    memcpy(message.owner, target->record->id.identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES,
           BCRI_SECRET_BYTES);
    message.owner[0] ^= draw(20) == 0;
    uint8_t header[BCRI_LINK_HEADER_MAX];
    const uint32_t bytes = bcri_message_write(&message, header);
    if (draw(30) == 0)
        header[draw(bytes)] ^= (uint8_t)(1 + draw(255));
    const bool is_answer =
        (message.kind == BCRI_MESSAGE_ANSWER || message.kind == BCRI_MESSAGE_FORGET) != (draw(30) == 0);
    const bool is_data = (message.kind == BCRI_MESSAGE_DATA) != (draw(30) == 0);
    const bool has_body =
        bcri_message_has_region(message.kind) || message.kind == BCRI_MESSAGE_ANSWER || draw(30) == 0;
    (void)bcri_link_send(link, draw(6) | (is_answer ? BCRI_ANSWERS : 0),
                         draw(20) == 0 ? draw(9)
                         : is_data     ? BCRI_DATA_TARGET
                                       : target->index,
                         header, bytes, body, has_body ? draw(draw(8) == 0 ? BODY_MAX : 100) : 0, NULL);
}

/* A call of a CCE of the agent's host that cannot wait. */
static void call_something(bcr_cce_id there, unsigned *orders, int first)
{
    const int cell = first + (int)draw(CELLS);
    bcr_region rgid;
    switch (draw(7)) {
    case 0:
        if ((rgid = bcr_get(1, bcr_cce, cell, 0)) != NULL)
            CHECK_INT(bcr_rgfree(rgid), 0);
        return;
    case 1: (void)!bcr_zap(bcr_cce, cell); return;
    case 2:
        if ((rgid = bcr_rgalloc((int)draw(1000), bcr_archtype)) != NULL &&
            bcr_put(1, rgid, bcr_cce, cell, bcr_FREE) != 0)
            CHECK_INT(bcr_rgfree(rgid), 0);
        return;
    case 3:
        if ((rgid = bcr_rgalloc((int)draw(5000), bcr_archtype)) != NULL) {
            const int cells[] = {there, (int)draw(5), bcr_cce, cell, there, (int)draw(5)};
            *orders += 3; /* the end of the call is one, too */
            if (*orders > ORDERS_MAX)
                CHECK_INT(bcr_rgfree(rgid), 0);
            else
                (void)!bcr_putm((int)draw(2), rgid, 3, cells, bcr_FREE);
        }
        return;
    default:
        if (++*orders > ORDERS_MAX)
            return;
        if (draw(2) == 0)
            (void)!bcr_get((int)draw(2), there, (int)draw(5), bcr_PENDING);
        else if ((rgid = bcr_rgalloc((int)draw(5000), bcr_archtype)) != NULL &&
                 bcr_put((int)draw(2), rgid, there, (int)draw(5), bcr_FREE) != 0)
            CHECK_INT(bcr_rgfree(rgid), 0);
    }
}

static void run_one(uint64_t seed)
{
    static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 7};
    struct bcri_link_config config = {
        .packet_max = 1452, .carrier = {.packet_max = 1452, .room = 1 << 20}, .secret = &secret};
    unsigned orders = 0;
    int first = 0;
    dice = seed;
    seen_count = 0;
    memset(seen, 0, sizeof seen);
    world_open(&world, seed, 1 << 18);
    for (unsigned i = 0; i < WORLD_CCES; i++) {
        bcri_self_set(world.host[0].cce[i]);
        first = bcr_cagrow(0, 0, 0, 0, CELLS - 1, 4, 1 << 20);
        CHECK(first >= 1);
    }
    config.host = 1, config.peer = 2;
    world.host[0].end.link = bcri_agent_link(world.host[0].agent, 2, &config, sim_now(world.network));
    config.host = 2, config.peer = 1;
    struct bcri_link *const link = bcri_link_new(&config, &mad, NULL, sim_now(world.network));
    world.host[1].end.link = link;
    world.host[0].end.path.delay_ns = world.host[1].end.path.delay_ns = 50 * SIM_US;
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned i = draw(6); i != 0; i--)
            send_something(link);
        if (draw(20) == 0)
            bcri_link_end_stream(link, draw(6) | (draw(2) == 0 ? BCRI_ANSWERS : 0),
                                 world.host[0].cce[draw(WORLD_CCES)]->index);
        struct bcri_ctx *const caller = world.host[0].cce[draw(WORLD_CCES)];
        bcri_self_set(caller);
        call_something(world_name(caller, world.host[1].cce[0]), &orders, first);
        bcri_self_set(NULL);
        (void)world_settle(&world, draw(200) * SIM_US);
        if (step % 100 == 99)
            (void)world_audit(&world);
    }
    world_cut(&world);
    (void)world_settle(&world, SIM_S); /* what had come is carried out */
    CHECK_UINT(world.host[0].agent->payloads.count, 0);
    bcri_link_free(link);
    world_close(&world);
}

static unsigned answers_nomem;

static bool accept_all(void *owner, uint32_t source, uint32_t target)
{
    (void)owner, (void)source, (void)target;
    return true;
}

static enum bcri_link_verdict count_answer(void *owner, struct bcri_link_message *message)
{
    struct bcri_message read;
    (void)owner;
    CHECK(bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read));
    answers_nomem += read.code == bcrE_NOMEM;
    message->memory = received;
    return BCRI_LINK_TAKE;
}

static void count_refused(void *owner, uint32_t source, uint32_t target, void *cookie,
                          enum bcri_link_outcome outcome)
{
    (void)owner, (void)source, (void)target, (void)cookie;
    answers_nomem += outcome == BCRI_LINK_REFUSED;
}

/* Orders of `streams` CCEs there, of which none is answered before the agent's host is lost. */
static void order_much(enum bcri_message_kind kind, uint32_t flags, unsigned orders, unsigned streams)
{
    static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 7};
    static const struct bcri_link_events counting = {.accept = accept_all,
                                                     .begin = count_answer,
                                                     .arrived = nothing_arrives,
                                                     .dropped = nothing_arrives,
                                                     .completed = count_refused};
    enum { MOST = 1 << 16 };
    struct bcri_link_config config = {
        .packet_max = 1452, .carrier = {.packet_max = 1452, .room = 1 << 20}, .secret = &secret};
    world_open(&world, 1, 1 << 18);
    struct bcri_agent *agent = world.host[0].agent;
    struct bcri_ctx *target = world.host[0].cce[0];
    answers_nomem = 0;
    agent->peer_bytes_max = MOST;
    bcri_self_set(target);
    const int first = bcr_cagrow(0, 0, 0, 0, CELLS, 4, 1 << 18);
    bcri_self_set(NULL);
    config.host = 1, config.peer = 2;
    world.host[0].end.link = bcri_agent_link(agent, 2, &config, sim_now(world.network));
    config.host = 2, config.peer = 1;
    struct bcri_link *const link = bcri_link_new(&config, &counting, NULL, sim_now(world.network));
    world.host[1].end.link = link;
    struct bcri_message message = {.kind = kind, .flags = flags, .msec = -1, .cell = first};
    memcpy(message.owner, target->record->id.identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES,
           BCRI_SECRET_BYTES);
    for (unsigned i = 0; i < orders; i++) {
        uint8_t header[BCRI_LINK_HEADER_MAX];
        message.request = i;
        CHECK_INT(bcri_link_send(link, i % streams, target->index, header,
                                 bcri_message_write(&message, header), body, kind == BCRI_MESSAGE_PUT ? 8 : 0,
                                 NULL),
                  0);
        (void)world_settle(&world, i % 50 == 0 ? SIM_MS : 0);
    }
    (void)world_settle(&world, SIM_S);
    CHECK(LIST_FIRST(&agent->peers)->bytes <= MOST);
    printf("  %u orders of kind %d: %u refused\n", orders, (int)kind, answers_nomem);
    CHECK(answers_nomem != 0);
    CHECK_UINT(world.host[0].notes, 1); /* once */
    world_cut(&world);
    world_kill(&world, 0, 0); /* puts that have come wait until then */
    (void)world_settle(&world, SIM_S);
    CHECK_UINT(LIST_FIRST(&agent->peers)->bytes, 0);
    bcri_link_free(link);
    world_close(&world);
}

TEST(what_waits_for_a_host_is_bounded)
{
    order_much(BCRI_MESSAGE_GET, BCRI_WANT_TAKE, 1000, 1);
    order_much(BCRI_MESSAGE_GET, BCRI_WANT_LOCK | BCRI_MESSAGE_LOCKS, 1000, 1);
    order_much(BCRI_MESSAGE_GET, BCRI_WANT_READ, 1000, 1000);
    order_much(BCRI_MESSAGE_PUT, 0, 1000, 7);
}

TEST(orders_and_answers_of_a_host_gone_mad_break_nothing)
{
    const char *const only = getenv("SIM_SEED"), *const many = getenv("SIM_SEEDS");
    const uint64_t from = only != NULL ? strtoull(only, NULL, 0) : 1;
    const uint64_t seeds = only != NULL ? 1 : many != NULL ? strtoull(many, NULL, 0) : 100;
    for (uint64_t seed = from; seed != from + seeds; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        run_one(seed);
    }
}

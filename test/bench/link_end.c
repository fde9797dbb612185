/* SPDX-License-Identifier: MIT */
#include "link_end.h"

#include <stdlib.h>
#include <string.h>

static uint8_t body[LINK_BODIES][LINK_BODY_BYTES];

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    (void)source;
    (void)target;
    return true;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    struct link_end *end = owner;
    message->memory = end->memory + (end->begun++ % LINK_BODIES) * LINK_BODY_BYTES;
    return BCRI_LINK_TAKE;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)source;
    (void)target;
    (void)cookie;
    ((struct link_end *)owner)->arrived++;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)source;
    (void)target;
    (void)cookie;
    (void)outcome;
    ((struct link_end *)owner)->completed++;
}

static const struct bcri_link_events events = {accept_stream, begin, arrived, arrived, completed};

void link_end_begin(struct link_end *end, int side)
{
    struct bcri_seal_secret secret = {.cipher = end->cipher, .token = 42};
    memset(secret.bytes, 7, sizeof secret.bytes);
    struct bcri_link_config config = {.host = (uint32_t)side + 1,
                                      .peer = (uint32_t)!side + 1,
                                      .packet_max = BCRI_LINK_PACKET_MAX,
                                      .secret = &secret};
    if (end->udp != NULL)
        bcri_udp_carrier(end->udp, 1, &config.carrier);
    else
        config.carrier = (struct bcri_link_carrier){.packet_max = BCRI_LINK_PACKET_MAX, .room = 1 << 20};
    end->memory = malloc((size_t)LINK_BODIES * LINK_BODY_BYTES);
    end->link = bcri_link_new(&config, &events, end, (uint64_t)bench_now_ns());
    if (end->memory == NULL || end->link == NULL)
        bench_fail("no memory for a link");
    memset(end->memory, 1, (size_t)LINK_BODIES * LINK_BODY_BYTES);
    memset(body, 3, (end->bodies != 0 ? end->bodies : 1) * sizeof body[0]);
}

static void take_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                        size_t packet_bytes)
{
    struct link_end *end = context;
    (void)from;
    (void)from_bytes;
    (void)bcri_link_receive(end->link, packet, packet_bytes, end->now);
}

bool link_end_take(struct link_end *end)
{
    end->now = (uint64_t)bench_now_ns();
    return bcri_udp_receive(end->udp, take_packet, end) != 0 || end->now >= bcri_link_deadline(end->link);
}

void link_end_give(struct link_end *end)
{
    uint8_t *space;
    for (size_t length = 1; length != 0;) {
        while ((space = bcri_udp_space(end->udp)) != NULL &&
               (length = bcri_link_fill(end->link, space, end->now)) != 0)
            bcri_udp_add(end->udp, (const struct sockaddr *)&end->peer, sizeof end->peer, length);
        if (!bcri_udp_flush(end->udp))
            return;
    }
}

static void pump(struct link_end *end)
{
    if (link_end_take(end))
        link_end_give(end);
}

void link_end_send(struct link_end *end, uint32_t body_bytes)
{
    const uint64_t which = end->bodies != 0 ? end->sent++ % end->bodies : 0;
    if (bcri_link_send(end->link, 1, 2, "head", 4, body[which], body_bytes, NULL) != 0)
        bench_fail("a link cannot send");
}

void link_end_warm_up(struct link_end *end, int side, struct link_meet_shm *meet)
{
    enum { WARM_UP_BYTES = 20000, WARM_UP_NS = 1500000000 };
    link_end_begin(end, side);
    const int64_t start = bench_now_ns();
    for (int64_t passed = 0; passed < WARM_UP_NS; passed = bench_now_ns() - start) {
        if (side == 0 && passed < WARM_UP_NS / 4 * 3 && bcri_link_is_idle(end->link))
            link_end_send(end, WARM_UP_BYTES);
        (void)link_end_take(end);
        link_end_give(end);
    }
    /* Neither side takes another packet before both know that the next one counts. */
    const uint64_t warm = atomic_fetch_add(&meet->warm[side], 1) + 1;
    while (atomic_load(&meet->warm[!side]) < warm)
        continue;
}

void link_end_finish(struct link_end *end, int side, struct link_meet_shm *meet)
{
    while (!bcri_link_is_idle(end->link))
        pump(end);
    const uint64_t idle = atomic_fetch_add(&meet->idle[side], 1) + 1;
    while (atomic_load(&meet->idle[!side]) < idle)
        pump(end);
}

void link_end_stream(struct link_end *end, int side, struct link_meet_shm *meet, struct bench_turn *turn,
                     long outstanding)
{
    const uint64_t arrived_before = end->arrived, completed_before = end->completed;
    const int64_t start = bench_now_ns();
    if (side == 0) {
        for (long sent = 0; end->completed != completed_before + (uint64_t)turn->count;) {
            while (sent < turn->count && sent - (long)(end->completed - completed_before) < outstanding) {
                link_end_send(end, (uint32_t)turn->size_bytes);
                sent++;
            }
            (void)link_end_take(end);
            link_end_give(end);
        }
        turn->op_count = turn->count;
        turn->timed_ns = (double)(bench_now_ns() - start);
    } else {
        while (end->arrived != arrived_before + (uint64_t)turn->count)
            pump(end);
    }
    link_end_finish(end, side, meet);
}

/* SPDX-License-Identifier: MIT */
/* Links in networks of all kinds, drawn from seeds: each message arrives once and in order, and its
 * sender learns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "traffic.h"

struct run {
    struct sim_network *network;
    struct traffic one, two;
    uint32_t to_send; /* messages that alarms will still send */
};

static void draw_path(struct sim_network *network, struct sim_path *path)
{
    *path = (struct sim_path){.delay_ns = SIM_US + sim_random(network, 2 * SIM_MS)};
    if (sim_random(network, 2) == 0)
        path->lost = (unsigned)sim_random(network, 301);
    if (sim_random(network, 3) == 0)
        path->doubled = (unsigned)sim_random(network, 200);
    if (sim_random(network, 3) == 0)
        path->altered = (unsigned)sim_random(network, 100);
    if (sim_random(network, 3) == 0)
        path->held = (unsigned)sim_random(network, 300);
    if (sim_random(network, 2) == 0)
        path->jitter_ns = sim_random(network, 2 * path->delay_ns);
    if (sim_random(network, 3) == 0) {
        path->bytes_per_s = 1000000 + sim_random(network, 1000000000);
        path->queue_bytes = 20000 + sim_random(network, 200000);
    }
    if (sim_random(network, 2) == 0)
        path->packet_max = BCRI_LINK_PACKET_MIN + (uint32_t)sim_random(network, 64000);
}

static uint32_t draw_length(struct sim_network *network)
{
    switch (sim_random(network, 16)) {
    case 0: return 0;
    case 1: return (uint32_t)sim_random(network, 100000);
    case 2:
    case 3: return (uint32_t)sim_random(network, 5000);
    default: return (uint32_t)sim_random(network, 100);
    }
}

static void send_some(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *from = argument == 0 ? &run->one : &run->two;
    for (uint64_t i = sim_random(run->network, 12) + 1; i != 0 && run->to_send != 0; i--) {
        run->to_send--;
        traffic_send(from, (uint32_t)sim_random(run->network, TRAFFIC_STREAMS), draw_length(run->network));
    }
    sim_flush(&from->end);
    if (run->to_send != 0)
        sim_alarm(run->network, sim_now(run->network) + sim_random(run->network, 20 * SIM_MS), send_some, run,
                  sim_random(run->network, 2));
}

static void cut(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *from = (argument & 1) == 0 ? &run->one : &run->two;
    from->end.path.cut = (argument & 2) != 0;
    if (from->end.path.cut)
        sim_alarm(run->network, sim_now(run->network) + sim_random(run->network, 2 * SIM_S), cut, run,
                  argument & 1);
}

static void sleep_some(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *who = argument == 0 ? &run->one : &run->two;
    who->end.asleep_until = sim_now(run->network) + sim_random(run->network, SIM_S);
}

static void change_path(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *from = argument == 0 ? &run->one : &run->two;
    const bool was_cut = from->end.path.cut;
    draw_path(run->network, &from->end.path);
    from->end.path.cut = was_cut;
}

static void change_carrier(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *who = argument == 0 ? &run->one : &run->two;
    const struct bcri_link_carrier carrier = {.packet_max = BCRI_LINK_PACKET_MIN +
                                                            (uint32_t)sim_random(run->network, 60000),
                                              .room = (uint32_t)sim_random(run->network, 1 << 20)};
    bcri_link_use_carrier(who->end.link, &carrier, sim_now(run->network));
    sim_flush(&who->end);
}

static bool is_done(void *context)
{
    const struct run *run = context;
    return run->to_send == 0 && traffic_is_settled(&run->one);
}

static void run_seed(uint64_t seed)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    struct sim_network *network = run.network = sim_new(seed);
    draw_path(network, &run.one.end.path);
    draw_path(network, &run.two.end.path);
    run.one.refuse = run.two.refuse = sim_random(network, 2) == 0 ? (unsigned)sim_random(network, 300) : 0;
    run.one.pause = run.two.pause = sim_random(network, 2) == 0 ? (unsigned)sim_random(network, 300) : 0;
    run.one.pause_ns = run.two.pause_ns = 100 * SIM_MS;
    run.to_send = 20 + (uint32_t)sim_random(network, 200);
    struct bcri_seal_secret secret;
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    traffic_secret(&secret, sim_random(network, 4) == 0 ? BCRI_CIPHER_NONE
                            : has_aes                   ? BCRI_CIPHER_AES256GCM
                                                        : BCRI_CIPHER_CHACHA20POLY1305);
    /* A token says that a packet is not a stranger's, not that it is unaltered: UDP's sum does. */
    if (secret.cipher == BCRI_CIPHER_NONE)
        run.one.end.path.altered = run.two.end.path.altered = 0;
    const struct bcri_link_config config = {
        .packet_max = BCRI_LINK_PACKET_MIN + (uint32_t)sim_random(network, 64000),
        .keepalive_ns = sim_random(network, 2) * SIM_S,
        .carrier = {.packet_max = BCRI_LINK_PACKET_MAX,
                    .room = 20000 + (uint32_t)sim_random(network, 1 << 20)},
        .secret = &secret,
        .packets_per_key = sim_random(network, 2) == 0 ? 10 + sim_random(network, 100) : 0};
    traffic_start(network, &run.one, &run.two, &config);
    sim_alarm(network, sim_now(network), send_some, &run, sim_random(network, 2));
    for (uint64_t i = sim_random(network, 4); i != 0; i--)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), cut, &run,
                  2 + sim_random(network, 2));
    for (uint64_t i = sim_random(network, 3); i != 0; i--)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), sleep_some, &run,
                  sim_random(network, 2));
    for (uint64_t i = sim_random(network, 3); i != 0 && secret.cipher != BCRI_CIPHER_NONE; i--)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), change_path, &run,
                  sim_random(network, 2));
    for (uint64_t i = sim_random(network, 2); i != 0; i--)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), change_carrier, &run,
                  sim_random(network, 2));
    if (!sim_run(network, 3600 * SIM_S, is_done, &run))
        FAIL("seed %llu: %llu and %llu messages settled, not all", (unsigned long long)seed,
             (unsigned long long)run.one.messages_settled, (unsigned long long)run.two.messages_settled);
    const struct bcri_link_counts *counts = bcri_link_counts(run.one.end.link);
    CHECK_UINT(counts->malformed, 0);
    CHECK_UINT(bcri_link_counts(run.two.end.link)->malformed, 0);
    if (getenv("SIM_VERBOSE") != NULL)
        printf("  seed %llu: %.3f s, %llu packets, %llu lost, %llu probes, size %u\n",
               (unsigned long long)seed, (double)sim_now(network) / SIM_S,
               (unsigned long long)counts->packets_sent, (unsigned long long)counts->lost,
               (unsigned long long)counts->probes, bcri_link_packet_bytes(run.one.end.link));
    traffic_end(&run.one, &run.two);
    sim_free(network);
}

TEST_TIMEOUT(each_message_arrives_once_and_in_order_in_networks_of_all_kinds, 36000)
{
    const char *one = getenv("SIM_SEED");
    if (one != NULL) {
        run_seed(strtoull(one, NULL, 10));
        return;
    }
    const uint64_t first = test_seed() >> 20, count = test_scale(2000, 1000000);
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++) {
        static char now[64];
        snprintf(now, sizeof now, "%llu", (unsigned long long)seed);
        setenv("SIM_NOW", now, 1);
        run_seed(seed);
    }
}

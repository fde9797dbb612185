/* SPDX-License-Identifier: MIT */
#include "link_scene.h"

struct sim_network *network;
struct traffic one, two;
struct bcri_link_config config;
static struct bcri_seal_secret secret;

void prepare(void)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    network = sim_new(test_seed());
    one = two = (struct traffic){0};
    traffic_secret(&secret, BCRI_CIPHER_CHACHA20POLY1305);
    config = (struct bcri_link_config){.packet_max = 1400,
                                       .carrier = {.packet_max = BCRI_LINK_PACKET_MAX, .room = 1 << 20},
                                       .secret = &secret};
    one.end.path = two.end.path = (struct sim_path){.delay_ns = SIM_MS};
}

void start(void)
{
    traffic_start(network, &one, &two, &config);
}

bool completed(void *traffic)
{
    return traffic_is_completed(traffic);
}

bool never(void *context)
{
    (void)context;
    return false;
}

void run_until_completed(uint64_t within_ns)
{
    if (!sim_run(network, sim_now(network) + within_ns, completed, &one))
        FAIL("%llu and %llu messages are completed, not all", (unsigned long long)one.messages_completed,
             (unsigned long long)two.messages_completed);
}

void finish(void)
{
    traffic_end(&one, &two);
    sim_free(network);
}

const struct bcri_link_counts *counts_of(const struct traffic *traffic)
{
    return bcri_link_counts(traffic->end.link);
}

void warm_up(void)
{
    traffic_send(&one, 0, 10);
    traffic_send(&two, 0, 10);
    run_until_completed(SIM_S);
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
}

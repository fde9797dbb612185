/* SPDX-License-Identifier: MIT */
/* Links in networks of all kinds, drawn from seeds: each message arrives once and in order, and its
 * sender learns.
 *
 * SIM_SEED=N in the environment runs that seed alone and says what came of it; SIM_SEEDS=N runs so
 * many (./check --all: 100,000; over night: 1,000,000). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "memory.h"
#include "traffic.h"

struct run {
    struct sim_network *network;
    struct traffic one, two;
    uint32_t to_send; /* messages that alarms will still send */
    unsigned looks;   /* how often is_done was asked */
    bool on_tree;     /* nothing is lost or reordered any more, and nothing may be cut */
};

/* Often one below what links begin with. */
static uint32_t draw_limit(struct sim_network *network)
{
    return BCRI_LINK_PACKET_MIN + (uint32_t)sim_random(network, sim_random(network, 2) == 0 ? 1200 : 64000);
}

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
        path->packet_max = draw_limit(network);
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
    for (uint64_t i = sim_random(run->network, 12) + 1; i != 0 && run->to_send != 0; i--)
        run->to_send -= traffic_send(from, (uint32_t)sim_random(run->network, TRAFFIC_STREAMS),
                                     draw_length(run->network));
    sim_flush(&from->end);
    if (run->to_send != 0)
        sim_alarm(run->network, sim_now(run->network) + sim_random(run->network, 20 * SIM_MS), send_some, run,
                  sim_random(run->network, 2));
}

static void cut(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *from = (argument & 1) == 0 ? &run->one : &run->two;
    from->end.path.cut = (argument & 2) != 0 && !run->on_tree;
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
    if (run->on_tree)
        return;
    draw_path(run->network, &from->end.path);
    from->end.path.cut = was_cut;
}

/* The clock of an end stands still for a while, or jumps forward, or both. */
static void stop_clock(void *context, uint64_t argument)
{
    struct run *run = context;
    struct sim_end *end = (argument & 1) == 0 ? &run->one.end : &run->two.end;
    if ((argument & 2) != 0 && end->clock_stopped_at == 0) {
        end->clock_stopped_at = sim_clock(end);
        sim_alarm(run->network, sim_now(run->network) + sim_random(run->network, 2 * SIM_S), stop_clock, run,
                  argument & 1);
        return;
    }
    end->clock_stopped_at = 0;
    if (sim_random(run->network, 2) == 0)
        end->clock_ahead += sim_random(run->network, sim_random(run->network, 2) == 0 ? SIM_S : 3600 * SIM_S);
    sim_flush(end);
}

static void memory_is_back(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    memory_fails(0, 0);
}

/* Both go over to the tree, one a little later than the other. */
static void go_over(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *who = argument == 0 ? &run->one : &run->two;
    const struct bcri_link_carrier tree = {.packet_max = 2000,
                                           .room = 20000 + (uint32_t)sim_random(run->network, 1 << 18)};
    if (!run->on_tree)
        sim_alarm(run->network, sim_now(run->network) + sim_random(run->network, 50 * SIM_MS), go_over, run,
                  argument == 0);
    run->on_tree = true;
    /* What comes by the tree comes in order; what was under way before may still overtake it. */
    run->one.end.path = run->two.end.path = (struct sim_path){.delay_ns = SIM_MS};
    bcri_link_use_carrier(who->end.link, &tree, sim_clock(&who->end));
    sim_flush(&who->end);
}

static void change_carrier(void *context, uint64_t argument)
{
    struct run *run = context;
    struct traffic *who = argument == 0 ? &run->one : &run->two;
    if (run->on_tree)
        return;
    const struct bcri_link_carrier carrier = {.packet_max = draw_limit(run->network),
                                              .room = (uint32_t)sim_random(run->network, 1 << 20)};
    bcri_link_use_carrier(who->end.link, &carrier, sim_clock(&who->end));
    sim_flush(&who->end);
}

static bool is_done(void *context)
{
    struct run *run = context;
    if (run->looks++ % 64 == 0) {
        traffic_check_limits(run->one.end.link);
        traffic_check_limits(run->two.end.link);
    }
    if (run->two.held != 0) { /* a stream that stands still stops no other */
        if (run->to_send == 0 && traffic_is_completed_but_held(&run->two))
            traffic_release(&run->two);
        return false;
    }
    return run->to_send == 0 && traffic_is_completed(&run->one);
}

/* Returns what tells this run from others. */
static uint64_t run_seed(uint64_t seed)
{
    static struct run run;
    memset(&run, 0, sizeof run);
    struct sim_network *network = run.network = sim_new(seed);
    draw_path(network, &run.one.end.path);
    draw_path(network, &run.two.end.path);
    run.one.refuse = run.two.refuse = sim_random(network, 2) == 0 ? (unsigned)sim_random(network, 300) : 0;
    run.one.pause = run.two.pause = sim_random(network, 2) == 0 ? (unsigned)sim_random(network, 300) : 0;
    run.one.pause_ns = run.two.pause_ns = 100 * SIM_MS;
    run.two.held = sim_random(network, 4) == 0 ? 1 + (uint32_t)sim_random(network, TRAFFIC_STREAMS) : 0;
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
        .packet_max = draw_limit(network),
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
    if (sim_random(network, 3) == 0)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), stop_clock, &run,
                  2 + sim_random(network, 2));
    if (sim_random(network, 4) == 0)
        sim_alarm(network, sim_now(network) + sim_random(network, SIM_S), go_over, &run,
                  sim_random(network, 2));
    if (sim_random(network, 3) == 0) {
        memory_fails(1 + (unsigned)sim_random(network, 500), seed);
        sim_alarm(network, sim_now(network) + sim_random(network, 3 * SIM_S), memory_is_back, NULL, 0);
    }
    if (!sim_run(network, 3600 * SIM_S, is_done, &run))
        FAIL("seed %llu: %llu and %llu messages completed, not all", (unsigned long long)seed,
             (unsigned long long)run.one.messages_completed, (unsigned long long)run.two.messages_completed);
    const struct bcri_link_counts *counts = bcri_link_counts(run.one.end.link);
    CHECK_UINT(counts->malformed, 0);
    CHECK_UINT(bcri_link_counts(run.two.end.link)->malformed, 0);
    const uint64_t digest = sim_digest(network);
    if (getenv("SIM_VERBOSE") != NULL)
        printf("  seed %llu: %.3f s, %llu packets, %llu lost, %llu probes, size %u, digest %016llx\n",
               (unsigned long long)seed, (double)sim_now(network) / SIM_S,
               (unsigned long long)counts->packets_sent, (unsigned long long)counts->lost,
               (unsigned long long)counts->probes, bcri_link_packet_bytes(run.one.end.link),
               (unsigned long long)digest);
    memory_fails(0, 0);
    traffic_end(&run.one, &run.two);
    sim_free(network);
    return digest;
}

TEST_TIMEOUT(each_message_arrives_once_and_in_order_in_networks_of_all_kinds, 36000)
{
    const char *alone = getenv("SIM_SEED"), *many = getenv("SIM_SEEDS");
    if (alone != NULL) {
        setenv("SIM_VERBOSE", "1", 1);
        (void)run_seed(strtoull(alone, NULL, 10));
        return;
    }
    const uint64_t first = test_seed() >> 20;
    const uint64_t count = many != NULL ? strtoull(many, NULL, 10) : test_scale(2000, 100000);
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    fflush(stdout);
    /* In a child, so that whatever way a seed fails, it is named. */
    uint64_t *seed = mmap(NULL, sizeof *seed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(seed != MAP_FAILED);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (*seed = first; *seed < first + count; ++*seed)
            (void)run_seed(*seed);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) != child)
        CHECK_INT(errno, EINTR);
    if (status != 0)
        FAIL("seed %llu failed; the same again: SIM_SEED=%llu", (unsigned long long)*seed,
             (unsigned long long)*seed);
}

/* The digest that another process prints for a seed, which shares no address with this one. */
static uint64_t digest_elsewhere(uint64_t seed)
{
    char command[256], line[256];
    unsigned long long digest = 0;
    snprintf(command, sizeof command,
             "SIM_SEED=%llu /proc/%d/exe each_message_arrives_once_and_in_order_in_networks_of_all_kinds",
             (unsigned long long)seed, (int)getpid());
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): no words of anybody else */
    CHECK(output != NULL);
    while (fgets(line, sizeof line, output) != NULL) {
        const char *at = strstr(line, "digest ");
        if (at != NULL)
            digest = strtoull(at + strlen("digest "), NULL, 16);
    }
    CHECK_INT(pclose(output), 0);
    return digest;
}

TEST_TIMEOUT(a_seed_replays_packet_for_packet, 300)
{
    const uint64_t first = test_seed() >> 20;
    uint64_t last = 0;
    for (uint64_t seed = first; seed < first + 20; seed++) {
        const uint64_t digest = run_seed(seed);
        CHECK(digest != last);
        last = digest;
        CHECK_UINT(run_seed(seed), digest);
        if (seed < first + 5)
            CHECK_UINT(digest_elsewhere(seed), digest);
    }
}

/* SPDX-License-Identifier: MIT */
/* Thousands of ends in one network: hosts that talk to several others, stand still, are cut off in
 * one direction, crash and come again.
 *
 * A host that crashed comes again under another number and is introduced anew, with other keys, to
 * each of its peers; until they know, its peers go on sending, and then tell their senders that what
 * was not completed is lost. What is still under way from or to a host that is no more is lost.
 *
 * MESH_SEED=N in the environment runs that seed alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "traffic.h"
#include "wire.h"

enum { PEERS = 4 }; /* of each host: the two next to it on either side of a ring */

struct mesh;

/* Of one host to another. */
struct pair {
    struct traffic one, two;
    struct mesh *mesh;
    uint32_t low, high;  /* places in the ring */
    uint32_t introduced; /* how often */
    uint32_t to_send;    /* of this introduction */
    bool is_down;        /* an end has crashed, and is not introduced again yet */
};

struct mesh {
    struct sim_network *network;
    struct pair *pair;
    uint32_t hosts, pairs;
    uint32_t *number; /* of each host: another after each crash */
    uint32_t next_number;
    uint32_t looked_at; /* a pair */
    uint64_t crashes, arrived, lost, refused;
    enum bcri_cipher cipher;
};

static void draw_path(struct sim_network *network, struct sim_path *path)
{
    *path = (struct sim_path){.delay_ns = SIM_US + sim_random(network, 2 * SIM_MS),
                              .lost = (unsigned)sim_random(network, 2) * (unsigned)sim_random(network, 200),
                              .held = (unsigned)sim_random(network, 2) * (unsigned)sim_random(network, 200)};
}

static void send_some(void *context, uint64_t introduced)
{
    struct pair *pair = context;
    struct sim_network *network = pair->mesh->network;
    if (pair->is_down || introduced != pair->introduced)
        return;
    struct traffic *from = sim_random(network, 2) == 0 ? &pair->one : &pair->two;
    for (uint64_t i = 1 + sim_random(network, 3); i != 0 && pair->to_send != 0; i--, pair->to_send--)
        traffic_send(from, (uint32_t)sim_random(network, TRAFFIC_STREAMS),
                     (uint32_t)sim_random(network, 300));
    sim_flush(&from->end);
    if (pair->to_send != 0)
        sim_alarm(network, sim_now(network) + sim_random(network, 300 * SIM_MS), send_some, pair, introduced);
}

/* New numbers, new keys. */
static void introduce(struct pair *pair, bool is_first)
{
    struct mesh *mesh = pair->mesh;
    struct bcri_seal_secret secret;
    traffic_secret(&secret, mesh->cipher);
    bcri_put_u32(secret.bytes, pair->low);
    bcri_put_u32(secret.bytes + 4, ++pair->introduced);
    secret.token = (uint64_t)pair->low << 32 | pair->introduced;
    const struct bcri_link_config config = {
        .packet_max = 2000, .carrier = {.packet_max = 1500, .room = 100000}, .secret = &secret};
    pair->one.host = mesh->number[pair->low];
    pair->two.host = mesh->number[pair->high];
    if (is_first)
        traffic_start(mesh->network, &pair->one, &pair->two, &config);
    else
        traffic_introduce(&pair->one, &pair->two, &config);
    pair->is_down = false;
    pair->to_send = 5 + (uint32_t)sim_random(mesh->network, 10);
    sim_alarm(mesh->network, sim_now(mesh->network) + sim_random(mesh->network, SIM_S), send_some, pair,
              pair->introduced);
}

static void count_up(struct mesh *mesh, struct traffic *traffic)
{
    const struct bcri_link_counts *counts = bcri_link_counts(traffic->end.link);
    mesh->refused += counts->refused;
    /* Whatever comes of a host that is no more is not even looked into, save under its peer's head. */
    CHECK_UINT(counts->malformed, 0);
}

/* The peer of a crashed host learns of it, and of the host that comes in its place. */
static void replace(void *context, uint64_t introduced)
{
    struct pair *pair = context;
    if (introduced != pair->introduced)
        return;
    for (unsigned side = 0; side < 2; side++) {
        struct traffic *traffic = side == 0 ? &pair->one : &pair->two;
        if (traffic->end.link != NULL) {
            count_up(pair->mesh, traffic);
            traffic_crash(traffic);
        }
    }
    introduce(pair, false);
}

static void crash(void *context, uint64_t host)
{
    struct mesh *mesh = context;
    mesh->number[host] = mesh->next_number++;
    mesh->crashes++;
    for (uint32_t i = 0; i < mesh->pairs; i++) {
        struct pair *pair = &mesh->pair[i];
        if (pair->low != host && pair->high != host)
            continue;
        struct traffic *dead = pair->low == host ? &pair->one : &pair->two;
        if (dead->end.link != NULL) {
            count_up(mesh, dead);
            traffic_crash(dead);
        }
        /* Soon, while packets of the last introduction are still under way, or late. */
        const uint64_t learns_after =
            sim_random(mesh->network, sim_random(mesh->network, 2) == 0 ? SIM_MS : 2 * SIM_S);
        if (!pair->is_down)
            sim_alarm(mesh->network, sim_now(mesh->network) + learns_after, replace, pair, pair->introduced);
        pair->is_down = true;
    }
}

/* All links of a host stand still, or it is not heard for a while. */
static void pause_or_cut(void *context, uint64_t argument)
{
    struct mesh *mesh = context;
    const uint64_t host = argument / 4, until = sim_now(mesh->network) + sim_random(mesh->network, 2 * SIM_S);
    for (uint32_t i = 0; i < mesh->pairs; i++) {
        struct pair *pair = &mesh->pair[i];
        if (pair->low != host && pair->high != host)
            continue;
        struct sim_end *end = pair->low == host ? &pair->one.end : &pair->two.end;
        if (argument % 4 == 0)
            end->asleep_until = until;
        else
            end->path.cut = argument % 4 == 1;
    }
    if (argument % 4 == 1)
        sim_alarm(mesh->network, until, pause_or_cut, mesh, host * 4 + 2);
}

static bool is_completed(const struct pair *pair)
{
    return !pair->is_down && pair->to_send == 0 && traffic_is_completed(&pair->one);
}

/* Looks from the pair on that was not completed when it was last asked. */
static bool is_done(void *context)
{
    struct mesh *mesh = context;
    for (uint32_t i = 0; i < mesh->pairs; i++) {
        if (!is_completed(&mesh->pair[mesh->looked_at]))
            return false;
        mesh->looked_at = (mesh->looked_at + 1) % mesh->pairs;
    }
    return true;
}

static uint64_t run_mesh(uint64_t seed, uint32_t hosts, bool says)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    struct mesh mesh = {.network = sim_new(seed), .hosts = hosts, .pairs = hosts * (PEERS / 2)};
    mesh.pair = calloc(mesh.pairs, sizeof *mesh.pair);
    mesh.number = calloc(hosts, sizeof *mesh.number);
    CHECK(mesh.pair != NULL && mesh.number != NULL);
    mesh.cipher = has_aes ? BCRI_CIPHER_AES256GCM : BCRI_CIPHER_CHACHA20POLY1305;
    mesh.next_number = 1;
    for (uint32_t i = 0; i < hosts; i++)
        mesh.number[i] = mesh.next_number++;
    for (uint32_t i = 0; i < mesh.pairs; i++) {
        struct pair *pair = &mesh.pair[i];
        pair->mesh = &mesh;
        pair->low = i % hosts;
        pair->high = (pair->low + 1 + i / hosts) % hosts;
        draw_path(mesh.network, &pair->one.end.path);
        draw_path(mesh.network, &pair->two.end.path);
        introduce(pair, true);
    }
    for (uint32_t i = hosts / 4; i != 0; i--) {
        const uint64_t at = sim_now(mesh.network) + sim_random(mesh.network, 3 * SIM_S);
        const uint64_t host = sim_random(mesh.network, hosts);
        if (sim_random(mesh.network, 2) == 0)
            sim_alarm(mesh.network, at, crash, &mesh, host);
        else
            sim_alarm(mesh.network, at, pause_or_cut, &mesh, host * 4 + sim_random(mesh.network, 2));
    }
    if (!sim_run(mesh.network, 3600 * SIM_S, is_done, &mesh))
        FAIL("seed %llu: not all is completed; the same again: MESH_SEED=%llu", (unsigned long long)seed,
             (unsigned long long)seed);
    size_t memory = 0;
    for (uint32_t i = 0; i < mesh.pairs; i++) {
        struct pair *pair = &mesh.pair[i];
        for (unsigned side = 0; side < 2; side++) {
            struct traffic *traffic = side == 0 ? &pair->one : &pair->two;
            count_up(&mesh, traffic);
            traffic_check_limits(traffic->end.link);
            memory += bcri_link_memory(traffic->end.link);
            mesh.arrived += traffic->messages_arrived;
            mesh.lost += traffic->messages_lost;
        }
    }
    const uint64_t digest = sim_digest(mesh.network);
    if (says)
        printf("  seed %llu: %u ends, %.1f s, %llu packets, %llu crashes, %llu messages arrived, %llu lost, "
               "%llu packets refused, %zu bytes a link\n",
               (unsigned long long)seed, 2 * mesh.pairs, (double)sim_now(mesh.network) / SIM_S,
               (unsigned long long)sim_packets(mesh.network), (unsigned long long)mesh.crashes,
               (unsigned long long)mesh.arrived, (unsigned long long)mesh.lost,
               (unsigned long long)mesh.refused, memory / (2 * mesh.pairs));
    if (hosts >= 1000) { /* enough of everything has happened */
        CHECK(mesh.crashes != 0);
        CHECK(mesh.lost != 0);
        CHECK(memory / (2 * mesh.pairs) < 24u << 10);
    }
    for (uint32_t i = 0; i < mesh.pairs; i++)
        traffic_end(&mesh.pair[i].one, &mesh.pair[i].two);
    sim_free(mesh.network);
    free(mesh.pair);
    free(mesh.number);
    return digest;
}

TEST_TIMEOUT(thousands_of_ends_complete_all_their_messages_whoever_crashes_and_comes_again, 3600)
{
    const char *alone = getenv("MESH_SEED");
    const uint64_t seed = alone != NULL ? strtoull(alone, NULL, 10) : test_seed() >> 20;
    (void)run_mesh(seed, 1000, true);
}

TEST_TIMEOUT(small_networks_of_hosts_that_crash_complete_all_from_many_seeds, 3600)
{
    const uint64_t first = test_seed() >> 20;
    for (uint64_t seed = first; seed < first + test_scale(400, 20000); seed++)
        (void)run_mesh(seed, 5 + seed % 8, false);
}

TEST_TIMEOUT(a_network_of_many_ends_replays_packet_for_packet, 600)
{
    const uint64_t seed = test_seed() >> 20;
    const uint64_t digest = run_mesh(seed, 100, false);
    CHECK_UINT(run_mesh(seed, 100, false), digest);
    CHECK(run_mesh(seed + 1, 100, false) != digest);
}

/* SPDX-License-Identifier: MIT */
/*
 * bench_hosts.c -- two CCEs on two hosts, beside bare UDP between the same two processes:
 *
 *     sh test/bench/hosts.sh enl bench_hosts      two network namespaces joined by veth, one core each
 *     enl --local 1 bench_hosts                   two daemons on this machine, over the loopback device
 *
 * The partner runs on the first machine that enl was given. Both processes are on one computer, so they share the
 * page of a pair, which tells when a turn begins; what is measured goes over the network. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_cells.h"
#include "link_end.h"

#define COMPUTE_NS 1000000
enum {
    HEAP_AREA = 1,
    HEAP_BYTES = 64 << 20,
    CELL_OWNED = 90,
    BULK_IN_CELL = 8,
    BULK_AHEAD =
        16, /* regions that the putter may be ahead of the getter, who tells it of so many at a time: */
    BULK_TOLD = 4,
    BULK_BATCH = 64, /* regions of one count, so that the first and the last of a turn hardly matter */
    ENGINE_SOCKET_BYTES = 4 << 20, /* as the daemon's */
    MACHINE_CHARS = 256
};

/* Behind what is zeroed before each turn. */
struct hosts_shm {
    struct sockaddr_in bare[2], engine[2]; /* each side's sockets */
    enum bcri_cipher cipher;               /* written by side 0 before the first turn */
    struct link_meet_shm meet;
};

static int bare;               /* this side's socket, connected to the other's */
static struct link_end engine; /* this side's end of a link, apart from the daemons' */

static struct hosts_shm *hosts_of(struct bench_pair *pair)
{
    return (struct hosts_shm *)((char *)pair->area + FLOOR_BULK_OFFSET);
}

/* ---- bare UDP ---- */

/* The address of this host that another can reach: not the loopback device's, if there is another. */
static struct in_addr own_address(void)
{
    struct ifaddrs *all;
    struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
    if (getifaddrs(&all) != 0)
        return address;
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next)
        if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET &&
            (at->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP) {
            address = ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr;
            break;
        }
    freeifaddrs(all);
    return address;
}

static void open_bare(struct bench_pair *pair)
{
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_addr = own_address()};
    socklen_t length = sizeof bound;
    bare = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bare < 0 || bind(bare, (const struct sockaddr *)&bound, sizeof bound) != 0 ||
        getsockname(bare, (struct sockaddr *)&bound, &length) != 0)
        bench_fail("cannot open a socket");
    hosts_of(pair)->bare[pair->side] = bound;
}

static void connect_bare(struct bench_pair *pair)
{
    const struct sockaddr_in *other = &hosts_of(pair)->bare[!pair->side];
    if (connect(bare, (const struct sockaddr *)other, sizeof *other) != 0)
        bench_fail("cannot connect a socket");
}

static void send_word(uint64_t word)
{
    if (send(bare, &word, sizeof word, 0) != sizeof word)
        bench_fail("cannot send a datagram");
}

static uint64_t receive_word(int flags)
{
    uint64_t word;
    while (recv(bare, &word, sizeof word, flags) != sizeof word)
        if (errno != EAGAIN && errno != EINTR)
            bench_fail("cannot receive a datagram");
    return word;
}

static void udp_exchange(struct bench_pair *pair, struct bench_turn *turn, int flags)
{
    if (pair->shm->case_idx >= 0 && turn->count > 0)
        connect_bare(pair);
    bench_pair_align(pair);
    for (long i = 0; i < turn->count; i++) {
        if (pair->side == 0)
            send_word((uint64_t)i);
        (void)receive_word(flags);
        if (pair->side == 1)
            send_word((uint64_t)i);
    }
    turn->op_count = turn->count;
}

static void udp_awake(struct bench_pair *pair, struct bench_turn *turn)
{
    udp_exchange(pair, turn, MSG_DONTWAIT);
}

static void udp_asleep(struct bench_pair *pair, struct bench_turn *turn)
{
    udp_exchange(pair, turn, 0);
}

/* ---- a sender that computes behind each put, and an owner that computes ---- */

static void put_and_compute(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    int64_t total_ns = 0;
    for (long i = 0; i < turn->count; i++)
        if (pair->side == 0) {
            bcr_region region = cells_new(turn->size_bytes, 0);
            *(int64_t *)*region = bench_now_ns();
            cells_check(bcr_enq(region, user->other, CELL_HAND, bcr_FREE) == 0, "bcr_enq");
            bench_busy_ns(COMPUTE_NS);
        } else {
            bcr_region region = bcr_deq(user->own, CELL_HAND, bcr_BLOCK);
            cells_check(region != NULL, "bcr_deq");
            total_ns += bench_now_ns() - *(const int64_t *)*region;
            cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
        }
    turn->op_count = pair->side == 1 ? turn->count : 0;
    turn->timed_ns = (double)total_ns;
}

/* Side 1 owns a region and computes until side 0 has read that so often. */
static void read_of_computing(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    _Atomic uint64_t *stop = &floor_area(pair)->stop.value;
    int64_t total_ns = 0;
    if (pair->side == 1) {
        while (atomic_load(stop) == 0)
            bench_busy_ns(COMPUTE_NS / 10);
        return;
    }
    for (long i = 0; i < turn->count; i++) {
        const int64_t start_ns = bench_now_ns();
        bcr_region region = bcr_read(user->other, CELL_OWNED, bcr_BLOCK);
        total_ns += bench_now_ns() - start_ns;
        cells_check(region != NULL, "bcr_read");
        cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
        bench_busy_ns(COMPUTE_NS / 10);
    }
    atomic_store(stop, 1);
    turn->op_count = turn->count;
    turn->timed_ns = (double)total_ns;
}

/* A process beside each side computes, too, on the same core. */
static void put_beside_others(struct bench_pair *pair, struct bench_turn *turn)
{
    const pid_t parent = getpid(), other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            bench_busy_ns(COMPUTE_NS);
        _exit(0);
    }
    if (other < 0)
        bench_fail("cannot fork");
    bench_pair_align(pair);
    put_and_compute(pair, turn);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* ---- the engine alone ---- */

static void open_engine(struct bench_pair *pair)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = own_address()};
    struct sockaddr_storage bound;
    bool has_aes;
    if (bcri_seal_prepare(&has_aes) != 0 ||
        bcri_udp_open((const struct sockaddr *)&any, sizeof any, ENGINE_SOCKET_BYTES, &engine.udp) != 0 ||
        bcri_udp_address(engine.udp, &bound) == 0)
        bench_fail("cannot open the socket of a link");
    memcpy(&hosts_of(pair)->engine[pair->side], &bound, sizeof engine.peer);
}

/* The same bytes between the same two processes, which drive a link themselves. */
static void engine_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    struct hosts_shm *hosts = hosts_of(pair);
    if (engine.link == NULL) {
        engine.peer = hosts->engine[!pair->side];
        engine.cipher = hosts->cipher;
        engine.bodies = LINK_BODIES; /* as the putter has regions */
        link_end_warm_up(&engine, pair->side, &hosts->meet);
        bench_pair_align(pair);
    }
    turn->count *= BULK_BATCH;
    link_end_stream(&engine, pair->side, &hosts->meet, turn, LINK_BULK_OUTSTANDING);
}

/* As the daemons seal: AES if this processor has it, and the partner's is the same one. */
static enum bcri_cipher cipher_of_program(void)
{
    const char *security = getenv("BCR_SECURITY");
    bool has_aes;
    if (bcri_seal_prepare(&has_aes) != 0)
        bench_fail("libsodium cannot be used");
    return security != NULL && strcmp(security, "none") == 0 ? BCRI_CIPHER_NONE
           : has_aes                                         ? BCRI_CIPHER_AES256GCM
                                                             : BCRI_CIPHER_CHACHA20POLY1305;
}

/* ---- large regions ---- */

static void take(const struct cells_user *user, int cell, uint64_t expected)
{
    bcr_region region = bcr_deq(user->own, cell, bcr_BLOCK);
    cells_check(region != NULL, "bcr_deq");
    if (*(const uint64_t *)*region != expected)
        bench_fail("a region is not the next one");
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
}

static void put(const struct cells_user *user, int cell, size_t size_bytes, uint64_t value)
{
    cells_check(bcr_enq(cells_new(size_bytes, value), user->other, cell, bcr_FREE) == 0, "bcr_enq");
}

/* The putter waits when it is so far ahead that its heap would be used up. */
static void bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct cells_user *user = cells_user(pair);
    const uint64_t count = (uint64_t)turn->count * BULK_BATCH;
    if (pair->side == 1) {
        for (uint64_t i = 0; i < count; i++) {
            take(user, CELL_BULK, i);
            if ((i + 1) % BULK_TOLD == 0)
                put(user, CELL_HAND, sizeof(uint64_t), i + 1);
        }
        turn->op_count = (long)count;
        return;
    }
    uint64_t told = 0;
    for (uint64_t i = 0; i < count; i++) {
        for (; i - told >= BULK_AHEAD; told += BULK_TOLD)
            take(user, CELL_HAND, told + BULK_TOLD);
        put(user, CELL_BULK, turn->size_bytes, i);
    }
    for (; told != count; told += BULK_TOLD)
        take(user, CELL_HAND, told + BULK_TOLD);
}

/* What `limit` says is for the unencrypted network; the sealed one adds a seal, an open, and its own packets. */
static const struct bench_case cases[] = {
    {.name = "udp.pong.8B", .unit = BENCH_US, .subject = udp_awake, .size_bytes = 8},
    {.name = "udp.pong.8B.asleep", .unit = BENCH_US, .subject = udp_asleep, .size_bytes = 8},
    {.name = "hosts.pong.8B",
     .unit = BENCH_US,
     .subject = cells_handover,
     .floor = udp_awake,
     .floor_name = "bare UDP",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 3.6},
    {.name = "hosts.pong.8B.asleep",
     .unit = BENCH_US,
     .subject = cells_handover,
     .floor = udp_asleep,
     .floor_name = "blocking UDP",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 1.6},
    {.name = "hosts.put.computing",
     .unit = BENCH_US,
     .subject = put_and_compute,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_MOST,
     .limit = 150},
    {.name = "hosts.read.computing",
     .unit = BENCH_US,
     .subject = read_of_computing,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_MOST,
     .limit = 60},
    {.name = "hosts.put.beside",
     .unit = BENCH_US,
     .subject = put_beside_others,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_MOST,
     .limit = 200},
    {.name = "hosts.rate.8B",
     .unit = BENCH_M_PER_S,
     .subject = cells_stream_items,
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 1.2},
    {.name = "hosts.stream.1M",
     .unit = BENCH_GB_PER_S,
     .subject = bulk,
     .floor = engine_bulk,
     .floor_name = "engine alone",
     .size_bytes = LINK_BODY_BYTES,
     .limit_kind = BENCH_RATIO_AT_LEAST,
     .limit = 0.85},
};

static void prepare(struct bench_pair *pair)
{
    cells_check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 1024, HEAP_BYTES) == HEAP_AREA, "bcr_cagrow");
    cells_grow(CELL_HAND, 64, 0);
    cells_grow(CELL_ITEMS, ITEMS_IN_CELL_MAX, 0);
    cells_grow(CELL_BULK, BULK_IN_CELL, 0);
    cells_grow(CELL_OWNED, 1, 0);
    cells_check(bcr_enq(cells_new(8, 0), bcr_cce, CELL_OWNED, bcr_FREE) == 0, "bcr_enq");
    pair->cases = cases;
    pair->case_count = (int)(sizeof cases / sizeof cases[0]);
}

static void be_partner(struct bench_pair *pair)
{
    static struct cells_user user;
    cells_be_partner(pair, &user);
    prepare(pair);
    open_bare(pair);
    open_engine(pair);
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bench_pair_serve(pair);
}

static void be_root(struct bench_pair *pair, const struct bench_options *options)
{
    static char own[PATH_MAX], machine[MACHINE_CHARS];
    static struct cells_user user = {.executable = own, .machine = machine};
    struct bench_report report;
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0)
        bench_fail("cannot read /proc/self/exe");
    cells_check(bcr_host(0, machine, sizeof machine) > 0, "bcr_host");
    prepare(pair);
    cells_grow(CELL_CRY, 1, 0);
    cells_enlist_partner(pair, options, &user);
    open_bare(pair);
    open_engine(pair);
    hosts_of(pair)->cipher = cipher_of_program();
    bench_report_begin(&report, options, "cells of another host");
    bench_report_note("the partner is on %s", machine);
    bench_pair_measure(pair, options, &report);
    bench_pair_end(pair);
    bench_report_end(&report);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_pair pair = {.probe_idx = 0};
    bench_options_parse(&options, argc, argv);
    if (options.list) {
        pair.cases = cases;
        pair.case_count = (int)(sizeof cases / sizeof cases[0]);
        bench_pair_list(&pair, &options);
        return 0;
    }
    cells_check(bcr_init(bcr_user_ca | bcr_inorder, argv[0]) == 0, "bcr_init");
    if (bcr_cceord == 0)
        be_root(&pair, &options);
    else
        be_partner(&pair);
    return 0;
}

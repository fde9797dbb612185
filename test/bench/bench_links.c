/* SPDX-License-Identifier: MIT */
/* bench_links.c -- two ends of a link over UDP, each on a core of its own, beside bare sockets. */
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "link_hosts.h"
#include "pair.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum {
    HEAD_BYTES = 16,      /* of a packet */
    SEGMENT_BYTES = 1472, /* what an MTU of 1500 leaves for UDP over IPv4 */
    GROUP_BYTES = 44 * SEGMENT_BYTES,
    WINDOW_BYTES = 1 << 20,
    TURN_FACTOR = 10, /* turns that the last acknowledgement of a link does not fill */
    RATE_OUTSTANDING = 256
};

struct area_shm {
    alignas(BENCH_LINE) _Atomic uint64_t received; /* bytes; zeroed before each turn */
    struct link_meet_shm meet;
};

static struct link_hosts hosts;
static uint8_t bytes[LINK_BODY_BYTES];

static struct area_shm *area_of(struct bench_pair *pair)
{
    return pair->area;
}

static struct link_end *end_of(struct bench_pair *pair, const struct bench_turn *turn)
{
    struct link_end *end = &((struct link_end *)(uintptr_t)turn->context)[pair->side];
    if (end->link == NULL)
        link_end_warm_up(end, pair->side, &area_of(pair)->meet);
    return end;
}

/* Keys of both ends in one process: what sealing and opening take for themselves. */
static struct {
    struct bcri_sealing *from, *to;
    uint64_t number;
} sealer;

static void begin_sealing(void)
{
    struct bcri_seal_secret secret = {.cipher = hosts.sealed[0].cipher};
    memset(secret.bytes, 9, sizeof secret.bytes);
    sealer.from = bcri_sealing_new(&secret, 1, 2, 0);
    sealer.to = bcri_sealing_new(&secret, 2, 1, 0);
    if (sealer.from == NULL || sealer.to == NULL)
        abort();
}

static void seal_at(uint8_t *packet, size_t text_bytes)
{
    bcri_seal(sealer.from, ++sealer.number, packet, HEAD_BYTES, packet + HEAD_BYTES, text_bytes);
}

static void open_at(uint8_t *packet, uint64_t number, size_t text_bytes)
{
    if (!bcri_open(sealer.to, number, 0, packet, HEAD_BYTES, packet + HEAD_BYTES,
                   text_bytes + BCRI_SEAL_TAG_BYTES))
        abort();
}

static void exchange(struct bench_pair *pair, struct bench_turn *turn, bool seals)
{
    enum { PONG_TEXT_BYTES = 48 }; /* acknowledgement, TAKEN and BYTES of 8 bytes with a header of 4 */
    static uint8_t packet[HEAD_BYTES + PONG_TEXT_BYTES + BCRI_SEAL_TAG_BYTES];
    struct link_end *end = end_of(pair, turn);
    if (seals && sealer.from == NULL)
        begin_sealing();
    const uint64_t before = end->arrived;
    const int64_t start = bench_now_ns();
    for (long i = 0; i < turn->count; i++) {
        if (pair->side == 0) {
            link_end_send(end, (uint32_t)turn->size_bytes);
            link_end_give(end);
        }
        while (end->arrived == before + (uint64_t)i)
            if (link_end_take(end) && end->arrived == before + (uint64_t)i)
                link_end_give(end);
        if (seals) { /* on both sides in each round, which is two messages */
            seal_at(packet, PONG_TEXT_BYTES);
            open_at(packet, sealer.number, PONG_TEXT_BYTES);
        }
        if (pair->side == 1) {
            link_end_send(end, (uint32_t)turn->size_bytes);
            link_end_give(end);
        }
    }
    turn->op_count = turn->count;
    if (pair->side == 0)
        turn->timed_ns = (double)(bench_now_ns() - start);
    link_end_finish(end, pair->side, &area_of(pair)->meet);
}

static void link_pong(struct bench_pair *pair, struct bench_turn *turn)
{
    exchange(pair, turn, false);
}

/* Links that do not seal, and beside them one seal and one open for each message. */
static void link_pong_and_seal(struct bench_pair *pair, struct bench_turn *turn)
{
    struct bench_turn plain = *turn;
    plain.context = hosts.plain;
    exchange(pair, &plain, true);
    *turn = plain;
}

static void one_way(struct bench_pair *pair, struct bench_turn *turn, long outstanding)
{
    link_end_stream(end_of(pair, turn), pair->side, &area_of(pair)->meet, turn, outstanding);
}

static void link_rate(struct bench_pair *pair, struct bench_turn *turn)
{
    one_way(pair, turn, RATE_OUTSTANDING);
}

static void link_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    one_way(pair, turn, LINK_BULK_OUTSTANDING);
}

/* Both ends in one process, nothing between them: what the engine itself takes for a packet there, half
 * of which is each side's. */
static void engine_packet(struct bench_pair *pair, struct bench_turn *turn)
{
    static struct link_end ends[2];
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    if (pair->side == 1)
        return;
    for (int side = 0; side < 2 && ends[1].link == NULL; side++) {
        ends[side].cipher = *(const enum bcri_cipher *)turn->context;
        link_end_begin(&ends[side], side);
    }
    uint64_t now = (uint64_t)bench_now_ns();
    for (long i = 0; i < turn->count; i++, now += 1000) {
        struct link_end *from = &ends[i & 1], *to = &ends[!(i & 1)];
        link_end_send(from, (uint32_t)turn->size_bytes);
        for (size_t bytes_sent; (bytes_sent = bcri_link_fill(from->link, packet, now)) != 0;)
            bcri_link_receive(to->link, packet, bytes_sent, now);
    }
    turn->op_count = 2 * turn->count;
}

/* Unconnected, as a host's one socket is. */
static void udp_pong_any(struct bench_pair *pair, struct bench_turn *turn)
{
    const int fd = hosts.udp_any[pair->side];
    const struct sockaddr *const peer = (const struct sockaddr *)&hosts.any_address[!pair->side];
    struct sockaddr_in from;
    uint64_t word = 0;
    for (long i = 0; i < turn->count; i++) {
        socklen_t length = sizeof from;
        if (pair->side == 0 && sendto(fd, &word, sizeof word, 0, peer, sizeof from) != sizeof word)
            abort();
        while (recvfrom(fd, &word, sizeof word, MSG_DONTWAIT, (struct sockaddr *)&from, &length) < 0)
            length = sizeof from;
        if (pair->side == 1 && sendto(fd, &word, sizeof word, 0, peer, sizeof from) != sizeof word)
            abort();
    }
    turn->op_count = turn->count;
}

static void udp_pong(struct bench_pair *pair, struct bench_turn *turn)
{
    const int fd = hosts.udp[pair->side];
    uint64_t word = 0;
    for (long i = 0; i < turn->count; i++) {
        if (pair->side == 0 && send(fd, &word, sizeof word, 0) != sizeof word)
            abort();
        while (recv(fd, &word, sizeof word, MSG_DONTWAIT) < 0)
            continue;
        if (pair->side == 1 && send(fd, &word, sizeof word, 0) != sizeof word)
            abort();
    }
    turn->op_count = turn->count;
}

/* What opening full packets costs the receiver's core, and nothing else. */
static void open_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    enum { TEXT_BYTES = SEGMENT_BYTES - HEAD_BYTES - BCRI_SEAL_TAG_BYTES };
    const long packets = (LINK_BODY_BYTES + TEXT_BYTES - 1) / TEXT_BYTES;
    static uint8_t *packet;
    if (pair->side == 0)
        return;
    if (sealer.from == NULL)
        begin_sealing();
    if (packet == NULL && (packet = calloc((size_t)packets, SEGMENT_BYTES)) == NULL)
        abort();
    for (long i = 0; i < turn->count; i++) {
        const uint64_t first = sealer.number + 1;
        for (long at = 0; at < packets; at++)
            seal_at(packet + at * SEGMENT_BYTES, TEXT_BYTES);
        const int64_t start = bench_now_ns();
        for (long at = 0; at < packets; at++)
            open_at(packet + at * SEGMENT_BYTES, first + (uint64_t)at, TEXT_BYTES);
        turn->timed_ns += (double)(bench_now_ns() - start);
    }
    turn->op_count = turn->count;
}

/* Segments cut and joined by the kernel; what is under way is bounded through shared memory. */
static void udp_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    const int fd = hosts.udp[pair->side];
    struct area_shm *area = area_of(pair);
    const uint64_t total = (uint64_t)turn->count * LINK_BODY_BYTES / GROUP_BYTES * GROUP_BYTES;
    union {
        struct cmsghdr aligned;
        uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {bytes, GROUP_BYTES};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){
        .cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof(uint16_t))};
    const uint16_t segment = SEGMENT_BYTES;
    memcpy(CMSG_DATA(header), &segment, sizeof segment);
    if (pair->side == 0) {
        for (uint64_t sent = 0; sent < total; sent += GROUP_BYTES) {
            while (sent - atomic_load(&area->received) > WINDOW_BYTES)
                continue;
            if (sendmsg(fd, &message, 0) != GROUP_BYTES)
                abort();
        }
        while (atomic_load(&area->received) < total)
            continue;
        turn->op_count = turn->count;
    } else {
        for (uint64_t received = 0; received < total;) {
            const ssize_t length = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
            if (length > 0)
                atomic_store(&area->received, received += (uint64_t)length);
        }
    }
}

static void tcp_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    const int fd = hosts.tcp[pair->side];
    const uint64_t total = (uint64_t)turn->count * LINK_BODY_BYTES;
    for (uint64_t done = 0; done < total;) {
        const size_t most = total - done < LINK_BODY_BYTES ? (size_t)(total - done) : LINK_BODY_BYTES;
        const ssize_t length = pair->side == 0 ? send(fd, bytes, most, 0) : recv(fd, bytes, most, 0);
        if (length <= 0)
            abort();
        done += (uint64_t)length;
    }
    turn->op_count = pair->side == 0 ? turn->count : 0;
}

#define PONG(figure, ends, its_floor, its_name, ratio)                                      \
    {                                                                                       \
        .name = (figure), .unit = BENCH_NS, .subject = link_pong, .floor = (its_floor),     \
        .floor_name = (its_name), .size_bytes = 8, .context = (ends),                       \
        .limit_kind = (ratio) != 0 ? BENCH_RATIO_AT_MOST : BENCH_NO_LIMIT, .limit = (ratio) \
    }
#define BULK(figure, ends, its_floor, its_name, ratio)                                        \
    {                                                                                         \
        .name = (figure), .unit = BENCH_GB_PER_S, .subject = link_bulk, .floor = (its_floor), \
        .floor_name = (its_name), .size_bytes = LINK_BODY_BYTES, .context = (ends),           \
        .limit_kind = (ratio) != 0 ? BENCH_RATIO_AT_LEAST : BENCH_NO_LIMIT, .limit = (ratio)  \
    }
#define RATE(figure, ends, least)                                                                          \
    {                                                                                                      \
        .name = (figure), .unit = BENCH_M_PER_S, .subject = link_rate, .size_bytes = 8, .context = (ends), \
        .limit_kind = BENCH_VALUE_AT_LEAST, .limit = (least)                                               \
    }

static const enum bcri_cipher plain = BCRI_CIPHER_NONE;

static const struct bench_case cases[] = {
    {.name = "udp.pong.8B", .unit = BENCH_NS, .subject = udp_pong, .size_bytes = 8},
    {.name = "udp.pong.8B.any",
     .unit = BENCH_NS,
     .subject = udp_pong_any,
     .floor = udp_pong,
     .floor_name = "connected UDP",
     .size_bytes = 8},
    PONG("link.pong.8B", hosts.plain, udp_pong, "bare UDP", 1.25),
    PONG("link.pong.8B.any", hosts.plain, udp_pong_any, "unconnected UDP", 0),
    PONG("link.pong.8B.sealed", hosts.sealed, link_pong_and_seal, "plain, seal, open", 1.1),
    PONG("link.pong.8B.sealed.udp", hosts.sealed, udp_pong, "bare UDP", 0),
    {.name = "link.engine.8B",
     .unit = BENCH_NS,
     .subject = engine_packet,
     .size_bytes = 8,
     .context = &plain,
     .limit_kind = BENCH_NO_LIMIT},
    RATE("link.rate.8B", hosts.plain, 4),
    RATE("link.rate.8B.sealed", hosts.sealed, 3),
    BULK("link.stream.1M", hosts.plain, udp_bulk, "bare GSO+GRO", 0.65),
    BULK("link.stream.1M.tcp", hosts.plain, tcp_bulk, "blocking TCP", 0.8),
    BULK("link.stream.1M.sealed", hosts.sealed, open_bulk, "opening", 0.8),
    BULK("link.stream.1M.sealed.udp", hosts.sealed, udp_bulk, "bare GSO+GRO", 0),
};

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_report report;
    bench_options_parse(&options, argc, argv);
    struct bench_pair pair = {.cases = cases, .case_count = sizeof cases / sizeof cases[0], .probe_idx = 0};
    if (options.list) {
        bench_pair_list(&pair, &options);
        return 0;
    }
    memset(bytes, 3, sizeof bytes);
    link_hosts_open(&hosts);
    memcpy(pair.core, options.core, sizeof pair.core);
    options.turn_ns *= TURN_FACTOR;
    (void)bench_pair_create(&pair, sizeof(struct area_shm), offsetof(struct area_shm, meet));
    bench_pair_fork(&pair);
    bench_report_begin(&report, &options,
                       hosts.veth ? "Links: two network namespaces joined by veth"
                                  : "Links: over the loopback device (no namespaces here)");
    bench_pair_measure(&pair, &options, &report);
    bench_pair_end(&pair);
    bench_report_end(&report);
    return 0;
}

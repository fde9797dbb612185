/* SPDX-License-Identifier: MIT */
/* Links over real sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bcri/udp.h"
#include "check.h"

enum { MESSAGES = 400, BODY_MAX = 300000, CAME_MAX = 200 };

struct end {
    struct bcri_link *link;
    struct bcri_udp *udp;
    struct sockaddr_storage peer;
    socklen_t peer_bytes;
    int fd;
    uint8_t *memory[MESSAGES];
    uint32_t bytes[MESSAGES];
    unsigned begun, arrived, completed;
};

static struct end ends[2];
static uint8_t body[BODY_MAX];

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source == 1 && target == 2;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    struct end *end = owner;
    CHECK(end->begun < MESSAGES);
    message->memory = end->memory[end->begun] = malloc(message->body_bytes + 1);
    CHECK(message->memory != NULL);
    end->bytes[end->begun++] = message->body_bytes;
    return BCRI_LINK_TAKE;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    struct end *end = owner;
    (void)source;
    (void)target;
    (void)cookie;
    CHECK_MEM(end->memory[end->arrived], body, end->bytes[end->arrived]);
    free(end->memory[end->arrived]);
    end->arrived++;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)source;
    (void)target;
    (void)cookie;
    CHECK_INT(outcome, BCRI_LINK_ARRIVED);
    ((struct end *)owner)->completed++;
}

static const struct bcri_link_events events = {accept_stream, begin, arrived, arrived, completed};

static void make_links(const struct bcri_link_carrier carrier[2])
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    const struct bcri_seal_secret secret = {
        .cipher = has_aes ? BCRI_CIPHER_AES256GCM : BCRI_CIPHER_CHACHA20POLY1305, .bytes = {1, 2, 3}};
    for (uint32_t i = 0; i < 2; i++) {
        const struct bcri_link_config config = {.host = i + 1,
                                                .peer = 2 - i,
                                                .packet_max = BCRI_LINK_PACKET_MAX,
                                                .carrier = carrier[i],
                                                .secret = &secret};
        ends[i].link = bcri_link_new(&config, &events, &ends[i], now());
        CHECK(ends[i].link != NULL);
    }
    for (unsigned i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 7 + i / 256);
}

static void from_udp(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                     size_t bytes)
{
    struct end *end = context;
    CHECK_UINT(from_bytes, end->peer_bytes);
    CHECK_INT(from->sa_family, end->peer.ss_family);
    bcri_link_receive(end->link, packet, bytes, now());
}

/* Sends what there is; returns whether the carrier is full. */
static bool send_all(struct end *end)
{
    for (size_t bytes = 1; bytes != 0;) {
        uint8_t *space;
        while ((space = bcri_udp_space(end->udp)) != NULL &&
               (bytes = bcri_link_fill(end->link, space, now())) != 0)
            bcri_udp_add(end->udp, (struct sockaddr *)&end->peer, end->peer_bytes, bytes);
        if (!bcri_udp_flush(end->udp))
            return true;
    }
    return false;
}

/* Both ends in one process, asleep while nothing comes. */
static void run_until(unsigned count)
{
    while (ends[0].completed < count || ends[1].completed < count) {
        struct pollfd fds[2];
        uint64_t first = BCRI_LINK_NEVER;
        for (unsigned i = 0; i < 2; i++) {
            const bool full = send_all(&ends[i]);
            const uint64_t deadline = bcri_link_deadline(ends[i].link);
            fds[i] = (struct pollfd){.fd = ends[i].fd, .events = (short)(full ? POLLIN | POLLOUT : POLLIN)};
            first = deadline < first ? deadline : first;
        }
        const uint64_t time = now();
        const int wait = first == BCRI_LINK_NEVER ? -1
                         : first <= time          ? 0
                                                  : (int)((first - time) / 1000000 + 1);
        CHECK(poll(fds, 2, wait) >= 0);
        for (unsigned i = 0; i < 2; i++)
            while (bcri_udp_receive(ends[i].udp, from_udp, &ends[i]) != 0)
                continue;
    }
}

static void exchange(void)
{
    for (unsigned i = 0; i < MESSAGES; i++)
        for (unsigned side = 0; side < 2; side++)
            CHECK_INT(bcri_link_send(ends[side].link, 1, 2, "head", 4, body,
                                     i % 10 == 0 ? BODY_MAX - i : i * 3, NULL),
                      0);
    run_until(MESSAGES);
    for (unsigned side = 0; side < 2; side++) {
        CHECK_UINT(ends[side].arrived, MESSAGES);
        CHECK_UINT(bcri_link_counts(ends[side].link)->malformed, 0);
        bcri_link_free(ends[side].link);
    }
}

static void over_udp(const struct sockaddr *address, socklen_t length)
{
    struct bcri_link_carrier carrier[2];
    for (unsigned i = 0; i < 2; i++) {
        const int result = bcri_udp_open(address, length, 1 << 20, &ends[i].udp);
        if (result == -EADDRNOTAVAIL || result == -EAFNOSUPPORT)
            SKIP("this machine has no such address");
        CHECK_INT(result, 0);
        bcri_udp_carrier(ends[i].udp, 1, &carrier[i]);
        CHECK(carrier[i].room != 0);
        ends[i].fd = bcri_udp_fd(ends[i].udp);
        CHECK((fcntl(ends[i].fd, F_GETFD) & FD_CLOEXEC) != 0);
        ends[!i].peer_bytes = bcri_udp_address(ends[i].udp, &ends[!i].peer);
        CHECK(ends[!i].peer_bytes != 0);
    }
    make_links(carrier);
    exchange();
    CHECK_UINT(bcri_udp_counts(ends[0].udp)->without_gso, 0);
    for (unsigned i = 0; i < 2; i++)
        bcri_udp_close(ends[i].udp);
}

TEST_TIMEOUT(messages_pass_over_udp_on_ipv4, 120)
{
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    over_udp((const struct sockaddr *)&address, sizeof address);
}

TEST_TIMEOUT(messages_pass_over_udp_on_ipv6, 120)
{
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    over_udp((const struct sockaddr *)&address, sizeof address);
}

TEST(packets_are_never_cut_on_their_way_by_ipv6_or_ipv4)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct bcri_udp *udp;
    int v4 = 0, v6 = 0;
    socklen_t length = sizeof v4;
    if (bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &udp) != 0)
        SKIP("this machine has no IPv6");
    CHECK_INT(getsockopt(bcri_udp_fd(udp), IPPROTO_IP, IP_MTU_DISCOVER, &v4, &length), 0);
    CHECK_INT(getsockopt(bcri_udp_fd(udp), IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v6, &length), 0);
    CHECK_INT(v4, IP_PMTUDISC_PROBE);
    CHECK_INT(v6, IPV6_PMTUDISC_PROBE);
    bcri_udp_close(udp);
}

TEST(an_address_that_cannot_be_had_is_an_error)
{
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)};
    struct bcri_udp *udp;
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&address, sizeof address, 1 << 20, &udp),
              -EADDRNOTAVAIL);
}

TEST(a_packet_that_the_kernel_refuses_is_dropped_and_counted_and_the_rest_goes)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage to;
    struct bcri_udp *udp;
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &udp), 0);
    const socklen_t length = bcri_udp_address(udp, &to);
    /* From a loopback address to the world: EINVAL. To a port of the broadcast address: EACCES. */
    const struct sockaddr_in far = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0xc0000201)};
    const struct sockaddr_in all = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_BROADCAST)};
    const struct sockaddr *const refused[2] = {(const struct sockaddr *)&far, (const struct sockaddr *)&all};
    for (unsigned i = 0; i < 2; i++) {
        memset(bcri_udp_space(udp), 1, 300);
        for (unsigned packets = 0; packets < 3; packets++)
            bcri_udp_add(udp, refused[i], sizeof far, 100);
        memset(bcri_udp_space(udp), 2, 100);
        bcri_udp_add(udp, (struct sockaddr *)&to, length, 100);
    }
    CHECK(bcri_udp_flush(udp));
    CHECK_UINT(bcri_udp_counts(udp)->failed, 6);
    uint8_t got[200];
    for (unsigned i = 0; i < 2; i++)
        CHECK_INT(recv(bcri_udp_fd(udp), got, sizeof got, 0), 100);
    bcri_udp_close(udp);
}

/* What came: how long, and that all its bytes are its number. */
static struct {
    unsigned count;
    size_t bytes[CAME_MAX];
} came;

static void note_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                        size_t bytes)
{
    (void)context;
    (void)from;
    (void)from_bytes;
    CHECK(came.count < CAME_MAX);
    for (size_t i = 0; i < bytes; i++)
        CHECK_UINT(packet[i], came.count);
    came.bytes[came.count++] = bytes;
}

/* One buffer is asked for while packets come one at a time, many while they come together; the kernel
 * joins some of those. Of no buffer something stays for the next packet in it. */
TEST(packets_are_received_whole_and_in_order_whether_they_come_alone_or_together)
{
    static const struct {
        unsigned packets;
        size_t first_bytes, step;
    } burst[] = {{1, 100, 0}, {1, 500, 0},  {40, 100, 0}, {1, 900, 0}, {1, 30, 0},
                 {30, 60, 7}, {1, 1000, 0}, {60, 90, 0},  {2, 600, 1}, {1, 8, 0}};
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct bcri_udp *from, *to;
    struct sockaddr_storage address;
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &from), 0);
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &to), 0);
    const socklen_t address_bytes = bcri_udp_address(to, &address);
    unsigned sent = 0;
    for (unsigned i = 0; i < sizeof burst / sizeof burst[0]; i++) {
        const unsigned first = sent;
        for (unsigned p = 0; p < burst[i].packets; p++, sent++) {
            const size_t bytes = burst[i].first_bytes + p * burst[i].step;
            memset(bcri_udp_space(from), (int)sent, bytes);
            bcri_udp_add(from, (struct sockaddr *)&address, address_bytes, bytes);
        }
        CHECK(bcri_udp_flush(from));
        const uint64_t receives = bcri_udp_counts(to)->receives;
        while (came.count < sent)
            (void)bcri_udp_receive(to, note_packet, NULL);
        CHECK_UINT(bcri_udp_receive(to, note_packet, NULL), 0);
        CHECK_UINT(came.count, sent);
        for (unsigned p = first; p < sent; p++)
            CHECK_UINT(came.bytes[p], burst[i].first_bytes + (p - first) * burst[i].step);
        /* The last says that nothing is there. */
        CHECK(bcri_udp_counts(to)->receives - receives <= 3 + burst[i].packets / 16);
    }
    bcri_udp_close(from);
    bcri_udp_close(to);
}

/* SPDX-License-Identifier: MIT */
/* A carrier over UDP whose sends fail: for each error that the kernel may give, what becomes of the
 * packets, and that a link over it gets its messages through once sends succeed again. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bcri/udp.h"
#include "check.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
int __real_sendmmsg(int fd, struct mmsghdr *message, unsigned count, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *message, unsigned count, int flags);
ssize_t __real_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

static int error;
static unsigned times; /* so many of the next calls fail */

static bool fails(void)
{
    if (times == 0)
        return false;
    times--;
    errno = error;
    return true;
}

int __wrap_sendmmsg(int fd, struct mmsghdr *message, unsigned count, int flags)
{
    return fails() ? -1 : __real_sendmmsg(fd, message, count, flags);
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes)
{
    return fails() ? -1 : __real_sendto(fd, bytes, length, flags, to, to_bytes);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails() ? -1 : __real_sendmsg(fd, message, flags);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* What becomes of a packet whose send fails once. */
enum fate {
    WAITS,      /* for the next flush */
    SENT_AGAIN, /* at once */
    DROPPED     /* and counted, as if lost on the way; of several packets in one send each is tried singly */
};

static const struct {
    int error;
    enum fate fate;
    const char *when;
} table[] = {
    {EAGAIN, WAITS, "the socket's memory is full"},
    {EINTR, SENT_AGAIN, "a signal came"},
    {ENOBUFS, DROPPED, "the device's queue is full: the path is, and the window learns of it by the loss"},
    {ENOMEM, DROPPED, "the kernel has no memory"},
    {EMSGSIZE, DROPPED, "larger than the device carries: how a packet size is found not to pass"},
    {ENETUNREACH, DROPPED, "there is no route; there may be one soon"},
    {EHOSTUNREACH, DROPPED, "likewise"},
    {ENETDOWN, DROPPED, "the interface is down"},
    {EHOSTDOWN, DROPPED, "the neighbour does not answer"},
    {ENODEV, DROPPED, "the interface is gone"},
    {ENXIO, DROPPED, "likewise"},
    {EADDRNOTAVAIL, DROPPED, "the socket's own address is gone"},
    {EPERM, DROPPED, "a firewall forbids it"},
    {EACCES, DROPPED, "a firewall, or a broadcast address"},
    {ECONNREFUSED, DROPPED, "nobody had the port of an earlier packet"},
    {ECONNRESET, DROPPED, "likewise"},
    {EPIPE, DROPPED, "the socket was shut down"},
    {EIO, DROPPED, "the device cannot cut it and make the sums"},
    {EINVAL, DROPPED, "the kernel does not know how to cut it, or the address is not to be sent to"},
    {ENOPROTOOPT, DROPPED, "likewise"},
    {EOPNOTSUPP, DROPPED, "likewise"},
    {EAFNOSUPPORT, DROPPED, "an address of another family"},
    {EDESTADDRREQ, DROPPED, "no address"},
    {ENOTCONN, DROPPED, "likewise"},
    {EISCONN, DROPPED, "the socket is connected elsewhere"},
    {EPROTO, DROPPED, "the network says so"},
    {ETIMEDOUT, DROPPED, "likewise"},
    {EFAULT, DROPPED, "a mistake of ours: nothing else may suffer"},
    {EBADF, DROPPED, "likewise"},
    {ENOTSOCK, DROPPED, "likewise"},
};
enum { ERRORS = sizeof table / sizeof table[0], PACKET = 100, TOGETHER = 4 };

static struct bcri_udp *sender, *receiver;
static struct sockaddr_storage to;
static socklen_t to_bytes;
static unsigned came;

static void open_both(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &sender), 0);
    CHECK_INT(bcri_udp_open((const struct sockaddr *)&any, sizeof any, 1 << 20, &receiver), 0);
    to_bytes = bcri_udp_address(receiver, &to);
    CHECK(to_bytes != 0);
    came = 0;
}

static void close_both(void)
{
    bcri_udp_close(sender);
    bcri_udp_close(receiver);
}

static void add(unsigned packets)
{
    for (unsigned i = 0; i < packets; i++) {
        memset(bcri_udp_space(sender), (int)i, PACKET);
        bcri_udp_add(sender, (const struct sockaddr *)&to, to_bytes, PACKET);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): a bcri_udp_packet_fn */
static void count_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                         size_t bytes)
{
    (void)context;
    (void)from;
    (void)from_bytes;
    (void)packet;
    (void)bytes;
    came++;
}

static unsigned received(void)
{
    while (bcri_udp_receive(receiver, count_packet, NULL) != 0)
        continue;
    return came;
}

TEST(a_packet_whose_send_fails_waits_or_is_sent_again_or_is_dropped_and_counted)
{
    for (unsigned i = 0; i < ERRORS; i++) {
        open_both();
        error = table[i].error;
        times = 1;
        add(1);
        if (bcri_udp_flush(sender) != (table[i].fate != WAITS))
            FAIL("%s (%s): the flush says something else", strerror(error), table[i].when);
        CHECK_UINT(times, 0);
        CHECK_UINT(bcri_udp_counts(sender)->failed, table[i].fate == DROPPED);
        CHECK_UINT(received(), table[i].fate == SENT_AGAIN);
        add(1);
        CHECK(bcri_udp_flush(sender));
        CHECK_UINT(received(), table[i].fate == DROPPED ? 1 : 2);
        close_both();
    }
}

TEST(packets_that_cannot_go_together_go_singly)
{
    for (unsigned i = 0; i < ERRORS; i++) {
        open_both();
        error = table[i].error;
        times = 1;
        add(TOGETHER);
        CHECK(bcri_udp_flush(sender) == (table[i].fate != WAITS));
        CHECK_UINT(received(), table[i].fate == WAITS ? 0 : TOGETHER);
        CHECK(bcri_udp_flush(sender));
        CHECK_UINT(received(), TOGETHER);
        CHECK_UINT(bcri_udp_counts(sender)->failed, 0);
        /* Nor singly. */
        times = TOGETHER + 1;
        add(TOGETHER);
        while (!bcri_udp_flush(sender))
            continue;
        times = 0;
        CHECK_UINT(received(), table[i].fate == DROPPED ? TOGETHER : 2 * TOGETHER);
        add(TOGETHER);
        CHECK(bcri_udp_flush(sender));
        CHECK_UINT(received(), table[i].fate == DROPPED ? 2 * TOGETHER : 3 * TOGETHER);
        close_both();
    }
}

/* ---- links over it; their time is pretended, since what is sent here has come at once */

static struct bcri_link *ends[2];
static struct bcri_udp *udp[2];
static struct sockaddr_storage address[2];
static uint64_t now;
static unsigned completions;
static uint8_t body[20000], memory[20000];

static bool accept_stream(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source == 1 && target == 2;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    (void)owner;
    CHECK(message->body_bytes <= sizeof memory);
    message->memory = memory;
    return BCRI_LINK_TAKE;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    CHECK_INT(outcome, BCRI_LINK_ARRIVED);
    completions++;
}

static const struct bcri_link_events events = {accept_stream, begin, arrived, arrived, completed};

static void take_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                        size_t bytes)
{
    (void)from;
    (void)from_bytes;
    CHECK(bcri_link_receive(context, packet, bytes, now));
}

static void turn(unsigned i)
{
    uint8_t *space;
    size_t bytes;
    while ((space = bcri_udp_space(udp[i])) != NULL && (bytes = bcri_link_fill(ends[i], space, now)) != 0)
        bcri_udp_add(udp[i], (const struct sockaddr *)&address[!i], to_bytes, bytes);
    (void)bcri_udp_flush(udp[i]);
    while (bcri_udp_receive(udp[!i], take_packet, ends[!i]) != 0)
        continue;
}

static void make_link(unsigned i, const struct bcri_seal_secret *secret)
{
    struct bcri_link_config config = {
        .host = i + 1, .peer = 2 - i, .packet_max = 9000, .keepalive_ns = 0, .secret = secret};
    udp[i] = i == 0 ? sender : receiver;
    bcri_udp_carrier(udp[i], 1, &config.carrier);
    CHECK(bcri_udp_address(udp[i], &address[i]) == to_bytes);
    ends[i] = bcri_link_new(&config, &events, NULL, now);
    CHECK(ends[i] != NULL);
}

TEST(a_link_gets_its_messages_through_whatever_error_its_sends_had)
{
    bool has_aes;
    CHECK_INT(bcri_seal_prepare(&has_aes), 0);
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_CHACHA20POLY1305, .bytes = {7}};
    for (unsigned i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 7 + i / 256);
    for (unsigned i = 0; i < ERRORS; i++) {
        open_both();
        now = 1000000000;
        completions = 0;
        memset(memory, 0, sizeof memory);
        for (unsigned side = 0; side < 2; side++)
            make_link(side, &secret);
        error = table[i].error;
        times = 12;
        CHECK_INT(bcri_link_send(ends[0], 1, 2, "head", 4, body, sizeof body, NULL), 0);
        for (unsigned n = 0; n < 1000 && completions == 0; n++) {
            turn(0);
            turn(1);
            const uint64_t first = bcri_link_deadline(ends[0]), second = bcri_link_deadline(ends[1]);
            const uint64_t next = first < second ? first : second;
            /* A flush that was not done is done at once. */
            if (next != BCRI_LINK_NEVER && next > now && table[i].fate == DROPPED)
                now = next;
        }
        if (completions != 1)
            FAIL("%s (%s): the message is not completed", strerror(error), table[i].when);
        CHECK_MEM(memory, body, sizeof body);
        CHECK_UINT(times, 0);
        if (table[i].fate != DROPPED)
            CHECK_UINT(bcri_link_counts(ends[0])->lost, 0);
        bcri_link_free(ends[0]);
        bcri_link_free(ends[1]);
        close_both();
    }
}

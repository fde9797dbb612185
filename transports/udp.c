/* SPDX-License-Identifier: MIT */
/* Links over UDP: udp.h. */
#include "bcri/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum {
    GATHER_BYTES = 512 << 10,
    GROUPS_MAX = 64,     /* sends in one call */
    GROUP_PACKETS = 64,  /* the kernel's limit for one send */
    GROUP_BYTES = 65000, /* likewise */
    BATCH = 16,          /* buffers of one recvmmsg */
    BUFFER_BYTES = 65536
};

/* Packets of one size to one address; the last may be shorter. */
struct group {
    const struct sockaddr *address;
    socklen_t address_bytes;
    uint32_t offset, bytes, packet_bytes, packets;
    bool closed;
};

union control {
    struct cmsghdr aligned;
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t)) > CMSG_SPACE(sizeof(int)) ? CMSG_SPACE(sizeof(uint16_t))
                                                                         : CMSG_SPACE(sizeof(int))];
};

struct bcri_udp {
    int fd;
    bool gso;
    uint32_t room;
    struct bcri_udp_counts counts;
    uint32_t gathered; /* bytes of `gather` */
    uint32_t groups, next_group;
    struct group group[GROUPS_MAX];
    bool flows;    /* more came at once than one packet, or may have */
    bool more;     /* the last batch was full */
    unsigned used; /* of `in`: those that the last batch has written to */
    uint8_t *gather, *receive;
    struct mmsghdr in[BATCH];
    struct iovec in_part[BATCH];
    union control in_control[BATCH];
    struct sockaddr_storage in_from[BATCH];
};

static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* What the kernel grants of `wished` bytes: the forced option needs a privilege and passes the limit
 * of the system. */
static uint32_t set_buffer(int fd, int option, int forced, uint32_t wished)
{
    const int value = wished > INT32_MAX / 2 ? INT32_MAX / 2 : (int)wished;
    int granted = 0;
    socklen_t length = sizeof granted;
    if (setsockopt(fd, SOL_SOCKET, forced, &value, sizeof value) != 0)
        set_option(fd, SOL_SOCKET, option, value);
    if (getsockopt(fd, SOL_SOCKET, option, &granted, &length) != 0 || granted < 0)
        return 0;
    return (uint32_t)granted / 2; /* the kernel counts its own records too, and doubles for them */
}

int bcri_udp_open(const struct sockaddr *address, socklen_t address_bytes, uint32_t buffer_bytes,
                  struct bcri_udp **udp_out)
{
    struct bcri_udp *udp = calloc(1, sizeof *udp);
    int failed = ENOMEM;
    if (udp == NULL)
        return -ENOMEM;
    udp->fd = -1;
    udp->gather = malloc(GATHER_BYTES);
    udp->receive = malloc((size_t)BATCH * BUFFER_BYTES);
    if (udp->gather == NULL || udp->receive == NULL)
        goto fail;
    udp->fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (udp->fd < 0 || bind(udp->fd, address, address_bytes) != 0) {
        failed = errno;
        goto fail;
    }
    udp->room = set_buffer(udp->fd, SO_RCVBUF, SO_RCVBUFFORCE, buffer_bytes);
    (void)set_buffer(udp->fd, SO_SNDBUF, SO_SNDBUFFORCE, buffer_bytes);
    /* Packets are never cut by routers; what is too large is lost, which is how its size is found. */
    if (address->sa_family == AF_INET6)
        set_option(udp->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
    set_option(udp->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE); /* a socket of IPv6 may serve both */
    set_option(udp->fd, IPPROTO_UDP, UDP_GRO, BCR_UDP_OFFLOAD);
    udp->gso = BCR_UDP_OFFLOAD;
    udp->used = BATCH;
    for (unsigned i = 0; i < BATCH; i++)
        udp->in_part[i] = (struct iovec){udp->receive + (size_t)i * BUFFER_BYTES, BUFFER_BYTES};
    *udp_out = udp;
    return 0;
fail:
    bcri_udp_close(udp);
    return -failed;
}

void bcri_udp_close(struct bcri_udp *udp)
{
    if (udp == NULL)
        return;
    if (udp->fd >= 0)
        close(udp->fd);
    free(udp->gather);
    free(udp->receive);
    free(udp);
}

int bcri_udp_fd(const struct bcri_udp *udp)
{
    return udp->fd;
}

socklen_t bcri_udp_address(const struct bcri_udp *udp, struct sockaddr_storage *address_out)
{
    socklen_t length = sizeof *address_out;
    return getsockname(udp->fd, (struct sockaddr *)address_out, &length) == 0 ? length : 0;
}

void bcri_udp_carrier(const struct bcri_udp *udp, uint32_t links, struct bcri_link_carrier *carrier_out)
{
    /* A packet takes up to twice its length of the socket's memory, and all links share it. */
    *carrier_out = (struct bcri_link_carrier){.packet_max = BCRI_LINK_PACKET_MAX,
                                              .room = udp->room / (links != 0 ? links : 1)};
}

uint8_t *bcri_udp_space(struct bcri_udp *udp)
{
    return udp->groups < GROUPS_MAX && udp->gathered + BCRI_LINK_PACKET_MAX <= GATHER_BYTES
               ? udp->gather + udp->gathered
               : NULL;
}

void bcri_udp_add(struct bcri_udp *udp, const struct sockaddr *address, socklen_t address_bytes, size_t bytes)
{
    struct group *group = udp->groups != 0 ? &udp->group[udp->groups - 1] : NULL;
    const uint32_t length = (uint32_t)bytes;
    const bool joins = group != NULL && udp->next_group != udp->groups && !group->closed &&
                       group->address == address && length <= group->packet_bytes &&
                       group->packets < GROUP_PACKETS && group->bytes + length <= GROUP_BYTES;
    if (!joins) {
        group = &udp->group[udp->groups++];
        *group = (struct group){.address = address,
                                .address_bytes = address_bytes,
                                .offset = udp->gathered,
                                .packet_bytes = length};
    }
    group->bytes += length;
    group->packets++;
    group->closed = length < group->packet_bytes;
    udp->gathered += length;
}

/* Sends the packets of a group one by one. Returns false if the socket is full. */
static bool send_singly(struct bcri_udp *udp, struct group *group)
{
    while (group->packets != 0) {
        const uint32_t bytes = group->bytes < group->packet_bytes ? group->bytes : group->packet_bytes;
        udp->counts.sends++;
        if (sendto(udp->fd, udp->gather + group->offset, bytes, MSG_NOSIGNAL, group->address,
                   group->address_bytes) < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK)
                return false;
            if (errno == EINTR)
                continue;
            udp->counts.failed++;
        }
        group->offset += bytes;
        group->bytes -= bytes;
        group->packets--;
    }
    return true;
}

static void make_message(struct bcri_udp *udp, const struct group *group, struct msghdr *message,
                         struct iovec *part, union control *control)
{
    *part = (struct iovec){udp->gather + group->offset, group->bytes};
    *message = (struct msghdr){.msg_name = (void *)(uintptr_t)group->address,
                               .msg_namelen = group->address_bytes,
                               .msg_iov = part,
                               .msg_iovlen = 1};
    if (group->packets == 1)
        return;
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(sizeof(uint16_t));
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const uint16_t segment = (uint16_t)group->packet_bytes;
    memcpy(CMSG_DATA(header), &segment, sizeof segment);
}

bool bcri_udp_flush(struct bcri_udp *udp)
{
    struct mmsghdr message[GROUPS_MAX];
    struct iovec part[GROUPS_MAX];
    union control control[GROUPS_MAX];
    while (udp->next_group != udp->groups) {
        struct group *first = &udp->group[udp->next_group];
        const bool is_alone = first->packets == 1 && udp->next_group + 1 == udp->groups;
        if (is_alone || (first->packets > 1 && !udp->gso)) { /* sendmmsg would take 0.3 us more */
            if (!send_singly(udp, first))
                return false;
            udp->next_group++;
            continue;
        }
        unsigned count = 0;
        for (uint32_t i = udp->next_group; i < udp->groups && (udp->gso || udp->group[i].packets == 1); i++) {
            make_message(udp, &udp->group[i], &message[count].msg_hdr, &part[count], &control[count]);
            count++;
        }
        udp->counts.sends++;
        const int sent = sendmmsg(udp->fd, message, count, MSG_NOSIGNAL);
        if (sent > 0) {
            udp->next_group += (uint32_t)sent;
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return false;
        if (errno == EINTR)
            continue;
        if (first->packets > 1) {
            /* The kernel, this device or this path cannot cut it; the packets may pass singly. EIO is
             * what a device without checksums says, and will say again. */
            udp->counts.without_gso++;
            if (errno == EIO || errno == ENOPROTOOPT || errno == EOPNOTSUPP)
                udp->gso = false;
            if (!send_singly(udp, first))
                return false;
        } else {
            udp->counts.failed++;
        }
        udp->next_group++;
    }
    udp->groups = udp->next_group = udp->gathered = 0;
    return true;
}

void bcri_udp_drop(struct bcri_udp *udp)
{
    udp->groups = udp->next_group = udp->gathered = 0;
}

/* How long each packet in a buffer is; all of it if the kernel has joined none. */
static size_t segment_of(const struct msghdr *message, size_t bytes)
{
    for (const struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, (struct cmsghdr *)(uintptr_t)header)) {
        if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
            int segment;
            memcpy(&segment, CMSG_DATA(header), sizeof segment);
            return segment > 0 && (size_t)segment < bytes ? (size_t)segment : bytes;
        }
    }
    return bytes;
}

/* One buffer is asked for while packets come one at a time: a call for many takes longer even if one
 * came. Errors that others' packets left at the socket (ECONNREFUSED) are told once and mean nothing
 * here. */
static int receive_some(struct bcri_udp *udp)
{
    udp->counts.receives++;
    if (udp->flows)
        return recvmmsg(udp->fd, udp->in, BATCH, MSG_DONTWAIT, NULL);
    const ssize_t bytes = recvmsg(udp->fd, &udp->in[0].msg_hdr, MSG_DONTWAIT);
    udp->in[0].msg_len = bytes > 0 ? (unsigned)bytes : 0;
    return bytes < 0 ? -1 : 1;
}

unsigned bcri_udp_receive(struct bcri_udp *udp, bcri_udp_packet_fn *packet, void *context)
{
    for (unsigned i = 0; i < udp->used; i++)
        udp->in[i].msg_hdr = (struct msghdr){.msg_name = &udp->in_from[i],
                                             .msg_namelen = sizeof udp->in_from[i],
                                             .msg_iov = &udp->in_part[i],
                                             .msg_iovlen = 1,
                                             .msg_control = udp->in_control[i].bytes,
                                             .msg_controllen = sizeof udp->in_control[i].bytes};
    const int messages = receive_some(udp);
    unsigned packets = 0;
    udp->used = messages > 0 ? (unsigned)messages : 0;
    udp->flows = messages > 1 || (messages == 1 && !udp->flows);
    udp->more = messages == BATCH;
    for (int i = 0; i < messages; i++) {
        uint8_t *at = udp->in_part[i].iov_base;
        size_t left = udp->in[i].msg_len;
        const size_t segment = segment_of(&udp->in[i].msg_hdr, left);
        while (left != 0) {
            const size_t bytes = left < segment ? left : segment;
            packet(context, (const struct sockaddr *)&udp->in_from[i], udp->in[i].msg_hdr.msg_namelen, at,
                   bytes);
            at += bytes;
            left -= bytes;
            packets++;
        }
    }
    return packets;
}

bool bcri_udp_has_more(const struct bcri_udp *udp)
{
    return udp->more;
}

const struct bcri_udp_counts *bcri_udp_counts(const struct bcri_udp *udp)
{
    return &udp->counts;
}

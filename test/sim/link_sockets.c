/* SPDX-License-Identifier: MIT */
/* See link_sockets.h. */
#include "link_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/timerfd.h>

struct link_sockets sockets;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);

static bool finds_full(const struct sockaddr *to)
{
    if (to != NULL && to->sa_family != AF_INET)
        atomic_fetch_add(&sockets.elsewhere, 1);
    else if (to != NULL && atomic_load(&sockets.counted_port) != 0 &&
             ((const struct sockaddr_in *)(const void *)to)->sin_port == atomic_load(&sockets.counted_port))
        atomic_fetch_add(&sockets.sends, 1);
    if (!atomic_load(&sockets.is_full))
        return false;
    atomic_fetch_add(&sockets.refused, 1);
    errno = EAGAIN;
    return true;
}

static void note_packet(size_t bytes)
{
    if (bytes > atomic_load(&sockets.largest))
        atomic_store(&sockets.largest, bytes); /* both threads have the same limits */
}

/* Of each packet that the kernel is to make of a message. */
static size_t packet_bytes(struct msghdr *message)
{
    uint16_t bytes;
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (header == NULL || header->cmsg_level != SOL_UDP || header->cmsg_type != UDP_SEGMENT)
        return message->msg_iov->iov_len;
    memcpy(&bytes, CMSG_DATA(header), sizeof bytes);
    return bytes;
}

static bool is_lost(const struct sockaddr *to, size_t bytes)
{
    const struct sockaddr_in6 *at = (const struct sockaddr_in6 *)(const void *)to;
    const int family = atomic_load(&sockets.cut_family);
    const bool is_ipv4 = sockets.has_two_ways && to != NULL && IN6_IS_ADDR_V4MAPPED(&at->sin6_addr);
    const size_t most = atomic_load(&sockets.most);
    return atomic_load(&sockets.is_cut) || (most != 0 && bytes > most) ||
           (family != 0 && to != NULL && (family == AF_INET) == is_ipv4) ||
           ((is_ipv4 || (to != NULL && to->sa_family == AF_INET)) &&
            at->sin6_port == atomic_load(&sockets.cut_port)); /* where sin_port is, too */
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes)
{
    if (is_lost(to, length))
        return (ssize_t)length;
    note_packet(length);
    return finds_full(to) ? -1 : __real_sendto(fd, bytes, length, flags, to, to_bytes);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    if (is_lost(messages->msg_hdr.msg_name, packet_bytes(&messages->msg_hdr)))
        return 1;
    for (unsigned i = 1; i < count; i++)
        if (is_lost(messages[i].msg_hdr.msg_name, packet_bytes(&messages[i].msg_hdr)))
            count = i;
    for (unsigned i = 0; i < count; i++)
        note_packet(packet_bytes(&messages[i].msg_hdr));
    return finds_full(messages->msg_hdr.msg_name) ? -1 : __real_sendmmsg(fd, messages, count, flags);
}

static bool floods(struct msghdr *message)
{
    /* The group's sockets are connected: there the daemon does not ask whence a message came. */
    if (!atomic_load(&sockets.is_flooded) || message->msg_name == NULL)
        return false;
    message->msg_controllen = 0;
    *(char *)message->msg_iov->iov_base = 0;
    return true;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    const ssize_t bytes = floods(message) ? 1 : __real_recvmsg(fd, message, flags);
    if (bytes < 0 && message->msg_name != NULL)
        atomic_fetch_add(&sockets.nothing, 1);
    return bytes;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    messages->msg_len = 1;
    const int came = floods(&messages->msg_hdr) ? 1 : __real_recvmmsg(fd, messages, count, flags, timeout);
    if (came < 0)
        atomic_fetch_add(&sockets.nothing, 1);
    return came;
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was);

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was)
{
    atomic_fetch_add(&sockets.timers_set, 1);
    return __real_timerfd_settime(fd, flags, timer, was);
}
/* NOLINTEND(bugprone-reserved-identifier) */

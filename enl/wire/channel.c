/* SPDX-License-Identifier: MIT */
/* channel.c -- sending and receiving control messages. Linux: SCM_RIGHTS, SCM_CREDENTIALS, abstract
 * addresses. */
#include "bcri/channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bcri/descriptor.h"
#include "bcri/failure.h"

int bcri_channel_pair(int fds_out[2])
{
    int fds[2], on = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        bcri_failure_note("socketpair");
        return -errno;
    }
    for (int i = 0; i < 2; i++)
        fds[i] = bcri_descriptor_aside(fds[i]);
    const bool are_there = fds[0] >= 0 && fds[1] >= 0;
    if (are_there && setsockopt(fds[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0) {
        memcpy(fds_out, fds, sizeof fds);
        return 0;
    }
    bcri_failure_note(are_there ? "setsockopt" : "fcntl");
    const int error = errno;
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return -error;
}

int bcri_channel_prefix(uid_t uid, char *out, size_t capacity)
{
    return snprintf(out, capacity, "bcr-%lu-", (unsigned long)uid);
}

socklen_t bcri_channel_address(struct sockaddr_un *address, uid_t uid, const char *program)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    char *name = address->sun_path + 1;
    size_t capacity = sizeof address->sun_path - 1;
    size_t length = (size_t)bcri_channel_prefix(uid, name, capacity);
    length += (size_t)snprintf(name + length, capacity - length, "%s", program);
    if (length >= capacity)
        return 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

int bcri_channel_connect(const char *program, unsigned patience_ms)
{
    struct sockaddr_un address;
    socklen_t length = bcri_channel_address(&address, geteuid(), program);
    if (length == 0)
        return -ECONNREFUSED;
    int fd = bcri_descriptor_aside(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -errno;
    int error = 0;
    struct ucred peer;
    socklen_t size = sizeof peer;
    struct timeval patience = {.tv_sec = (time_t)(patience_ms / 1000),
                               .tv_usec = (long)(patience_ms % 1000) * 1000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, length) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        error = errno;
    else if (peer.uid != geteuid() && peer.uid != 0)
        error = EPERM; /* another user took the name: abstract addresses have no owner */
    if (error == 0) {
        patience = (struct timeval){0};
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        return fd;
    }
    close(fd);
    return -error;
}

int bcri_channel_send(int fd, const struct bcri_control *message, const int *fds, unsigned fd_count,
                      bool wait)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    size_t length = bcri_control_encode(message, bytes, sizeof bytes);
    return length != 0 ? bcri_channel_send_bytes(fd, bytes, length, fds, fd_count, wait) : -EMSGSIZE;
}

int bcri_channel_send_bytes(int fd, const uint8_t *bytes, size_t length, const int *fds, unsigned fd_count,
                            bool wait)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(BCRI_CONTROL_FDS_MAX * sizeof(int))];
    } side = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, length};
    struct msghdr record = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd_count != 0) {
        record.msg_control = &side;
        record.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        side.header.cmsg_level = SOL_SOCKET;
        side.header.cmsg_type = SCM_RIGHTS;
        side.header.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(&side.header), fds, fd_count * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(fd, &record, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

/* Sorts the descriptors and credentials that came with a message into `in`. True if there were more
 * descriptors than a message may bring or this process may have. */
static bool take_side(struct msghdr *record, struct bcri_incoming *in)
{
    bool too_many = false;
    unsigned count = 0;
    for (struct cmsghdr *side = CMSG_FIRSTHDR(record); side != NULL; side = CMSG_NXTHDR(record, side)) {
        if (side->cmsg_level == SOL_SOCKET && side->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(side), sizeof sender);
            in->pid = sender.pid;
            in->uid = sender.uid;
        } else if (side->cmsg_level == SOL_SOCKET && side->cmsg_type == SCM_RIGHTS) {
            size_t fds = (side->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < fds; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(side) + i * sizeof fd, sizeof fd);
                fd = bcri_descriptor_aside(fd);
                if (fd < 0) {
                    record->msg_flags |= MSG_CTRUNC;
                } else if (count < BCRI_CONTROL_FDS_MAX) {
                    in->fds[count++] = fd;
                } else {
                    close(fd);
                    too_many = true;
                }
            }
        }
    }
    return too_many || (record->msg_flags & MSG_CTRUNC) != 0;
}

int bcri_channel_recv(int fd, struct bcri_incoming *in, bool wait)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(BCRI_CONTROL_FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } side;
    struct iovec part = {in->bytes, sizeof in->bytes};
    struct msghdr record = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &side, .msg_controllen = sizeof side};
    for (unsigned i = 0; i < BCRI_CONTROL_FDS_MAX; i++)
        in->fds[i] = -1;
    in->pid = 0;
    in->uid = (uid_t)-1;
    in->wrong = NULL;
    in->poor = false;
    ssize_t length;
    /* That the peer was gone before it had read all is told once, and before what it has sent. */
    do
        length = recvmsg(fd, &record, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    if (length < 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    bool too_many = take_side(&record, in);
    bool lost = (record.msg_flags & MSG_CTRUNC) != 0 && in->fds[BCRI_CONTROL_FDS_MAX - 1] < 0;
    if (length == 0) {
        bcri_incoming_close(in);
        return 0; /* the end, or an empty record, which no peer of ours sends */
    }
    in->wrong = (record.msg_flags & MSG_TRUNC) != 0
                    ? "longer than a message may be"
                    : bcri_control_decode(in->bytes, (size_t)length, &in->message);
    unsigned allowed = in->wrong == NULL ? bcri_control_fds(in->message.type) : 0;
    for (unsigned i = allowed; i < BCRI_CONTROL_FDS_MAX; i++)
        too_many = too_many || in->fds[i] >= 0;
    in->poor = too_many && in->wrong == NULL && lost;
    if (too_many && in->wrong == NULL)
        in->wrong =
            in->poor
                ? "this process has no descriptors left for those that it brings; raise the limit (ulimit -n)"
                : "more descriptors than that message may bring";
    if (in->wrong != NULL)
        bcri_incoming_close(in);
    return 1;
}

void bcri_incoming_close(struct bcri_incoming *in)
{
    for (unsigned i = 0; i < BCRI_CONTROL_FDS_MAX; i++) {
        if (in->fds[i] >= 0)
            close(in->fds[i]);
        in->fds[i] = -1;
    }
}

int bcri_incoming_take(struct bcri_incoming *in, unsigned which)
{
    int fd = in->fds[which];
    in->fds[which] = -1;
    return fd;
}

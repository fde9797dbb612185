/* SPDX-License-Identifier: MIT */
/* See rendezvous.h. */
#include "bcri/rendezvous.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bcri/descriptor.h"

enum { BACKLOG = 64 };

bool bcri_rendezvous_is_key(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && length <= BCRI_AWAIT_KEY_MAX &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

static socklen_t address_of(struct sockaddr_un *address, enum bcri_rendezvous_side side, const char *key,
                            uint32_t rank)
{
    static const char *const kinds[] = {[BCRI_RENDEZVOUS_MEMBER] = "await",
                                        [BCRI_RENDEZVOUS_DAEMON] = "claim",
                                        [BCRI_RENDEZVOUS_TAKEN] = "taken"};
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    const int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "bcr-%s-%lu-%s-%u",
                                kinds[side], (unsigned long)geteuid(), key, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length); /* a key leaves room */
}

/* Whether the other end of a connected socket is this user's, or root's. Returns 0 or -errno. */
static int check_peer(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return -errno;
    return peer.uid == geteuid() || peer.uid == 0 ? 0 : -EPERM;
}

static int new_socket(void)
{
    const int fd = bcri_descriptor_aside(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return fd >= 0 ? fd : -errno;
}

int bcri_rendezvous_listen(enum bcri_rendezvous_side side, const char *key, uint32_t rank)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(&address, side, key, rank);
    const int fd = new_socket();
    if (fd < 0 || (bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, BACKLOG) == 0))
        return fd;
    const int error = errno;
    close(fd);
    return -error;
}

int bcri_rendezvous_connect(enum bcri_rendezvous_side side, const char *key, uint32_t rank)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(&address, side, key, rank);
    const int fd = new_socket(), on = 1;
    int error = 0;
    if (fd < 0)
        return fd;
    /* Before it is connected: the other side may say something at once. */
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        connect(fd, (struct sockaddr *)&address, length) != 0)
        error = -errno;
    if (error == 0)
        error = check_peer(fd);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

int bcri_rendezvous_accept(int listening)
{
    const int fd = bcri_descriptor_aside(accept4(listening, NULL, NULL, SOCK_CLOEXEC));
    if (fd < 0)
        return -errno;
    const int error = check_peer(fd);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

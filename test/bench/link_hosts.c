/* SPDX-License-Identifier: MIT */
#include "link_hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { BUFFER_BYTES = 8 << 20 };

static const char *const veth_address[2] = {"10.177.0.1", "10.177.0.2"};
static int own_namespace = -1, other_namespace = -1;

static void fail(const char *what)
{
    fprintf(stderr, "bench_links: %s: %s\n", what, strerror(errno));
    exit(1);
}

static bool write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

/* A network of our own: as root at once, else within a user namespace in which we are root. */
static bool leave_network(void)
{
    if (unshare(CLONE_NEWNET) == 0)
        return true;
    char map[64];
    snprintf(map, sizeof map, "0 %u 1", (unsigned)getuid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", map);
}

static bool make_veth(void)
{
    int ready[2];
    char command[512], byte = 0;
    if (!leave_network() || pipe(ready) != 0)
        return false;
    own_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    const pid_t other = fork();
    if (other == 0) { /* holds the other network until we have it open */
        if (unshare(CLONE_NEWNET) == 0)
            (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    snprintf(command, sizeof command, "/proc/%d/ns/net", (int)other);
    if (other < 0 || read(ready[0], &byte, 1) != 1 ||
        (other_namespace = open(command, O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    snprintf(command, sizeof command,
             "{ ip link add v0 type veth peer name v1 netns %d && ip address add %s/24 dev v0 && ip link set "
             "v0 up &&"
             " nsenter --net=/proc/%d/ns/net ip address add %s/24 dev v1 &&"
             " nsenter --net=/proc/%d/ns/net ip link set v1 up; } 2>/dev/null",
             (int)other, veth_address[0], (int)other, veth_address[1], (int)other);
    const bool made = system(command) == 0;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    return made;
}

static struct sockaddr_in address_of(const struct link_hosts *hosts, int side, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, hosts->veth ? veth_address[side] : "127.0.0.1", &address.sin_addr) != 1)
        fail("address");
    return address;
}

static void enter(const struct link_hosts *hosts, int side)
{
    if (hosts->veth && setns(side == 0 ? own_namespace : other_namespace, CLONE_NEWNET) != 0)
        fail("setns");
}

static void open_sockets(struct link_hosts *hosts, struct link_end ends[2], enum bcri_cipher cipher)
{
    for (int side = 0; side < 2; side++) {
        const struct sockaddr_in address = address_of(hosts, side, 0);
        struct sockaddr_storage bound;
        enter(hosts, side);
        if (bcri_udp_open((const struct sockaddr *)&address, sizeof address, BUFFER_BYTES, &ends[side].udp) !=
                0 ||
            bcri_udp_address(ends[side].udp, &bound) == 0)
            fail("socket of a link");
        memcpy(&ends[!side].peer, &bound, sizeof ends[!side].peer);
        ends[side].cipher = cipher;
    }
}

static void set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static int bare_socket(struct link_hosts *hosts, int side, struct sockaddr_in *bound_out)
{
    const struct sockaddr_in address = address_of(hosts, side, 0);
    socklen_t length = sizeof *bound_out;
    enter(hosts, side);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(fd, (struct sockaddr *)bound_out, &length) != 0)
        fail("bare socket");
    set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES);
    set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES);
    set(fd, IPPROTO_UDP, UDP_GRO, 1);
    return fd;
}

static void make_bare(struct link_hosts *hosts)
{
    struct sockaddr_in bound[2];
    socklen_t length = sizeof bound[0];
    for (int side = 0; side < 2; side++) {
        hosts->udp[side] = bare_socket(hosts, side, &bound[side]);
        hosts->udp_any[side] = bare_socket(hosts, side, &hosts->any_address[side]);
    }
    for (int side = 0; side < 2; side++)
        if (connect(hosts->udp[side], (const struct sockaddr *)&bound[!side], sizeof bound[0]) != 0)
            fail("connect");
    enter(hosts, 1);
    const struct sockaddr_in listening = address_of(hosts, 1, 0);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&listening, sizeof listening) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&bound[1], &length) != 0)
        fail("listen");
    enter(hosts, 0);
    hosts->tcp[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (hosts->tcp[0] < 0 ||
        connect(hosts->tcp[0], (const struct sockaddr *)&bound[1], sizeof bound[1]) != 0 ||
        (hosts->tcp[1] = accept(listener, NULL, NULL)) < 0)
        fail("TCP connection");
    close(listener);
}

void link_hosts_open(struct link_hosts *hosts)
{
    bool has_aes;
    if (bcri_seal_prepare(&has_aes) != 0)
        fail("libsodium");
    hosts->veth = make_veth();
    open_sockets(hosts, hosts->plain, BCRI_CIPHER_NONE);
    open_sockets(hosts, hosts->sealed, has_aes ? BCRI_CIPHER_AES256GCM : BCRI_CIPHER_CHACHA20POLY1305);
    make_bare(hosts);
}

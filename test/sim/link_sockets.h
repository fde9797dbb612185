/* SPDX-License-Identifier: MIT */
/* The sockets of this process, which may be full, flooded, or lose what is sent, and what has passed through them. For
 * programs that are linked with --wrap of the calls in link_sockets.c. */
#ifndef SIM_LINK_SOCKETS_H
#define SIM_LINK_SOCKETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

extern struct link_sockets {
    bool has_two_ways; /* they are of IPv6, also for IPv4 */
    _Atomic bool is_full;
    _Atomic bool is_cut;           /* what is sent does not arrive */
    _Atomic int cut_family;        /* what is sent to addresses of this family does not */
    _Atomic int cut_port;          /* what goes there by IPv4 is lost; 0: nothing */
    _Atomic size_t most;           /* larger packets are lost; 0: none */
    _Atomic bool is_flooded;       /* a packet of one byte has always come */
    _Atomic uint16_t counted_port; /* as it goes over the network; 0: none */
    /* what was seen */
    _Atomic unsigned refused, elsewhere; /* sends that found it full; sends to no address */
    _Atomic unsigned sends;              /* to the socket with that port */
    _Atomic unsigned nothing;            /* looks at a socket at which nothing had come */
    _Atomic unsigned timers_set;
    _Atomic size_t largest; /* of the packets that were sent */
} sockets;

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name */
ssize_t __real_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* Two hosts for benchmarks: network namespaces joined by a veth pair, or the loopback device where
 * namespaces may not be made. All sockets are opened before the pair forks; each side uses its own. */
#ifndef BENCH_LINK_HOSTS_H
#define BENCH_LINK_HOSTS_H

#include "link_end.h"

struct link_hosts {
    bool veth;
    struct link_end plain[2], sealed[2]; /* one for each side */
    int udp[2], tcp[2];                  /* bare sockets, connected */
    int udp_any[2];                      /* bare sockets, not connected */
    struct sockaddr_in any_address[2];
};

/* Ends the process with a message where not even the loopback device can be had. */
void link_hosts_open(struct link_hosts *hosts);

#endif

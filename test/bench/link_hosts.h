/* SPDX-License-Identifier: MIT */
/* Two hosts for benchmarks: network namespaces joined by a veth pair, or the loopback device where
 * namespaces may not be made. All sockets are opened before the pair forks; each side uses its own. */
#ifndef BENCH_LINK_HOSTS_H
#define BENCH_LINK_HOSTS_H

#include <netinet/in.h>

#include "bcri/udp.h"

struct link_end {
    struct bcri_udp *udp;
    struct bcri_link *link; /* NULL until link_end_begin */
    enum bcri_cipher cipher;
    struct sockaddr_in peer;
    uint64_t now; /* when packets were last asked for */
    uint64_t begun, arrived, completed;
    uint8_t *memory; /* where bodies go, in turn */
};

struct link_hosts {
    bool veth;
    struct link_end plain[2], sealed[2]; /* one for each side */
    int udp[2], tcp[2];                  /* bare sockets, connected */
    int udp_any[2];                      /* bare sockets, not connected */
    struct sockaddr_in any_address[2];
};

enum { LINK_BODIES = 16, LINK_BODY_BYTES = 1 << 20 };

/* Ends the process with a message where not even the loopback device can be had. */
void link_hosts_open(struct link_hosts *hosts);
/* Makes the link of one end, in the process that will use it. */
void link_end_begin(struct link_end *end, int side);

#endif

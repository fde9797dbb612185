/* SPDX-License-Identifier: MIT */
/* The carrier of links over UDP: one socket for all links of a host.
 *
 * Packets are gathered in one buffer and go out together: those of one size to one address as one
 * send that the kernel cuts (GSO), several such sends in one call (sendmmsg). Packets come in batches
 * too (recvmmsg), several in one buffer where the kernel joins them (GRO). Both are asked of the
 * kernel and done without where it refuses. A single packet goes and comes by the plain calls, which
 * take less time.
 */
#ifndef BCRI_UDP_H
#define BCRI_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bcri/link.h"

struct bcri_udp;

struct bcri_udp_counts {
    uint64_t sends, receives; /* system calls */
    uint64_t failed;          /* packets that the kernel refused to send; they count as lost on the way */
    uint64_t without_gso;     /* groups that were sent packet by packet */
};

/* Binds a socket to `address` (IPv4 or IPv6; port 0: any) and asks for `buffer_bytes` of memory each
 * way; what is granted may be less. Returns 0 or -errno. */
int bcri_udp_open(const struct sockaddr *address, socklen_t address_bytes, uint32_t buffer_bytes,
                  struct bcri_udp **udp_out);
void bcri_udp_close(struct bcri_udp *udp);

/* To wait for, close-on-exec and non-blocking. */
int bcri_udp_fd(const struct bcri_udp *udp);
/* The address that the socket has, in `*address_out`. Returns its length. */
socklen_t bcri_udp_address(const struct bcri_udp *udp, struct sockaddr_storage *address_out);
/* What a link over this socket is told of its carrier when `links` links share it. */
void bcri_udp_carrier(const struct bcri_udp *udp, uint32_t links, struct bcri_link_carrier *carrier_out);

/* Where the next packet goes: BCRI_LINK_PACKET_MAX bytes. NULL: what is gathered must go first
 * (bcri_udp_flush), and the socket may be full. */
uint8_t *bcri_udp_space(struct bcri_udp *udp);
/* The packet of `bytes` that was written there is for `address`, which must stay until the flush. */
void bcri_udp_add(struct bcri_udp *udp, const struct sockaddr *address, socklen_t address_bytes,
                  size_t bytes);
/* Sends what is gathered. Returns false if the socket is full: the rest goes with the next flush,
 * when the descriptor is writable. A packet that cannot be sent for another reason is dropped. */
bool bcri_udp_flush(struct bcri_udp *udp);
/* Drops what is gathered and not sent, as a network may. */
void bcri_udp_drop(struct bcri_udp *udp);

/* Called for each packet that came; `packet` may be written to. */
typedef void bcri_udp_packet_fn(void *context, const struct sockaddr *from, socklen_t from_bytes,
                                uint8_t *packet, size_t bytes);
/* Takes one batch of packets from the socket. Returns how many there were; 0: none. */
unsigned bcri_udp_receive(struct bcri_udp *udp, bcri_udp_packet_fn *packet, void *context);
/* Whether that batch was full, so that there are probably more. If not, the socket may still have
 * some; an owner that waits until it is readable finds them. */
bool bcri_udp_has_more(const struct bcri_udp *udp);

const struct bcri_udp_counts *bcri_udp_counts(const struct bcri_udp *udp);

#endif

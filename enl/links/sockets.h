/* SPDX-License-Identifier: MIT */
/* Where the socket of the links is bound, and where other hosts find it. */
#ifndef ENL_SOCKETS_H
#define ENL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/link_thread.h"

/* The addresses to bind to, without a port, best first: this machine's address that `bindaddr` is or
 * has in its network; NULL: any. Returns how many; 0: this machine has no such address. */
enum { ENL_BIND_MAX = 2 };
uint32_t enl_sockets_bind(const char *bindaddr, struct bcri_link_address out[ENL_BIND_MAX]);
void enl_sockets_set_port(struct bcri_link_address *address, uint16_t port);

/* Says why no socket could be bound there, as the end of a sentence. */
void enl_sockets_refuse(const char *bindaddr, const char *dataport, char *error, size_t error_size);

/* By which addresses a socket can be reached that is bound to `own`: by that one, or by all of this
 * machine if that is any, those of loopback last. Returns how many. */
uint32_t enl_sockets_reach(const struct bcri_link_address *own,
                           struct bcri_link_address out[BCRI_INTRODUCED_MAX]);

/* Makes of `address` what a socket of that family sends to: IPv4 within IPv6. False: it cannot. */
bool enl_sockets_fit(struct bcri_link_address *address, int family);

#endif

/* SPDX-License-Identifier: MIT */
/* A helper's side: what it asks the daemon that has started it (relay.h). */
#ifndef ENL_FAR_END_H
#define ENL_FAR_END_H

#include <stddef.h>
#include <stdint.h>

#include "bcri/channel.h"

/* The socket to the daemon, out of the environment. -1: no daemon has started this process. */
int enl_far_end_socket(void);

/* Maps a segment, for reading only. NULL: there is none, or no room, or no daemon any more. */
const void *enl_far_end_map(int socket, uint32_t seg, size_t *size_out);

/* What the CCE of that index runs, as the daemon has started it; "" if it knows none. */
void enl_far_end_name(int socket, uint32_t index, char *out, size_t capacity);
/* The first host of at least that number to which packets go in another way than the usual one (enl/links/ways.h);
 * false: there is none. */
bool enl_far_end_way(int socket, uint64_t host, uint64_t *host_out, uint64_t *way_out, uint64_t *bytes_out);

#endif

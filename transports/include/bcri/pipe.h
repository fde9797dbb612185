/* SPDX-License-Identifier: MIT */
/* The carrier of links over a stream of bytes: a pipe, a socket, what ssh offers.
 *
 * Each packet goes behind its length in two bytes, big-endian. The engine seals packets here as over
 * UDP, so that they mean the same on both. */
#ifndef BCRI_PIPE_H
#define BCRI_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/link.h"

struct bcri_pipe;

/* `in` and `out` may be the same; both are made non-blocking, and stay the caller's. NULL: no memory. */
struct bcri_pipe *bcri_pipe_new(int in, int out);
void bcri_pipe_free(struct bcri_pipe *pipe);
void bcri_pipe_carrier(const struct bcri_pipe *pipe, struct bcri_link_carrier *carrier_out);

/* Where the next packet goes: BCRI_LINK_PACKET_MAX bytes. NULL: what is gathered must go first. */
uint8_t *bcri_pipe_space(struct bcri_pipe *pipe);
void bcri_pipe_add(struct bcri_pipe *pipe, size_t bytes);
/* Writes what is gathered. Returns 0; -EAGAIN: the rest goes when `out` is writable; -EPIPE or
 * another -errno: the stream has ended. SIGPIPE must be ignored by the process. */
int bcri_pipe_flush(struct bcri_pipe *pipe);

typedef void bcri_pipe_packet_fn(void *context, uint8_t *packet, size_t bytes);
/* Reads once and calls `packet` for each packet that is complete. Returns 1; -EAGAIN: nothing there;
 * 0: the stream has ended; another -errno. */
int bcri_pipe_receive(struct bcri_pipe *pipe, bcri_pipe_packet_fn *packet, void *context);

#endif

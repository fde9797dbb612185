/* SPDX-License-Identifier: MIT */
/* Relays to other hosts: the stream's bytes go through the pipes of the tree (docs/protocol.md).
 *
 *      command ==stream==> root's daemon --frames--> child's daemon ==stream==> helper
 *
 * Both daemons do the same: what they read from their stream they send to the other, and what the
 * other sends they write to the stream, within a window for each direction. So a reader that stands
 * still holds up nobody else, and what a daemon keeps of a relay is bounded. The frames may be
 * overtaken by control messages, as output may.
 *
 * A relay ends when its helper has, and all that it has written is passed on; or when the command
 * closes its stream or its connection. */
#ifndef ENL_RELAY_FAR_H
#define ENL_RELAY_FAR_H

#include <stdbool.h>

#include "bcri/control.h"

struct enl_conn;
struct enl_carry;

/* A visitor's relay to another host; takes `fd`. Returns 0, or a code with a sentence. */
int enl_far_ask(struct enl_carry *carry, struct enl_conn *asker, const struct bcri_control *message, int fd,
                char *reason, unsigned reason_size);
/* relay, of the parent: starts the helper here. */
const char *enl_far_begin(struct enl_carry *carry, struct enl_conn *parent,
                          const struct bcri_control *message);
/* relay_bytes, relay_window and relay_end, of the other daemon. */
const char *enl_far_take(struct enl_carry *carry, struct enl_conn *peer, const struct bcri_control *message);

/* That connection is gone. */
void enl_far_forget(struct enl_carry *carry, const struct enl_conn *conn);
/* The loop ends. */
void enl_far_close(struct enl_carry *carry);

#endif

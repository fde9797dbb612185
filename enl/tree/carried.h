/* SPDX-License-Identifier: MIT */
/* Packets of links whose UDP path is silent, on their way over the tree of daemons: from this host's
 * link thread to the next daemon, and from a daemon to the next or to this host's link thread.
 *
 * They are what a network carries: nothing in them is trusted, what is in the way of others is
 * dropped, and the links send it again. All other messages between daemons overtake them. */
#ifndef ENL_CARRIED_H
#define ENL_CARRIED_H

#include <stdint.h>

#include "bcri/control.h"

struct enl_child;
struct enl_program;

/* A packet of this host's for `host`. */
void enl_carried_send(struct enl_program *program, uint32_t host, const void *packet, uint32_t bytes);
/* carry has come from a child, or from the parent. Returns NULL, or what is wrong with it. */
const char *enl_carried_of_child(struct enl_child *child, const struct bcri_control *message);
const char *enl_carried_of_parent(struct enl_program *program, const struct bcri_control *message);

#endif

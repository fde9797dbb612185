/* SPDX-License-Identifier: MIT */
/* The descriptors of armed cells (bcr_fd), as the daemon holds them: one eventfd per cell that was
 * ever asked for.
 *
 * A putter that finds a cell armed tells the daemon, or asks it for a copy and writes that (enl/client/eventfds.c). Any
 * thread of the daemon may call; the table grows. */
#ifndef BCRI_EVENTFDS_H
#define BCRI_EVENTFDS_H

#include <stdint.h>

#include "bcri/ref.h"

struct bcri_eventfds;

struct bcri_eventfds *bcri_eventfds_init(void); /* NULL: no memory */
void bcri_eventfds_fini(struct bcri_eventfds *fds);

/* Keeps `fd` (taken on success) as the descriptor of `cell`, which belongs to CCE `owner`, and
 * closes an older one. With -1 the cell has no descriptor any more. Returns 0 or bcrE_NOMEM. */
int bcri_eventfds_set(struct bcri_eventfds *fds, bcri_ref cell, uint32_t owner, int fd);
/* Makes the descriptor of `cell` readable, if there is one. */
void bcri_eventfds_ring(struct bcri_eventfds *fds, bcri_ref cell);
/* A new descriptor for that of `cell`, close-on-exec, the caller's to close. -1: there is none, or no number left for it. */
int bcri_eventfds_dup(struct bcri_eventfds *fds, bcri_ref cell);
/* Closes all descriptors of CCE `owner`. */
void bcri_eventfds_drop(struct bcri_eventfds *fds, uint32_t owner);

#endif

/* SPDX-License-Identifier: MIT */
/* Serving the gets that wait at a cell, whose both locks the caller has (both_locks.h). */
#ifndef BCRI_GET_SERVICE_H
#define BCRI_GET_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

/* Serves requests from the front of the list while there are regions. False: not all that could be
 * served were, since the daemon is parked, or this CCE cannot map them. */
bool bcri_serve_waiting(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Serves the reads at the front of the list with `region`, which stays where it is. */
void bcri_serve_reads(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region);

/* Rings the CCE of record `owner`, which the journal's `ring` names, and clears `ring`. */
void bcri_ring_noted(struct bcri_ctx *ctx, uint32_t owner, bcri_ref cell);

/* Ends every waiting request of a closed cell with `code`. */
void bcri_cell_fail_waiters(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code);

#endif

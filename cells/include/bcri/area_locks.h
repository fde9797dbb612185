/* SPDX-License-Identifier: MIT */
/* The two locks of an area. Order of all locks: area, head, tail, leaf, count word.
 *
 * The area's lock protects its list of waiting puts (put_waiters.h); the leaf lock its nodes
 * (overflow.h) and its pool of credits (credits.h). */
#ifndef BCRI_AREA_LOCKS_H
#define BCRI_AREA_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

void bcri_area_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* False: time is up and the holder of the lock is stopped; or the daemon is parked (lock.h). */
bool bcri_area_lock_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns);
void bcri_area_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* The daemon, which has both locks of an open cell, takes in advance the locks that it may need
 * under them; if it cannot, it is parked. For the daemon bcri_leaf_lock and bcri_leaf_unlock do
 * nothing. */
bool bcri_cell_deeper(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_cell_less_deep(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
void bcri_leaf_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

#endif

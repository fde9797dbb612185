/* SPDX-License-Identifier: MIT */
/* Serves the puts that wait for room in an area (put_waiters.h), with credits from any of its
 * cells. */
#ifndef BCRI_PUT_SERVICE_H
#define BCRI_PUT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

/* Serves waiting puts, oldest first, as long as there is room. Under the area's lock and no cell
 * lock. `resolved` is a cell that may have spare credits. */
void bcri_putwait_serve(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* The same, but looks for credits in every cell of the area. */
void bcri_putwait_serve_all(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Takes (or reads) the region of the first put that waits for this cell, which is empty, and
 * requests the owner's handler in the same step if `due`. Under the locks of the area and the cell.
 * Returns 0; bcrE_TIMEOUT: no put waits for this cell; bcrE_NOMEM. */
int bcri_putwait_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                      struct bcri_slot_shm *slot, bool due);

/* Does the put that waits at `slot_ref` if it needs no room. Under the area's lock. */
void bcri_putwait_hand_over_one(struct bcri_ctx *ctx, bcri_ref slot_ref);

/* Does the first put that waits for this very cell if a waiting get takes its region: for a get
 * that has joined the cell's list. Under the area's lock, no cell lock. */
void bcri_putwait_hand_over(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Ends with `code` the puts that wait for a cell that is being closed. Under the area's lock. */
void bcri_putwait_fail(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code);

/* Takes a waiting put out of its list (time is up, or its CCE is dead). Under the area's lock. The
 * slot is LIVE afterwards. */
void bcri_putwait_cancel(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                         bcri_ref slot_ref);

/* After a change that may have made room in the cell: serves waiting puts. Needs an open journal
 * and no lock held. */
void bcri_putwait_made_room(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

#endif

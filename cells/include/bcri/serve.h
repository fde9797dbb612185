/* SPDX-License-Identifier: MIT */
/* Serving the puts that wait for room in an area (putwait.h), with credits from any of its cells;
 * the area's lock. */
#ifndef BCRI_SERVE_H
#define BCRI_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/request.h"
#include "bcri/resolved.h"
#include "bcri/slot.h"

void bcri_area_lock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* False: time is up, and it is held by somebody who is stopped; or enl is parked (lock.h). */
bool bcri_area_lock_until(struct bcri_ctx *ctx, struct bcri_resolved *resolved, uint64_t deadline_ns);
void bcri_area_unlock(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Under the area's lock, no cell lock: serves waiting puts, oldest first, as long as there is room;
 * `resolved` is a cell that may have spare credits. */
void bcri_putwait_serve(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* The same, looking for credits in every cell of the area. */
void bcri_putwait_serve_all(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Under the area's and the empty cell's locks: takes (or reads) the region of the first put that
 * waits for this cell, and requests the owner's handler in the same step if that is due. 0;
 * bcrE_TIMEOUT: none waits; bcrE_NOMEM. */
int bcri_putwait_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want,
                      struct bcri_slot_shm *slot, bool due);

/* A credit that a cell of the area does not use, put into the pool; `half`: half of them. Under the
 * area's lock. */
bool bcri_putwait_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool half);
/* The put that waits at `slot_ref` is done if it needs no room. Under the area's lock. */
void bcri_putwait_hand_over_one(struct bcri_ctx *ctx, bcri_ref slot_ref);

/* The first put that waits for this very cell is done if a get takes it: for a get that joined
 * others in the list. Under the area's lock, no cell lock. */
void bcri_putwait_hand_over(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* The puts that wait for a cell that is being closed end with `code`. Under the area's lock. */
void bcri_putwait_fail(struct bcri_ctx *ctx, struct bcri_resolved *resolved, int code);

/* Takes a waiting put out of its list (time is up, or its CCE is dead). Under the area's lock. The
 * slot is LIVE then. */
void bcri_putwait_withdraw(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                           bcri_ref slot_ref);

/* In a transaction that ends a waiting put: out of the list, `word` being what its slot says from
 * then on. */
void bcri_tx_putwait_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot_ref,
                            uint64_t word);

/* No lock held, the journal open, after a change that may have made room in the cell: serves. */
void bcri_putwait_made_room(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

#endif

/* SPDX-License-Identifier: MIT */
/* Puts that wait for room in their area.
 *
 * A waiting put is a request slot of the putter's (PUTWAIT, with a hold of its own on the region)
 * in the area's list, oldest first. The list, and whether puts wait at all (`waitputs`), change
 * only under the area's lock, which is taken before any cell's. Whoever frees room while waitputs
 * is set gives it to the longest-waiting put before anybody else can have it; a get that finds its
 * cell empty takes the region of the first put that waits for that very cell. Why no room is
 * overlooked: the putter sets waitputs, and then looks at every cell of the area under its locks. A
 * take that was earlier is seen by that look; one that is later sees waitputs under the head lock.
 *
 * A putter whose time is up withdraws its put under the area's lock. One that finds PUTDONE or
 * FAILED takes that lock, too, before the slot is its own again: whoever ends a put, or the daemon
 * in his place, may look at the slot as long as he has it. Serving: serve.h. */
#ifndef BCRI_PUTWAIT_H
#define BCRI_PUTWAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/resolved.h"
#include "bcri/slot.h"

struct bcri_put;

/* A put finds no room. spin looks for a while whether a taker makes some; gather, for one that does
 * not wait, whether another cell of the area has a credit that it does not use; wait waits until
 * the deadline: 0; bcrE_FULL; BCRI_STALE. */
bool bcri_room_spin(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved);
bool bcri_room_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
int bcri_room_wait(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t deadline_ns);

/* The two halves of a put that waits, for putting into many cells at once. begin: BCRI_WAITS and
 * the request's slot; bcrE_FULL: time is up, and somebody who is stopped holds the area's lock.
 * end: 0, bcrE_FULL (time is up), or why it failed. The region's hold of the caller is untouched by
 * both. */
int bcri_putwait_begin(struct bcri_ctx *ctx, bool write, bcri_ref region, struct bcri_resolved *resolved,
                       struct bcri_slot_shm **request_out, uint64_t deadline_ns);
int bcri_putwait_end(struct bcri_ctx *ctx, struct bcri_slot_shm *request, uint64_t deadline_ns);

#endif

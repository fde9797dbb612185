/* SPDX-License-Identifier: MIT */
/* Puts that wait for room in their area.
 *
 * A waiting put is a request slot of the putter (state PUTWAIT, with its own hold on the region) in
 * the area's list, oldest first. The list, and the number of puts that wait (`waitputs`), change
 * only under the area's lock, which is taken before any cell's. A CCE that frees room while
 * waitputs is not 0 gives that room to the put that has waited longest, before any other put can
 * have it. A get that finds its cell empty takes the region of the first put that waits for that
 * very cell. Why no room is overlooked: the putter sets waitputs, then looks at every cell of the
 * area under its locks. That look sees the room of a take that came earlier; a taker that comes
 * later sees waitputs under the head lock.
 *
 * A putter whose time is up cancels its put under the area's lock. A putter that finds PUTDONE or
 * FAILED also takes that lock before it uses the slot again: the CCE that ended the put, or the
 * daemon if that one died, may look at the slot as long as it has the lock. Serving:
 * put_service.h. */
#ifndef BCRI_PUT_WAITERS_H
#define BCRI_PUT_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/result.h"
#include "bcri/slot.h"

struct bcri_put;

/* For a put that finds no room: whether a taker makes some while the putter spins. */
bool bcri_room_spin(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved);
/* For a put that finds no room and does not wait: whether another cell of the area had an unused
 * credit, which is in the pool now. */
bool bcri_room_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* Waits for room until the deadline and puts. BCRI_DONE, bcrE_FULL, BCRI_STALE, or why it failed. */
struct bcri_result bcri_room_wait(struct bcri_ctx *ctx, const struct bcri_put *put, uint64_t deadline_ns);

/* The two halves of a put that waits, for putting into many cells at once. Neither touches the
 * caller's own hold on the region.
 *
 * begin returns BCRI_DONE and the slot of the request, which waits; BCRI_STALE; bcrE_FULL if time is up and
 * the holder of the area's lock is stopped; or why it failed. */
struct bcri_result bcri_putwait_begin(struct bcri_ctx *ctx, bool write, bcri_ref region,
                                      struct bcri_resolved *resolved, struct bcri_slot_shm **request_out,
                                      uint64_t deadline_ns);
/* end returns 0; bcrE_FULL if time is up; or why the put failed. */
int bcri_putwait_end(struct bcri_ctx *ctx, struct bcri_slot_shm *request, uint64_t deadline_ns);
/* Ends it now, as if time were up, with the result that bcri_putwait_end would have. False: it cannot
 * be ended now (the context parks). */
bool bcri_putwait_over(struct bcri_ctx *ctx, struct bcri_slot_shm *request, int *error_out);

#endif

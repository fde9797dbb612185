/* SPDX-License-Identifier: MIT */
/* Leaving word at a cell whose locks cannot be had in time, since somebody who is stopped holds them.
 *
 * A waiter whose time is up *leaves*: it sets LEFT in the word of its request, which then belongs to whoever has both locks
 * of the cell next. He ends it: out of the list, or, if a region has been handed to it meanwhile, that goes back to the head.
 * A waiter that cannot mark its ticket before it sleeps asks to be rung instead.
 *
 * Either *calls* at the cell: sets CALLED in both its states, so that from then on nobody does anything there under one
 * lock alone; calls those who hold a lock (bcri_call_holder); has everybody fence; and finds the same holders still there.
 *   Why nothing is overlooked: a fast operation that takes its lock after the fence sees CALLED, and goes the slow way. One that
 *   has taken it before is the holder that was found, and looks at the cell again (bcri_cell_released) between its release
 *   and its return; the fence lies between its release and that look, or it is not found (lock.h).
 *   So each put that may have handed something to a request that was left, or to a sleeper that has no mark, is followed by a
 *   look under both locks before it returns. No order breaks: until then it has not put.
 * Whoever looks and cannot have the locks in time, since one is held by another who is stopped, calls in turn; if he finds that nobody
 * holds any by then, he looks again. Who gives up with one lock in hand, waiting for the other, looks too.
 *
 * Who may move the word of a request that was left: its waiter back, once (TICKET|LEFT to TICKET, when it sees that its entry was
 * filled after all); else only who has both locks. An ENDING beside LEFT, set by CAS, decides between the two.
 *   TICKET|LEFT -> LISTED|LEFT            with all tickets
 *   TICKET|LEFT -> |ENDING -> FREE        its region goes back to the head
 *   LISTED|LEFT -> FREE
 *   LISTED -> SERVED|LEFT -> FREE         it left while it was being served: the cell's `serving` names it until that is clear
 * Death of the one who left: the walk over its IDs ends its requests, as any other. Of one who ends requests: repair begins again,
 * for all that is still there. Of one who was called: repair looks at the cell. */
#ifndef BCRI_CALLED_H
#define BCRI_CALLED_H

#include "bcri/flow.h"

static inline bool bcri_request_left(const struct bcri_slot_shm *slot)
{
    return (bcri_slot_flags(bcri_load_acquire(&slot->word)) & BCRI_SLOT_LEFT) != 0;
}

static inline bool bcri_cell_is_called(const struct bcri_place *place)
{
    uint64_t head = bcri_load(&place->cell->h.state), tail = bcri_load(&place->cell->t.state);
    return bcri_unlikely(((head | tail) & BCRI_CELL_CALLED) != 0) && head >> 32 == place->open >> 32;
}

/* Neither lock is held by the caller. False: this process cannot make others fence; then it must wait. */
bool bcri_cell_call(struct bcri_ctx *ctx, const struct bcri_place *place);
/* The first half: whoever comes with both locks looks at the requests, some time. */
void bcri_cell_mark_called(const struct bcri_place *place);

/* Under both locks, no request waiting by ticket: ends the requests that were left, rings those that were served by ticket.
 * Afterwards there may be both a region and a request that waits: the caller settles, before it does anything else. */
void bcri_cell_answer(struct bcri_ctx *ctx, struct bcri_place *place);

/* Enters the cell, or calls there. 0; BCRI_STALE, bcrE_INTERNAL; bcrE_TIMEOUT: somebody who is stopped holds it, and whoever has it
 * next answers, and then looks through the puts that wait in its area. */
int bcri_cell_enter_or_call(struct bcri_ctx *ctx, struct bcri_place *place);

/* After the release of any lock of the cell, the journal naming it, its phase not one of a fast operation's. */
void bcri_cell_visit(struct bcri_ctx *ctx, struct bcri_place *place);
static inline void bcri_cell_released(struct bcri_ctx *ctx, struct bcri_place *place)
{
    if (bcri_unlikely(bcri_cell_is_called(place) || ctx->answered))
        bcri_cell_visit(ctx, place);
}

/* The answer to the request that the cell is `serving` is given: takes it back if its waiter has left. */
void bcri_serving_done(struct bcri_ctx *ctx, struct bcri_place *place);
/* Ends a request of the list that was left. */
void bcri_request_end(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                      bcri_ref slot_ref);
/* Whether the taker's mark is the one that came with this answered request of CCE `tag`. */
bool bcri_request_marks(const struct bcri_place *place, const struct bcri_slot_shm *slot, uint32_t tag);

#endif

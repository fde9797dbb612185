/* SPDX-License-Identifier: MIT */
/* The lists of what waits: gets in the list of their cell, puts in the list of their area. The
 * nodes are the ID slots of the waiters (waiters.h, put_waiters.h). The list of a cell changes
 * under both its locks, that of an area under the area's lock; always in a transaction. */
#ifndef BCRI_WAIT_LISTS_H
#define BCRI_WAIT_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/waiters.h"

/* A get joins its cell's list behind `last`, which this CCE can map (or none). */
void bcri_tx_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot, bcri_ref last,
                  enum bcri_want want);
/* Takes a get out of its cell's list. */
void bcri_tx_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot);

/* Moves the gets that wait by ticket into the list, in a transaction of its own. False: this CCE
 * cannot map the ID of a waiter, and nothing has changed. */
bool bcri_tickets_to_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* A put joins its area's list behind `last`, which this CCE can map (or none). */
void bcri_tx_putwait_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot, bcri_ref last,
                          uint64_t word);
/* Takes a put out of its area's list and gives its slot the word `word`. */
void bcri_tx_putwait_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot_ref,
                            uint64_t word);

/* In the transaction that does a put: sets the journal phase to 2, or ends the waiting put at slot
 * `waiting`. */
void bcri_tx_finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting);

/* Whether this CCE can map the ID at `slot`, which waits in a list, and its neighbours there, so
 * that a transaction may take it out. */
bool bcri_request_mapped(struct bcri_ctx *ctx, bcri_ref slot);
/* Whether it can also ring the CCE that waits. */
bool bcri_request_endable(struct bcri_ctx *ctx, bcri_ref slot);
/* Whether this CCE can serve and ring all that one more region is for, the reads at the front of
 * the list and the first take; or `all` in the list. */
bool bcri_waiters_mapped(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool all);

#endif

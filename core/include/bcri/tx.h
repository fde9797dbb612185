/* SPDX-License-Identifier: MIT */
/* Transactions: many stores to words that are under locks of this CCE; all of them survive its
 * death, or none.
 *
 * The CCE writes the stores into the redo log in its record first (redo_state 0), commits by
 * setting redo_state = 1, and then applies them in order. If it dies before the commit, the daemon
 * forgets the log; if it dies after the commit, the daemon applies the log again from the start.
 * Applying twice is harmless: every word in the log is under a lock that the dead CCE still holds,
 * so no other CCE has changed a value that was applied. There are two exceptions:
 * - A count word is itself a lock, and its own store releases it: its entry (COUNT) applies only
 *   while the word still carries the tag of the CCE.
 * - The owner of an answered request may go on at once and use its slot for another one. So the
 *   stores to the slot stand between an entry that says what the request's word must be (IF) and
 *   one that answers it (ANSWER), and apply only if the word is that. The word of a request in a
 *   list names its cell, where no request can begin to wait while the locks are held.
 * A putter whose waiting put is done goes on only after it has had the area's lock, which the CCE
 * that ends the put holds (put_waiters.h).
 *
 * Reads inside a transaction see the old values. */
#ifndef BCRI_TX_H
#define BCRI_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"

enum bcri_redo_kind {
    BCRI_REDO_64 = 0,
    BCRI_REDO_32 = 1,
    BCRI_REDO_COUNT = 2,
    BCRI_REDO_IF = 3,
    BCRI_REDO_ANSWER = 4
};

void bcri_tx_begin(struct bcri_ctx *ctx);
void bcri_tx_add(struct bcri_ctx *ctx, enum bcri_redo_kind kind, bcri_ref object, size_t offset_bytes,
                 uint64_t value);
void bcri_tx_commit(struct bcri_ctx *ctx);

/* Adds a store to field `field` of the object that `ref` names, whose C type is `type`. */
#define BCRI_TX64(ctx, ref, type, field, value) \
    bcri_tx_add((ctx), BCRI_REDO_64, (ref), offsetof(type, field), (value))
#define BCRI_TX32(ctx, ref, type, field, value) \
    bcri_tx_add((ctx), BCRI_REDO_32, (ref), offsetof(type, field), (value))

/* Sets the phase of this CCE's journal. */
void bcri_tx_phase(struct bcri_ctx *ctx, uint32_t phase);

/* The daemon applies the committed log of CCE `index` again, or forgets an uncommitted one. Returns
 * whether the log was committed. */
bool bcri_tx_repair(struct bcri_ctx *enl, uint32_t index);

#endif

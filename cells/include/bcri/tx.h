/* SPDX-License-Identifier: MIT */
/* Transactions: many stores to words that are under locks held by this CCE, all or none of which
 * survive its death.
 *
 * The stores are written into the redo log in the CCE's record first (redo_state 0), become one by
 * setting redo_state = 1, and are then applied in order. Death before the commit: enl forgets the
 * log. After: enl applies it again from the start. Applying twice is harmless because every word in
 * it is under a lock that is still held: nobody has moved on from a value that was applied. There
 * are two exceptions:
 *   - A count word is itself a lock and is released by its own store: its entry (COUNT) applies only while the word still
 *     carries the holder's tag.
 *   - A request that was answered may go on at once, and its slot be used for another. So what is stored there stands
 *     between an entry that says what the request's word must be (IF) and one that answers it (ANSWER), and applies only
 *     if it is. The word of a request in a list names its cell, where nobody can begin to wait while the locks are held.
 * A put that waits and is done goes on only once it has had the area's lock, which whoever ends it
 * holds (putwait.h).
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

/* Stores of a field of the object that `ref` names, whose C type is `type`. */
#define BCRI_TX64(ctx, ref, type, field, value) \
    bcri_tx_add((ctx), BCRI_REDO_64, (ref), offsetof(type, field), (value))
#define BCRI_TX32(ctx, ref, type, field, value) \
    bcri_tx_add((ctx), BCRI_REDO_32, (ref), offsetof(type, field), (value))

/* enl: applies the committed log of CCE `index` again, or forgets an uncommitted one. Returns
 * whether it was committed. */
bool bcri_tx_repair(struct bcri_ctx *enl, uint32_t index);

#endif

/* SPDX-License-Identifier: MIT */
/* Gets below the public routines: get.c, get_attempt.c. */
#ifndef BCRI_GET_H
#define BCRI_GET_H

#include "bcri/attempt.h"
#include "bcri/request.h"
#include "bcri/resolved.h"

/* A get that the fast tier has not done. */
struct bcri_get {
    uint64_t key;                   /* of the cell: CCE and number */
    struct bcri_resolved *resolved; /* NULL: the cell is yet to be looked up */
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    enum bcri_want want;
    bool lock; /* by the access right of locks */
    int msec;
    uint32_t owner; /* of the cell; a get that waits may forget the resolved cell */
};

/* An attempt under the head lock alone. */
enum bcri_attempt bcri_get_attempt(struct bcri_ctx *ctx, const struct bcri_get *get, enum bcri_held held);

/* Remembers that this CCE takes write locks. Stores only once, since all CCEs have the line in
 * their caches. */
static inline void bcri_note_locks(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(&ctx->record->id.uses_locks) == 0))
        bcri_store(&ctx->record->id.uses_locks, 1);
}

/* Stores the lock owner `tag`, by which others learn that the protected region died with the CCE
 * that took it. It is valid until the cell's epoch is past `epoch`, the one in which the region was
 * put or taken. Under the head lock. */
void bcri_write_owner_set(struct bcri_resolved *resolved, uint32_t tag, uint32_t epoch);
/* Whether this process can map the region and, for a write lock, has memory for a private copy.
 * Under the head lock. */
bool bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region);

#endif

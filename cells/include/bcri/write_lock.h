/* SPDX-License-Identifier: MIT */
/* The owner of a write lock: by h.taker of the cell others learn that the protected region died
 * with the CCE that took it. */
#ifndef BCRI_WRITE_LOCK_H
#define BCRI_WRITE_LOCK_H

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/record.h"

/* Remembers that this CCE takes write locks. Stores only once, since all CCEs have the line in
 * their caches. */
static inline void bcri_note_locks(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(&ctx->record->id.uses_locks) == 0))
        bcri_store(&ctx->record->id.uses_locks, 1);
}

/* Stores the lock owner `tag`. It is valid until the cell's epoch is past `epoch`, the one in which
 * the region was put or taken. Under the head lock. */
static inline void bcri_write_owner_set(struct bcri_resolved *resolved, uint32_t tag, uint32_t epoch)
{
    struct bcri_head_shm *h = &resolved->cell->h;
    /* Before this region was collected, another CCE may have put, or taken a region that was put
     * later. */
    if (bcri_epoch_past(bcri_epoch(resolved->cell), epoch) ||
        (bcri_load(&h->taker) != 0 && bcri_epoch_past((uint32_t)bcri_load(&h->taker_epoch), epoch)))
        return;
    bcri_store(&h->taker_epoch, epoch);
    bcri_store(&h->taker, tag);
}

/* If the lock owner of a cell is the one of `tag`, who has died, and nobody has put since, then the
 * protected region is gone, and the cell becomes OWNERDEAD. `epoch`, if not NULL: the one in which the
 * dead one took it; another is another CCE's. False: the daemon is parked.
 * (recovery/closing.c) */
bool bcri_write_owner_died(struct bcri_ctx *enl, struct bcri_resolved *resolved, uint32_t tag,
                           const uint32_t *epoch);

#endif

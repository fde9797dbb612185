/* SPDX-License-Identifier: MIT */
/* Regions that BCR itself makes and puts into a cell: birth regions, error regions, end regions, lines. They come from the
 * heap of whoever makes them: the daemon, or for error regions a CCE. */
#ifndef BCRI_MADE_H
#define BCRI_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

struct bcri_made {
    uint32_t archtype, kind; /* kind: as in a region's header (region.h) */
    const void *data;
    uint32_t length;
    const void *more; /* behind the data */
    uint32_t more_length;
};

/* Appends such a region. `beyond`: whether or not the area's bound has room for it; it counts there while it lies in the
 * cell. 0; bcrE_FULL; bcrE_NOMEM; bcrE_DEAD: the cell is closed; bcrE_TIMEOUT: the daemon is parked (lock.h). */
int bcri_made_put(struct bcri_ctx *ctx, struct bcri_resolved *resolved, const struct bcri_made *made,
                  bool beyond);

/* Makes one without putting it: the LIVE slot holds it alone. 0, bcrE_NOMEM or bcrE_INTERNAL. */
int bcri_made_new(struct bcri_ctx *ctx, const struct bcri_made *made, struct bcri_slot_shm **slot_out);

#endif

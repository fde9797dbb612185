/* SPDX-License-Identifier: MIT */
/* Setting and clearing marks: watermark.h.
 *
 * Journal: SLOW, with the cell. */
#include "bcri/watermark.h"

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/journal.h"
#include "bcri/place.h"
#include "bcri/queue.h"
#include "bcri/result.h"
#include "bcri/tx.h"

static void tx_mark(struct bcri_ctx *ctx, struct bcri_place *place, int32_t mark, uint32_t flag)
{
    uint32_t flags = (uint32_t)bcri_load(&place->cell->h.state) & ~(BCRI_CELL_HIGH | BCRI_CELL_LOW);
    bcri_tx_begin(ctx);
    BCRI_TX32(ctx, place->ref, struct bcri_cell_shm, t.mark, (uint32_t)mark);
    bcri_tx_flags(ctx, place, flags | flag);
    bcri_tx_commit(ctx);
}

static int change(struct bcri_ctx *ctx, int cell, int32_t mark, uint32_t flag)
{
    struct bcri_place *place;
    int error = bcri_place_find(ctx, BCRI_SELF, cell, &place);
    if (error != 0)
        return error;
    bcri_journal_open(ctx, BCRI_OP_SLOW, place->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    error = bcri_cell_enter(ctx, place);
    if (error == 0) {
        tx_mark(ctx, place, mark, flag);
        bcri_cell_leave(ctx, place);
    }
    bcri_journal_close(ctx);
    return error == BCRI_STALE ? bcrE_INTERNAL : error; /* only the daemon closes it: condemned */
}

int bcri_watermark_set(struct bcri_ctx *ctx, int cell, int32_t mark)
{
    return change(ctx, cell, mark, mark > 0 ? BCRI_CELL_HIGH : BCRI_CELL_LOW);
}

int bcri_watermark_clear(struct bcri_ctx *ctx, int cell)
{
    return change(ctx, cell, 0, 0);
}

const _Atomic uint64_t *bcri_watermark_counter(struct bcri_ctx *ctx, int cell)
{
    struct bcri_place *place;
    return bcri_place_find(ctx, BCRI_SELF, cell, &place) == 0 ? &place->cell->t.requests : NULL;
}

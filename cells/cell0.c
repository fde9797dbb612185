/* SPDX-License-Identifier: MIT */
/* Cell 0: cell0.h. Its area is the first in each CCE's list and lies in the record, in the bytes
 * that the record keeps for this layer. */
#include "bcri/cell0.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/addition.h"
#include "bcri/archtype.h"
#include "bcri/bell.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/put.h"
#include "bcri/region.h"
#include "bcri/result.h"

#define RING_LOG2 3u

struct cell0 {
    struct bcri_area_shm area;
    struct bcri_cell_shm cell;
    _Atomic uint64_t ring[1u << RING_LOG2];
};
static_assert(sizeof(struct cell0) <= BCRI_CELL0_BYTES, "docs/layout/record.md");
static_assert(sizeof(struct bcri_area_shm) % BCRI_CACHELINE == 0, "cell 0 is aligned");

static bcri_ref cell0_ref(struct bcri_ctx *ctx, uint32_t index)
{
    bcri_ref record = bcri_record_ref(ctx, index);
    return record + offsetof(struct bcri_record_shm, cell0) / BCRI_REF_UNIT;
}
static_assert(offsetof(struct bcri_record_shm, cell0) % BCRI_CACHELINE == 0, "cell 0 is aligned");

void bcri_cell0_init(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    struct cell0 *cell0 = (struct cell0 *)(void *)record->cell0;
    bcri_ref ref = cell0_ref(enl, index);
    const uint32_t gen = bcri_next_gen(enl);
    cell0->area.cells = ref + offsetof(struct cell0, cell) / BCRI_REF_UNIT;
    cell0->area.rings = ref + offsetof(struct cell0, ring) / BCRI_REF_UNIT;
    cell0->area.kinds[BCRI_CELL_PRIVATE] = 1;
    cell0->area.nrgns = BCRI_ERRORS_MAX;
    cell0->area.ring_log2 = RING_LOG2;
    bcri_store(&cell0->area.gen, gen);
    cell0->area.owner = index;
    cell0->area.heap = UINT32_MAX;
    bcri_store(&cell0->cell.t.credits, BCRI_ERRORS_MAX);
    bcri_store(&cell0->cell.i.area, ref);
    bcri_store_release(&cell0->cell.t.state, (uint64_t)gen << 32);
    bcri_store_release(&cell0->cell.h.state, (uint64_t)gen << 32);
    bcri_store_release(&record->id.first_area, ref);
}

/* Whether a region's data lies in its segment. Its header is shared memory that may be corrupt, and
 * the daemon is about to write the data. */
static bool reaches(const struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_region_shm *region)
{
    const uint64_t end = (uint64_t)region->data_16 * 16 + region->length;
    return end <= ctx->map[bcri_ref_seg(ref)].units * BCRI_REF_UNIT;
}

/* Puts a region whose open journal says ALLOC (counted once, held by no ID). The journal becomes
 * PUT with the hold already counted as the cell's, so that a death at any point either drops the
 * hold or leaves the region in the cell. */
static int put_region(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref region)
{
    bcri_store(&ctx->journal->put_held, BCRI_HELD);
    bcri_step();
    bcri_store(&ctx->journal->op, BCRI_OP_PUT);
    bcri_step();
    struct bcri_result result = bcri_cell_enter(ctx, resolved);
    if (result.outcome == BCRI_STALE || result.error == bcrE_INTERNAL)
        result = bcri_result(bcrE_DEAD); /* the CCE has ended, or the cell is condemned */
    if (bcri_is_done(result)) {
        result = bcri_queue_append(ctx, resolved, region, BCRI_REF_NONE);
        bcri_cell_leave(ctx, resolved);
    }
    if (!bcri_is_done(result))
        bcri_cell_unhold(ctx, region);
    return bcri_error_or(result, bcrE_FULL);
}

static int put_copy(struct bcri_ctx *ctx, uint32_t index, uint32_t archtype, uint32_t code, const void *data,
                    uint32_t length)
{
    bcri_ref ref;
    struct bcri_region_shm *region;
    int error = bcri_heap_alloc_reserve(ctx, length, archtype, &ref, &region);
    if (error != 0)
        return error;
    if (!reaches(ctx, ref, region)) {
        bcri_corrupt(ctx, "the header of a free block", ref);
        bcri_heap_free(ctx, ref, region);
        return bcrE_INTERNAL;
    }
    memcpy((void *)bcri_region_data(ctx, ref), data, length);
    region->kind = (uint16_t)code;
    struct bcri_resolved resolved;
    error = bcri_resolved_at(ctx, cell0_ref(ctx, index) + offsetof(struct cell0, cell) / BCRI_REF_UNIT,
                             &resolved);
    if (error != 0) {
        bcri_heap_free(ctx, ref, region);
        return error;
    }
    bcri_journal_open(ctx, BCRI_OP_ALLOC, resolved.ref, ref, BCRI_REF_NONE);
    bcri_store_release(&region->count, BCRI_COUNT_ONE);
    error = put_region(ctx, &resolved, ref);
    bcri_journal_close(ctx);
    return error;
}

int bcri_birth_put(struct bcri_ctx *enl, uint32_t index, uint32_t archtype, const void *data, uint32_t length)
{
    return put_copy(enl, index, archtype, 0, data, length);
}

int bcri_error_put(struct bcri_ctx *ctx, uint32_t index, int code, int op, const uint8_t *identity,
                   int number)
{
    /* The layout of bcrT_1ERROR. */
    struct {
        int32_t code, op;
        uint8_t identity[BCRI_IDENTITY_BYTES];
        int32_t number;
    } data = {.code = code, .op = op, .number = number};
    if (identity != NULL)
        memcpy(data.identity, identity, sizeof data.identity);
    return put_copy(ctx, index, (uint32_t)bcri_archtype_native(), (uint32_t)code, &data, sizeof data);
}

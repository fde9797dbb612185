/* SPDX-License-Identifier: MIT */
/* Cell 0: cell0.h. Its area is the first in each CCE's list and lies in the record, in the bytes
 * that the record keeps for this layer. */
#include "bcri/cell0.h"

#include <string.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/cell.h"
#include "bcri/lookup.h"
#include "bcri/made.h"

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

static int put_copy(struct bcri_ctx *ctx, uint32_t index, uint32_t archtype, uint32_t code, const void *data,
                    uint32_t length)
{
    const struct bcri_made made = {.archtype = archtype, .kind = code, .data = data, .length = length};
    struct bcri_resolved resolved;
    const int error = bcri_resolved_at(
        ctx, cell0_ref(ctx, index) + offsetof(struct cell0, cell) / BCRI_REF_UNIT, &resolved);
    return error != 0 ? error : bcri_made_put(ctx, &resolved, &made, false);
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

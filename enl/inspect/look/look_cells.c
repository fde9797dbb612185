/* SPDX-License-Identifier: MIT */
/* Areas and cells, and the regions that lie in cells. A cell is read without its locks: a region that
 * moves meanwhile may be missed or met twice. */
#include "bcri/cell.h"

#include "inspect/look/look_private.h"

static uint64_t chain_bytes(struct look *look, bcri_ref ref, uint64_t most, uint32_t owner)
{
    uint64_t bytes = 0;
    for (const struct bcri_node_shm *node; most > 0 && look_step(look); most--) {
        node = look_at(&look->memory, ref, sizeof *node);
        if (node == NULL)
            break;
        bytes += look_at_region(look, bcri_load(&node->region), owner, true);
        ref = bcri_load(&node->next);
    }
    return bytes;
}

static uint64_t ring_bytes(struct look *look, const struct bcri_area_shm *area, uint32_t nth, uint64_t head,
                           uint64_t tail)
{
    const uint64_t entries = UINT64_C(1) << area->ring_log2;
    const _Atomic uint64_t *ring =
        look_at(&look->memory, bcri_area_ring(area, nth), entries * sizeof(uint64_t));
    uint64_t bytes = 0;
    if (ring == NULL || tail - head > entries)
        return 0;
    for (uint64_t t = head; t < tail && look_step(look); t++) {
        const uint64_t entry = bcri_load_acquire(&ring[t & (entries - 1)]);
        if (bcri_entry_is(entry, t, area->ring_log2))
            bytes += look_at_region(look, entry, area->owner, true);
    }
    return bytes;
}

static enum bcri_cell_kind kind_of(const struct bcri_area_shm *area, uint32_t nth)
{
    uint32_t kind = 0;
    while (kind < BCRI_CELL_INOUT && nth >= area->kinds[kind])
        nth -= area->kinds[kind++];
    return (enum bcri_cell_kind)kind;
}

static void look_at_cell(struct look *look, const struct bcri_area_shm *area, uint32_t nth)
{
    const struct bcri_cell_shm *cell = look_at(&look->memory, bcri_area_cell(area, nth), sizeof *cell);
    if (cell == NULL)
        return;
    struct look_row row = {.kind = LOOK_KIND_CELL};
    const uint64_t head = bcri_load_acquire(&cell->h.head), tail = bcri_load_acquire(&cell->t.tail);
    const uint64_t outside = bcri_load(&cell->c.extra);
    const uint32_t flags = (uint32_t)bcri_load(&cell->t.state);
    const uint32_t locker = bcri_load(&cell->h.taker);
    const uint32_t epoch = bcri_epoch(cell);
    if (head == 0 && tail == 0 && outside == 0 && flags == 0 && locker == 0)
        return; /* it was never used */
    row.cell.owner = area->owner;
    row.cell.cell = area->base + nth;
    row.cell.kind = kind_of(area, nth);
    row.cell.flags = flags;
    row.cell.length = (tail > head ? tail - head : 0) + outside;
    row.cell.bytes = tail > head ? ring_bytes(look, area, nth, head, tail) : 0;
    if (bcri_load(&cell->c.first) != BCRI_REF_NONE)
        row.cell.bytes += look_at_region(look, bcri_load(&cell->c.first), area->owner, true);
    row.cell.bytes += chain_bytes(look, bcri_load(&cell->c.front), outside, area->owner);
    row.cell.bytes += chain_bytes(look, bcri_load(&cell->c.back_first), outside, area->owner);
    row.cell.credits = bcri_load(&cell->t.credits);
    row.cell.watermark = bcri_load(&cell->t.watermark);
    row.cell.requests = bcri_load(&cell->t.requests);
    row.cell.locker = locker != 0 && !bcri_epoch_past(epoch, bcri_load(&cell->h.taker_epoch)) ? locker : 0;
    row.cell.head_lock = bcri_load(&cell->h.lock);
    row.cell.tail_lock = bcri_load(&cell->t.lock);
    row.cell.puts = epoch;
    look_say(look, &row);
}

/* Copies an area's header, whose owner may be taking it away. False: it makes no sense. */
static bool copy_area(struct look *look, bcri_ref ref, struct bcri_area_shm *copy_out)
{
    const struct bcri_area_shm *area = look_at(&look->memory, ref, sizeof *area);
    if (area == NULL || bcri_load_acquire(&area->gen) == 0)
        return false;
    *copy_out = *area;
    const uint64_t cells =
        (uint64_t)copy_out->kinds[0] + copy_out->kinds[1] + copy_out->kinds[2] + copy_out->kinds[3];
    return copy_out->ring_log2 < 32 && 1u << copy_out->ring_log2 <= BCRI_RING_MAX && cells <= UINT32_MAX &&
           (uint64_t)copy_out->base + cells <= UINT32_MAX;
}

uint64_t look_at_areas(struct look *look, uint32_t index, const struct bcri_record_shm *record)
{
    uint64_t limit = 0, before = 0;
    bool first = true;
    struct bcri_area_shm area;
    for (bcri_ref ref = bcri_load_acquire(&record->id.first_area); ref != BCRI_REF_NONE && look_step(look);
         ref = bcri_load(&area.next)) {
        if (!copy_area(look, ref, &area) || area.owner != index || (!first && area.base <= before))
            break;
        struct look_row row = {.kind = LOOK_KIND_AREA};
        row.area.owner = index;
        row.area.base = area.base;
        row.area.cells = bcri_area_cells(&area);
        row.area.regions = area.nrgns;
        row.area.bytes = area.nbytes;
        row.area.pool = bcri_load(&area.pool);
        row.area.putters = bcri_load(&area.waitputs);
        look_say(look, &row);
        limit += area.nbytes;
        for (uint32_t i = 0; i < row.area.cells && look_step(look); i++)
            look_at_cell(look, &area, i);
        before = area.base;
        first = false;
    }
    return limit;
}

bool look_name_cell(struct look *look, bcri_ref ref, uint64_t *owner_out, uint64_t *number_out)
{
    struct bcri_area_shm area;
    const struct bcri_cell_shm *cell = look_at(&look->memory, ref, sizeof *cell);
    if (cell == NULL || !copy_area(look, bcri_load(&cell->i.area), &area))
        return false;
    const uint64_t offset = bcri_ref_offset(ref) - bcri_ref_offset(area.cells);
    const uint64_t nth =
        offset / BCRI_PAGE_BYTES * BCRI_CELLS_PER_PAGE + offset % BCRI_PAGE_BYTES / BCRI_HEADER_BYTES;
    *owner_out = area.owner;
    *number_out = area.base + nth;
    return bcri_ref_seg(ref) == bcri_ref_seg(area.cells) && ref >= area.cells && nth < bcri_area_cells(&area);
}

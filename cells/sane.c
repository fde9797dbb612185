/* SPDX-License-Identifier: MIT */
/* See sane.h. */
#include "bcri/sane.h"
#include "bcri/cell.h"
#include "bcri/place.h"
#include "bcri/region.h"
#include "bcri/slot.h"

static bool damaged(struct bcri_ctx *ctx)
{
    ctx->damaged = true;
    return false;
}

struct bcri_area_shm *bcri_area_look(struct bcri_ctx *ctx, bcri_ref ref, uint32_t *gen_out)
{
    if (!bcri_at_has(ctx, ref, sizeof(struct bcri_area_shm)))
        return NULL;
    struct bcri_area_shm *area = bcri_at(ctx, ref);
    const bool before = ctx->damaged;
    uint32_t gen = bcri_load_acquire(&area->gen);
    if (gen == 0)
        return NULL;
    uint64_t cells = (uint64_t)area->kinds[0] + area->kinds[1] + area->kinds[2] + area->kinds[3];
    bool sane = area->ring_log2 < 32 && 1u << area->ring_log2 >= BCRI_RING_MIN &&
                1u << area->ring_log2 <= BCRI_RING_MAX && cells <= UINT32_MAX &&
                area->owner < bcri_host_records(ctx->host);
    if (!sane ||
        (cells != 0 &&
         (!bcri_at_has(ctx, area->cells,
                       (bcri_area_cell(area, (uint32_t)cells - 1) - area->cells) * BCRI_REF_UNIT +
                           sizeof(struct bcri_cell_shm)) ||
          !bcri_at_has(ctx, area->rings, cells * sizeof(uint64_t) << area->ring_log2))) ||
        (area->node_count != 0 &&
         !bcri_at_has(ctx, area->nodes, (uint64_t)area->node_count * BCRI_REF_UNIT))) {
        ctx->damaged = before;
        bcri_area_damaged(ctx, area, gen);
        return NULL;
    }
    *gen_out = gen;
    return area;
}

void bcri_area_damaged(struct bcri_ctx *ctx, const struct bcri_area_shm *area, uint32_t gen)
{
    atomic_thread_fence(memory_order_acquire);
    if (bcri_load(&area->gen) == gen)
        damaged(ctx);
}

struct bcri_area_shm *bcri_area_at(struct bcri_ctx *ctx, bcri_ref ref)
{
    uint32_t gen;
    struct bcri_area_shm *area = bcri_area_look(ctx, ref, &gen);
    if (area == NULL && (area = bcri_at(ctx, ref)) != NULL) {
        bcri_area_damaged(ctx, area, 0);
        area = NULL;
    }
    return area;
}

struct bcri_area_shm *bcri_area_next(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_area_shm *before)
{
    struct bcri_area_shm *area = bcri_area_at(ctx, ref);
    if (area != NULL && before != NULL && area->base <= before->base) {
        damaged(ctx);
        area = NULL;
    }
    return area;
}

/* Whether `ref` may name `bytes` of something, or nothing. Maps nothing: who follows it does. */
static bool may_be(const struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes)
{
    uint32_t seg = bcri_ref_seg(ref);
    return ref == BCRI_REF_NONE ||
           (ref >> BCRI_REF_BITS == 0 && seg != BCRI_HOST_SEG && seg < bcri_host_segments(ctx->host) &&
            bcri_ref_offset(ref) + bytes <= ctx->host->segments[seg].size_bytes);
}

static bool both_or_none(bcri_ref first, bcri_ref last)
{
    return (first == BCRI_REF_NONE) == (last == BCRI_REF_NONE);
}

static bool counters_sane(const struct bcri_ctx *ctx, const struct bcri_place *place)
{
    const struct bcri_cell_shm *cell = place->cell;
    uint64_t head = bcri_load(&cell->h.head), tail = bcri_load(&cell->t.tail);
    uint64_t state = bcri_load(&cell->h.state);
    const uint32_t flags = BCRI_CELL_SLOW | BCRI_CELL_OWNERDEAD | BCRI_CELL_ARMED | BCRI_CELL_CLOSED |
                           BCRI_CELL_HIGH | BCRI_CELL_LOW;
    if (state != bcri_load(&cell->t.state) || ((uint32_t)state & ~flags) != 0)
        return false;
    if (tail > head ? tail - head > bcri_ring_entries(place) : head - tail > BCRI_TICKETS)
        return false;
    for (uint64_t t = tail; t < head; t++) {
        uint64_t waiter = bcri_load(&cell->h.waiter[t % BCRI_TICKETS]);
        bcri_ref slot = waiter & BCRI_REF_MASK;
        if (slot == BCRI_REF_NONE || waiter >> BCRI_REF_BITS != (t & 0xffffu) ||
            !may_be(ctx, slot, sizeof(struct bcri_slot_shm)))
            return false;
    }
    return true;
}

bool bcri_cell_sane(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    const struct bcri_cold_shm *c = &place->cell->c;
    bcri_ref first = bcri_load(&c->first), front = bcri_load(&c->front);
    bcri_ref back_first = bcri_load(&c->back_first), back_last = bcri_load(&c->back_last);
    bcri_ref list_first = bcri_load(&c->list_first), list_last = bcri_load(&c->list_last);
    bool outside = (first | front | back_first) != BCRI_REF_NONE;
    if (!counters_sane(ctx, place) || outside != (bcri_load(&c->extra) != 0) ||
        !both_or_none(back_first, back_last) || !both_or_none(list_first, list_last) ||
        !may_be(ctx, first, sizeof(struct bcri_region_shm)) ||
        !may_be(ctx, front, sizeof(struct bcri_node_shm)) ||
        !may_be(ctx, back_first, sizeof(struct bcri_node_shm)) ||
        !may_be(ctx, back_last, sizeof(struct bcri_node_shm)) ||
        !may_be(ctx, list_first, sizeof(struct bcri_slot_shm)) ||
        !may_be(ctx, list_last, sizeof(struct bcri_slot_shm)))
        return damaged(ctx);
    return true;
}

bool bcri_cell_open(const struct bcri_place *place)
{
    uint64_t head = bcri_load_acquire(&place->cell->h.state);
    uint64_t tail = bcri_load_acquire(&place->cell->t.state);
    return head >> 32 == place->open >> 32 && tail >> 32 == place->open >> 32 &&
           ((head | tail) & BCRI_CELL_CLOSED) == 0;
}

bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_place *place, const struct bcri_slot_shm *slot)
{
    uint32_t version;
    if (!bcri_version_settled(ctx, place->record, place->owner, &version))
        return false;
    bool open = bcri_cell_open(place);
    enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&slot->word));
    /* Last: a cell that enl has closed is one of a CCE that was called DYING before. */
    bool alive = bcri_load_acquire(&place->record->id.state) == BCRI_CCE_ALIVE;
    atomic_thread_fence(memory_order_acquire);
    if (!alive || open || (state != BCRI_SLOT_TICKET && state != BCRI_SLOT_LISTED) ||
        bcri_load(&place->record->id.version) != version)
        return false;
    return !damaged(ctx);
}

bool bcri_region_sane(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_region_shm *region)
{
    uint64_t end = (uint64_t)region->data_16 * 16 + region->length;
    if (end > ctx->map[bcri_ref_seg(ref)].units * BCRI_REF_UNIT)
        return damaged(ctx);
    return true;
}

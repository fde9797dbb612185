/* SPDX-License-Identifier: MIT */
/* See validate.h. */
#include "bcri/validate.h"

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/host.h"
#include "bcri/look_again.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "bcri/slot.h"

/* Whether `bytes` bytes lie at `ref`: 0; bcrE_NOMEM: they cannot be mapped; bcrE_INTERNAL: they do
 * not lie there. */
static int reach(struct bcri_ctx *ctx, bcri_ref ref, uint64_t bytes)
{
    if (bcri_at_has(ctx, ref, bytes))
        return 0;
    return bcri_at_mapped(ctx, ref) == NULL && !bcri_leads_nowhere(ctx, ref) ? bcrE_NOMEM : bcrE_INTERNAL;
}

static int reach_all(struct bcri_ctx *ctx, const struct bcri_area_shm *area)
{
    const uint64_t cells = (uint64_t)area->kinds[0] + area->kinds[1] + area->kinds[2] + area->kinds[3];
    if (area->ring_log2 >= 32 || 1u << area->ring_log2 < BCRI_RING_MIN ||
        1u << area->ring_log2 > BCRI_RING_MAX || cells > UINT32_MAX ||
        area->owner >= bcri_host_records(ctx->host))
        return bcrE_INTERNAL;
    int error = 0;
    if (cells != 0) {
        const bcri_ref last = bcri_area_cell(area, (uint32_t)cells - 1);
        error = reach(ctx, area->cells, (last - area->cells) * BCRI_REF_UNIT + sizeof(struct bcri_cell_shm));
        if (error == 0)
            error = reach(ctx, area->rings, cells * sizeof(uint64_t) << area->ring_log2);
    }
    if (error == 0 && area->node_count != 0)
        error = reach(ctx, area->nodes, (uint64_t)area->node_count * BCRI_REF_UNIT);
    return error;
}

int bcri_area_look(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_area_shm **area_out, uint32_t *gen_out)
{
    int error = reach(ctx, ref, sizeof(struct bcri_area_shm));
    if (error != 0)
        return error;
    struct bcri_area_shm *area = bcri_at_mapped(ctx, ref);
    const uint32_t gen = bcri_load_acquire(&area->gen);
    error = gen != 0 ? reach_all(ctx, area) : bcrE_NOCELL;
    if (error != 0) {
        atomic_thread_fence(memory_order_acquire);
        return bcri_load(&area->gen) == gen ? error : bcrE_NOCELL;
    }
    *area_out = area;
    *gen_out = gen;
    return 0;
}

int bcri_area_next(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_area_shm *before,
                   struct bcri_area_shm **area_out)
{
    uint32_t gen;
    const int error = bcri_area_look(ctx, ref, area_out, &gen);
    if (error != 0)
        return error == bcrE_NOMEM ? bcrE_NOMEM : bcrE_INTERNAL;
    return before == NULL || (*area_out)->base > before->base ? 0 : bcrE_INTERNAL;
}

struct bcri_area_shm *bcri_area_next_own(struct bcri_ctx *ctx, bcri_ref ref,
                                         const struct bcri_area_shm *before)
{
    struct bcri_area_shm *area;
    const int error = bcri_area_next(ctx, ref, before, &area);
    if (error == bcrE_INTERNAL)
        bcri_corrupt(ctx, "an owner's list of areas", ref);
    return error == 0 ? area : NULL;
}

/* Whether `ref` may name `bytes` of something, or nothing. It maps nothing: the code that follows
 * the reference does. */
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

static bool counters_valid(const struct bcri_ctx *ctx, const struct bcri_resolved *resolved)
{
    const struct bcri_cell_shm *cell = resolved->cell;
    uint64_t head = bcri_load(&cell->h.head), tail = bcri_load(&cell->t.tail);
    uint64_t state = bcri_load(&cell->h.state);
    const uint32_t flags = BCRI_CELL_SLOW | BCRI_CELL_OWNERDEAD | BCRI_CELL_ARMED | BCRI_CELL_CLOSED |
                           BCRI_CELL_HIGH | BCRI_CELL_LOW | BCRI_CELL_WAKES;
    if (state != bcri_load(&cell->t.state) || ((uint32_t)state & ~flags) != 0)
        return false;
    if (tail > head ? tail - head > bcri_ring_entries(resolved) : head - tail > BCRI_TICKETS)
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

static bool is_cell_valid(const struct bcri_ctx *enl, const struct bcri_resolved *resolved)
{
    const struct bcri_cold_shm *c = &resolved->cell->c;
    const bcri_ref first = bcri_load(&c->first), front = bcri_load(&c->front);
    const bcri_ref back_first = bcri_load(&c->back_first), back_last = bcri_load(&c->back_last);
    const bcri_ref list_first = bcri_load(&c->list_first), list_last = bcri_load(&c->list_last);
    const bool outside = (first | front | back_first) != BCRI_REF_NONE;
    return counters_valid(enl, resolved) && outside == (bcri_load(&c->extra) != 0) &&
           both_or_none(back_first, back_last) && both_or_none(list_first, list_last) &&
           may_be(enl, first, sizeof(struct bcri_region_shm)) &&
           may_be(enl, front, sizeof(struct bcri_node_shm)) &&
           may_be(enl, back_first, sizeof(struct bcri_node_shm)) &&
           may_be(enl, back_last, sizeof(struct bcri_node_shm)) &&
           may_be(enl, list_first, sizeof(struct bcri_slot_shm)) &&
           may_be(enl, list_last, sizeof(struct bcri_slot_shm));
}

bool bcri_cell_validate(struct bcri_ctx *enl, struct bcri_resolved *resolved)
{
    if (bcri_likely(is_cell_valid(enl, resolved)))
        return true;
    bcri_cell_condemn(enl, resolved);
    return false;
}

/* ---- Condemning ---- */

struct condemned {
    const struct bcri_resolved *resolved;
    bool told; /* the CCE at hand */
};

/* Ends a request at the condemned cell. It is found by a walk over the IDs, since the cell's lists
 * may be the corrupt part. With both locks held no other CCE answers it. A ticket that is served
 * already stays for its CCE to collect. */
static void end_request(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct condemned *const condemned = arg;
    const struct bcri_resolved *const resolved = condemned->resolved;
    const uint64_t word = bcri_load(&slot->word), ticket = bcri_load(&slot->key);
    (void)ref;
    const bool listed = word == bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref);
    const bool waits = bcri_slot_state(word) == BCRI_SLOT_TICKET && bcri_load(&slot->cell) == resolved->ref &&
                       !bcri_entry_is(bcri_load(bcri_ring_at(resolved, ticket)), ticket, resolved->ring_log2);
    if (!listed && !waits)
        return;
    bcri_store(&slot->given, bcrE_INTERNAL);
    bcri_store_release(&slot->word, bcri_slot_word(BCRI_SLOT_FAILED, 0, BCRI_REF_NONE));
    condemned->told = true;
}

/* No journal: when the daemon dies the program ends. */
void bcri_cell_condemn(struct bcri_ctx *enl, struct bcri_resolved *resolved)
{
    struct bcri_cell_shm *const cell = resolved->cell;
    const uint64_t state = resolved->open | BCRI_CELL_CLOSED | BCRI_CELL_CORRUPT;
    bcri_corrupt(enl, "a cell", resolved->ref);
    bcri_store(&cell->c.list_first, BCRI_REF_NONE);
    bcri_store(&cell->c.list_last, BCRI_REF_NONE);
    bcri_store_release(&cell->h.state, state);
    bcri_store_release(&cell->t.state, state);
    const uint32_t records = bcri_host_records(enl->host);
    for (uint32_t index = 0; index < records; index++) {
        struct bcri_record_shm *record = bcri_record(enl, index);
        struct condemned condemned = {.resolved = resolved};
        if (record == NULL || bcri_load_acquire(&record->id.state) != BCRI_CCE_ALIVE)
            continue; /* their repair ends the requests of ended CCEs */
        bcri_slot_each(enl, index, end_request, &condemned);
        if (condemned.told)
            bcri_bell_ring(enl, record);
    }
    bcri_look_again(enl, resolved->ref);
    bcri_bell_ring(enl, enl->record);
}

bool bcri_cell_open(const struct bcri_resolved *resolved)
{
    uint64_t head = bcri_load_acquire(&resolved->cell->h.state);
    uint64_t tail = bcri_load_acquire(&resolved->cell->t.state);
    return head >> 32 == resolved->open >> 32 && tail >> 32 == resolved->open >> 32 &&
           ((head | tail) & BCRI_CELL_CLOSED) == 0;
}

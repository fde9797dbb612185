/* SPDX-License-Identifier: MIT */
/* What ended CCEs leave: reclaim.h.
 *
 *   added   --all its memory is gone-->          retired
 *   retired --its turn-->                        in grace
 *   grace   --every CCE was seen outside-->      free --> taken
 *
 * Retired CCEs leave in groups, one grace period for each group. When a group begins, the daemon
 * notes the CCEs that are inside an operation, and looks at them until it has seen each outside
 * once; a CCE that is retired meanwhile waits for the next group. Source: P. E. McKenney, J. D.
 * Slingwine, "Read-Copy Update: Using Execution History to Solve Concurrency Problems", 1998. */
#include "bcri/reclaim.h"

#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/heap.h"
#include "bcri/lock.h"
#include "bcri/private.h"
#include "bcri/region.h"
#include "bcri/segment.h"
#include "bcri/validate.h"

struct left_segment {
    uint32_t seg;
    enum bcri_seg_kind kind;
    bool told; /* `awaited` is set: no need to look before it is reached */
    bool gone;
};

/* What one CCE left. */
struct left {
    struct left *next;
    uint32_t index;
    bool cells_gone;
    uint32_t count, room;
    struct left_segment segment[];
};

struct bcri_reclaim {
    struct bcri_host *host;
    struct bcri_ctx *enl;
    struct left *added, *retired, *grace, *free;
    uint32_t *inside; /* CCEs not seen outside since the group in grace began */
    size_t inside_count, inside_room;
};

struct bcri_reclaim *bcri_reclaim_init(struct bcri_host *host)
{
    struct bcri_reclaim *reclaim = bcri_private_zeroed(1, sizeof *reclaim);
    if (reclaim != NULL) {
        reclaim->host = host;
        reclaim->enl = bcri_host_ctx(host);
    }
    return reclaim;
}

static void free_list(struct left *left)
{
    while (left != NULL) {
        struct left *next = left->next;
        bcri_private_free(left);
        left = next;
    }
}

void bcri_reclaim_fini(struct bcri_reclaim *reclaim)
{
    if (reclaim == NULL)
        return;
    free_list(reclaim->added);
    free_list(reclaim->retired);
    free_list(reclaim->grace);
    free_list(reclaim->free);
    bcri_private_free(reclaim->inside);
    bcri_private_free(reclaim);
}

static void count_left(void *arg, uint32_t seg, enum bcri_seg_kind kind)
{
    (void)seg;
    *(uint32_t *)arg += kind >= BCRI_SEG_CELLS;
}
static void add_left(void *arg, uint32_t seg, enum bcri_seg_kind kind)
{
    struct left *left = arg;
    if (kind >= BCRI_SEG_CELLS && left->count < left->room)
        left->segment[left->count++] = (struct left_segment){.seg = seg, .kind = kind};
}

bool bcri_reclaim_add(struct bcri_reclaim *reclaim, uint32_t index)
{
    uint32_t count = 0;
    if (bcri_record(reclaim->enl, index) == NULL)
        return false; /* see bcri_cce_repair */
    bcri_host_segments_of(reclaim->host, index, count_left, &count);
    struct left *left = bcri_private_zeroed(1, sizeof *left + count * sizeof left->segment[0]);
    if (left == NULL)
        return false;
    left->index = index;
    left->room = count;
    bcri_host_segments_of(reclaim->host, index, add_left, left);
    left->next = reclaim->added;
    reclaim->added = left;
    /* From here on either the CCE that frees one of these blocks counts that, or the walk over the
     * heap sees the count 0: heap.h. */
    for (uint32_t i = 0; i < left->count; i++)
        if (left->segment[i].kind == BCRI_SEG_HEAP)
            bcri_heap_end(reclaim->enl, left->segment[i].seg);
    bcri_fence_everybody(reclaim->enl);
    return true;
}

/* True if nothing is held in the segment. Else the CCE that frees the last block will tell. */
static bool is_empty(struct bcri_reclaim *reclaim, struct left_segment *left)
{
    struct bcri_segment_shm *entry = &reclaim->enl->host->segments[left->seg];
    for (;;) {
        uint64_t frees = atomic_load_explicit(&entry->frees, memory_order_seq_cst);
        uint64_t held = bcri_heap_held(reclaim->enl, left->seg);
        if (held == 0)
            return true;
        atomic_store_explicit(&entry->awaited, (uint32_t)(frees + held), memory_order_seq_cst);
        left->told = true;
        if (atomic_load_explicit(&entry->frees, memory_order_seq_cst) - frees < held)
            return false;
    }
}

/* Whether as many blocks were freed as the daemon waits for. */
static bool is_due(const struct bcri_reclaim *reclaim, const struct left_segment *left)
{
    const struct bcri_segment_shm *entry = &reclaim->enl->host->segments[left->seg];
    uint32_t frees = (uint32_t)atomic_load_explicit(&entry->frees, memory_order_seq_cst);
    return !left->told || (int32_t)(frees - bcri_load(&entry->awaited)) >= 0;
}

static void drop_segment(struct bcri_reclaim *reclaim, struct left_segment *left)
{
    /* Without the fence that a grace period needs, no number is given out again, and nothing is
     * kept for it. */
    bcri_host_segment_drop(reclaim->host, left->seg, !reclaim->enl->full_fence);
    left->gone = true;
}

static void drop_kind(struct bcri_reclaim *reclaim, struct left *left, enum bcri_seg_kind kind)
{
    for (uint32_t i = 0; i < left->count; i++)
        if (left->segment[i].kind == kind && !left->segment[i].gone)
            drop_segment(reclaim, &left->segment[i]);
}

static void look_at_heaps(struct bcri_reclaim *reclaim, struct left *left)
{
    for (uint32_t i = 0; i < left->count; i++) {
        struct left_segment *segment = &left->segment[i];
        if (segment->kind == BCRI_SEG_HEAP && !segment->gone && is_due(reclaim, segment) &&
            is_empty(reclaim, segment))
            drop_segment(reclaim, segment);
    }
}

static bool has_uncollected(struct bcri_ctx *enl, const struct bcri_area_shm *area)
{
    for (uint32_t i = 0; i < bcri_area_cells(area); i++) {
        const struct bcri_cell_shm *cell = bcri_at(enl, bcri_area_cell(area, i));
        for (uint32_t k = 0; cell != NULL && k < BCRI_TICKETS; k++)
            if (bcri_load_acquire(&cell->h.waiter[k]) != 0)
                return true;
    }
    return false;
}

/* Frees the pages of cells once no ticket is uncollected. The cells are closed; the region of a
 * ticket that was served before that is in its entry until its CCE has read it. */
static void look_at_cells(struct bcri_reclaim *reclaim, struct left *left)
{
    struct bcri_ctx *enl = reclaim->enl;
    struct bcri_record_shm *record = bcri_record(enl, left->index);
    if (left->cells_gone || !bcri_host_has_pages(reclaim->host, left->index)) {
        left->cells_gone = true;
        return;
    }
    /* Area 0 and its cell lie in the record itself. `first_area` says so too, but may be corrupt. */
    struct bcri_area_shm *const first = bcri_cell0_area(record);
    const bcri_ref list = bcri_load(&first->next);
    const struct bcri_area_shm *before = NULL;
    for (bcri_ref ref = list; ref != BCRI_REF_NONE;) {
        struct bcri_area_shm *area = bcri_area_next_own(enl, ref, before);
        if (area == NULL || has_uncollected(enl, area))
            return;
        before = area;
        ref = bcri_load(&area->next);
    }
    bcri_store_release(&first->next, BCRI_REF_NONE);
    /* The nodes that cell 0 needed beyond its ring go with the rest. */
    bcri_store(&first->node_free, BCRI_REF_NONE);
    /* A CCE that is looking through the list starts anew. */
    atomic_fetch_add_explicit(&record->id.version, 2, memory_order_seq_cst);
    for (bcri_ref ref = list; ref != BCRI_REF_NONE;) {
        struct bcri_area_shm *area = bcri_map_or_dummy(enl, ref);
        ref = bcri_load(&area->next);
        bcri_store_release(&area->gen, 0); /* before its memory goes: cell.h */
    }
    bcri_host_pages_discard(reclaim->host, left->index);
    left->cells_gone = true;
}

static void look_at_slots(struct bcri_reclaim *reclaim, struct left *left)
{
    struct bcri_record_shm *record = bcri_record(reclaim->enl, left->index);
    for (size_t i = 0; i < sizeof record->slot_chunk / sizeof record->slot_chunk[0]; i++)
        bcri_store(&record->slot_chunk[i], BCRI_REF_NONE);
    drop_kind(reclaim, left, BCRI_SEG_SLOTS);
    drop_kind(reclaim, left, BCRI_SEG_OUTBOX);
}

static bool all_gone(const struct left *left)
{
    if (!left->cells_gone)
        return false;
    for (uint32_t i = 0; i < left->count; i++)
        if (!left->segment[i].gone)
            return false;
    return true;
}

static void look_at_added(struct bcri_reclaim *reclaim)
{
    for (struct left **at = &reclaim->added; *at != NULL;) {
        struct left *left = *at;
        look_at_slots(reclaim, left);
        look_at_heaps(reclaim, left);
        look_at_cells(reclaim, left);
        if (!all_gone(left)) {
            at = &left->next;
            continue;
        }
        *at = left->next;
        left->next = reclaim->retired;
        reclaim->retired = left;
    }
}

/* Model: again.pml */
static bool is_inside(struct bcri_ctx *enl, uint32_t index)
{
    const struct bcri_record_shm *record = bcri_record(enl, index);
    return record != NULL && (bcri_load_acquire(&record->journal.op) != 0 ||
                              bcri_load_acquire(&record->journal.cw_state) != BCRI_CW_IDLE);
}

/* False: no memory to remember which CCEs are inside.
 * Model: again.pml */
static bool begin_grace(struct bcri_reclaim *reclaim)
{
    uint32_t records = bcri_host_records(reclaim->enl->host);
    /* A CCE that began an operation before this fence has its journal open where the daemon sees
     * it; a CCE that begins later sees what is gone. */
    if (!bcri_fence_everybody(reclaim->enl))
        return false;
    reclaim->inside_count = 0;
    for (uint32_t index = 0; index < records; index++) {
        if (!is_inside(reclaim->enl, index))
            continue;
        if (reclaim->inside_count == reclaim->inside_room) {
            size_t room = reclaim->inside_room != 0 ? 2 * reclaim->inside_room : 64;
            uint32_t *list = bcri_private_resize(reclaim->inside, room * sizeof *list);
            if (list == NULL)
                return false;
            reclaim->inside = list;
            reclaim->inside_room = room;
        }
        reclaim->inside[reclaim->inside_count++] = index;
    }
    reclaim->grace = reclaim->retired;
    reclaim->retired = NULL;
    return true;
}

static bool nobody_inside(struct bcri_reclaim *reclaim)
{
    for (size_t i = 0; i < reclaim->inside_count;)
        if (is_inside(reclaim->enl, reclaim->inside[i]))
            i++;
        else
            reclaim->inside[i] = reclaim->inside[--reclaim->inside_count];
    return reclaim->inside_count == 0;
}

/* Model: again.pml */
static void let_part(struct bcri_reclaim *reclaim)
{
    while (reclaim->grace != NULL) {
        struct left *left = reclaim->grace;
        reclaim->grace = left->next;
        for (uint32_t i = 0; i < left->count; i++) {
            bcri_segment_unmap(reclaim->enl, left->segment[i].seg);
            bcri_host_segment_reuse(reclaim->host, left->segment[i].seg);
        }
        bcri_host_pages_reuse(reclaim->host, left->index);
        left->next = reclaim->free;
        reclaim->free = left;
    }
}

void bcri_reclaim_look(struct bcri_reclaim *reclaim)
{
    bcri_heap_collect(reclaim->enl); /* the daemon's own regions */
    look_at_added(reclaim);
    while (reclaim->grace != NULL || reclaim->retired != NULL) {
        if (reclaim->grace == NULL && !begin_grace(reclaim))
            return;
        if (!nobody_inside(reclaim))
            return;
        let_part(reclaim);
    }
}

bool bcri_reclaim_take(struct bcri_reclaim *reclaim, uint32_t *index_out)
{
    struct left *left = reclaim->free;
    if (left == NULL)
        return false;
    reclaim->free = left->next;
    *index_out = left->index;
    bcri_private_free(left);
    return true;
}

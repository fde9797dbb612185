/* SPDX-License-Identifier: MIT */
/* Finding cells: from (CCE, number) to where the cell lies in this process.
 *
 * The owner's areas form a list that begins in its record; `version` is odd while the owner changes
 * the list. A private table keeps what was found and trusts it while the version is the same: one
 * load of a line that hardly ever changes. A resolved cell may still be out of date by the time its
 * cell is locked; then the cell's generation, compared under the lock, decides. What was a header
 * once is never anything but a header of the same kind, so the comparison is harmless. */
#include "bcri/lookup.h"

#include <sched.h>
#include <string.h>

#include "bcr/error.h"
#include "bcri/access.h"
#include "bcri/cces.h"
#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/lock.h"
#include "bcri/private.h"
#include "bcri/validate.h"

/* The CCE whose list of areas is looked at. */
struct list_of {
    struct bcri_record_shm *record;
    uint32_t index;
};

/* The version is read after the state: from DYING on no CCE changes the list, and an odd version
 * stays odd until the repair ends. */
static bool is_stable(const struct list_of *list, uint32_t *version_out)
{
    uint32_t state = bcri_load_acquire(&list->record->id.state);
    *version_out = bcri_load_acquire(&list->record->id.version);
    return (*version_out & 1u) == 0 || state == BCRI_CCE_DYING || state == BCRI_CCE_DEAD;
}

static uint32_t holder_of_list(const void *list)
{
    uint32_t version;
    return is_stable(list, &version) ? 0 : BCRI_TAG(((const struct list_of *)list)->index);
}

static int look_at_version(void *arg)
{
    struct bcri_holder_wait *const wait = arg;
    return is_stable(wait->what, &wait->found) ? BCRI_HOLDER_GONE : bcri_holder_seen(wait);
}

/* False: time is up and the owner is stopped while it changes the list; or the daemon is parked. */
static bool version_stable_until(struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t index,
                                 uint64_t deadline_ns, uint32_t *version_out)
{
    struct list_of list = {.record = record, .index = index};
    if (is_stable(&list, version_out) || index == ctx->index)
        return true;
    /* This wait is in no operation, so the record may be given out again meanwhile; its state says
     * nothing. */
    struct bcri_holder_wait wait = {
        .ctx = ctx, .what = &list, .holder = holder_of_list, .deadline_ns = deadline_ns, .checked = true};
    if (!bcri_wait_for_holder(&wait, look_at_version))
        return false;
    *version_out = wait.found;
    return true;
}

bool bcri_version_stable(struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t index,
                         uint32_t *version_out)
{
    return version_stable_until(ctx, record, index, BCRI_DEADLINE_NEVER, version_out);
}

/* 0; bcrE_NOCELL, bcrE_NOMEM, bcrE_INTERNAL as bcri_area_look. */
static int fill_resolved(struct bcri_ctx *ctx, bcri_ref area_ref, bcri_ref cell_ref,
                         struct bcri_resolved *resolved)
{
    uint32_t gen;
    struct bcri_area_shm *area;
    struct bcri_cell_shm *cell = bcri_at_stale(ctx, cell_ref);
    const int error = bcri_area_look(ctx, area_ref, &area, &gen);
    if (error != 0 || cell == NULL)
        return error != 0 ? error : bcrE_NOMEM;
    resolved->record = bcri_record(ctx, area->owner);
    if (resolved->record == NULL)
        return bcrE_NOMEM;
    const uint64_t offset = bcri_ref_offset(cell_ref) - bcri_ref_offset(area->cells);
    uint32_t nth = (uint32_t)(offset / BCRI_PAGE_BYTES * BCRI_CELLS_PER_PAGE +
                              offset % BCRI_PAGE_BYTES / BCRI_HEADER_BYTES);
    if (bcri_load(&cell->i.area) != area_ref)
        return bcrE_NOCELL; /* both may be other cells' by now */
    const bool fits = nth < bcri_area_cells(area) && bcri_area_cell(area, nth) == cell_ref;
    resolved->ring_ref = bcri_area_ring(area, nth);
    resolved->ring = bcri_at_stale(ctx, resolved->ring_ref);
    atomic_thread_fence(memory_order_acquire);
    if (bcri_load(&area->gen) != gen)
        return bcrE_NOCELL;
    if (!fits || resolved->ring == NULL)
        return fits ? bcrE_NOMEM : bcrE_INTERNAL;
    resolved->cell = cell;
    resolved->area = area;
    resolved->ref = cell_ref;
    resolved->area_ref = area_ref;
    resolved->open = resolved->open_head = (uint64_t)gen << 32;
    resolved->ring_log2 = (uint8_t)area->ring_log2;
    resolved->ring_mask = (uint32_t)((sizeof(uint64_t) << area->ring_log2) - sizeof(uint64_t));
    resolved->owner = area->owner;
    resolved->own = area->owner == ctx->index;
    resolved->number = (int)(area->base + nth);
    uint32_t kind = 0;
    while (kind < BCRI_CELL_INOUT && nth >= area->kinds[kind])
        nth -= area->kinds[kind++];
    resolved->kind = (enum bcri_cell_kind)kind;
    atomic_thread_fence(memory_order_acquire);
    return bcri_load(&area->gen) == gen ? 0 : bcrE_NOCELL;
}

int bcri_resolved_look(struct bcri_ctx *ctx, bcri_ref cell_ref, struct bcri_resolved *resolved)
{
    struct bcri_cell_shm *cell = bcri_at_stale(ctx, cell_ref);
    if (cell == NULL)
        return bcri_leads_nowhere(ctx, cell_ref) ? bcrE_INTERNAL : bcrE_NOMEM;
    bcri_ref area_ref = bcri_load(&cell->i.area);
    return area_ref != BCRI_REF_NONE ? fill_resolved(ctx, area_ref, cell_ref, resolved) : bcrE_NOCELL;
}

int bcri_resolved_at(struct bcri_ctx *ctx, bcri_ref cell_ref, struct bcri_resolved *resolved)
{
    const int error = bcri_resolved_look(ctx, cell_ref, resolved);
    if (bcri_unlikely(error == bcrE_INTERNAL))
        bcri_corrupt(ctx, "a cell, or its area", cell_ref);
    return error;
}

/* Looks through the owner's list, which may change meanwhile. All memory that is read here holds
 * headers for ever, and the caller compares the version again afterwards. bcrE_INTERNAL: the list
 * is corrupt, unless it has changed. */
static int find_in_areas(struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t number,
                         struct bcri_resolved *resolved)
{
    const struct bcri_area_shm *before = NULL;
    for (bcri_ref ref = bcri_load_acquire(&record->id.first_area); ref != BCRI_REF_NONE;) {
        struct bcri_area_shm *area;
        const int next = bcri_area_next(ctx, ref, before, &area);
        if (next != 0)
            return next;
        before = area;
        uint32_t nth = number - area->base;
        if (nth < bcri_area_cells(area)) {
            int error = fill_resolved(ctx, ref, bcri_area_cell(area, nth), resolved);
            return error != bcrE_NOCELL ? error : bcrE_INTERNAL;
        }
        ref = bcri_load_acquire(&area->next);
    }
    return bcrE_NOCELL;
}

static int search_areas(struct bcri_ctx *ctx, const struct bcri_cce *cce, int number, uint64_t deadline_ns,
                        struct bcri_resolved *resolved)
{
    for (;;) {
        int error = bcri_cce_check(cce);
        if (error != 0)
            return error;
        uint32_t version;
        if (!version_stable_until(ctx, cce->record, cce->index, deadline_ns, &version))
            return bcrE_TIMEOUT;
        error = number >= 0 ? find_in_areas(ctx, cce->record, (uint32_t)number, resolved) : bcrE_NOCELL;
        bool open = error != 0 || bcri_cell_open(resolved);
        atomic_thread_fence(memory_order_acquire);
        if (bcri_load(&cce->record->id.version) != version)
            continue;
        resolved->version = version;
        if (error == 0 && open)
            return 0;
        /* A CCE that is ending has no cells either: which of the two is it? */
        int ended = bcri_cce_check(cce);
        if (ended != 0)
            return ended;
        /* A cell in the list of a living owner is open, or condemned. */
        if (error == bcrE_INTERNAL || (error == 0 && !bcri_cell_condemned(resolved)))
            bcri_corrupt_at(ctx, "an owner's list of areas, or a cell", &cce->record->id.first_area);
        return error == 0 ? bcrE_INTERNAL : error;
    }
}

/* Never equal to the version of a resolved cell. */
static const _Atomic uint32_t no_version = 1;

void bcri_resolved_forget(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    (void)ctx;
    resolved->version_at = &no_version;
    resolved->version = 0;
}

static struct bcri_cellmap *new_map(struct bcri_ctx *ctx, uint32_t log2)
{
    const size_t entries = (size_t)1 << log2;
    struct bcri_cellmap *map =
        bcri_private_aligned(sizeof *map + entries * sizeof(union bcri_resolved_entry));
    if (map == NULL)
        return NULL;
    memset(map, 0, sizeof *map + entries * sizeof(union bcri_resolved_entry));
    for (size_t i = 0; i < entries; i++)
        bcri_resolved_forget(ctx, &map->entry[i].resolved);
    return map;
}

/* Whether a lookup would find the same now. */
static bool is_known(const struct bcri_resolved *resolved)
{
    return resolved->version == bcri_load_acquire(resolved->version_at);
}

/* Doubles the table. Without memory it stays as it is. */
static void grow_map(struct bcri_ctx *ctx)
{
    struct bcri_cellmap *old = ctx->cells;
    const uint32_t log2 = 64 - ctx->cells_shift;
    struct bcri_cellmap *map = new_map(ctx, log2 + 1);
    old->driven_out = 0;
    if (map == NULL)
        return;
    ctx->cells = map;
    ctx->cells_shift--;
    ctx->put_resolved = ctx->get_resolved = NULL;
    for (size_t i = 0; i < (size_t)1 << log2; i++)
        if (is_known(&old->entry[i].resolved))
            *bcri_resolved_entry(ctx, old->entry[i].resolved.key) = old->entry[i].resolved;
    bcri_private_free(old);
}

/* The entry for a cell that is yet to be resolved. Two cells that share an entry drive each other
 * out, and each costs a search every time; so the table grows when that has happened often. */
static struct bcri_resolved *make_entry(struct bcri_ctx *ctx, uint64_t key)
{
    if (ctx->cells == NULL) {
        ctx->cells_shift = 64 - BCRI_RESOLVEDS_LOG2;
        ctx->cells = new_map(ctx, BCRI_RESOLVEDS_LOG2);
        if (ctx->cells == NULL)
            return NULL;
    }
    const struct bcri_resolved *before = bcri_resolved_entry(ctx, key);
    const size_t entries = (size_t)1 << (64 - ctx->cells_shift);
    if (before->key != key && is_known(before) && ++ctx->cells->driven_out > entries / 4 &&
        entries < (size_t)1 << BCRI_RESOLVEDS_LOG2_MOST)
        grow_map(ctx);
    return bcri_resolved_entry(ctx, key);
}

/* Of a CCE without a record here. */
static struct bcri_result why_not_here(const struct bcri_cce *cce)
{
    if (cce == NULL)
        return bcri_result(bcrE_NOCCE);
    return cce->elsewhere ? bcri_outcome(BCRI_ELSEWHERE) : bcri_result(cce->absent);
}

struct bcri_result bcri_resolved_find_slow(struct bcri_ctx *ctx, uint64_t key, int msec,
                                           struct bcri_resolved **resolved_out)
{
    const struct bcri_cce *cce = bcri_cce_lookup(ctx, bcri_key_cce(key));
    if (cce == NULL || cce->record == NULL) /* such a CCE drives no cell out of the table */
        return why_not_here(cce);
    struct bcri_resolved *resolved = make_entry(ctx, key);
    if (resolved == NULL)
        return bcri_result(bcrE_NOMEM);
    bcri_resolved_forget(ctx, resolved);
    int error = search_areas(ctx, cce, bcri_key_number(key), bcri_deadline_after(msec), resolved);
    if (error != 0)
        return bcri_result(error);
    resolved->cce = bcri_key_cce(key);
    resolved->key = key;
    resolved->version_at = &resolved->record->id.version;
    resolved->may_add = bcri_access(resolved, BCRI_USE_ADD);
    resolved->may_lock = bcri_access(resolved, BCRI_USE_LOCK);
    resolved->may_take = bcri_access(resolved, BCRI_USE_TAKE);
    *resolved_out = resolved;
    return bcri_outcome(BCRI_DONE);
}

struct bcri_elsewhere bcri_elsewhere(struct bcri_ctx *ctx, uint64_t key)
{
    struct bcri_elsewhere found = {.number = bcri_key_number(key)};
    const struct bcri_cce *cce = bcri_cce_lookup(ctx, bcri_key_cce(key));
    if (cce == NULL)
        return found; /* no search has said that it is elsewhere */
    memcpy(found.identity, cce->identity, sizeof found.identity);
    found.host = bcri_identity_host(found.identity);
    return found;
}

void bcri_resolved_fini(struct bcri_ctx *ctx)
{
    bcri_private_free(ctx->cells);
    ctx->cells = NULL;
    ctx->put_resolved = ctx->get_resolved = NULL;
}

/* SPDX-License-Identifier: MIT */
/* bcr_cagrow, bcr_cafree: areas. bcr.h is their manual. An area has numbers, cells, nodes, and
 * (through heap.h) memory for regions.
 *
 * An area has two runs of the daemon's pages: one of headers, its own and its cells', and one of
 * rings and nodes. cell.h says why. The daemon gives the next free pages to any CCE that asks.
 *
 * bcr_cagrow opens no journal; that of bcr_cafree says SLOW, for its locks and transactions. No
 * more is needed: when the owner dies the daemon closes all its cells, whatever the owner was doing
 * (closing.c). The list of areas is intact at every instruction, and an area that was not yet
 * linked in holds nothing. */
#include <bcr.h>
#include <errno.h>
#include <stdio.h>

#include <limits.h>
#include <stdbool.h>

#include "bcr/error.h"
#include "bcri/area_locks.h"
#include "bcri/both_locks.h"
#include "bcri/cell.h"
#include "bcri/failure.h"
#include "bcri/fd.h"
#include "bcri/get_service.h"
#include "bcri/heap.h"
#include "bcri/hooks.h"
#include "bcri/host.h"
#include "bcri/ids.h"
#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/put_service.h"
#include "bcri/queue.h"
#include "bcri/segment.h"
#include "bcri/self.h"
#include "bcri/tx.h"
#include "bcri/validate.h"
#include "bcri/wait_lists.h"
#include "bcri/wakes.h"

#define SPARE_NODES 16u
#define NO_HEAP     UINT32_MAX
#define CELLS_MAX   (1u << 26)

static uint32_t ring_log2(uint64_t nrgns, uint64_t cells)
{
    /* Twice a cell's share of the bound, so that a ring rarely wraps onto itself. */
    uint64_t want = cells != 0 ? 2 * nrgns / cells : 0;
    uint32_t log2 = 3;
    while ((1u << log2) < BCRI_RING_MAX && (UINT64_C(1) << log2) < want)
        log2++;
    return log2;
}

static_assert(BCRI_RING_MIN == 1u << 3, "ring_log2 begins there");

static uint32_t pages_of(uint64_t count, uint32_t per_page)
{
    return (uint32_t)((count + per_page - 1) / per_page);
}

static uint32_t numbers_of(const struct bcri_area_shm *area)
{
    uint32_t cells = bcri_area_cells(area);
    return cells != 0 ? cells : 1;
}

/* The highest free number, for an area without cells: nobody counts on it, and the low ones stay
 * free for cells. */
static int find_last(struct bcri_ctx *ctx, _Atomic uint64_t **link_out, uint32_t *base_out)
{
    _Atomic uint64_t *link = &ctx->record->id.first_area, *at = NULL;
    const struct bcri_area_shm *before = NULL;
    uint64_t end = 1;
    for (;;) {
        bcri_ref ref = bcri_load(link);
        struct bcri_area_shm *area = ref != 0 ? bcri_area_next_own(ctx, ref, before) : NULL;
        uint64_t next = area != NULL ? area->base : INT_MAX;
        if (end < next) {
            at = link;
            *base_out = (uint32_t)next - 1;
        }
        if (area == NULL)
            break;
        before = area;
        end = (uint64_t)area->base + numbers_of(area);
        link = &area->next;
    }
    *link_out = at;
    return at != NULL ? 0 : bcrE_NOMEM;
}

/* Finds where `count` numbers are free: at `wanted` if they are, else the lowest from 1; for an area
 * without cells (`count` 0) the highest. The list is sorted by base. */
static int find_numbers(struct bcri_ctx *ctx, uint32_t wanted, uint64_t count, _Atomic uint64_t **link_out,
                        uint32_t *base_out)
{
    if (count == 0 && wanted == 0)
        return find_last(ctx, link_out, base_out);
    count += count == 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0 && wanted == 0)
            continue; /* 0 is always taken */
        uint64_t base = pass == 0 ? wanted : 1;
        _Atomic uint64_t *link = &ctx->record->id.first_area;
        const struct bcri_area_shm *before = NULL;
        bool fits = true;
        for (bcri_ref ref; (ref = bcri_load(link)) != 0;) {
            struct bcri_area_shm *area = bcri_area_next_own(ctx, ref, before);
            before = area;
            uint64_t end = (uint64_t)area->base + numbers_of(area);
            if (base + count <= area->base)
                break;
            if (base < end) {
                if (pass == 0) {
                    fits = false;
                    break;
                }
                base = end;
            }
            link = &area->next;
        }
        if (fits && base + count <= (uint64_t)INT_MAX) {
            *link_out = link;
            *base_out = (uint32_t)base;
            return 0;
        }
    }
    return bcrE_NOMEM;
}

static void make_cells(struct bcri_ctx *ctx, struct bcri_area_shm *area, bcri_ref area_ref, uint32_t gen)
{
    uint64_t open = (uint64_t)gen << 32;
    for (uint32_t i = 0; i < bcri_area_cells(area); i++) {
        struct bcri_cell_shm *cell = bcri_map_or_dummy(ctx, bcri_area_cell(area, i));
        /* The pages read as zero, and this leaves the lock words alone: a CCE that resolved the
         * cell earlier may hold one. */
        bcri_store(&cell->i.area, area_ref);
        bcri_store_release(&cell->t.state, open);
        bcri_store_release(&cell->h.state, open);
    }
}

static void version_odd(struct bcri_ctx *ctx)
{
    atomic_fetch_add_explicit(&ctx->record->id.version, 1, memory_order_seq_cst);
}

static void version_even(struct bcri_ctx *ctx)
{
    atomic_fetch_add_explicit(&ctx->record->id.version, 1, memory_order_seq_cst);
    if (bcri_load(&ctx->bell->lock_sleepers) != 0)
        bcri_unlock_wake(ctx);
}

/* 0 or a code, with nothing changed; so free_area. Model: stale.pml */
static int grow_cells(struct bcri_ctx *ctx, int base, const uint32_t kinds[4], uint32_t nrgns,
                      uint64_t nbytes, int *base_out)
{
    uint64_t cells = (uint64_t)kinds[0] + kinds[1] + kinds[2] + kinds[3];
    if (cells > CELLS_MAX)
        return bcrE_NOMEM;
    _Atomic uint64_t *link;
    uint32_t number;
    int error = find_numbers(ctx, (uint32_t)base, cells, &link, &number);
    if (error != 0)
        return error;
    error = bcri_wakes_make(ctx, number, (uint32_t)cells);
    if (error != 0)
        return error;
    uint32_t heap = NO_HEAP;
    if (nbytes != 0 && (error = bcri_heap_add(ctx, nbytes, nrgns, &heap)) != 0)
        return error;
    const uint32_t log2 = ring_log2(nrgns, cells);
    const uint64_t rings_bytes = cells * sizeof(uint64_t) << log2;
    const uint32_t nodes = cells != 0 ? nrgns + SPARE_NODES : 0;
    const uint32_t pages[] = {
        [BCRI_PAGE_HEADERS] = cells != 0 ? pages_of(cells, BCRI_CELLS_PER_PAGE) : 1,
        [BCRI_PAGE_RINGS] =
            pages_of(rings_bytes + (uint64_t)nodes * sizeof(struct bcri_node_shm), BCRI_PAGE_BYTES)};
    bcri_ref refs[BCRI_PAGE_SORTS];
    error = bcri_segment_pages_take(ctx, ctx->index, pages, refs);
    if (error != 0) {
        if (heap != NO_HEAP)
            bcri_heap_remove(ctx, heap);
        return error;
    }
    const bcri_ref ref = refs[BCRI_PAGE_HEADERS];
    struct bcri_area_shm *area = bcri_map_or_dummy(ctx, ref);
    area->cells = ref + BCRI_HEADER_BYTES / BCRI_REF_UNIT;
    area->rings = refs[BCRI_PAGE_RINGS];
    area->base = number;
    for (int i = 0; i < 4; i++)
        area->kinds[i] = kinds[i];
    area->nrgns = nrgns;
    area->nbytes = (uint32_t)nbytes;
    area->ring_log2 = log2;
    area->owner = ctx->index;
    area->heap = heap;
    area->nodes = area->rings + rings_bytes / BCRI_REF_UNIT;
    area->node_count = nodes;
    bcri_store(&area->node_fresh, 0);
    bcri_store(&area->node_free, 0);
    bcri_store(&area->pool, nrgns);
    bcri_store(&area->next, bcri_load(link));
    const uint32_t gen = bcri_next_gen(ctx);
    make_cells(ctx, area, ref, gen);
    bcri_store_release(&area->gen, gen);
    version_odd(ctx);
    bcri_store_release(link, ref);
    version_even(ctx);
    bcri_wakes_open(ctx, number, (uint32_t)cells);
    *base_out = (int)number;
    return 0;
}

static int find_area(struct bcri_ctx *ctx, uint32_t base, _Atomic uint64_t **link_out,
                     struct bcri_area_shm **area_out)
{
    _Atomic uint64_t *link = &ctx->record->id.first_area;
    const struct bcri_area_shm *before = NULL;
    for (bcri_ref ref; (ref = bcri_load(link)) != 0;) {
        struct bcri_area_shm *area = bcri_area_next_own(ctx, ref, before);
        before = area;
        if (area->base == base) {
            *link_out = link;
            *area_out = area;
            return 0;
        }
        link = &area->next;
    }
    return bcrE_NOCELL;
}

static bool cell_at(struct bcri_ctx *ctx, struct bcri_area_shm *area, uint32_t i,
                    struct bcri_resolved *resolved)
{
    bcri_ref ref = bcri_area_cell(area, i);
    if (bcri_resolved_at(ctx, ref, resolved) != 0)
        return false;
    bcri_store(&ctx->journal->cell, ref);
    bcri_step();
    return true;
}

/* Whether a waiting ticket was served and its waiter has not yet read the region from the ring. */
static bool uncollected(const struct bcri_resolved *resolved)
{
    for (uint32_t i = 0; i < BCRI_TICKETS; i++)
        if (bcri_load_acquire(&resolved->cell->h.waiter[i]) != 0)
            return true;
    return false;
}

/* Closes the cells [0, n) as long as they are empty. Returns 0; bcrE_BUSY: one is not, or this CCE
 * cannot map a waiter there; bcrE_INTERNAL: one is condemned. `*closed_out` is how many are closed
 * now.
 * Model: stale.pml */
static int close_cells(struct bcri_ctx *ctx, struct bcri_area_shm *area, uint32_t n, uint32_t *closed_out)
{
    struct bcri_resolved resolved;
    for (uint32_t i = 0; i < n; i++) {
        *closed_out = i;
        if (!cell_at(ctx, area, i, &resolved))
            return bcrE_BUSY;
        if (!bcri_is_done(bcri_cell_enter(ctx, &resolved)))
            return bcri_cell_condemned(&resolved) ? bcrE_INTERNAL : bcrE_BUSY;
        if (bcri_queue_length(&resolved) != 0 || uncollected(&resolved) ||
            !bcri_waiters_mapped(ctx, &resolved, true)) {
            bcri_cell_leave(ctx, &resolved);
            return bcrE_BUSY;
        }
        bcri_tx_begin(ctx);
        bcri_tx_flags(ctx, &resolved, BCRI_CELL_CLOSED | (uint32_t)bcri_load(&resolved.cell->h.state));
        bcri_tx_commit(ctx);
        bcri_unlock(ctx, &resolved.cell->t.lock);
        bcri_unlock(ctx, &resolved.cell->h.lock);
    }
    *closed_out = n;
    return 0;
}

static void reopen_cells(struct bcri_ctx *ctx, struct bcri_area_shm *area, uint32_t n)
{
    struct bcri_resolved resolved;
    for (uint32_t i = 0; i < n; i++) {
        if (!cell_at(ctx, area, i, &resolved))
            continue;
        bcri_lock(ctx, &resolved.cell->h.lock);
        bcri_lock(ctx, &resolved.cell->t.lock);
        uint32_t flags = (uint32_t)bcri_load(&resolved.cell->h.state);
        bcri_tx_begin(ctx);
        bcri_tx_flags(ctx, &resolved, flags & ~BCRI_CELL_CLOSED);
        bcri_tx_commit(ctx);
        bcri_cell_leave(ctx, &resolved);
    }
    /* A CCE that freed room meanwhile could not give it to a put that waits for a cell that was
     * closed. */
    if (n != 0 && bcri_load_acquire(&area->waitputs) != 0 && cell_at(ctx, area, 0, &resolved)) {
        bcri_area_lock(ctx, &resolved);
        bcri_putwait_serve_all(ctx, &resolved);
        bcri_area_unlock(ctx, &resolved);
    }
}

/* Model: stale.pml */
static void fail_requests(struct bcri_ctx *ctx, struct bcri_area_shm *area, int code)
{
    struct bcri_resolved resolved;
    for (uint32_t i = 0; i < bcri_area_cells(area); i++) {
        if (!cell_at(ctx, area, i, &resolved))
            continue;
        bcri_area_lock(ctx, &resolved);
        bcri_lock(ctx, &resolved.cell->h.lock);
        bcri_lock(ctx, &resolved.cell->t.lock);
        bcri_cell_fail_waiters(ctx, &resolved, code);
        bcri_unlock(ctx, &resolved.cell->t.lock);
        bcri_unlock(ctx, &resolved.cell->h.lock);
        bcri_putwait_fail(ctx, &resolved, code);
        bcri_area_unlock(ctx, &resolved);
    }
}

/* Model: stale.pml */
static int free_area(struct bcri_ctx *ctx, int base)
{
    _Atomic uint64_t *link;
    struct bcri_area_shm *area;
    int error = base > 0 ? find_area(ctx, (uint32_t)base, &link, &area) : bcrE_NOCELL;
    if (error != 0)
        return error;
    bcri_ref ref = bcri_load(link);
    uint32_t cells = bcri_area_cells(area);
    const bcri_ref refs[] = {[BCRI_PAGE_HEADERS] = ref, [BCRI_PAGE_RINGS] = area->rings};

    bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    version_odd(ctx); /* other CCEs' look-ups wait until the answer is known */
    uint32_t closed;
    error = close_cells(ctx, area, cells, &closed);
    if (error == 0 && area->heap != NO_HEAP)
        error = bcri_heap_remove(ctx, area->heap);
    if (error != 0) {
        reopen_cells(ctx, area, closed);
        version_even(ctx);
        bcri_journal_close(ctx);
        return error;
    }
    bcri_cell_fds_close(ctx, ref);
    bcri_wakes_close(ctx, (uint32_t)base, cells);
    fail_requests(ctx, area, bcrE_NOCELL);
    bcri_store_release(link, bcri_load(&area->next));
    bcri_store_release(&area->gen, 0);
    version_even(ctx);
    bcri_journal_close(ctx);
    bcri_segment_pages_back(ctx, refs);
    const struct bcri_hooks *const hooks = bcri_hooks_of(ctx);
    if (hooks != NULL)
        hooks->cells_gone(ctx, (uint32_t)base, cells);
    return 0;
}

/* ---- The public routines ---- */

/* bcrE_NOMEM says too little of a call that a sandbox forbids: the log has what the system said. */
static void note_refusal(struct bcri_ctx *ctx)
{
    const int said = bcri_failure_errno();
    char failure[BCRI_FAILURE_TEXT_MAX], text[BCRI_FAILURE_TEXT_MAX + 32];
    if (said == 0 || said == ENOMEM || said == ENOSPC || ctx->upcalls->note == NULL)
        return;
    snprintf(text, sizeof text, "bcr_cagrow got no memory: %s", bcri_failure_text("", failure));
    ctx->upcalls->note(ctx->up, text);
}

int bcr_cagrow(int qbase, int nprivqs, int ninqs, int noutqs, int nioqs, int nrgns, int nbytes)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    const int wanted[] = {qbase, nprivqs, ninqs, noutqs, nioqs, nrgns, nbytes};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i] < 0)
            return bcri_fail(bcrE_ARG);
    if ((long long)nprivqs + ninqs + noutqs + nioqs >= INT_MAX)
        return bcri_fail(bcrE_ARG);
    const uint32_t kinds[4] = {(uint32_t)nprivqs, (uint32_t)ninqs, (uint32_t)noutqs, (uint32_t)nioqs};
    int base;
    bcri_failure_forget();
    int error = grow_cells(ctx, qbase, kinds, (uint32_t)nrgns, (uint64_t)nbytes, &base);
    if (error == bcrE_NOMEM)
        note_refusal(ctx);
    return error == 0 ? base : bcri_fail(error);
}

int bcr_cafree(int qbase)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    int error = free_area(ctx, qbase);
    return error == 0 ? 0 : bcri_fail(error);
}

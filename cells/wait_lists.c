/* SPDX-License-Identifier: MIT */
/* See wait_lists.h. */
#include "bcri/wait_lists.h"

#include "bcri/cell.h"
#include "bcri/corrupt.h"
#include "bcri/lookup.h"
#include "bcri/queue.h"
#include "bcri/slot.h"
#include "bcri/tx.h"
#include "bcri/waiters.h"

#define CELL struct bcri_cell_shm
#define SLOT struct bcri_slot_shm
#define AREA struct bcri_area_shm

/* A list: the object that has its ends, and where they lie in it. */
struct list {
    bcri_ref object;
    size_t first, last;
};

static struct list gets_at(const struct bcri_resolved *resolved)
{
    return (struct list){resolved->ref, offsetof(CELL, c.list_first), offsetof(CELL, c.list_last)};
}

static struct list puts_at(const struct bcri_resolved *resolved)
{
    return (struct list){resolved->area_ref, offsetof(AREA, put_first), offsetof(AREA, put_last)};
}

static void tx_link(struct bcri_ctx *ctx, const struct list *list, bcri_ref slot, bcri_ref last,
                    uint64_t word)
{
    BCRI_TX64(ctx, slot, SLOT, prev, last);
    BCRI_TX64(ctx, slot, SLOT, next, 0);
    BCRI_TX64(ctx, slot, SLOT, word, word);
    if (last != 0)
        BCRI_TX64(ctx, last, SLOT, next, slot);
    else
        bcri_tx_add(ctx, BCRI_REDO_64, list->object, list->first, slot);
    bcri_tx_add(ctx, BCRI_REDO_64, list->object, list->last, slot);
}

static void tx_unlink(struct bcri_ctx *ctx, const struct list *list, const struct bcri_slot_shm *slot)
{
    bcri_ref next = bcri_load(&slot->next);
    bcri_ref prev = bcri_load(&slot->prev);
    if (prev != 0)
        BCRI_TX64(ctx, prev, SLOT, next, next);
    else
        bcri_tx_add(ctx, BCRI_REDO_64, list->object, list->first, next);
    if (next != 0)
        BCRI_TX64(ctx, next, SLOT, prev, prev);
    else
        bcri_tx_add(ctx, BCRI_REDO_64, list->object, list->last, prev);
}

void bcri_tx_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot, bcri_ref last,
                  enum bcri_want want)
{
    const struct list list = gets_at(resolved);
    tx_link(ctx, &list, slot, last, bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref));
    if (want != BCRI_WANT_READ)
        BCRI_TX32(ctx, resolved->ref, CELL, c.takes, bcri_load(&resolved->cell->c.takes) + 1);
}

void bcri_tx_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot)
{
    const struct list list = gets_at(resolved);
    tx_unlink(ctx, &list, slot);
    if (bcri_request_want(slot) != BCRI_WANT_READ)
        BCRI_TX32(ctx, resolved->ref, CELL, c.takes, bcri_load(&resolved->cell->c.takes) - 1);
}

void bcri_tx_putwait_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot, bcri_ref last,
                          uint64_t word)
{
    const struct list list = puts_at(resolved);
    tx_link(ctx, &list, slot, last, word);
    BCRI_TX32(ctx, resolved->area_ref, AREA, waitputs, bcri_load(&resolved->area->waitputs) + 1);
}

/* Model: putwait.pml */
void bcri_tx_putwait_unlist(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref slot_ref,
                            uint64_t word)
{
    const struct list list = puts_at(resolved);
    tx_unlink(ctx, &list, bcri_map_or_dummy(ctx, slot_ref));
    BCRI_TX32(ctx, resolved->area_ref, AREA, waitputs, bcri_load(&resolved->area->waitputs) - 1);
    BCRI_TX64(ctx, slot_ref, SLOT, word, word);
}

void bcri_tx_finish(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref waiting)
{
    if (waiting == BCRI_REF_NONE)
        bcri_tx_phase(ctx, 2);
    else
        bcri_tx_putwait_unlist(ctx, resolved, waiting, bcri_slot_word(BCRI_SLOT_PUTDONE, 0, BCRI_REF_NONE));
}

/* A CCE whose process has no descriptor left may be unable to map the IDs of other CCEs. The daemon
 * has them all mapped; what it cannot reach leads nowhere. */
static bool maps(struct bcri_ctx *ctx, bcri_ref slot)
{
    return slot == BCRI_REF_NONE || bcri_at(ctx, slot) != NULL || ctx->daemon.parks;
}

bool bcri_request_mapped(struct bcri_ctx *ctx, bcri_ref ref)
{
    const SLOT *slot = bcri_map_or_dummy(ctx, ref);
    return maps(ctx, ref) && maps(ctx, bcri_load(&slot->next)) && maps(ctx, bcri_load(&slot->prev));
}

bool bcri_request_endable(struct bcri_ctx *ctx, bcri_ref ref)
{
    return bcri_request_mapped(ctx, ref) &&
           (bcri_record(ctx, bcri_request_owner(bcri_map_or_dummy(ctx, ref))) != NULL || ctx->daemon.parks);
}

bool bcri_waiters_mapped(struct bcri_ctx *ctx, const struct bcri_resolved *resolved, bool all)
{
    bcri_ref before = BCRI_REF_NONE;
    bcri_ref ref = bcri_load(&resolved->cell->c.list_first);
    for (const SLOT *slot; ref != BCRI_REF_NONE; before = ref, ref = bcri_load(&slot->next)) {
        slot = bcri_map_or_dummy(ctx, ref);
        if (!bcri_request_endable(ctx, ref))
            return false;
        /* A list in a circle ends here, too: is_first or bcri_cell_fail_waiters finds it. */
        if ((!all && bcri_request_want(slot) != BCRI_WANT_READ) || bcri_load(&slot->prev) != before)
            break;
    }
    return true;
}

static bool tickets_mapped(struct bcri_ctx *ctx, const struct bcri_cell_shm *cell, uint64_t tail,
                           uint64_t head)
{
    for (uint64_t t = tail; t < head; t++)
        if (!maps(ctx, bcri_load(&cell->h.waiter[t % BCRI_TICKETS]) & BCRI_REF_MASK))
            return false;
    return true;
}

/* Model: cell.inc */
bool bcri_tickets_to_list(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    CELL *cell = resolved->cell;
    uint64_t head = bcri_load(&cell->h.head);
    uint64_t tail = bcri_load(&cell->t.tail);
    if (head <= tail)
        return true;
    if (head - tail > BCRI_TICKETS) {
        bcri_corrupt(ctx, "the counters of a cell", resolved->ref);
        return true;
    }
    if (bcri_unlikely(!tickets_mapped(ctx, cell, tail, head)))
        return false;
    bcri_ref before = 0;
    bcri_tx_begin(ctx);
    for (uint64_t t = tail; t < head; t++) {
        bcri_ref slot = bcri_load(&cell->h.waiter[t % BCRI_TICKETS]) & BCRI_REF_MASK;
        bcri_ref after =
            t + 1 < head ? bcri_load(&cell->h.waiter[(t + 1) % BCRI_TICKETS]) & BCRI_REF_MASK : 0;
        BCRI_TX64(ctx, slot, SLOT, prev, before);
        BCRI_TX64(ctx, slot, SLOT, next, after);
        BCRI_TX64(ctx, slot, SLOT, word, bcri_slot_word(BCRI_SLOT_LISTED, 0, resolved->ref));
        bcri_tx_add(ctx, BCRI_REDO_64, resolved->ref,
                    offsetof(CELL, h.waiter) + (size_t)(t % BCRI_TICKETS) * 8, 0);
        if (before == 0)
            BCRI_TX64(ctx, resolved->ref, CELL, c.list_first, slot);
        before = slot;
    }
    BCRI_TX64(ctx, resolved->ref, CELL, c.list_last, before);
    BCRI_TX32(ctx, resolved->ref, CELL, c.takes, (uint32_t)(head - tail));
    BCRI_TX64(ctx, resolved->ref, CELL, h.head, tail);
    BCRI_TX64(ctx, resolved->ref, CELL, t.limit, tail);
    bcri_tx_flags(ctx, resolved, bcri_cell_flags(resolved) | BCRI_CELL_SLOW);
    bcri_tx_commit(ctx);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* The audit of an area and its cells: cell.h says what must hold. The audit trusts nothing that it
 * reads: it leaves a chain or list where it meets something a second time. */
#include "bcri/cell.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"
#include "bcri/watermark.h"

#include "audit_private.h"

/* One cell, as the sentences name it. */
struct look {
    struct audit *audit;
    const struct bcri_area_shm *area;
    const struct bcri_cell_shm *cell;
    const _Atomic uint64_t *ring;
    bcri_ref ref;
    uint32_t number;
    uint32_t flags;
    uint64_t head, tail, mask;
    uint64_t outside; /* regions outside the ring */
};

#define SAY(look, format, ...)                                                                      \
    bcri_audit_report((look)->audit, "cell %u of %s: " format, (look)->number, (look)->audit->name, \
                      __VA_ARGS__)

static void hold(struct look *look, bcri_ref region, const char *where)
{
    if (region == BCRI_REF_NONE)
        SAY(look, "an entry without a region %s", where);
    else
        bcri_audit_meet(look->audit, &look->audit->regions, region, look->ref);
}

static void look_at_chain(struct look *look, bcri_ref ref, bcri_ref last, const char *name)
{
    bcri_ref before = BCRI_REF_NONE;
    while (ref != BCRI_REF_NONE) {
        const struct bcri_node_shm *node = bcri_at(look->audit->ctx, ref);
        if (node == NULL || bcri_audit_meet(look->audit, &look->audit->nodes, ref, look->ref) > 1) {
            SAY(look, "its %s leads to %s", name, node == NULL ? "nowhere" : "a node that is elsewhere too");
            return;
        }
        hold(look, bcri_load(&node->region), name);
        look->outside++;
        before = ref;
        ref = bcri_load(&node->next);
    }
    if (last != BCRI_REF_NONE && before != last)
        SAY(look, "its %s ends elsewhere than it says", name);
}

static void look_at_ring(struct look *look)
{
    if (look->tail > look->head && look->tail - look->head > look->mask + 1) {
        SAY(look, "head %llu and tail %llu are farther apart than the ring is long",
            (unsigned long long)look->head, (unsigned long long)look->tail);
        return;
    }
    for (uint64_t t = look->head; t < look->tail; t++) {
        uint64_t entry = bcri_load_acquire(&look->ring[t & look->mask]);
        if (!bcri_entry_is(entry, t, look->area->ring_log2))
            SAY(look, "entry %llu of [%llu, %llu) is not of its lap", (unsigned long long)t,
                (unsigned long long)look->head, (unsigned long long)look->tail);
        else
            hold(look, entry & BCRI_REF_MASK, "in the ring");
    }
    if (look->head > look->tail && look->head - look->tail > BCRI_TICKETS)
        SAY(look, "%llu tickets wait", (unsigned long long)(look->head - look->tail));
}

/* Looks at the tickets that wait or have not been collected. Returns the oldest of them, or
 * head. */
static uint64_t look_at_waiters(struct look *look)
{
    const struct bcri_head_shm *h = &look->cell->h;
    uint64_t oldest = look->head;
    uint32_t waiting = 0;
    char who[BCRI_CCE_TEXT_MAX];
    for (uint32_t i = 0; i < BCRI_TICKETS; i++) {
        uint64_t waiter = bcri_load(&h->waiter[i]);
        bcri_ref ref = waiter & BCRI_REF_MASK;
        if (waiter == 0)
            continue;
        uint64_t ticket = look->head - 1 - ((look->head - 1 - (waiter >> 48)) & 0xffffu);
        const struct bcri_slot_shm *slot = bcri_at(look->audit->ctx, ref);
        if (slot == NULL || ticket % BCRI_TICKETS != i ||
            bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_TICKET || bcri_load(&slot->key) != ticket ||
            bcri_load(&slot->cell) != look->ref) {
            SAY(look,
                "waiter %u, ticket %llu of [%llu, %llu), names an ID in state %u with ticket %llu (of %s)", i,
                (unsigned long long)ticket, (unsigned long long)look->head, (unsigned long long)look->tail,
                slot != NULL ? bcri_slot_state(bcri_load(&slot->word)) : 255,
                slot != NULL ? (unsigned long long)bcri_load(&slot->key) : 0,
                slot != NULL ? bcri_cce_text(look->audit->ctx, bcri_request_owner(slot), who) : "nobody");
            continue;
        }
        bcri_audit_meet(look->audit, &look->audit->requests, ref, look->ref);
        waiting += ticket >= look->tail;
        if (ticket < oldest)
            oldest = ticket;
    }
    if (look->head > look->tail && waiting != look->head - look->tail)
        SAY(look, "%llu tickets wait, and %u waiters", (unsigned long long)(look->head - look->tail),
            waiting);
    return oldest;
}

static void look_at_list(struct look *look)
{
    const struct bcri_cold_shm *c = &look->cell->c;
    bcri_ref before = BCRI_REF_NONE;
    uint32_t takes = 0;
    for (bcri_ref ref = bcri_load(&c->list_first); ref != BCRI_REF_NONE;) {
        const struct bcri_slot_shm *slot = bcri_at(look->audit->ctx, ref);
        if (slot == NULL || bcri_audit_meet(look->audit, &look->audit->requests, ref, look->ref) > 1) {
            SAY(look, "its list of requests leads to %s",
                slot == NULL ? "nowhere" : "one that is elsewhere too");
            return;
        }
        if (bcri_slot_state(bcri_load(&slot->word)) != BCRI_SLOT_LISTED ||
            bcri_load(&slot->cell) != look->ref)
            SAY(look, "its list holds an ID in state %u", bcri_slot_state(bcri_load(&slot->word)));
        if (bcri_load(&slot->prev) != before)
            SAY(look, "its list is not linked backwards at %#llx", (unsigned long long)ref);
        takes += bcri_request_want(slot) != BCRI_WANT_READ;
        before = ref;
        ref = bcri_load(&slot->next);
    }
    if (before != bcri_load(&c->list_last))
        SAY(look, "its list ends at %#llx and not at %#llx", (unsigned long long)before,
            (unsigned long long)bcri_load(&c->list_last));
    if (takes != bcri_load(&c->takes))
        SAY(look, "%u takes wait, counted %u", takes, bcri_load(&c->takes));
}

/* Each flag must have a reason, and each reason its flag. */
static void look_at_flags(struct look *look, uint64_t queued)
{
    const struct bcri_cell_shm *cell = look->cell;
    bool list = bcri_load(&cell->c.list_first) != BCRI_REF_NONE;
    bool slow = (look->flags & BCRI_CELL_SLOW) != 0;
    if (bcri_load(&cell->h.state) != bcri_load(&cell->t.state))
        SAY(look, "its two states differ: %#llx, %#llx", (unsigned long long)bcri_load(&cell->h.state),
            (unsigned long long)bcri_load(&cell->t.state));
    if (bcri_load(&cell->h.state) >> 32 != bcri_load(&look->area->gen))
        SAY(look, "it is of generation %u, its area of %u", (uint32_t)(bcri_load(&cell->h.state) >> 32),
            bcri_load(&look->area->gen));
    if (!slow && (list || look->outside != 0))
        SAY(look, "requests (%u) or regions (%llu) outside the fast path, and no flag", list,
            (unsigned long long)look->outside);
    if ((look->flags & BCRI_CELL_HIGH) != 0 && look->head > look->tail)
        SAY(look, "additions request, and %llu requests wait by ticket",
            (unsigned long long)(look->head - look->tail));
    if (slow && look->head > look->tail)
        SAY(look, "slow, and %llu requests wait by ticket", (unsigned long long)(look->head - look->tail));
    if (list && queued != 0)
        SAY(look, "requests wait, and %llu regions", (unsigned long long)queued);
    if ((look->flags & BCRI_CELL_OWNERDEAD) != 0 && (list || look->head > look->tail))
        SAY(look, "its write lock died with its holder, and requests wait (%u)", list);
}

/* The flag must say what the watermark is. */
static void look_at_handler(struct look *look)
{
    const int32_t watermark = bcri_watermark_of(look->cell);
    const uint32_t flags = look->flags & (BCRI_CELL_HIGH | BCRI_CELL_LOW);
    const bool agree =
        flags == 0 ? watermark == 0 : flags == (watermark > 0 ? BCRI_CELL_HIGH : BCRI_CELL_LOW);
    if (!agree)
        SAY(look, "flags %#x for watermark %d", flags, watermark);
}

static void look_at_closed(struct look *look, uint64_t queued)
{
    if (queued != 0 || bcri_load(&look->cell->c.list_first) != BCRI_REF_NONE || look->head > look->tail)
        SAY(look, "it is closed and holds %llu regions, or requests", (unsigned long long)queued);
}

/* When a lock owner has ended, the daemon must have cleared `taker` and set OWNERDEAD. */
static void look_at_write_owner(struct look *look)
{
    uint32_t taker = bcri_load(&look->cell->h.taker);
    char who[BCRI_CCE_TEXT_MAX];
    struct bcri_record_shm *record = taker != 0 ? bcri_record(look->audit->ctx, taker - 1) : NULL;
    if (record != NULL && bcri_load(&record->id.state) == BCRI_CCE_DEAD)
        SAY(look, "its lock owner is %s, which has ended", bcri_audit_tag(look->audit, taker, who));
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void look_at_limit(struct look *look, uint64_t oldest)
{
    uint64_t limit = bcri_load(&look->cell->t.limit);
    uint64_t bound = least(oldest + look->mask + 1, look->head + bcri_load(&look->cell->t.credits));
    if (limit > bound && limit > look->tail)
        SAY(look, "limit %llu, allowed %llu (tail %llu)", (unsigned long long)limit,
            (unsigned long long)bound, (unsigned long long)look->tail);
}

static void look_at_lock(struct look *look, uint32_t tag, const char *end)
{
    char who[BCRI_CCE_TEXT_MAX];
    if (tag == 0)
        return;
    bcri_audit_look_now(look->audit, look->ref, tag);
    SAY(look, "the lock of its %s is held by %s", end, bcri_audit_tag(look->audit, tag, who));
}

static void look_at_cell(struct look *look)
{
    const struct bcri_cell_shm *cell = look->cell;
    look->head = bcri_load(&cell->h.head);
    look->tail = bcri_load(&cell->t.tail);
    look->flags = (uint32_t)bcri_load(&cell->h.state);
    look_at_lock(look, bcri_load(&cell->h.lock), "head");
    look_at_lock(look, bcri_load(&cell->t.lock), "tail");
    bcri_audit_look(look->audit, look->ref);
    bcri_ref first = bcri_load(&cell->c.first);
    if (first != BCRI_REF_NONE) {
        hold(look, first, "first");
        look->outside++;
    }
    look_at_chain(look, bcri_load(&cell->c.front), BCRI_REF_NONE, "front");
    look_at_ring(look);
    look_at_chain(look, bcri_load(&cell->c.back_first), bcri_load(&cell->c.back_last), "back");
    uint64_t queued = look->outside + (look->tail > look->head ? look->tail - look->head : 0);
    uint64_t credits = bcri_load(&cell->t.credits);
    if (look->outside != bcri_load(&cell->c.extra))
        SAY(look, "%llu regions outside the ring, counted %u", (unsigned long long)look->outside,
            bcri_load(&cell->c.extra));
    look->audit->out->queued += queued;
    look->audit->out->beyond += queued > credits ? queued - credits : 0;
    uint64_t oldest = look_at_waiters(look);
    look_at_list(look);
    look_at_flags(look, queued);
    if ((look->flags & BCRI_CELL_CLOSED) != 0) {
        look_at_closed(look, queued);
    } else {
        look_at_limit(look, oldest);
        look_at_write_owner(look);
        look_at_handler(look);
    }
}

static void look_at_waiting_puts(struct audit *audit, const struct bcri_area_shm *area, bcri_ref area_ref)
{
    bcri_ref before = BCRI_REF_NONE;
    uint32_t waiting = 0;
    for (bcri_ref ref = bcri_load(&area->put_first); ref != BCRI_REF_NONE; waiting++) {
        const struct bcri_slot_shm *slot = bcri_at(audit->ctx, ref);
        if (slot == NULL || bcri_audit_meet(audit, &audit->requests, ref, area_ref) > 1) {
            bcri_audit_report(audit, "area %u of %s: its waiting puts lead to %s", area->base, audit->name,
                              slot == NULL ? "nowhere" : "one that is elsewhere too");
            return;
        }
        enum bcri_slot_state state = bcri_slot_state(bcri_load(&slot->word));
        if (state != BCRI_SLOT_PUTWAIT)
            bcri_audit_report(audit, "area %u of %s: an ID in state %u is among its waiting puts", area->base,
                              audit->name, state);
        if (bcri_load(&slot->prev) != before)
            bcri_audit_report(audit, "area %u of %s: its waiting puts are not linked backwards", area->base,
                              audit->name);
        before = ref;
        ref = bcri_load(&slot->next);
    }
    if (before != bcri_load(&area->put_last) || waiting != bcri_load(&area->waitputs))
        bcri_audit_report(audit, "area %u of %s: %u puts wait, counted %u; the last is %#llx, said %#llx",
                          area->base, audit->name, waiting, bcri_load(&area->waitputs),
                          (unsigned long long)before, (unsigned long long)bcri_load(&area->put_last));
}

/* To be called after the cells, which have met the nodes in use. */
static void look_at_nodes(struct audit *audit, const struct bcri_area_shm *area, bcri_ref area_ref)
{
    for (bcri_ref ref = bcri_load(&area->node_free); ref != BCRI_REF_NONE;) {
        const struct bcri_node_shm *node = bcri_at(audit->ctx, ref);
        if (node == NULL || bcri_audit_meet(audit, &audit->nodes, ref, area_ref) > 1) {
            bcri_audit_report(audit, "area %u of %s: its free nodes lead to %s", area->base, audit->name,
                              node == NULL ? "nowhere" : "one that is in use, or free twice");
            return;
        }
        ref = bcri_load(&node->next);
    }
    uint32_t fresh = bcri_load(&area->node_fresh);
    for (uint32_t i = 0; i < area->node_count; i++) {
        bool met = bcri_audit_met(&audit->nodes, area->nodes + i) != NULL;
        if (met && i >= fresh)
            bcri_audit_report(audit, "area %u of %s: node %u is in use and counts as never used", area->base,
                              audit->name, i);
        audit->out->lost_nodes += !met && i < fresh;
    }
}

static void look_at_area_lock(struct audit *audit, bcri_ref area_ref, uint32_t tag, const char *which)
{
    const struct bcri_area_shm *area = bcri_at(audit->ctx, area_ref);
    char who[BCRI_CCE_TEXT_MAX];
    if (tag == 0)
        return;
    bcri_audit_look_now(audit, area_ref, tag);
    bcri_audit_report(audit, "area %u of %s: its %s is held by %s", area->base, audit->name, which,
                      bcri_audit_tag(audit, tag, who));
}

void bcri_audit_area(struct audit *audit, bcri_ref area_ref)
{
    const struct bcri_area_shm *area = bcri_at(audit->ctx, area_ref);
    uint64_t credits = bcri_load(&area->pool);
    uint32_t cells = bcri_area_cells(area);
    look_at_area_lock(audit, area_ref, bcri_load(&area->lock), "lock");
    look_at_area_lock(audit, area_ref, bcri_load(&area->leaf), "inner lock");
    for (uint32_t i = 0; i < cells; i++) {
        struct look look = {.audit = audit,
                            .area = area,
                            .ref = bcri_area_cell(area, i),
                            .number = area->base + i,
                            .mask = (1u << area->ring_log2) - 1u};
        look.cell = bcri_at(audit->ctx, look.ref);
        look.ring = bcri_at(audit->ctx, bcri_area_ring(area, i));
        if (look.cell == NULL || look.ring == NULL || bcri_load(&look.cell->i.area) != area_ref) {
            SAY(&look, "it does not know its area (%#llx)", (unsigned long long)area_ref);
            continue;
        }
        look_at_cell(&look);
        credits += bcri_load(&look.cell->t.credits);
    }
    bcri_audit_look(audit, area_ref);
    if (credits != area->nrgns)
        bcri_audit_report(audit, "area %u of %s: %llu credits for %u regions", area->base, audit->name,
                          (unsigned long long)credits, area->nrgns);
    look_at_waiting_puts(audit, area, area_ref);
    look_at_nodes(audit, area, area_ref);
}

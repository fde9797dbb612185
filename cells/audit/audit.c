/* SPDX-License-Identifier: MIT */
/* The audit's frame: records, IDs, regions. audit_cell.c looks at cells and
 * areas, notes.c keeps what was met.
 *
 * Order: first the cells, which say which requests wait where and which regions the cells hold;
 * then the IDs; then the heaps, whose headers are compared with the sum of both. */
#include "bcri/audit.h"

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
#include "bcri/private.h"
#include "bcri/region.h"
#include "bcri/slot.h"
#include "bcri/validate.h"
#include "bcri/waiters.h"

#include "audit_private.h"

/* A request that waits by ticket: its cell must know it, whether it was served or not. */
static void look_at_ticket(struct audit *audit, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct bcri_resolved resolved;
    if (bcri_resolved_at(audit->ctx, bcri_load(&slot->cell), &resolved) != 0) {
        bcri_audit_report(audit, "%s waits by ticket at a cell that does not exist", audit->name);
        return;
    }
    uint64_t ticket = bcri_load(&slot->key);
    uint64_t entry = bcri_load_acquire(bcri_ring_at(&resolved, ticket));
    bool full = bcri_entry_is(entry, ticket, resolved.ring_log2);
    bool passed = ticket < bcri_load(&resolved.cell->t.tail);
    char owner[BCRI_CCE_TEXT_MAX];
    bcri_cce_text(audit->ctx, resolved.owner, owner);
    if (bcri_audit_met(&audit->requests, ref) == NULL)
        bcri_audit_report(audit, "%s waits by ticket at cell %d of %s, which does not know of it",
                          audit->name, resolved.number, owner);
    if (full != passed)
        bcri_audit_report(audit, "ticket %llu of cell %d of %s: entry %s, but the tail is %s",
                          (unsigned long long)ticket, resolved.number, owner, full ? "full" : "empty",
                          passed ? "beyond it" : "not there yet");
    if (full)
        bcri_audit_meet(audit, &audit->regions, entry & BCRI_REF_MASK, ref);
    else
        audit->out->waiting_gets++;
}

static void look_at_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    struct audit *audit = arg;
    uint64_t word = bcri_load(&slot->word);
    bcri_ref region = bcri_slot_hold_of(word);
    const struct tally_entry *met = bcri_audit_met(&audit->requests, ref);
    bool waits = false;
    char owner[BCRI_CCE_TEXT_MAX];
    bcri_audit_look(audit, ref);
    switch (bcri_slot_state(word)) {
    case BCRI_SLOT_LIVE:
        if (region == BCRI_REF_NONE)
            bcri_audit_report(audit, "an ID of %s is live and names nothing", audit->name);
        break;
    case BCRI_SLOT_TICKET:
        look_at_ticket(audit, slot, ref);
        waits = true;
        break;
    case BCRI_SLOT_LISTED:
        audit->out->waiting_gets++;
        waits = true;
        break;
    case BCRI_SLOT_PUTWAIT:
        audit->out->waiting_puts++;
        waits = true;
        break;
    case BCRI_SLOT_SERVED: bcri_audit_meet(audit, &audit->regions, bcri_load(&slot->given), ref); break;
    case BCRI_SLOT_FAILED:
    case BCRI_SLOT_PUTDONE:
    case BCRI_SLOT_KEPT:
    case BCRI_SLOT_ORDERED:
    case BCRI_SLOT_ANSWERED: break;
    default:
        bcri_audit_report(audit, "an ID of %s has the unknown state %u", audit->name, bcri_slot_state(word));
        return;
    }
    if (region != BCRI_REF_NONE)
        bcri_audit_meet(audit, &audit->regions, region, ref);
    if (waits && (met == NULL || met->count != 1))
        bcri_audit_report(audit, "a waiting request of %s (state %u) stands in %llu lists", audit->name,
                          bcri_slot_state(word), met != NULL ? (unsigned long long)met->count : 0);
    if (!waits && met != NULL)
        bcri_audit_report(audit, "a list holds an ID of %s that does not wait (state %u)", audit->name,
                          bcri_slot_state(word));
    if (waits && bcri_request_owner(slot) != audit->cce)
        bcri_audit_report(audit, "a waiting request of %s calls itself that of %s", audit->name,
                          bcri_cce_text(audit->ctx, bcri_request_owner(slot), owner));
}

static void count_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    (void)slot, (void)ref;
    ++*(uint64_t *)arg;
}

static void look_at_journal(struct audit *audit, const struct bcri_record_shm *record)
{
    const struct bcri_journal_shm *j = &record->journal;
    char other[BCRI_CCE_TEXT_MAX];
    uint32_t op = bcri_load(&j->op);
    bcri_audit_look_now(audit, audit->cce, BCRI_TAG(audit->cce));
    audit->out->inside += op != BCRI_OP_NONE || bcri_load(&j->cw_state) != BCRI_CW_IDLE;
    if (op != BCRI_OP_NONE)
        bcri_audit_report(audit, "the journal of %s is open: operation %u, phase %u", audit->name, op,
                          bcri_load(&j->phase));
    if (bcri_load(&j->cw_state) != BCRI_CW_IDLE)
        bcri_audit_report(audit, "%s is changing a count (state %u)", audit->name, bcri_load(&j->cw_state));
    if (bcri_load(&j->redo_len) != 0)
        bcri_audit_report(audit, "%s has an unfinished transaction of %u stores", audit->name,
                          bcri_load(&j->redo_len));
    if (bcri_load(&j->detached.cell) != 0)
        bcri_audit_report(audit, "%s has not dropped all that it detached from a cell", audit->name);
    if (bcri_load(&j->ring) != 0)
        bcri_audit_report(audit, "%s still has to ring %s", audit->name,
                          bcri_audit_tag(audit, (uint32_t)bcri_load(&j->ring), other));
}

static void each_record(struct audit *audit,
                        void (*look)(struct audit *audit, struct bcri_record_shm *record))
{
    uint32_t records = bcri_host_records(audit->ctx->host);
    for (uint32_t index = 0; index < records; index++) {
        struct bcri_record_shm *record = bcri_record(audit->ctx, index);
        if (record == NULL || bcri_load_acquire(&record->id.state) == BCRI_CCE_FREE)
            continue;
        audit->cce = index;
        bcri_cce_text(audit->ctx, index, audit->name);
        bcri_audit_look(audit, index);
        look(audit, record);
    }
}

static void look_at_areas(struct audit *audit, struct bcri_record_shm *record)
{
    uint32_t version = bcri_load(&record->id.version);
    if ((version & 1u) != 0)
        bcri_audit_report(audit, "%s is changing its areas", audit->name);
    look_at_journal(audit, record);
    bcri_audit_look(audit, audit->cce);
    for (bcri_ref ref = bcri_load_acquire(&record->id.first_area); ref != BCRI_REF_NONE;) {
        uint32_t gen;
        struct bcri_area_shm *area = NULL;
        (void)bcri_area_look(audit->ctx, ref, &area, &gen);
        if (area == NULL || bcri_audit_meet(audit, &audit->nodes, ref, BCRI_REF_NONE) > 1) {
            bcri_audit_report(audit, "an area of %s %s", audit->name,
                              area == NULL ? "lies nowhere, or its cells do" : "stands twice in its list");
            return;
        }
        bcri_audit_area(audit, ref);
        ref = bcri_load_acquire(&area->next);
    }
}

static void look_at_ids(struct audit *audit, struct bcri_record_shm *record)
{
    uint32_t state = bcri_load(&record->id.state);
    if (state != BCRI_CCE_DEAD && state != BCRI_CCE_DYING) {
        bcri_slot_each(audit->ctx, audit->cce, look_at_id, audit);
        return;
    }
    uint64_t left = 0;
    if (state == BCRI_CCE_DYING)
        bcri_audit_report(audit, "%s has ended and was not repaired", audit->name);
    bcri_slot_each(audit->ctx, audit->cce, count_id, &left);
    if (left != 0)
        bcri_audit_report(audit, "%s has ended and still has %llu IDs", audit->name,
                          (unsigned long long)left);
}

static void look_at_region(void *arg, bcri_ref ref, struct bcri_region_shm *region)
{
    struct audit *audit = arg;
    uint64_t word = bcri_load_acquire(&region->count);
    uint32_t owner = BCRI_COUNT_OWNER(word);
    struct tally_entry *entry = (struct tally_entry *)(uintptr_t)bcri_audit_met(&audit->regions, ref);
    uint64_t held = entry != NULL ? entry->count : 0;
    audit->out->regions += BCRI_COUNT(word) != 0;
    char who[BCRI_CCE_TEXT_MAX];
    if (owner != 0) {
        bcri_audit_look_now(audit, ref, owner);
        bcri_audit_report(audit, "the count of region %#llx is locked by %s", (unsigned long long)ref,
                          bcri_audit_tag(audit, owner, who));
    }
    bcri_audit_look(audit, ref);
    if (BCRI_COUNT(word) != held)
        bcri_audit_report(audit, "region %#llx of %s counts %u holders and has %llu, the last at %#llx",
                          (unsigned long long)ref, bcri_cce_text(audit->ctx, region->home, who),
                          BCRI_COUNT(word), (unsigned long long)held,
                          entry != NULL ? (unsigned long long)entry->holder : 0);
    if (entry != NULL)
        entry->count = 0; /* seen: what has a count at the end lies in no heap */
}

static void look_at_heaps(struct audit *audit)
{
    const struct bcri_host_shm *host = audit->ctx->host;
    uint32_t count = bcri_host_segments(host);
    for (uint32_t seg = 0; seg < count; seg++)
        if (bcri_load_acquire(&host->segments[seg].state) == BCRI_SEG_LIVE &&
            host->segments[seg].kind == BCRI_SEG_HEAP)
            bcri_heap_each(audit->ctx, seg, look_at_region, audit);
    for (size_t i = 0; audit->regions.mask != 0 && i <= audit->regions.mask; i++)
        if (audit->regions.entry[i].count != 0) {
            bcri_audit_look(audit, audit->regions.entry[i].ref);
            bcri_audit_report(audit, "region %#llx has %llu holders, the last at %#llx, and lies in no heap",
                              (unsigned long long)audit->regions.entry[i].ref,
                              (unsigned long long)audit->regions.entry[i].count,
                              (unsigned long long)audit->regions.entry[i].holder);
        }
}

int bcri_audit(struct bcri_ctx *enl, struct bcri_audit *out)
{
    struct audit audit = {.ctx = enl, .out = out};
    /* The audit tells what it finds, but it must not leave `corrupt` set: a running program changes
     * what the audit looks at, and a repair must not be blamed for that. */
    const bool corrupt = enl->daemon.corrupt;
    out->findings = out->regions = out->queued = out->beyond = 0;
    out->waiting_gets = out->waiting_puts = out->lost_nodes = 0;
    each_record(&audit, look_at_areas);
    each_record(&audit, look_at_ids);
    look_at_heaps(&audit);
    enl->daemon.corrupt = corrupt;
    bcri_private_free(audit.regions.entry);
    bcri_private_free(audit.nodes.entry);
    bcri_private_free(audit.requests.entry);
    return audit.no_memory ? bcrE_NOMEM : 0;
}

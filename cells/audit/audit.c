/* SPDX-License-Identifier: MIT */
/* The audit's frame: records, IDs, regions. audit_cell.c looks at cells and
 * areas, notes.c keeps what was met.
 *
 * Order: first the cells, which say which requests wait where and which regions the cells hold;
 * then the IDs; then the heaps, whose headers are compared with the sum of both. */
#include "bcri/audit.h"

#include <stdlib.h>

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/heap.h"
#include "bcri/journal.h"
#include "bcri/lookup.h"
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
        bcri_audit_report(audit, "CCE %u waits by ticket at a cell that does not exist", audit->cce);
        return;
    }
    uint64_t ticket = bcri_load(&slot->key);
    uint64_t entry = bcri_load_acquire(bcri_ring_at(&resolved, ticket));
    bool full = bcri_entry_is(entry, ticket, resolved.ring_log2);
    bool passed = ticket < bcri_load(&resolved.cell->t.tail);
    if (bcri_audit_met(&audit->requests, ref) == NULL)
        bcri_audit_report(audit, "CCE %u waits by ticket at cell %d of CCE %u, which does not know of it",
                          audit->cce, resolved.number, resolved.owner);
    if (full != passed)
        bcri_audit_report(audit, "ticket %llu of cell %d of CCE %u: entry %s, but the tail is %s",
                          (unsigned long long)ticket, resolved.number, resolved.owner,
                          full ? "full" : "empty", passed ? "beyond it" : "not there yet");
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
    switch (bcri_slot_state(word)) {
    case BCRI_SLOT_LIVE:
        if (region == BCRI_REF_NONE)
            bcri_audit_report(audit, "an ID of CCE %u is live and names nothing", audit->cce);
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
        bcri_audit_report(audit, "an ID of CCE %u has the unknown state %u", audit->cce,
                          bcri_slot_state(word));
        return;
    }
    if (region != BCRI_REF_NONE)
        bcri_audit_meet(audit, &audit->regions, region, ref);
    if (waits && (met == NULL || met->count != 1))
        bcri_audit_report(audit, "a waiting request of CCE %u (state %u) stands in %llu lists", audit->cce,
                          bcri_slot_state(word), met != NULL ? (unsigned long long)met->count : 0);
    if (!waits && met != NULL)
        bcri_audit_report(audit, "a list holds an ID of CCE %u that does not wait (state %u)", audit->cce,
                          bcri_slot_state(word));
    if (waits && bcri_request_owner(slot) != audit->cce)
        bcri_audit_report(audit, "a waiting request of CCE %u calls itself CCE %u's", audit->cce,
                          bcri_request_owner(slot));
}

static void count_id(void *arg, struct bcri_slot_shm *slot, bcri_ref ref)
{
    (void)slot, (void)ref;
    ++*(uint64_t *)arg;
}

static void look_at_journal(struct audit *audit, const struct bcri_record_shm *record)
{
    const struct bcri_journal_shm *j = &record->journal;
    uint32_t op = bcri_load(&j->op);
    audit->out->inside += op != BCRI_OP_NONE || bcri_load(&j->cw_state) != BCRI_CW_IDLE;
    if (op != BCRI_OP_NONE)
        bcri_audit_report(audit, "the journal of CCE %u is open: operation %u, phase %u", audit->cce, op,
                          bcri_load(&j->phase));
    if (bcri_load(&j->cw_state) != BCRI_CW_IDLE)
        bcri_audit_report(audit, "CCE %u is changing a count (state %u)", audit->cce,
                          bcri_load(&j->cw_state));
    if (bcri_load(&j->redo_len) != 0)
        bcri_audit_report(audit, "CCE %u has an unfinished transaction of %u stores", audit->cce,
                          bcri_load(&j->redo_len));
    if (bcri_load(&j->detached.cell) != 0)
        bcri_audit_report(audit, "CCE %u has not dropped all that it detached from a cell", audit->cce);
    if (bcri_load(&j->ring) != 0)
        bcri_audit_report(audit, "CCE %u still has to ring CCE %u", audit->cce,
                          (uint32_t)bcri_load(&j->ring) - 1);
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
        look(audit, record);
    }
}

static void look_at_areas(struct audit *audit, struct bcri_record_shm *record)
{
    uint32_t version = bcri_load(&record->id.version);
    if ((version & 1u) != 0)
        bcri_audit_report(audit, "CCE %u is changing its areas", audit->cce);
    look_at_journal(audit, record);
    for (bcri_ref ref = bcri_load_acquire(&record->id.first_area); ref != BCRI_REF_NONE;) {
        uint32_t gen;
        struct bcri_area_shm *area = NULL;
        (void)bcri_area_look(audit->ctx, ref, &area, &gen);
        if (area == NULL || bcri_audit_meet(audit, &audit->nodes, ref, BCRI_REF_NONE) > 1) {
            bcri_audit_report(audit, "an area of CCE %u %s", audit->cce,
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
        bcri_audit_report(audit, "CCE %u has ended and was not repaired", audit->cce);
    bcri_slot_each(audit->ctx, audit->cce, count_id, &left);
    if (left != 0)
        bcri_audit_report(audit, "CCE %u has ended and still has %llu IDs", audit->cce,
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
    if (owner != 0)
        bcri_audit_report(audit, "the count of region %#llx is locked by CCE %u", (unsigned long long)ref,
                          owner - 1);
    if (BCRI_COUNT(word) != held)
        bcri_audit_report(audit, "region %#llx of CCE %u counts %u holders and has %llu, the last at %#llx",
                          (unsigned long long)ref, region->home, BCRI_COUNT(word), (unsigned long long)held,
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
        if (audit->regions.entry[i].count != 0)
            bcri_audit_report(audit, "region %#llx has %llu holders, the last at %#llx, and lies in no heap",
                              (unsigned long long)audit->regions.entry[i].ref,
                              (unsigned long long)audit->regions.entry[i].count,
                              (unsigned long long)audit->regions.entry[i].holder);
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
    free(audit.regions.entry);
    free(audit.nodes.entry);
    free(audit.requests.entry);
    return audit.no_memory ? bcrE_NOMEM : 0;
}

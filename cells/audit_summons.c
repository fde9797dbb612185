/* SPDX-License-Identifier: MIT */
/* The audit of a CCE's queue of summonses: summons.h says what must hold. */
#include "bcri/flow.h"
#include "bcri/sane.h"
#include "bcri/summons.h"

#include "audit_private.h"

#define SAY(audit, format, ...) \
    bcri_audit_say((audit), "the summonses of CCE %u: " format, (audit)->cce, __VA_ARGS__)

static uint32_t number_of(uint64_t entry)
{
    return (uint32_t)(entry >> 32) & BCRI_SUMMONS_CHAIN;
}

/* Each block is held once, by this queue. */
static void look_at_chain(struct audit *audit, bcri_ref first, bcri_ref last, const char *name)
{
    bcri_ref before = BCRI_REF_NONE;
    for (bcri_ref ref = first; ref != BCRI_REF_NONE;) {
        const struct bcri_region_shm *header = bcri_at(audit->ctx, ref);
        if (header == NULL || header->length != sizeof(struct bcri_summons_block_shm) ||
            !bcri_region_sane(audit->ctx, ref, header) ||
            bcri_audit_meet(audit, &audit->regions, ref, bcri_record_ref(audit->ctx, audit->cce)) > 1) {
            SAY(audit, "%s leads to %s", name,
                header == NULL ? "nowhere" : "something that is no block, or held elsewhere");
            return;
        }
        const struct bcri_summons_block_shm *block = (const void *)bcri_header_data(audit->ctx, ref, header);
        before = ref;
        ref = bcri_load(&block->next);
    }
    if (last != BCRI_REF_NONE && before != last)
        SAY(audit, "%s ends at %#llx and not at %#llx", name, (unsigned long long)before,
            (unsigned long long)last);
}

static void look_at_ring(struct audit *audit, struct bcri_summons_shm *queue, bool chained)
{
    uint64_t taken = bcri_load(&queue->taken), written = bcri_load(&queue->written);
    if (written < taken || written - taken > BCRI_SUMMONS_RING) {
        SAY(audit, "%llu written, %llu taken", (unsigned long long)written, (unsigned long long)taken);
        return;
    }
    for (uint64_t t = taken; t < taken + BCRI_SUMMONS_RING; t++) {
        uint64_t entry = bcri_load(bcri_summons_word(queue, t));
        bool full = entry >> 63 == bcri_summons_lap(t);
        bool to_chain = t < written && number_of(entry) == BCRI_SUMMONS_CHAIN;
        if (full != (t < written))
            SAY(audit, "entry %llu of [%llu, %llu) is %s", (unsigned long long)t, (unsigned long long)taken,
                (unsigned long long)written, full ? "full" : "empty");
        if (to_chain != (chained && t + 1 == written))
            SAY(audit, "entry %llu of [%llu, %llu) %s the chain", (unsigned long long)t,
                (unsigned long long)taken, (unsigned long long)written,
                to_chain ? "leads to" : "does not lead to");
    }
}

void bcri_audit_summonses(struct audit *audit, struct bcri_record_shm *record)
{
    struct bcri_summons_shm *queue = &record->summons;
    bcri_ref first = bcri_load(&queue->chain_first), last = bcri_load(&queue->chain_last);
    uint64_t used = bcri_load(&queue->chain_used);
    uint32_t state = bcri_load(&record->id.state);
    if (bcri_load(&queue->lock) != 0)
        SAY(audit, "lock held by tag %u", bcri_load(&queue->lock));
    if (state == BCRI_CCE_DEAD) {
        if (first != BCRI_REF_NONE || bcri_load(&queue->taken_first) != BCRI_REF_NONE)
            SAY(audit, "it has ended, and blocks are left at %#llx", (unsigned long long)first);
        return;
    }
    if ((first == BCRI_REF_NONE) != (last == BCRI_REF_NONE) || (first == BCRI_REF_NONE) != (used == 0) ||
        used > BCRI_SUMMONS_BLOCK)
        SAY(audit, "chain %#llx to %#llx, %llu used", (unsigned long long)first, (unsigned long long)last,
            (unsigned long long)used);
    look_at_chain(audit, first, last, "its chain");
    look_at_chain(audit, bcri_load(&queue->taken_first), BCRI_REF_NONE, "the chain that it reads");
    look_at_ring(audit, queue, first != BCRI_REF_NONE);
}

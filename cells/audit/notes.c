/* SPDX-License-Identifier: MIT */
/* What the audit has met so far, and how it reports what it finds. */
#include "audit_private.h"

#include <stdarg.h>
#include <stdio.h>

#include "bcri/audit.h"
#include "bcri/private.h"

/* Three names of CCEs, and what is said of them. */
#define SENTENCE_MAX (256 + 3 * BCRI_CCE_TEXT_MAX)

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 32;
}

uint64_t bcri_audit_work(const struct bcri_record_shm *record)
{
    uint64_t sum = bcri_load(&record->sleep.sleeps);
    for (unsigned i = 0; i < BCRI_COUNTERS; i++)
        sum += bcri_load(&record->counters[i]);
    const struct bcri_journal_shm *j = &record->journal;
    sum = mix(sum, bcri_load(&j->doing));
    sum = mix(sum, bcri_load(&j->ticket));
    sum = mix(sum, bcri_load(&j->region));
    return mix(sum, bcri_load(&j->cw_ref));
}

void bcri_audit_look(struct audit *audit, uint64_t ref)
{
    audit->subject = ref;
}

void bcri_audit_look_now(struct audit *audit, uint64_t ref, uint32_t tag)
{
    const struct bcri_record_shm *record = tag != 0 ? bcri_record(audit->ctx, tag - 1) : NULL;
    audit->subject = mix(mix(ref, tag), record != NULL ? bcri_audit_work(record) : 0);
}

const char *bcri_audit_tag(struct audit *audit, uint32_t tag, char out[BCRI_CCE_TEXT_MAX])
{
    return bcri_cce_text(audit->ctx, tag - 1, out);
}

void bcri_audit_report(struct audit *audit, const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    audit->out->findings++;
    if (audit->out->found == NULL)
        return;
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    audit->out->key = mix(audit->subject, (uintptr_t)format);
    audit->out->found(audit->out->arg, sentence);
}

static struct tally_entry *find_tally(const struct tally *tally, bcri_ref ref)
{
    size_t at = (size_t)(ref * UINT64_C(0x9e3779b97f4a7c15) >> 20) & tally->mask;
    while (tally->entry[at].ref != 0 && tally->entry[at].ref != ref)
        at = (at + 1) & tally->mask;
    return &tally->entry[at];
}

static bool grow_tally(struct tally *tally)
{
    size_t size = tally->mask != 0 ? 2 * (tally->mask + 1) : 1024;
    struct tally bigger = {.entry = bcri_private_zeroed(size, sizeof *bigger.entry), .mask = size - 1};
    if (bigger.entry == NULL)
        return false;
    for (size_t i = 0; tally->mask != 0 && i <= tally->mask; i++)
        if (tally->entry[i].ref != 0)
            *find_tally(&bigger, tally->entry[i].ref) = tally->entry[i];
    bigger.count = tally->count;
    bcri_private_free(tally->entry);
    *tally = bigger;
    return true;
}

uint64_t bcri_audit_meet(struct audit *audit, struct tally *tally, bcri_ref ref, bcri_ref holder)
{
    if (4 * tally->count >= 3 * tally->mask && !grow_tally(tally)) {
        audit->no_memory = true;
        return 0;
    }
    struct tally_entry *entry = find_tally(tally, ref);
    tally->count += entry->ref == 0;
    entry->ref = ref;
    entry->holder = holder;
    return ++entry->count;
}

const struct tally_entry *bcri_audit_met(const struct tally *tally, bcri_ref ref)
{
    const struct tally_entry *entry = tally->mask != 0 ? find_tally(tally, ref) : NULL;
    return entry != NULL && entry->ref != 0 ? entry : NULL;
}

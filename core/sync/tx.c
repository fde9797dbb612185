/* SPDX-License-Identifier: MIT */
/* Transactions by redo log: tx.h. */
#include "bcri/tx.h"

#include "bcri/corrupt.h"
#include "bcri/region.h"

#define KIND_SHIFT 60
#define WHERE_MASK ((UINT64_C(1) << 53) - 1)

void bcri_tx_begin(struct bcri_ctx *ctx)
{
    bcri_store(&ctx->journal->redo_len, 0);
    bcri_store(&ctx->journal->redo_state, 0);
}

void bcri_tx_add(struct bcri_ctx *ctx, enum bcri_redo_kind kind, bcri_ref object, size_t offset_bytes,
                 uint64_t value)
{
    uint32_t n = bcri_load(&ctx->journal->redo_len);
    if (n >= BCRI_REDO_MAX) { /* no operation writes so many */
        bcri_corrupt_at(ctx, "a redo log", &ctx->journal->redo_len);
        return;
    }
    bcri_store(&ctx->record->redo[n].where, (uint64_t)kind << KIND_SHIFT | ((object << 5) + offset_bytes));
    bcri_store(&ctx->record->redo[n].value, value);
    bcri_step();
    bcri_store(&ctx->journal->redo_len, n + 1);
    bcri_step();
}

/* `skip` is true from an IF that does not hold to the ANSWER that ends its entries.
 * Model: count.pml */
static void apply_one(struct bcri_ctx *ctx, uint64_t where, uint64_t value, uint32_t tag, bool *skip)
{
    uint64_t byte = where & WHERE_MASK;
    unsigned char *unit = bcri_map_or_dummy(ctx, byte >> 5);
    enum bcri_redo_kind kind = (enum bcri_redo_kind)(where >> KIND_SHIFT);
    /* Each word lies where its size asks for, also when the log is corrupt. */
    void *word = unit + (byte & (kind == BCRI_REDO_32 ? 28u : 24u));
    if (kind == BCRI_REDO_IF)
        *skip = bcri_load_acquire((_Atomic uint64_t *)word) != value;
    if (*skip) {
        *skip = kind != BCRI_REDO_ANSWER;
        return;
    }
    switch (kind) {
    case BCRI_REDO_64:
    case BCRI_REDO_ANSWER: bcri_store_release((_Atomic uint64_t *)word, value); break;
    case BCRI_REDO_32: bcri_store_release((_Atomic uint32_t *)word, (uint32_t)value); break;
    case BCRI_REDO_COUNT:
        if (BCRI_COUNT_OWNER(bcri_load((_Atomic uint64_t *)word)) == tag)
            bcri_store_release((_Atomic uint64_t *)word, value);
        break;
    case BCRI_REDO_IF: break;
    }
}

static void apply(struct bcri_ctx *ctx, struct bcri_record_shm *record)
{
    uint32_t n = bcri_load(&record->journal.redo_len);
    bool skip = false;
    for (uint32_t i = 0; i < n && i < BCRI_REDO_MAX; i++)
        apply_one(ctx, bcri_load(&record->redo[i].where), bcri_load(&record->redo[i].value),
                  BCRI_TAG(record->id.index), &skip);
    bcri_step();
    bcri_store(&record->journal.redo_len, 0);
    bcri_step();
    bcri_store(&record->journal.redo_state, 0);
}

void bcri_tx_commit(struct bcri_ctx *ctx)
{
    bcri_step();
    bcri_store(&ctx->journal->redo_state, 1);
    bcri_step();
    apply(ctx, ctx->record);
    bcri_step();
}

/* Model: count.pml */
bool bcri_tx_repair(struct bcri_ctx *enl, uint32_t index)
{
    struct bcri_record_shm *record = bcri_record(enl, index);
    bool committed = bcri_load_acquire(&record->journal.redo_state) == 1;
    if (committed)
        apply(enl, record);
    else
        bcri_store(&record->journal.redo_len, 0);
    return committed;
}

void bcri_tx_phase(struct bcri_ctx *ctx, uint32_t phase)
{
    bcri_tx_add(ctx, BCRI_REDO_32, bcri_record_ref(ctx, ctx->index),
                offsetof(struct bcri_record_shm, journal) + offsetof(struct bcri_journal_shm, phase), phase);
}

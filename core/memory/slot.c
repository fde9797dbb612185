/* SPDX-License-Identifier: MIT */
/* Region IDs: slot.h. Chunk 0 lies in the record; chunk k > 0 holds 256 << (k - 1) slots in a
 * segment of its own, whose reference is in record->slot_chunk[k - 1]. The address of a slot never
 * changes, because the program holds it. */
#include "bcri/slot.h"

#include "bcri/corrupt.h"
#include "bcri/private.h"
#include "bcri/segment.h"

#define SLOT_BYTES sizeof(struct bcri_slot_shm)

static size_t chunk_slots(uint32_t chunk)
{
    return chunk == 0 ? BCRI_FIRST_SLOTS : (size_t)256 << (chunk - 1);
}

bool bcri_slot_room(struct bcri_ctx *ctx, size_t slots)
{
    struct bcri_slot_shm **stack = bcri_private_zeroed(2 * slots + 1, sizeof(struct bcri_slot_shm *));
    if (stack == NULL)
        return false;
    bcri_private_free(ctx->slots.stack);
    ctx->slots.stack = ctx->slot_top = stack;
    return true;
}

struct bcri_slot_shm *bcri_slot_grow(struct bcri_ctx *ctx)
{
    uint32_t chunk = ctx->slots.chunks;
    if (chunk > sizeof ctx->record->slot_chunk / sizeof ctx->record->slot_chunk[0])
        return NULL;
    size_t slots = chunk_slots(chunk), all = slots;
    for (uint32_t i = 0; i < chunk; i++)
        all += chunk_slots(i);
    uint32_t seg;
    if (!bcri_slot_room(ctx, all) ||
        bcri_segment_new(ctx, BCRI_SEG_SLOTS, slots * SLOT_BYTES, slots * SLOT_BYTES, &seg) != 0)
        return NULL;
    struct bcri_slot_shm *base = (struct bcri_slot_shm *)(void *)ctx->map[seg].base;
    ctx->slots.base[chunk] = base;
    ctx->slots.count[chunk] = slots;
    ctx->slots.chunks = chunk + 1;
    bcri_store_release(&ctx->record->slot_chunk[chunk - 1], bcri_ref_make(seg, 0));
    for (size_t i = slots; i-- > 1;)
        bcri_slot_give(ctx, &base[i]);
    return &base[0];
}

static bcri_ref chunk_ref(struct bcri_ctx *ctx, uint32_t index, struct bcri_record_shm *record,
                          uint32_t chunk)
{
    if (chunk == 0) {
        bcri_ref ref = bcri_record_ref(ctx, index);
        return bcri_ref_make(bcri_ref_seg(ref),
                             bcri_ref_offset(ref) + offsetof(struct bcri_record_shm, slots));
    }
    return bcri_load_acquire(&record->slot_chunk[chunk - 1]);
}

/* Makes the chunk in which `address` lies the cached one. False: no chunk of this CCE has it. */
static bool cache_chunk(struct bcri_ctx *ctx, uintptr_t address)
{
    for (uint32_t chunk = 0; chunk < ctx->slots.chunks; chunk++) {
        uintptr_t base = (uintptr_t)ctx->slots.base[chunk];
        if (address - base >= ctx->slots.count[chunk] * SLOT_BYTES)
            continue;
        ctx->slot_cached = base;
        ctx->slot_cached_bytes = ctx->slots.count[chunk] * SLOT_BYTES;
        ctx->slot_cached_ref = chunk_ref(ctx, ctx->index, ctx->record, chunk);
        return true;
    }
    return false;
}

struct bcri_slot_shm *bcri_slot_of_slow(struct bcri_ctx *ctx, bcr_region rgid)
{
    uintptr_t address = (uintptr_t)rgid;
    return cache_chunk(ctx, address) && (address - ctx->slot_cached) % SLOT_BYTES == 0
               ? (struct bcri_slot_shm *)(void *)rgid
               : NULL;
}

bcri_ref bcri_slot_ref_slow(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    uintptr_t address = (uintptr_t)slot;
    return cache_chunk(ctx, address) ? ctx->slot_cached_ref + (address - ctx->slot_cached) / BCRI_REF_UNIT
                                     : BCRI_REF_NONE;
}

void bcri_slot_each(struct bcri_ctx *ctx, uint32_t index,
                    void (*visit)(void *arg, struct bcri_slot_shm *slot, bcri_ref ref), void *arg)
{
    struct bcri_record_shm *record = bcri_record(ctx, index);
    const uint32_t chunks = 1 + sizeof record->slot_chunk / sizeof record->slot_chunk[0];
    for (uint32_t chunk = 0; record != NULL && chunk < chunks; chunk++) {
        bcri_ref ref = chunk_ref(ctx, index, record, chunk);
        if (ref == BCRI_REF_NONE)
            break;
        if (!bcri_at_has(ctx, ref, chunk_slots(chunk) * SLOT_BYTES)) {
            if (bcri_at(ctx, ref) != NULL)
                bcri_corrupt(ctx, "the list of chunks of IDs", ref);
            break;
        }
        struct bcri_slot_shm *base = bcri_at(ctx, ref);
        for (size_t i = 0; i < chunk_slots(chunk); i++)
            if (bcri_load_acquire(&base[i].word) != 0)
                visit(arg, &base[i], ref + i * SLOT_BYTES / BCRI_REF_UNIT);
    }
}

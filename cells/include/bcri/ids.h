/* SPDX-License-Identifier: MIT */
/* From a region ID of the program to its slot: the first step of every public routine that takes an
 * ID. */
#ifndef BCRI_IDS_H
#define BCRI_IDS_H

#include <bcr/error.h>
#include <bcr/types.h>

#include "bcri/self.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

/* An ID as it was looked up. */
struct bcri_id {
    struct bcri_slot_shm *slot;
    bcri_ref ref; /* of the slot */
    uint64_t word;
};

/* 0 and the ID, which is LIVE; bcrE_RGID; bcrE_PENDING (and the ID). */
static inline int bcri_id_look(struct bcri_ctx *ctx, bcr_region rgid, struct bcri_id *id_out)
{
    bcri_ref ref;
    struct bcri_slot_shm *slot = bcri_slot_and_ref(ctx, rgid, &ref);
    if (bcri_unlikely(slot == NULL))
        return bcrE_RGID;
    uint64_t word = bcri_load_acquire(&slot->word);
    *id_out = (struct bcri_id){slot, ref, word};
    if (bcri_likely(bcri_slot_state(word) == BCRI_SLOT_LIVE))
        return 0;
    switch (bcri_slot_state(word)) {
    case BCRI_SLOT_TICKET:
    case BCRI_SLOT_LISTED:
    case BCRI_SLOT_SERVED:
    case BCRI_SLOT_FAILED: return bcrE_PENDING;
    case BCRI_SLOT_ORDERED:
    case BCRI_SLOT_ANSWERED: /* of a get; that of a put the program never saw */
        return (bcri_load(&slot->kind) & 0xffu) <= BCRI_WANT_LOCK ? bcrE_PENDING : bcrE_RGID;
    default: /* free, or a request that the program never saw */ return bcrE_RGID;
    }
}
/* The quickest look: true for an ID that is LIVE without a flag and lies in the chunk that was
 * looked into last; `region` is what it names. False: bcri_id_look says what it is. */
static inline bool bcri_id_fast(const struct bcri_ctx *ctx, bcr_region rgid, struct bcri_id *id_out,
                                bcri_ref *region_out)
{
    const uintptr_t offset = (uintptr_t)rgid - ctx->slot_cached;
    if (bcri_unlikely(offset >= ctx->slot_cached_bytes || offset % sizeof(struct bcri_slot_shm) != 0))
        return false;
    struct bcri_slot_shm *slot = (struct bcri_slot_shm *)(void *)rgid;
    const uint64_t word = bcri_load_acquire(&slot->word);
    *region_out = word - bcri_slot_live(0);
    *id_out = (struct bcri_id){slot, ctx->slot_cached_ref + offset / BCRI_REF_UNIT, word};
    return bcri_likely(*region_out >> BCRI_REF_BITS == 0);
}
/* 0 and the slot, which is LIVE; bcrE_RGID; bcrE_PENDING (and the slot). */
static inline int bcri_id_live(struct bcri_ctx *ctx, bcr_region rgid, struct bcri_slot_shm **slot_out)
{
    struct bcri_id id;
    int error = bcri_id_look(ctx, rgid, &id);
    if (error == 0 || error == bcrE_PENDING)
        *slot_out = id.slot;
    return error;
}

static inline bcr_region bcri_id_of(struct bcri_slot_shm *slot)
{
    return (bcr_region)(void *)slot;
}

/* Sets bcr_errno and returns the failure value. */
static inline int bcri_fail(int code)
{
    bcri_set_errno(code);
    return -1;
}

#endif

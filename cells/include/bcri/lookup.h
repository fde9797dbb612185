/* SPDX-License-Identifier: MIT */
/* Finding cells: where a cell lies, as far as this process has found out. */
#ifndef BCRI_LOOKUP_H
#define BCRI_LOOKUP_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcr/types.h>

#include "bcri/atomics.h"
#include "bcri/cces.h"
#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/ref.h"
#include "bcri/result.h"

/* Where a cell lies, as this process knows it (lookup.c). Borrowed until the next lookup. The
 * fast paths read only its first line. */
struct bcri_resolved {
    uint64_t key;                       /* CCE and number, see bcri_resolved_key */
    const _Atomic uint32_t *version_at; /* of the owner's list; a dummy in an empty entry */
    struct bcri_cell_shm *cell;
    _Atomic uint64_t *ring; /* its entries, as long as the cell has the generation in `open` */
    struct bcri_area_shm *area;
    uint64_t open; /* what H.state and T.state hold when the cell is fast */
    /* What H.state holds when a fast take may go ahead: the same, or that with HIGH, as an attempt
     * has found it last. */
    uint64_t open_head;
    uint32_t version;
    uint32_t ring_mask; /* cuts a byte offset down to an entry's place in the ring */
    /* line 1 */
    bcri_ref ref;
    uint32_t owner;
    uint8_t ring_log2;
    bool may_add, may_take, may_lock; /* for the fast paths; access.c has all rules */
    struct bcri_record_shm *record;   /* of the owner */
    bcri_ref area_ref, ring_ref;
    bcr_cce_id cce;
    int number;
    enum bcri_cell_kind kind;
    bool own;
};

/* The entry of a ticket. Counting in bytes takes one instruction less than an index. */
static inline _Atomic uint64_t *bcri_ring_at(const struct bcri_resolved *resolved, uint64_t ticket)
{
    const uint32_t byte = (uint32_t)(ticket * sizeof(uint64_t)) & resolved->ring_mask;
    return (_Atomic uint64_t *)(void *)((unsigned char *)resolved->ring + byte);
}
static inline uint32_t bcri_ring_entries(const struct bcri_resolved *resolved)
{
    return resolved->ring_mask / (uint32_t)sizeof(uint64_t) + 1;
}

/* The table of resolved cells, by key. It begins with 1 << BCRI_RESOLVEDS_LOG2 entries and doubles,
 * up to 1 << BCRI_RESOLVEDS_LOG2_MOST, as long as valid resolved cells drive each other out. */
#define BCRI_RESOLVEDS_LOG2      8u
#define BCRI_RESOLVEDS_LOG2_MOST 16u
/* Entries are two lines apart. */
union bcri_resolved_entry {
    struct bcri_resolved resolved;
    unsigned char lines[128];
};
static_assert(sizeof(struct bcri_resolved) <= 128, "a resolved cell has two lines");
struct bcri_cellmap {
    size_t driven_out;                                         /* since the table has its size */
    alignas(BCRI_CACHELINE) union bcri_resolved_entry entry[]; /* 1 << (64 - ctx->cells_shift) */
};

static inline uint64_t bcri_resolved_key(bcr_cce_id cce, int number)
{
    return (uint64_t)(uint32_t)cce << 32 | (uint32_t)number;
}
static inline bcr_cce_id bcri_key_cce(uint64_t key)
{
    return (int)(uint32_t)(key >> 32);
}
static inline int bcri_key_number(uint64_t key)
{
    return (int)(uint32_t)key;
}
static inline struct bcri_resolved *bcri_resolved_entry(struct bcri_ctx *ctx, uint64_t key)
{
    return &ctx->cells->entry[key * UINT64_C(0x9e3779b97f4a7c15) >> ctx->cells_shift].resolved;
}

/* Whether `resolved`, an entry of the table or NULL, belongs to this key and is what a lookup would
 * find now. */
static inline bool bcri_resolved_is(const struct bcri_resolved *resolved, uint64_t key)
{
    return bcri_likely(resolved != NULL && resolved->key == key &&
                       resolved->version == bcri_load_acquire(resolved->version_at));
}
/* Finds the cell of `key`: cell `number` of CCE `cce`. `msec` is as in the public calls. BCRI_DONE;
 * BCRI_ELSEWHERE: bcri_elsewhere tells where; or bcrE_NOCCE, bcrE_DEAD, bcrE_NOCELL, bcrE_NOMEM (cannot
 * be mapped), bcrE_TIMEOUT (time is up, and the owner was stopped while it changed its cells). A public
 * routine makes the key first and keeps no halves of it: a load of a whole word that was stored in halves waits for all stores before it. */
struct bcri_result bcri_resolved_find_slow(struct bcri_ctx *ctx, uint64_t key, int msec,
                                           struct bcri_resolved **resolved_out);
static inline struct bcri_result bcri_resolved_find_within(struct bcri_ctx *ctx, uint64_t key, int msec,
                                                           struct bcri_resolved **resolved_out)
{
    if (bcri_likely(ctx->cells != NULL)) {
        struct bcri_resolved *resolved = bcri_resolved_entry(ctx, key);
        if (bcri_resolved_is(resolved, key)) {
            *resolved_out = resolved;
            return bcri_outcome(BCRI_DONE);
        }
    }
    return bcri_resolved_find_slow(ctx, key, msec, resolved_out);
}
/* The same, waiting for ever. */
static inline struct bcri_result bcri_resolved_find_key(struct bcri_ctx *ctx, uint64_t key,
                                                        struct bcri_resolved **resolved_out)
{
    return bcri_resolved_find_within(ctx, key, -1, resolved_out);
}
/* The cell of a key for which a look-up has said BCRI_ELSEWHERE. By value: what was found stays as
 * it is while the tables of this CCE grow and change, and can be handed to another thread. */
struct bcri_elsewhere {
    uint8_t identity[BCRI_IDENTITY_BYTES]; /* of the owner */
    uint32_t host;                         /* its number */
    int number;                            /* of the cell; any, not checked */
};
struct bcri_elsewhere bcri_elsewhere(struct bcri_ctx *ctx, uint64_t key);
/* The resolved cell of this key, if it is in the table's entry `last` or in the key's own entry;
 * else NULL. `last` may be NULL if there is no table yet. */
static inline struct bcri_resolved *bcri_resolved_cached(struct bcri_ctx *ctx, struct bcri_resolved *last,
                                                         uint64_t key)
{
    if (bcri_resolved_is(last, key))
        return last;
    struct bcri_resolved *resolved = last != NULL ? bcri_resolved_entry(ctx, key) : NULL;
    return bcri_resolved_is(resolved, key) ? resolved : NULL;
}
/* For cells of this host: 0, or why there is none. */
static inline int bcri_resolved_find(struct bcri_ctx *ctx, bcr_cce_id cce, int number,
                                     struct bcri_resolved **resolved_out)
{
    return bcri_error_or(bcri_resolved_find_key(ctx, bcri_resolved_key(cce, number), resolved_out),
                         bcrE_NOCCE);
}
void bcri_resolved_forget(struct bcri_ctx *ctx, struct bcri_resolved *resolved);
/* Resolves a cell that is known by reference (service, repair). Returns 0; bcrE_NOMEM: it cannot be
 * mapped; bcrE_NOCELL: there is no cell there any more; for the daemon also bcrE_INTERNAL: it is
 * corrupt (corrupt.h). */
int bcri_resolved_at(struct bcri_ctx *ctx, bcri_ref cell_ref, struct bcri_resolved *resolved_out);
/* The same for a reference that may itself be out of date: then bcrE_INTERNAL means that the cell
 * is corrupt or the reference is out of date. */
int bcri_resolved_look(struct bcri_ctx *ctx, bcri_ref cell_ref, struct bcri_resolved *resolved_out);
/* The version of CCE `index`'s list of areas, once the owner is not changing the list (or is
 * dying). False, for the daemon only: it is parked (lock.h). */
bool bcri_version_stable(struct bcri_ctx *ctx, struct bcri_record_shm *record, uint32_t index,
                         uint32_t *version_out);
void bcri_resolved_fini(struct bcri_ctx *ctx);

#endif

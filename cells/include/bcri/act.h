/* SPDX-License-Identifier: MIT */
/* Operations on cells for a thread of the daemon that acts for CCEs elsewhere, with a context that
 * parks (lock.h): what put, get, zap and length do, with locks that are tried and never waited for.
 *
 * Each returns what the operation does, or BCRI_ACT_PARKED: a CCE has a lock that the operation needs.
 * Then nothing has happened, ctx->daemon.parked names the CCE, and its next release rings; the
 * caller begins the operation again. What an operation that is done leaves to be served behind a
 * lock, bcri_looks_done (repair.h) serves later. */
#ifndef BCRI_ACT_H
#define BCRI_ACT_H

#include <stdint.h>

#include "bcri/lookup.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

enum bcri_act_outcome {
    BCRI_ACT_DONE,
    BCRI_ACT_FAILED, /* `error` says why */
    BCRI_ACT_PARKED,
    BCRI_ACT_WAITS, /* the request waits */
};
struct bcri_acted {
    enum bcri_act_outcome outcome;
    int error; /* a bcrE_ code if FAILED, else 0 */
};

static inline struct bcri_acted bcri_acted(enum bcri_act_outcome outcome)
{
    return (struct bcri_acted){.outcome = outcome};
}

static inline struct bcri_acted bcri_act_failed(int error)
{
    return (struct bcri_acted){.outcome = BCRI_ACT_FAILED, .error = error};
}

/* Puts the region that the LIVE `slot` holds, which ends with it. DONE, bcrE_FULL, or a code of the
 * look-up or of access. */
struct bcri_acted bcri_act_put(struct bcri_ctx *ctx, uint64_t key, bool write, struct bcri_slot_shm *slot);
/* The same for a put that found no room: it waits. WAITS: `*request_out` waits, and has the
 * region. */
struct bcri_acted bcri_act_put_waiting(struct bcri_ctx *ctx, uint64_t key, bool write,
                                       struct bcri_slot_shm *slot, struct bcri_slot_shm **request_out);
/* What has become of it: DONE, a code, and the request is gone; WAITS. `withdraw`: it is not to wait
 * any longer: bcrE_FULL if it did. */
struct bcri_acted bcri_act_put_over(struct bcri_ctx *ctx, struct bcri_slot_shm *request, bool withdraw);
/* Puts back to the head of a cell what was taken there, or has come back from elsewhere. */
struct bcri_acted bcri_act_return(struct bcri_ctx *ctx, uint64_t key, struct bcri_slot_shm *slot);

/* Where the cell lies at which a get would wait now. DONE or why there is none. */
struct bcri_acted bcri_act_find(struct bcri_ctx *ctx, uint64_t key, bcri_ref *cell_out);
/* Takes, reads or locks, by the access right of locks if `locks`. DONE: `*slot_out` is LIVE, the
 * caller's, and says where it is from (`cell`; `prev`: the cell's generation and the epoch).
 * WAITS, if `waits`: it waits. bcrE_TIMEOUT: the cell is empty. */
struct bcri_acted bcri_act_get(struct bcri_ctx *ctx, uint64_t key, enum bcri_want want, bool locks,
                               bool waits, struct bcri_slot_shm **slot_out);
/* What has become of a get that waited: DONE: it is LIVE; WAITS; a code, and the slot is free.
 * `withdraw`: it is not to wait any longer: bcrE_TIMEOUT if it did. */
struct bcri_acted bcri_act_collect(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, bool withdraw);
/* What gets have taken from one cell goes back to its head, before any other get is served there:
 * the youngest, and each older one that its slot names (`next`, or BCRI_REF_NONE). If the cell is
 * gone they are dropped. DONE or PARKED. */
struct bcri_acted bcri_act_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *youngest);
/* The CCE for which a write lock was taken has ended; `from` is what `prev` said. DONE or
 * PARKED. */
struct bcri_acted bcri_act_owner_died(struct bcri_ctx *ctx, bcri_ref cell, uint64_t from);
/* Whether that lock may still be taken: once it is not, it never is again. */
bool bcri_act_has_lock(struct bcri_ctx *ctx, bcri_ref cell, uint64_t from);

struct bcri_acted bcri_act_zap(struct bcri_ctx *ctx, uint64_t key);
struct bcri_acted bcri_act_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out);

#endif

/* SPDX-License-Identifier: MIT */
/* Operations on cells for a thread of the daemon that acts for CCEs elsewhere, with a context that
 * parks (lock.h): what put, get, zap and length do, with locks that are tried and never waited for.
 *
 * Each returns what the operation does, or BCRI_PARKED: a CCE has a lock that the operation needs.
 * Then nothing has happened, ctx->daemon.parked names the CCE, and its next release rings; the
 * caller begins the operation again. What an operation that is done leaves to be served behind a
 * lock, bcri_looks_done (repair.h) serves later. */
#ifndef BCRI_ACT_H
#define BCRI_ACT_H

#include <stdint.h>

#include "bcri/lookup.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

enum { BCRI_PARKED = 901 };

/* Puts the region that the LIVE `slot` holds, which ends with it. 0, bcrE_FULL, or a code of the
 * look-up or of access. */
int bcri_act_put(struct bcri_ctx *ctx, uint64_t key, bool write, struct bcri_slot_shm *slot);
/* Takes or reads; no write lock. 0: `*slot_out` is LIVE, the caller's. bcrE_TIMEOUT: the cell is
 * empty. */
int bcri_act_get(struct bcri_ctx *ctx, uint64_t key, enum bcri_want want, struct bcri_slot_shm **slot_out);
int bcri_act_zap(struct bcri_ctx *ctx, uint64_t key);
int bcri_act_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out);

#endif

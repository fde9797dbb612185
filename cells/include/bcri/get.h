/* SPDX-License-Identifier: MIT */
/* Gets below the public routines: get.c, get_attempt.c, get_slow.c. */
#ifndef BCRI_GET_H
#define BCRI_GET_H

#include "bcri/lookup.h"
#include "bcri/result.h"
#include "bcri/tiers.h"
#include "bcri/waiters.h"

/* A get that the fast tier has not done. */
struct bcri_get {
    uint64_t key;                   /* of the cell: CCE and number */
    struct bcri_resolved *resolved; /* NULL: the cell is yet to be looked up */
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    enum bcri_want want;
    bool lock;  /* by the access right of locks */
    bool waits; /* done by the routines below: the request is at the cell, the slot not LIVE yet */
    int msec;
    uint32_t owner; /* of the cell; a get that waits may forget the resolved cell */
};

/* An attempt under the head lock alone. */
enum bcri_attempt bcri_get_attempt(struct bcri_ctx *ctx, const struct bcri_get *get, enum bcri_held held);

/* Looks the cell up and gets, or begins to wait. 0: the slot is LIVE, or get->waits; or a code. */
int bcri_get_or_wait(struct bcri_ctx *ctx, struct bcri_get *get, enum bcri_held held);

/* A get under both locks of the cell, by a transaction. BCRI_DONE: the slot is LIVE, or get->waits;
 * BCRI_STALE; or a code, bcrE_TIMEOUT also if time is up while the holder of the first lock is
 * stopped. */
struct bcri_result bcri_get_slow(struct bcri_ctx *ctx, struct bcri_get *get);

#endif

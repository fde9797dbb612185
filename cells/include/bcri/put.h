/* SPDX-License-Identifier: MIT */
/* Puts below the public routines: put.c, put_attempt.c, put_slow.c. */
#ifndef BCRI_PUT_H
#define BCRI_PUT_H

#include "bcri/lookup.h"
#include "bcri/result.h"
#include "bcri/tiers.h"

/* A put that the fast tier has not done, or that never went through the fast tier. */
struct bcri_put {
    uint64_t key;                   /* of the cell: CCE and number */
    struct bcri_resolved *resolved; /* NULL: the cell is yet to be looked up */
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    bcri_ref region;
    uint32_t length; /* of the region, which another CCE may free once it is put */
    uint32_t owner;  /* of the cell; a put that waits may forget the resolved cell */
    bool write, nofree;
    int msec;                     /* how long it may wait: that of the call, or what bcr_putwait had said */
    bool shares;                  /* if it is an order: its host gets the region once, for several puts */
    struct bcri_slot_shm *answer; /* NULL, or the ID of an order that is to be waited for (order.h) */
};

/* An attempt under the tail lock alone. */
enum bcri_attempt bcri_put_attempt(struct bcri_ctx *ctx, const struct bcri_put *put, enum bcri_held held,
                                   uint64_t deadline_ns);

/* A put under both locks of the cell, by a transaction. BCRI_DONE, BCRI_NO_ROOM, BCRI_STALE or a code; bcrE_FULL also if time is up while the
 * holder of the head lock is stopped. */
struct bcri_result bcri_put_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write,
                                 bcri_ref region, struct bcri_slot_shm *slot, bool nofree,
                                 uint64_t deadline_ns);

/* For bcr_putm, and for the agent. Looks the put's cell up, puts, and waits for room until the deadline, running handlers meanwhile.
 * Returns 0; bcrE_FULL; or a code of the look-up. Afterwards the slot is free, unless the putter
 * keeps the region (nofree), the put has failed, or it is an order that is to be waited for. */
int bcri_put(struct bcri_ctx *ctx, struct bcri_put *put, uint64_t deadline_ns);

/* Looks up the cell of `put->key`, and whether this CCE may add there; sets `resolved` and `owner`.
 * BCRI_DONE, BCRI_ELSEWHERE or a code. */
struct bcri_result bcri_put_look_up(struct bcri_ctx *ctx, struct bcri_put *put);

/* Counts a put, or a similar call, that has failed, and returns the public call's -1. */
int bcri_put_failed(struct bcri_ctx *ctx, int code);

#endif

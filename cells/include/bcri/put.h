/* SPDX-License-Identifier: MIT */
/* Puts below the public routines: put.c. */
#ifndef BCRI_PUT_H
#define BCRI_PUT_H

#include "bcri/attempt.h"
#include "bcri/resolved.h"

/* A put that the fast tier has not done, or that never was its affair. */
struct bcri_put {
    uint64_t key;                   /* of the cell: CCE and number */
    struct bcri_resolved *resolved; /* NULL: the cell is yet to be looked up */
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    bcri_ref region;
    uint32_t length; /* of the region, which may be somebody else's once it is put */
    uint32_t owner;  /* of the cell; a put that waits may forget the resolved cell */
    bool write, nofree;
};

/* An attempt under the tail lock alone. */
enum bcri_attempt bcri_put_attempt(struct bcri_ctx *ctx, const struct bcri_put *put, enum bcri_held held,
                                   uint64_t deadline_ns);

/* Looks its cell up, puts, and waits for room until the deadline, running handlers meanwhile. 0;
 * bcrE_FULL, and all that a look-up says. The slot is free afterwards unless the put keeps it
 * (nofree) or has failed. */
int bcri_put(struct bcri_ctx *ctx, struct bcri_put *put, uint64_t deadline_ns);

/* The cell of its key, if this CCE may add there: `resolved` and `owner`. 0 or a code. */
int bcri_put_look_up(struct bcri_ctx *ctx, struct bcri_put *put);
/* Counts a put, or what is like one, that has failed, and ends the public call: -1. */
int bcri_put_failed(struct bcri_ctx *ctx, int code);

/* In a put whose journal is open: counts the cell's own hold on a region that the putter keeps, or
 * takes it back, with put_held telling repair at every point which of the two is done. hold: 0 or
 * bcrE_NOMEM. */
int bcri_cell_hold(struct bcri_ctx *ctx, bcri_ref region);
void bcri_cell_unhold(struct bcri_ctx *ctx, bcri_ref region);

#endif

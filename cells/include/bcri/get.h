/* SPDX-License-Identifier: MIT */
/* Gets below the public routines: get.c, get_attempt.c. */
#ifndef BCRI_GET_H
#define BCRI_GET_H

#include "bcri/attempt.h"
#include "bcri/flow.h"

/* A get that the fast tier has not done. */
struct bcri_get {
    uint64_t key;             /* of the cell: CCE and number */
    struct bcri_place *place; /* NULL: the cell is yet to be looked up */
    struct bcri_slot_shm *slot;
    bcri_ref slot_ref;
    enum bcri_want want;
    bool lock; /* by the right of those who lock */
    int msec;
    uint32_t owner; /* of the cell; a get that waits may forget the place */
};

/* An attempt under the head lock alone. */
enum bcri_attempt bcri_get_attempt(struct bcri_ctx *ctx, const struct bcri_get *get, enum bcri_held held);

#endif

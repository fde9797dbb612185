/* SPDX-License-Identifier: MIT */
/* Cell 0: private and take-only; a CCE has it from birth, and the daemon fills it. It lies in the
 * CCE's record. Its regions come from the daemon's own heap, and its nodes, beyond the ring, from
 * segments of the daemon. */
#ifndef BCRI_CELL0_H
#define BCRI_CELL0_H

#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/record.h"

struct bcri_area_shm;

#define BCRI_ERRORS_MAX 4096u

/* Makes cell 0 of a record that was just given out. */
void bcri_cell0_init(struct bcri_ctx *enl, uint32_t index);

/* The area of cell 0, which is the first in its CCE's list. */
static inline struct bcri_area_shm *bcri_cell0_area(struct bcri_record_shm *record)
{
    return (struct bcri_area_shm *)(void *)record->cell0;
}

/* Puts a copy of `data` (at most 64 bytes) into cell 0 of CCE `index`. 0; bcrE_NOMEM; bcrE_DEAD.
 * For the daemon's worker thread. */
int bcri_birth_put(struct bcri_ctx *enl, uint32_t index, uint32_t archtype, const void *data,
                   uint32_t length);

/* Puts an error region into cell 0 of CCE `index`: operation `op` on `number` (a cell, or an
 * ordinal) of the CCE with `identity` (NULL: none) failed with `code`. 0; bcrE_FULL (4,096 unread:
 * the caller counts and logs it); bcrE_NOMEM; bcrE_DEAD. `ctx` is the daemon's, or the CCE's own
 * (then `index` is its own, too). */
int bcri_error_put(struct bcri_ctx *ctx, uint32_t index, int code, int op, const uint8_t *identity,
                   int number);

#endif

/* SPDX-License-Identifier: MIT */
/* Cell 0: private, take-only, there from birth, filled by enl. It lies in the CCE's record; its
 * regions come from enl's own heap, its nodes, beyond the ring, from segments of enl's. */
#ifndef BCRI_CELL0_H
#define BCRI_CELL0_H

#include <stdint.h>

#include "bcri/ctx.h"

#define BCRI_ERRORS_MAX 4096u

/* Makes cell 0 of a record that was just given out. */
void bcri_cell0_init(struct bcri_ctx *enl, uint32_t index);

/* Puts a copy of `data` (at most 64 bytes) into cell 0 of CCE `index`. 0; bcrE_NOMEM; bcrE_DEAD.
 * enl's repair thread. */
int bcri_birth_put(struct bcri_ctx *enl, uint32_t index, uint32_t archtype, const void *data,
                   uint32_t length);

/* Puts an error region: `code` befell operation `op` on `number` (a cell, or an ordinal) of the CCE
 * with `identity` (NULL: none). 0; bcrE_FULL (4,096 unread: count and log it); bcrE_NOMEM;
 * bcrE_DEAD. `ctx` is enl's, or the CCE's own (then `index` is its own too). */
int bcri_error_put(struct bcri_ctx *ctx, uint32_t index, int code, int op, const uint8_t *identity,
                   int number);

#endif

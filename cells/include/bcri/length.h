/* SPDX-License-Identifier: MIT */
/* bcr_celllen below the public routine: length.c. */
#ifndef BCRI_LENGTH_H
#define BCRI_LENGTH_H

#include "bcri/ctx.h"

/* How many regions are in the cell's queue. 0 or a code of the look-up or of access; bcrE_TIMEOUT:
 * the context parks. */
int bcri_cell_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out);

#endif

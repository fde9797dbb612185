/* SPDX-License-Identifier: MIT */
/* Zaps below the public routine: zap.c. */
#ifndef BCRI_ZAP_H
#define BCRI_ZAP_H

#include "bcri/ctx.h"

/* Drops all regions in the cell; `*owner_out` is the index of its owner. 0 or a code of the look-up
 * or of access; bcrE_TIMEOUT: the context parks. */
int bcri_zap(struct bcri_ctx *ctx, uint64_t key, uint32_t *owner_out);

#endif

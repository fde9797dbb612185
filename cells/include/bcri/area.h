/* SPDX-License-Identifier: MIT */
/* What bcr_cagrow makes and bcr_cafree takes away. */
#ifndef BCRI_AREA_H
#define BCRI_AREA_H

#include <stdint.h>

#include "bcri/ctx.h"

/* Both return 0 or a bcrE_ code, with nothing changed. */
int bcri_area_grow(struct bcri_ctx *ctx, int base, const uint32_t kinds[4], uint32_t nrgns, uint64_t nbytes,
                   int *base_out);
int bcri_area_free(struct bcri_ctx *ctx, int base);

#endif

/* SPDX-License-Identifier: MIT */
/* A new region, and the ID that holds it. */
#ifndef BCRI_NEW_REGION_H
#define BCRI_NEW_REGION_H

#include <bcr/types.h>

#include "bcri/ctx.h"

/* bcr_rgalloc behind its fast path. Returns 0 or a bcrE_ code. */
int bcri_region_new(struct bcri_ctx *ctx, uint32_t length, int archtype, bcr_region *rgid_out);

#endif

/* SPDX-License-Identifier: MIT */
/* Cells whose puts make their CCE's descriptor readable (wakeon.c). */
#ifndef BCRI_WAKEON_H
#define BCRI_WAKEON_H

#include "bcri/ctx.h"
#include "bcri/lookup.h"

/* After an addition to the cell, under both its locks: rings the owner if it asked for that. */
void bcri_wakeon_added(struct bcri_ctx *ctx, const struct bcri_resolved *resolved);

#endif

/* SPDX-License-Identifier: MIT */
/* What a stray store may have done to cells and areas: bounded looks before anybody follows what stands there. Off the fast
 * paths: when a cell is looked up, and when both its locks are taken. What fails is bcrE_INTERNAL; nothing is changed.
 *
 * Why the fast paths need none: places are private copies, a ring index is masked, and a reference is compared with the
 * end of its segment as it becomes an address (bcri_at). */
#ifndef BCRI_SANE_H
#define BCRI_SANE_H

#include <stdbool.h>

#include "bcri/cell.h"
#include "bcri/place.h"
#include "bcri/region.h"

/* The area at `ref`, all of it and its cells within its segment; else NULL. Also NULL without damage: cannot be mapped. For
 * those whom nobody takes the area away from: its owner, and enl when that has ended. */
struct bcri_area_shm *bcri_area_at(struct bcri_ctx *ctx, bcri_ref ref);

/* The same for the area behind `before` (NULL: none) in its list: their numbers ascend, so no list that may be goes in circles. */
struct bcri_area_shm *bcri_area_next(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_area_shm *before);

/* The same for everybody else: NULL without damage also if there is no area any more. `*gen_out`: the generation that was
 * looked at, not 0. */
struct bcri_area_shm *bcri_area_look(struct bcri_ctx *ctx, bcri_ref ref, uint32_t *gen_out);

/* What was read of an area, which had generation `gen` at that time, makes no sense: that is damage, unless the area has
 * gone meanwhile. */
void bcri_area_damaged(struct bcri_ctx *ctx, const struct bcri_area_shm *area, uint32_t gen);

/* Under both locks: whether counters, chains and lists begin as they may. */
bool bcri_cell_sane(struct bcri_ctx *ctx, const struct bcri_place *place);

/* For a request that still waits at a cell which was found closed, or another's: whether that is for good, so that nobody
 * will ever answer. A living owner that is closing its cells ends their requests, or opens them again. */
bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_place *place, const struct bcri_slot_shm *slot);

/* Whether a cell that is in its owner's list is what such a cell must be: open. */
bool bcri_cell_open(const struct bcri_place *place);

/* Whether a region's data lies in its segment. */
bool bcri_region_sane(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_region_shm *region);

#endif

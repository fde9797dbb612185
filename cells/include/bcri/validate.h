/* SPDX-License-Identifier: MIT */
/* Areas and cells are looked at before anybody follows what stands there (corrupt.h): areas when a
 * cell is looked up, since who looks has no lock and may see anything; cells when the daemon has
 * both their locks. CCEs do without the latter.
 *
 * What calls need no look for: resolved cells are private copies, a ring index is masked, and a
 * reference is compared with the end of its segment as it becomes an address (bcri_at). */
#ifndef BCRI_VALIDATE_H
#define BCRI_VALIDATE_H

#include <stdbool.h>

#include "bcri/cell.h"
#include "bcri/resolved.h"

/* The area at `ref`, all of it and its cells within their segments, of the generation `*gen_out`.
 * 0; bcrE_NOCELL: there is none (any more); bcrE_NOMEM: it cannot be mapped; bcrE_INTERNAL: it is
 * corrupt, for its generation is the same as before. */
int bcri_area_look(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_area_shm **area_out, uint32_t *gen_out);

/* The same for the area behind `before` (NULL: none) in its owner's list. 0; bcrE_NOMEM;
 * bcrE_INTERNAL: no such list may be, unless the owner has changed it meanwhile. Numbers ascend
 * along it: so none goes in circles. */
int bcri_area_next(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_area_shm *before,
                   struct bcri_area_shm **area_out);
/* The same by the list's owner, or the daemon when that has ended: one that may not be is corrupt.
 * NULL: it cannot be mapped, or, for the daemon, is corrupt. */
struct bcri_area_shm *bcri_area_next_own(struct bcri_ctx *ctx, bcri_ref ref,
                                         const struct bcri_area_shm *before);

/* The daemon, with both locks: whether counters, chains and lists begin as they may. If not the
 * cell is condemned. */
bool bcri_cell_validate(struct bcri_ctx *enl, struct bcri_resolved *resolved);

/* The daemon, with both locks: closes a corrupt cell for good. Whoever waits there, or comes later,
 * is told bcrE_INTERNAL; what its chains lead to stays held. Waiting puts are told when the daemon
 * looks at the cell next (bcri_look_again), which it is rung for. */
void bcri_cell_condemn(struct bcri_ctx *enl, struct bcri_resolved *resolved);

/* For a request that still waits at a cell which was found closed, or another's: whether that is
 * for good, so that nobody will ever answer. That is corrupt: a living owner that is closing its
 * cells ends their requests, or opens them again. */
bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                    const struct bcri_slot_shm *slot);

/* Whether a cell that is in its owner's list is what such a cell must be: open. */
bool bcri_cell_open(const struct bcri_resolved *resolved);
/* Whether it is condemned. */
static inline bool bcri_cell_condemned(const struct bcri_resolved *resolved)
{
    const uint64_t state = bcri_load_acquire(&resolved->cell->h.state);
    return state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CORRUPT) != 0;
}

#endif

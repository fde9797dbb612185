/* SPDX-License-Identifier: MIT */
/* Areas and cells are validated before any process follows what stands there (corrupt.h). A CCE or
 * the daemon validates an area when it looks a cell up, since it has no lock then and may read
 * anything. Only the daemon validates cells, when it has both their locks.
 *
 * Other calls need no such look: resolved cells are private copies, a ring index is masked, and
 * bcri_at compares a reference with the end of its segment when it turns it into an address. */
#ifndef BCRI_VALIDATE_H
#define BCRI_VALIDATE_H

#include <stdbool.h>

#include "bcri/cell.h"
#include "bcri/lookup.h"

/* Looks at the area at `ref`: whether all of it and its cells lie within their segments; its
 * generation is `*gen_out`. 0; bcrE_NOCELL: there is no area there (any more); bcrE_NOMEM: it
 * cannot be mapped; bcrE_INTERNAL: it is corrupt, since its generation did not change meanwhile. */
int bcri_area_look(struct bcri_ctx *ctx, bcri_ref ref, struct bcri_area_shm **area_out, uint32_t *gen_out);

/* The same for the area that follows `before` (NULL: none) in its owner's list. 0; bcrE_NOMEM;
 * bcrE_INTERNAL: the list is corrupt, unless the owner has changed it meanwhile. The numbers of
 * cells must ascend along the list, so that a list in a circle is found. */
int bcri_area_next(struct bcri_ctx *ctx, bcri_ref ref, const struct bcri_area_shm *before,
                   struct bcri_area_shm **area_out);
/* The same for the list's owner, or for the daemon when the owner has ended: the list does not
 * change, so an area that is not valid is reported as corrupt. NULL: it cannot be mapped, or, for
 * the daemon, is corrupt. */
struct bcri_area_shm *bcri_area_next_own(struct bcri_ctx *ctx, bcri_ref ref,
                                         const struct bcri_area_shm *before);

/* For the daemon, with both locks: whether counters, chains and lists have valid beginnings. If
 * not, the daemon condemns the cell. */
bool bcri_cell_validate(struct bcri_ctx *enl, struct bcri_resolved *resolved);

/* For the daemon, with both locks: closes a corrupt cell for good. Requests that wait there, and
 * later operations, end with bcrE_INTERNAL; the regions on its chains stay held. Waiting puts are
 * told when the daemon looks at the cell next (bcri_look_again), for which it rings itself. */
void bcri_cell_condemn(struct bcri_ctx *enl, struct bcri_resolved *resolved);

/* Whether a cell is open, as each cell in its owner's list must be. */
bool bcri_cell_open(const struct bcri_resolved *resolved);
/* Whether the daemon has condemned the cell. */
static inline bool bcri_cell_condemned(const struct bcri_resolved *resolved)
{
    const uint64_t state = bcri_load_acquire(&resolved->cell->h.state);
    return state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CORRUPT) != 0;
}

#endif

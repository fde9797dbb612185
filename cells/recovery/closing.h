/* SPDX-License-Identifier: MIT */
/* The part of a repair that concerns cells; cleanup.c only. */
#ifndef BCRI_CLOSING_H
#define BCRI_CLOSING_H

#include "bcri/ctx.h"

/* Closes the cells of the dead CCE `index`: who waits there is told bcrE_DEAD, what is queued is
 * dropped. */
void bcri_cells_close(struct bcri_ctx *enl, uint32_t index);
/* Does bcri_write_owner_died to all cells of other CCEs. */
void bcri_write_owner_died_everywhere(struct bcri_ctx *enl, uint32_t index);

#endif

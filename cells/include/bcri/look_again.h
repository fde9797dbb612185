/* SPDX-License-Identifier: MIT */
/* Cells to which the daemon must come back. */
#ifndef BCRI_LOOK_AGAIN_H
#define BCRI_LOOK_AGAIN_H

#include <stdint.h>

#include "bcri/ctx.h"

/* Remembers a cell to which the daemon must come back. It has left something there that any CCE
 * that comes to the cell does, too: requests to serve, or puts that wait for room in its area. So
 * nothing is lost if the list of these cells is. */
void bcri_look_again(struct bcri_ctx *enl, bcri_ref cell);

#endif

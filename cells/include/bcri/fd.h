/* SPDX-License-Identifier: MIT */
/* The descriptors of armed cells (bcr_fd). */
#ifndef BCRI_FD_H
#define BCRI_FD_H

#include "bcri/ctx.h"

/* Closes the descriptors of an area's cells, or of all (BCRI_REF_NONE, when the context ends). */
void bcri_cell_fds_close(struct bcri_ctx *ctx, bcri_ref area);

#endif

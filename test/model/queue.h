/* SPDX-License-Identifier: MIT */
/* What is in a cell, seen from outside and without touching it. */
#ifndef BCR_TEST_MODEL_QUEUE_H
#define BCR_TEST_MODEL_QUEUE_H

#include <bcr/types.h>

#include "bcri/ctx.h"

/* The ints that the regions of a cell hold, in their order, at most `room`; `watcher` is a CCE that
 * does nothing else, and no operation is under way. Returns how many there are. */
int queue_values(struct bcri_ctx *watcher, bcr_cce_id cce, int cell, int *values, int room);

#endif

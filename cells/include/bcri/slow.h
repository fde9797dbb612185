/* SPDX-License-Identifier: MIT */
/* put and get under both locks of the cell, by transactions (queue.h, tx.h). They open and close
 * the journal. */
#ifndef BCRI_SLOW_H
#define BCRI_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/request.h"
#include "bcri/resolved.h"
#include "bcri/slot.h"

/* If time is up while the holder of the first lock is stopped, put returns bcrE_FULL and get
 * bcrE_TIMEOUT. */
int bcri_put_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool write, bcri_ref region,
                  struct bcri_slot_shm *slot, bool nofree, uint64_t deadline_ns);
int bcri_get_slow(struct bcri_ctx *ctx, struct bcri_resolved *resolved, enum bcri_want want, int msec,
                  struct bcri_slot_shm *slot);

#endif

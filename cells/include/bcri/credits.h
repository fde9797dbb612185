/* SPDX-License-Identifier: MIT */
/* Credits: how many queued regions a cell may hold of its area's bound `nrgns`. A credit is a
 * cell's, or lies in the area's pool. So the bound is exact, and puts share no counter. */
#ifndef BCRI_CREDITS_H
#define BCRI_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

/* A cell's share of the credits. */
uint32_t bcri_credits_share(const struct bcri_resolved *resolved);

/* Takes a share of credits in advance out of the pool. It needs the tail lock at least: without the
 * head lock credits may only grow. It takes none while puts wait for room: the credits were
 * gathered for them, and they would not learn that this cell does not use them. False: there are
 * none to take. */
bool bcri_credits_from_pool(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Whether the area's bound has room for one more region in this cell. Takes credits from the pool
 * if the cell has too few. Under both locks of the cell. */
bool bcri_credit_for_one(struct bcri_ctx *ctx, struct bcri_resolved *resolved);

/* Moves an unused credit of this cell into the pool; `half`: half of the unused ones, for a put
 * that does not wait. Under the area's lock. */
bool bcri_credit_spare(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool half);
/* The same for the first cell of the area that has one. False: none has. */
bool bcri_credits_gather(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bool half);

#endif

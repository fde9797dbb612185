/* SPDX-License-Identifier: MIT */
/* A CCE that only looks for regions, or is a server: bcr_idle.
 *
 * It spins, or sleeps with a time limit, so the search for deadlocks cannot see from outside that it has nothing to
 * find: while it looks, its journal is open, and a region that it has taken may be counted later. So the daemon asks
 * (record.h: `idle.asked`), and the CCE answers when it has looked in vain: whether it has done nothing but look since
 * it has called bcr_idle, and there is nothing in its cells, requests and handlers that it could find.
 *
 * A period begins with bcr_idle, and ends with the first region that the CCE gets, with a handler that begins, or with
 * anything else that it does. So an answer is about all of the time since `period` changed. docs/states/deadlock.md has
 * what follows from that.
 *
 * That a CCE is a server is one more word, which the daemon reads when the CCE rests, so it need not be asked for. It
 * changes between periods only: a host that has told of a period tells anew. */
#ifndef BCRI_IDLE_H
#define BCRI_IDLE_H

#include "bcri/ctx.h"

void bcri_idle_end(struct bcri_ctx *ctx);
void bcri_idle_answer(struct bcri_ctx *ctx);

/* The CCE has found something to do that no counter tells. */
static inline void bcri_idle_ends(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(ctx->idle.declared))
        bcri_idle_end(ctx);
}

/* It has looked for a region, and found none. */
static inline void bcri_idle_looked(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(ctx->idle.declared))
        bcri_idle_answer(ctx);
}

#endif

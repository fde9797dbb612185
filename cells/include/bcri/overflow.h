/* SPDX-License-Identifier: MIT */
/* Nodes: each holds a region that is queued outside the ring of its cell. They belong to the area;
 * free ones are chained. Under the leaf lock (area_locks.h). */
#ifndef BCRI_OVERFLOW_H
#define BCRI_OVERFLOW_H

#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/lookup.h"

/* A node for the running operation's transaction. The area gets more nodes if it has none left. 0
 * or bcrE_NOMEM. bcri_tx_node_take adds to the transaction the stores that take the node out of the
 * free ones. */
int bcri_node_find(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref *node_out);
void bcri_tx_node_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node);
void bcri_tx_node_free(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node);

/* Takes the node and chains it, with `region`, behind the ring. */
void bcri_tx_chain_back(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node, bcri_ref region);

#endif

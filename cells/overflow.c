/* SPDX-License-Identifier: MIT */
/* Nodes for regions outside the ring: overflow.h. Every change but the growth is part of the
 * caller's transaction. */
#include "bcri/overflow.h"

#include "bcri/cell.h"
#include "bcri/host.h"
#include "bcri/lookup.h"
#include "bcri/segment.h"
#include "bcri/tx.h"

#define CELL       struct bcri_cell_shm
#define NODE       struct bcri_node_shm
#define AREA       struct bcri_area_shm
#define GROW_PAGES 8u
#define GROW_NODES (GROW_PAGES * BCRI_PAGE_BYTES / (uint32_t)sizeof(NODE))

static_assert(sizeof(NODE) == BCRI_REF_UNIT, "the next node has the next reference");

static bcri_ref peek(struct bcri_resolved *resolved)
{
    AREA *area = resolved->area;
    bcri_ref node = bcri_load(&area->node_free);
    if (node != 0)
        return node;
    uint32_t fresh = bcri_load(&area->node_fresh);
    return fresh < area->node_count ? area->nodes + fresh : BCRI_REF_NONE;
}

/* Regions that were given back may exceed nrgns. Then the CCE that gives one back adds nodes, in
 * pages of the area's owner, which are freed with the owner's other pages. */
static int add_nodes(struct bcri_ctx *ctx, struct bcri_resolved *resolved)
{
    bcri_ref got[BCRI_PAGE_SORTS];
    int error = bcri_segment_pages_take(ctx, resolved->owner, (const uint32_t[]){0, GROW_PAGES}, got);
    if (error != 0)
        return error;
    const bcri_ref ref = got[BCRI_PAGE_RINGS];
    NODE *node = bcri_map_or_dummy(ctx, ref);
    for (uint32_t i = 0; i + 1 < GROW_NODES; i++)
        bcri_store(&node[i].next, ref + i + 1);
    bcri_store(&node[GROW_NODES - 1].next, bcri_load(&resolved->area->node_free));
    bcri_step();
    bcri_store_release(&resolved->area->node_free, ref);
    return 0;
}

int bcri_node_find(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref *node_out)
{
    int error = 0;
    if ((*node_out = peek(resolved)) == BCRI_REF_NONE && (error = add_nodes(ctx, resolved)) == 0)
        *node_out = peek(resolved);
    return error;
}

void bcri_tx_node_take(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node)
{
    if (node == bcri_load(&resolved->area->node_free))
        BCRI_TX64(ctx, resolved->area_ref, AREA, node_free,
                  bcri_load(&((NODE *)bcri_map_or_dummy(ctx, node))->next));
    else
        BCRI_TX32(ctx, resolved->area_ref, AREA, node_fresh, bcri_load(&resolved->area->node_fresh) + 1);
}

void bcri_tx_node_free(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node)
{
    BCRI_TX64(ctx, node, NODE, next, bcri_load(&resolved->area->node_free));
    BCRI_TX64(ctx, resolved->area_ref, AREA, node_free, node);
}

void bcri_tx_chain_back(struct bcri_ctx *ctx, struct bcri_resolved *resolved, bcri_ref node, bcri_ref region)
{
    bcri_ref last = bcri_load(&resolved->cell->c.back_last);
    bcri_tx_node_take(ctx, resolved, node);
    BCRI_TX64(ctx, node, NODE, region, region);
    BCRI_TX64(ctx, node, NODE, next, 0);
    if (last != 0)
        BCRI_TX64(ctx, last, NODE, next, node);
    else
        BCRI_TX64(ctx, resolved->ref, CELL, c.back_first, node);
    BCRI_TX64(ctx, resolved->ref, CELL, c.back_last, node);
    BCRI_TX32(ctx, resolved->ref, CELL, c.extra, bcri_load(&resolved->cell->c.extra) + 1);
}

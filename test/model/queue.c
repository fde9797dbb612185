/* SPDX-License-Identifier: MIT */
/* See queue.h; the parts of a queue are drawn in bcri/cell.h. */
#include "queue.h"

#include "bcri/cell.h"
#include "bcri/lookup.h"
#include "bcri/region.h"
#include "check.h"

struct values {
    struct bcri_ctx *ctx;
    int *value, count, room;
};

static void add(struct values *values, bcri_ref region)
{
    CHECK(bcri_at(values->ctx, region) != NULL);
    if (values->count < values->room)
        values->value[values->count] = *(int *)bcri_region_data(values->ctx, region);
    values->count++;
}

static void add_chain(struct values *values, bcri_ref ref)
{
    while (ref != BCRI_REF_NONE) {
        struct bcri_node_shm *node = bcri_at(values->ctx, ref);
        add(values, bcri_load(&node->region));
        ref = bcri_load(&node->next);
    }
}

int queue_values(struct bcri_ctx *watcher, bcr_cce_id cce, int cell, int *value, int room)
{
    struct values values = {.ctx = watcher, .value = value, .room = room};
    struct bcri_resolved *resolved;
    CHECK_INT(bcri_resolved_find(watcher, cce, cell, &resolved), 0);
    struct bcri_cell_shm *shm = resolved->cell;
    if (bcri_load(&shm->c.first) != BCRI_REF_NONE)
        add(&values, bcri_load(&shm->c.first));
    add_chain(&values, bcri_load(&shm->c.front));
    uint64_t tail = bcri_load_acquire(&shm->t.tail);
    for (uint64_t t = bcri_load_acquire(&shm->h.head); t < tail; t++)
        add(&values, bcri_load_acquire(bcri_ring_at(resolved, t)) & BCRI_REF_MASK);
    add_chain(&values, bcri_load(&shm->c.back_first));
    return values.count;
}

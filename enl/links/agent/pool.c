/* SPDX-License-Identifier: MIT */
/* pool.c -- the receive pool: the agent's heap, in which regions from other hosts arrive. */
#include "bcri/clock.h"
#include "bcri/heap.h"
#include "bcri/region.h"

#include "links/agent/private.h"

#define POOL_FIRST_BYTES (UINT64_C(2) << 20)
#define POOL_SPARE_BYTES (UINT64_C(64) << 10) /* beside a large region */
#define POOL_AGAIN_NS    BCRI_NS_PER_S        /* when there was no memory */

bool bcri_pool_make(struct bcri_agent *agent)
{
    const uint64_t all = agent->pool_bytes;
    agent->pool_now = agent->events->wants_pool != NULL && all > POOL_FIRST_BYTES ? POOL_FIRST_BYTES : all;
    /* What small regions leave behind does not hold up a large one for ever. */
    return bcri_heap_pool_add(agent->ctx, agent->pool_now + POOL_SPARE_BYTES, all + POOL_SPARE_BYTES,
                              &agent->pool) == 0;
}

/* Asks for as much again as there is, and for `length` at least, unless that was asked. */
static void want_pool(struct bcri_agent *agent, uint64_t length)
{
    struct bcri_heap_piece piece;
    const uint64_t least = length + POOL_SPARE_BYTES;
    if (agent->pool_asked || agent->events->wants_pool == NULL || agent->now < agent->pool_again ||
        !bcri_heap_pool_next(agent->ctx, agent->pool, least > agent->pool_now ? least : agent->pool_now,
                             &piece))
        return;
    agent->pool_asked = agent->events->wants_pool(agent->owner, &piece);
}

void bcri_pool_grown(struct bcri_agent *agent, const struct bcri_heap_piece *piece, bool reserved)
{
    agent->pool_asked = false;
    if (reserved) {
        bcri_heap_pool_grow(agent->ctx, agent->pool, piece);
        agent->pool_now += (uint64_t)(piece->end - piece->first) * BCRI_HEAP_PAGE;
    } else {
        bcri_agent_note(agent, BCRI_NO_HOST, "no memory for more than %llu MiB of regions from other hosts",
                        (unsigned long long)agent->pool_now >> 20);
        agent->pool_again = agent->now + POOL_AGAIN_NS;
    }
}

struct bcri_slot_shm *bcri_agent_alloc(struct bcri_agent *agent, uint32_t length, uint32_t archtype,
                                       uint32_t kind)
{
    struct bcri_ctx *ctx = agent->ctx;
    bcri_ref ref;
    struct bcri_region_shm *region;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return NULL;
    if (bcri_heap_alloc(ctx, length, archtype, &ref, &region) != 0) {
        bcri_slot_give(ctx, slot);
        want_pool(agent, length);
        return NULL;
    }
    if (bcri_heap_charged(ctx) > agent->pool_now / 2)
        want_pool(agent, 0);
    region->kind = (uint16_t)kind;
    bcri_slot_name(slot, ref, bcri_header_data(ctx, ref, region));
    bcri_store_release(&region->count, BCRI_COUNT_ONE);
    return slot;
}

/* SPDX-License-Identifier: MIT */
/* Handlers by cell number (bcri/registry.h). */
#include "bcri/registry.h"
#include "bcri/private.h"

enum { LEAST = 16 };

static void put(struct bcri_registry *registry, struct bcri_handler *handler)
{
    size_t i = bcri_registry_home(registry, handler->cell);
    while (registry->slot[i] != NULL)
        i = (i + 1) & (registry->room - 1);
    registry->slot[i] = handler;
}

bool bcri_registry_reserve(struct bcri_registry *registry)
{
    if (2 * (registry->count + 1) <= registry->room)
        return true;
    struct bcri_registry grown = {.room = registry->room != 0 ? 2 * registry->room : LEAST,
                                  .count = registry->count};
    grown.slot = bcri_private_zeroed(grown.room, sizeof(void *));
    if (grown.slot == NULL)
        return false;
    for (size_t i = 0; i < registry->room; i++)
        if (registry->slot[i] != NULL)
            put(&grown, registry->slot[i]);
    bcri_private_free(registry->slot);
    *registry = grown;
    return true;
}

void bcri_registry_add(struct bcri_registry *registry, struct bcri_handler *handler)
{
    put(registry, handler);
    registry->count++;
}

void bcri_registry_remove(struct bcri_registry *registry, const struct bcri_handler *handler)
{
    const size_t mask = registry->room - 1;
    size_t gap = bcri_registry_home(registry, handler->cell);
    while (registry->slot[gap] != handler)
        gap = (gap + 1) & mask;
    /* The handlers behind it move up, as far as their homes allow, so that no gap lies between a
     * handler and its home. */
    for (size_t i = (gap + 1) & mask; registry->slot[i] != NULL; i = (i + 1) & mask) {
        size_t home = bcri_registry_home(registry, registry->slot[i]->cell);
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        registry->slot[gap] = registry->slot[i];
        gap = i;
    }
    registry->slot[gap] = NULL;
    registry->count--;
}

/* The handlers under one bit have their homes side by side. A handler that is not at its home lies
 * behind it, with no gap in between. */
void bcri_registry_under_bit(const struct bcri_registry *registry, uint32_t bit,
                             void (*see)(struct bcri_handler *handler, void *arg), void *arg)
{
    const size_t mask = registry->room - 1;
    const size_t first = (size_t)((uint64_t)bit * registry->room >> BCRI_REQUEST_BITS_LOG2);
    const size_t end = (size_t)(((uint64_t)(bit + 1) * registry->room - 1) >> BCRI_REQUEST_BITS_LOG2) + 1;
    for (size_t i = first; registry->room != 0 && i < first + registry->room; i++) {
        struct bcri_handler *handler = registry->slot[i & mask];
        if (handler == NULL && i >= end)
            return;
        if (handler != NULL && bcri_request_bit((uint32_t)handler->cell) == bit)
            see(handler, arg);
    }
}

void bcri_registry_fini(struct bcri_registry *registry)
{
    for (size_t i = 0; i < registry->room; i++)
        bcri_private_free(registry->slot[i]);
    bcri_private_free(registry->slot);
    *registry = (struct bcri_registry){0};
}

/* SPDX-License-Identifier: MIT */
/* Which handler is installed at which cell: a hash table by cell number. Handlers are never moved. */
#ifndef BCRI_REGISTRY_H
#define BCRI_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/agenda.h"

struct bcri_handler {
    struct bcri_summoned summoned; /* must be first */
    void (*run)(int cell);
    int cell;
    int activep, blockp;
    /* Generations of its cell's mark that are its own: it may have been replaced, each time with a new one. */
    uint32_t first_gen, last_gen;
};

struct bcri_registry {
    struct bcri_handler **slot; /* open addressing; NULL: free */
    size_t room, count;         /* room is a power of two, at most half of it used; or 0 */
};

/* Room for one more. False: no memory. */
bool bcri_registry_reserve(struct bcri_registry *registry);
/* Adds one for a cell that has none, after bcri_registry_reserve. */
void bcri_registry_add(struct bcri_registry *registry, struct bcri_handler *handler);
void bcri_registry_remove(struct bcri_registry *registry, const struct bcri_handler *handler);
/* Frees the table and the handlers in it. */
void bcri_registry_fini(struct bcri_registry *registry);

static inline size_t bcri_registry_home(const struct bcri_registry *registry, int cell)
{
    return (size_t)((uint32_t)cell * UINT32_C(2654435769) >> 7) & (registry->room - 1);
}

static inline struct bcri_handler *bcri_registry_find(const struct bcri_registry *registry, int cell)
{
    if (registry->room == 0)
        return NULL;
    size_t i = bcri_registry_home(registry, cell);
    while (registry->slot[i] != NULL && registry->slot[i]->cell != cell)
        i = (i + 1) & (registry->room - 1);
    return registry->slot[i];
}

#endif

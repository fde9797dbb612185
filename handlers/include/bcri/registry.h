/* SPDX-License-Identifier: MIT */
/* Which handler is installed at which cell: a hash table by cell number. A handler's memory is
 * never moved. The table is in the order of the hashes by which the requests are found
 * (handler_request.h), except for handlers that found their home taken. */
#ifndef BCRI_REGISTRY_H
#define BCRI_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/handler_request.h"
#include "bcri/run_queue.h"

struct bcri_handler {
    struct bcri_requested requested;            /* must be first */
    void (*run)(int cell);                      /* of bcr_handler; or: */
    void (*run_with)(int cell, void *argument); /* of bcr_handler_arg */
    void *argument;
    int cell;
    int activep, blockp;
    const _Atomic uint64_t *counter; /* counts the requests of its cell */
    uint64_t seen;                   /* how many of them have been put into the run queue */
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
    return (size_t)((uint64_t)bcri_request_hash((uint32_t)cell) * registry->room >> 32);
}

/* Calls `see` for each handler whose cell has this bit of the request bits. */
void bcri_registry_under_bit(const struct bcri_registry *registry, uint32_t bit,
                             void (*see)(struct bcri_handler *handler, void *arg), void *arg);

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

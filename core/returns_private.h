/* SPDX-License-Identifier: MIT */
/* What one CCE remembers of its ways home and of those that lead to it; returns.c and returns_collect.c only. */
#ifndef BCR_RETURNS_PRIVATE_H
#define BCR_RETURNS_PRIVATE_H

#include "bcri/returns.h"

/* A block of this CCE as freer. */
struct block {
    struct bcri_return_cell_shm *cell;
    struct block *next; /* towards the newest of its way, or in the list of spare ones */
    bcri_ref ref;
    uint32_t lap;
};

/* The way to one home. `entry` is where the next reference goes; equal to `link`: the block is full. */
struct way {
    _Atomic uint64_t *entry;
    _Atomic uint64_t *link;
    uint64_t where; /* word reference of `entry` */
    uint64_t lap;   /* shifted to its place */
    const struct bcri_identity_shm *home;
    uint64_t home_id;
    struct block *oldest, *newest;
};

/* A queue that leads here. */
struct incoming {
    _Atomic uint64_t *entry; /* where the next reference will appear */
    _Atomic uint64_t *link;
    struct bcri_return_cell_shm *cell;
    uint32_t lap;
    uint32_t idle; /* looks in a row that found nothing */
    uint32_t seg;  /* where the queue's head lies */
    struct bcri_return_queue_shm *queue;
};

struct bcri_returns {
    struct way **way; /* by index of the home's record */
    uint32_t way_count;
    uint32_t seg; /* where cells are carved */
    uint64_t seg_bytes, seg_reserved, seg_used;
    struct bcri_return_cell_shm *queue_cell;
    bcri_ref queue_cell_ref;
    uint32_t queues_used;
    struct block *spare;
    /* as owner */
    struct incoming *incoming;
    uint32_t incoming_count, incoming_room, next;
    bcri_ref newest; /* the newest queue that is in `incoming` */
};

/* Made at first use; NULL: no memory. */
struct bcri_returns *bcri_returns_get(struct bcri_ctx *ctx);

/* The part of an identity that tells one use of a record from the next. It changes only while nothing of the record is
 * named any more, so whoever holds a region from there may read it. */
uint64_t bcri_identity_part(const struct bcri_identity_shm *id);

#endif

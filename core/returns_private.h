/* SPDX-License-Identifier: MIT */
/* The rest of what one CCE remembers of its ways home and of those that lead to it (returns_fast.h); returns.c and returns_collect.c only. */
#ifndef BCR_RETURNS_PRIVATE_H
#define BCR_RETURNS_PRIVATE_H

#include "bcri/returns_fast.h"

/* A block of this CCE as freer. */
struct bcri_return_block {
    struct bcri_return_cell_shm *cell;
    struct bcri_return_block *next; /* towards the newest of its way, or in the list of spare ones */
    bcri_ref ref;
    uint32_t lap;
};

/* A queue that leads here. */
struct bcri_incoming {
    _Atomic uint64_t *entry; /* where the next reference will appear */
    _Atomic uint64_t *link;
    struct bcri_return_cell_shm *cell;
    uint32_t lap;
    uint32_t idle; /* looks in a row that found nothing */
    uint32_t seg;  /* where the queue's head lies */
    struct bcri_return_queue_shm *queue;
};

/* Made at first use; NULL: no memory. */
struct bcri_returns *bcri_returns_get(struct bcri_ctx *ctx);

#endif

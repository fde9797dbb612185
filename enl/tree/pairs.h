/* SPDX-License-Identifier: MIT */
/* Hosts that are being introduced, two by two, found by their numbers: when many hosts begin to talk at the same time
 * there are thousands. No loop and no network is here. */
#ifndef ENL_PAIRS_H
#define ENL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/seal.h"

struct enl_pair {
    struct enl_pair *next; /* of its bucket */
    uint32_t asker, other;
    uint8_t random[BCRI_SEAL_KEY_BYTES]; /* the asker's */
};

/* Zero: there is none. */
struct enl_pairs {
    struct enl_pair **buckets;
    size_t room, count; /* buckets, and pairs in them */
};

/* Where the pair of these two is, in either order; there is none if NULL is there. */
struct enl_pair **enl_pair_find(struct enl_pairs *all, uint32_t one, uint32_t two);
/* There is none of these two yet. False: no memory. */
bool enl_pair_add(struct enl_pairs *all, uint32_t asker, uint32_t other, const uint8_t *random);
void enl_pair_drop(struct enl_pairs *all, struct enl_pair **at);
/* Drops all pairs with that host. */
void enl_pairs_drop(struct enl_pairs *all, uint32_t host);
void enl_pairs_free(struct enl_pairs *all);

#endif

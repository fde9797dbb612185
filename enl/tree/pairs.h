/* SPDX-License-Identifier: MIT */
/* Hosts that are being introduced, two by two, found by their numbers: when many hosts begin to talk at the same time
 * there are thousands. No loop and no network is here. */
#ifndef ENL_PAIRS_H
#define ENL_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/table.h"
#include "bcri/seal.h"

struct enl_pair {
    struct entry at; /* in either order */
    LIST_ENTRY(enl_pair) entry;
    uint32_t requester, other;
    uint8_t random[BCRI_SEAL_KEY_BYTES]; /* the requester's */
};

struct enl_pairs {
    struct table table;
    LIST_HEAD(, enl_pair) list;
};

void enl_pairs_init(struct enl_pairs *all);
/* In either order; NULL: there is none. */
struct enl_pair *enl_pair_find(const struct enl_pairs *all, uint32_t one, uint32_t two);
/* There is none of these two yet. False: no memory. */
bool enl_pair_add(struct enl_pairs *all, uint32_t requester, uint32_t other, const uint8_t *random);
void enl_pair_drop(struct enl_pairs *all, struct enl_pair *pair);
/* Drops all pairs with that host. */
void enl_pairs_drop(struct enl_pairs *all, uint32_t host);
void enl_pairs_free(struct enl_pairs *all);

#endif

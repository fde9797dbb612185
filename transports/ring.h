/* SPDX-License-Identifier: MIT */
/* Rings of things that come and go in order: item `index` lies at index & (capacity - 1). */
#ifndef BCRI_RING_H
#define BCRI_RING_H

#include <stddef.h>
#include <stdint.h>

/* Returns a ring of twice the capacity, or of `least` if there was none (NULL, *capacity 0), with the
 * `count` items from index `first` on where they belong, and frees `items`. Counts what is more in
 * *memory. Returns NULL if there is no memory; all is then as it was. Capacities are powers of two. */
void *bcri_ring_grown(void *items, uint32_t *capacity, uint64_t first, uint64_t count, size_t item_bytes,
                      uint32_t least, size_t *memory);

#endif

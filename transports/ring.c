/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <stdlib.h>
#include <string.h>

void *bcri_ring_grown(void *items, uint32_t *capacity, uint64_t first, uint64_t count, size_t item_bytes,
                      uint32_t least, size_t *memory)
{
    const uint32_t doubled = *capacity == 0 ? least : *capacity * 2;
    char *grown = malloc(doubled * item_bytes);
    if (grown == NULL)
        return NULL;
    for (uint64_t i = first; i != first + count; i++)
        memcpy(grown + (size_t)(i & (doubled - 1)) * item_bytes,
               (const char *)items + (size_t)(i & (*capacity - 1)) * item_bytes, item_bytes);
    free(items);
    *memory += (doubled - *capacity) * item_bytes;
    *capacity = doubled;
    return grown;
}

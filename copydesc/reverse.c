/* SPDX-License-Identifier: MIT */
/*
 * reverse.c -- the portable routines for reversing bytes, and the choice of the fastest set.
 */
#include "reverse_sets.h"

#include <string.h>

void reverse_2_portable(uint8_t *destination, const uint8_t *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t item;
        memcpy(&item, source + 2 * i, sizeof item);
        item = (uint16_t)(item << 8 | item >> 8);
        memcpy(destination + 2 * i, &item, sizeof item);
    }
}

void reverse_4_portable(uint8_t *destination, const uint8_t *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t item;
        memcpy(&item, source + 4 * i, sizeof item);
        item = __builtin_bswap32(item);
        memcpy(destination + 4 * i, &item, sizeof item);
    }
}

void reverse_8_portable(uint8_t *destination, const uint8_t *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t item;
        memcpy(&item, source + 8 * i, sizeof item);
        item = __builtin_bswap64(item);
        memcpy(destination + 8 * i, &item, sizeof item);
    }
}

static const struct bcri_reverse portable = {"portable", reverse_2_portable, reverse_4_portable,
                                             reverse_8_portable};

const struct bcri_reverse *bcri_reverse_nth(int idx)
{
    return idx == 0 ? &portable : idx > 0 ? reverse_vector_nth(idx - 1) : NULL;
}

const struct bcri_reverse *bcri_reverse_best(void)
{
    const struct bcri_reverse *best = &portable;
    for (int i = 1; bcri_reverse_nth(i) != NULL; i++)
        best = bcri_reverse_nth(i);
    return best;
}

/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 4 };

/* The first range that ends at or behind `number`. New numbers mostly come last. */
static uint32_t find_range(const struct bcri_ranges *ranges, uint64_t number)
{
    uint32_t low = 0, high = ranges->count;
    if (high != 0 && ranges->range[high - 1].from <= number)
        return ranges->range[high - 1].to >= number ? high - 1 : high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ranges->range[middle].to < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes `count` ranges at `at` out of `old` ones there. */
static bool replace(struct bcri_ranges *ranges, uint32_t at, uint32_t old, uint32_t count)
{
    const uint32_t total = ranges->count - old + count;
    if (total > ranges->capacity) {
        const uint32_t capacity = total < FEW ? FEW : total + total / 2;
        struct bcri_range *grown = realloc(ranges->range, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        ranges->range = grown;
        ranges->capacity = capacity;
    }
    memmove(&ranges->range[at + count], &ranges->range[at + old],
            (ranges->count - at - old) * sizeof *ranges->range);
    ranges->count = total;
    return true;
}

bool bcri_ranges_add(struct bcri_ranges *ranges, uint64_t from, uint64_t to)
{
    if (from >= to)
        return true;
    const uint32_t first = find_range(ranges, from);
    uint32_t last = first;
    while (last < ranges->count && ranges->range[last].from <= to) {
        from = ranges->range[last].from < from ? ranges->range[last].from : from;
        to = ranges->range[last].to > to ? ranges->range[last].to : to;
        last++;
    }
    if (last - first != 1 && !replace(ranges, first, last - first, 1))
        return false;
    ranges->range[first] = (struct bcri_range){from, to};
    return true;
}

bool bcri_ranges_remove(struct bcri_ranges *ranges, uint64_t from, uint64_t to)
{
    if (from >= to)
        return true;
    uint32_t first = find_range(ranges, from);
    if (first < ranges->count && ranges->range[first].to == from)
        first++;
    uint32_t last = first;
    struct bcri_range rest[2];
    uint32_t rests = 0;
    while (last < ranges->count && ranges->range[last].from < to) {
        if (ranges->range[last].from < from)
            rest[rests++] = (struct bcri_range){ranges->range[last].from, from};
        if (ranges->range[last].to > to)
            rest[rests++] = (struct bcri_range){to, ranges->range[last].to};
        last++;
    }
    if (last == first)
        return true; /* there may be no memory yet */
    if (!replace(ranges, first, last - first, rests))
        return false;
    memcpy(&ranges->range[first], rest, rests * sizeof *rest);
    return true;
}

void bcri_ranges_drop_below(struct bcri_ranges *ranges, uint64_t from)
{
    uint32_t gone = 0;
    while (gone < ranges->count && ranges->range[gone].to <= from)
        gone++;
    if (gone != 0)
        (void)replace(ranges, 0, gone, 0);
    if (ranges->count != 0 && ranges->range[0].from < from)
        ranges->range[0].from = from;
}

bool bcri_ranges_holds(const struct bcri_ranges *ranges, uint64_t number)
{
    const uint32_t at = find_range(ranges, number + 1);
    return at < ranges->count && ranges->range[at].from <= number;
}

void bcri_ranges_shrink(struct bcri_ranges *ranges)
{
    struct bcri_range *few =
        ranges->capacity > FEW && ranges->count <= FEW ? realloc(ranges->range, FEW * sizeof *few) : NULL;
    if (few == NULL)
        return;
    ranges->range = few;
    ranges->capacity = FEW;
}

void bcri_ranges_free(struct bcri_ranges *ranges)
{
    free(ranges->range);
    *ranges = (struct bcri_ranges){NULL, 0, 0};
}

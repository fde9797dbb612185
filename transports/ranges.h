/* SPDX-License-Identifier: MIT */
/* A set of 64-bit numbers as sorted ranges [from, to), none empty, none touching the next. */
#ifndef BCRI_RANGES_H
#define BCRI_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_range {
    uint64_t from, to;
};

/* All zero: the empty set. */
struct bcri_ranges {
    struct bcri_range *range;
    uint32_t count, capacity;
};

/* Returns false if there is no memory; the set is then as it was. */
bool bcri_ranges_add(struct bcri_ranges *ranges, uint64_t from, uint64_t to);
bool bcri_ranges_remove(struct bcri_ranges *ranges, uint64_t from, uint64_t to);
/* Never fails. */
void bcri_ranges_drop_below(struct bcri_ranges *ranges, uint64_t from);
bool bcri_ranges_holds(const struct bcri_ranges *ranges, uint64_t number);
/* Gives back memory, but for what few ranges take. */
void bcri_ranges_shrink(struct bcri_ranges *ranges);
void bcri_ranges_free(struct bcri_ranges *ranges);

#endif

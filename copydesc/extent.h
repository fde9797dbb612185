/* SPDX-License-Identifier: MIT */
/*
 * extent.h -- what a list does to the position on one side, in closed form.
 *
 * Two ints can ask for 2^31 repeats of a list, 64 levels of nesting for 2^1984. Yet all that a list
 * can do to the position on one side is to move it, by an amount that depends on nothing but the
 * position's phase (its remainder modulo the largest alignment in the list), and to touch places on
 * the way that may lie outside. An extent says both, for any number of repeats, whatever the other
 * side does. */
#ifndef COPYDESC_EXTENT_H
#define COPYDESC_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* All positions are relative to the start rounded down to a multiple of the number of phases. */
struct extent {
    int64_t start;  /* the phase it begins with: 0 to the number of phases - 1 */
    int64_t end;    /* where it leaves the position */
    int64_t lowest; /* lowest and highest position after any adjust or item */
    int64_t highest;
    int64_t reach; /* end of the furthest item; EXTENT_NO_REACH if there is none */
    bool wild;     /* goes further than any buffer is long: fits nowhere; `end` is meaningless */
};

#define EXTENT_NO_REACH INT64_MIN

/* Nothing, at this phase. */
struct extent extent_nothing(int64_t phase);

/* Adds one step to the end of an extent. */
void extent_adjust(struct extent *extent, int adjust);
void extent_items(struct extent *extent, int size_bytes, int align_bytes, int repl);
void extent_append(struct extent *extent, const struct extent *next);

/* Adds a list `repl` times, given what the list does once at each of `phases` (1, 2, 4 or 8)
 * phases. */
void extent_append_repeats(struct extent *extent, const struct extent *once, int phases, int repl);

/* Does it stay within [0, INT_MAX], its items within [0, length_bytes), if it begins at `pos`,
 * whose phase is its start? */
bool extent_fits(const struct extent *extent, int64_t pos, int64_t length_bytes);

#endif

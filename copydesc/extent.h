/* SPDX-License-Identifier: MIT */
/*
 * extent.h -- what a list does to the position on one side, in closed form.
 *
 * One triple can ask for 2^31 repeats of a list, and 64 levels of nesting for 2^1984. But a list
 * does only two things to one side: it moves the position, and it touches positions on the way that
 * may lie outside the buffer. Both depend only on the position's phase (its remainder modulo the
 * largest alignment in the list). An extent describes both, for any number of repeats,
 * independently of the other side. */
#ifndef COPYDESC_EXTENT_H
#define COPYDESC_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* All positions are relative to the start rounded down to a multiple of the number of phases. */
struct extent {
    int64_t start;  /* the phase at the start: 0 to the number of phases - 1 */
    int64_t end;    /* where it leaves the position */
    int64_t lowest; /* lowest and highest position after any adjust or item */
    int64_t highest;
    int64_t reach; /* end of the furthest item; EXTENT_NO_REACH if there is none */
    bool wild;     /* leads further than any buffer is long, so it fits nowhere; `end` is meaningless */
};

#define EXTENT_NO_REACH INT64_MIN

/* An extent that does nothing, at this phase. */
struct extent extent_nothing(int64_t phase);

/* Adds one step to the end of an extent. */
void extent_adjust(struct extent *extent, int adjust);
void extent_items(struct extent *extent, int size_bytes, int align_bytes, int repl);
void extent_append(struct extent *extent, const struct extent *next);

/* Adds a list `repl` times, given what the list does once at each of `phases` (1, 2, 4 or 8)
 * phases. */
void extent_append_repeats(struct extent *extent, const struct extent *once, int phases, int repl);

/* Whether an extent that begins at `pos` stays within [0, INT_MAX], and its items within [0,
 * length_bytes). The phase of `pos` must be the extent's start. */
bool extent_fits(const struct extent *extent, int64_t pos, int64_t length_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * glide.h -- what a list that moves nothing in the region does to the user position, in closed form.
 *
 * Every item that moves the region's position uses up at least one byte of the region, which bounds that work. A
 * list without such items (user-side skips, adjusts, empty nestings) has no such bound: two ints can ask for 2^31
 * repeats of it, 64 levels of nesting for 2^1984. Such a list is an *idle* one. All it can do is move the user
 * position, by an amount that depends on nothing but the position's phase (its remainder modulo the largest
 * alignment), and touch places on the way that may lie outside. A glide says both, for any number of repeats.
 */
#ifndef COPYDESC_GLIDE_H
#define COPYDESC_GLIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

/* All positions are relative to the start rounded down to a multiple of LAYOUT_PHASES. */
struct glide {
    int64_t start;  /* 0 to LAYOUT_PHASES - 1: the phase it begins with */
    int64_t end;    /* where it leaves the position */
    int64_t lowest; /* lowest and highest position after any adjust or item */
    int64_t highest;
    int64_t reach; /* end of the furthest item; GLIDE_NO_REACH if there is none */
    bool wild;     /* goes further than any buffer is long: fits nowhere; `end` is meaningless */
};

#define GLIDE_NO_REACH INT64_MIN

/* Nothing, at this phase. */
struct glide glide_nothing(int64_t phase);

/* The phase at its end, where a following glide must start. */
int glide_end_phase(const struct glide *glide);

/* Adds one step to the end of a glide. */
void glide_adjust(struct glide *glide, int adjust);
void glide_items(struct glide *glide, int size_bytes, int align_bytes, int repl);
void glide_append(struct glide *glide, const struct glide *next);

/* Adds a list `repl` times, given what the list does once at each phase. */
void glide_append_repeats(struct glide *glide, const struct glide once[LAYOUT_PHASES], int repl);

/* Does it stay within [0, INT_MAX], its items within [0, length_bytes), if it begins at `pos`? pos & 7 is its
 * start phase. */
bool glide_fits(const struct glide *glide, int64_t pos, int64_t length_bytes);

#endif

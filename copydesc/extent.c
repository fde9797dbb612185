/* SPDX-License-Identifier: MIT */
/*
 * extent.c -- arithmetic on extents (extent.h).
 *
 * Invariant: an extent that is not wild has all its positions within +-INT_MAX, so no sum here
 * overflows. */
#include "extent.h"

#include <limits.h>
#include <string.h>

struct extent extent_nothing(int64_t phase)
{
    return (struct extent){
        .start = phase, .end = phase, .lowest = phase, .highest = phase, .reach = EXTENT_NO_REACH};
}

/* Moves the end, and widens the lowest and highest position if need be. */
static void move_to(struct extent *extent, int64_t pos)
{
    extent->end = pos;
    if (pos < extent->lowest)
        extent->lowest = pos;
    if (pos > extent->highest)
        extent->highest = pos;
    if (pos > INT_MAX || pos < -INT_MAX)
        extent->wild = true;
}

void extent_adjust(struct extent *extent, int adjust)
{
    if (!extent->wild)
        move_to(extent, extent->end + adjust);
}

void extent_items(struct extent *extent, int size_bytes, int align_bytes, int repl)
{
    if (extent->wild || repl == 0)
        return;
    move_to(extent, layout_align_up(extent->end, align_bytes) + (int64_t)size_bytes * repl);
    if (extent->end > extent->reach)
        extent->reach = extent->end;
}

void extent_append(struct extent *extent, const struct extent *next)
{
    if (extent->wild || next->wild) {
        extent->wild = true;
        return;
    }
    int64_t shift = extent->end - next->start;
    move_to(extent, next->lowest + shift);
    move_to(extent, next->highest + shift);
    move_to(extent, next->end + shift);
    if (next->reach != EXTENT_NO_REACH && next->reach + shift > extent->reach)
        extent->reach = next->reach + shift;
}

/* What the list does at the phase of the extent's end. */
static const struct extent *next_of(const struct extent *extent, const struct extent *once, int phases)
{
    return &once[extent->end & (phases - 1)];
}

void extent_append_repeats(struct extent *extent, const struct extent *once, int phases, int repl)
{
    int met_at[LAYOUT_PHASES]; /* after how many repeats the end first had this phase; -1: not yet */
    memset(met_at, -1, sizeof met_at);

    int done = 0;
    while (done < repl && !extent->wild) {
        int phase = (int)(extent->end & (phases - 1));
        if (met_at[phase] < 0) {
            met_at[phase] = done++;
            extent_append(extent, &once[phase]);
            continue;
        }

        /* The phase has come back. From here on every `period` repeats are a round, and each round
         * does the same, `step` bytes further. The first and the last round reach the lowest and
         * highest positions. */
        int period = done - met_at[phase];
        int rounds = (repl - done) / period, rest = (repl - done) % period;
        struct extent round = extent_nothing(phase);
        for (int i = 0; i < period; i++)
            extent_append(&round, next_of(&round, once, phases));
        int64_t step = round.end - round.start;
        if (rounds > 0)
            extent_append(extent, &round);
        if (rounds > 1 && !extent->wild) {
            move_to(extent, extent->end + step * (rounds - 2));
            extent_append(extent, &round);
        }
        for (int i = 0; i < rest && !extent->wild; i++)
            extent_append(extent, next_of(extent, once, phases));
        return;
    }
}

bool extent_fits(const struct extent *extent, int64_t pos, int64_t length_bytes)
{
    int64_t base = pos - extent->start;
    return !extent->wild && base + extent->lowest >= 0 && base + extent->highest <= INT_MAX &&
           (extent->reach == EXTENT_NO_REACH || base + extent->reach <= length_bytes);
}

/* SPDX-License-Identifier: MIT */
/*
 * glide.c -- arithmetic on glides (glide.h).
 *
 * Invariant: a glide that is not wild has all its positions within +-INT_MAX, so no sum here overflows.
 */
#include "glide.h"

#include <limits.h>
#include <string.h>

struct glide glide_nothing(int64_t phase)
{
    return (struct glide){
        .start = phase, .end = phase, .lowest = phase, .highest = phase, .reach = GLIDE_NO_REACH};
}

/* Moves the end, noting how far it has been. */
static void move_to(struct glide *glide, int64_t pos)
{
    glide->end = pos;
    if (pos < glide->lowest)
        glide->lowest = pos;
    if (pos > glide->highest)
        glide->highest = pos;
    if (pos > INT_MAX || pos < -INT_MAX)
        glide->wild = true;
}

void glide_adjust(struct glide *glide, int adjust)
{
    if (!glide->wild)
        move_to(glide, glide->end + adjust);
}

void glide_items(struct glide *glide, int size_bytes, int align_bytes, int repl)
{
    if (glide->wild || repl == 0)
        return;
    move_to(glide, layout_align_up(glide->end, align_bytes) + (int64_t)size_bytes * repl);
    if (glide->end > glide->reach)
        glide->reach = glide->end;
}

void glide_append(struct glide *glide, const struct glide *next)
{
    if (glide->wild || next->wild) {
        glide->wild = true;
        return;
    }
    int64_t shift = glide->end - next->start;
    move_to(glide, next->lowest + shift);
    move_to(glide, next->highest + shift);
    move_to(glide, next->end + shift);
    if (next->reach != GLIDE_NO_REACH && next->reach + shift > glide->reach)
        glide->reach = next->reach + shift;
}

/* What the list does next. */
static const struct glide *next_of(const struct glide *glide, const struct glide *once, int phases)
{
    return &once[glide->end & (phases - 1)];
}

void glide_append_repeats(struct glide *glide, const struct glide *once, int phases, int repl)
{
    int met_at[LAYOUT_PHASES]; /* after how many repeats the end had this phase first */
    memset(met_at, -1, sizeof met_at);

    int done = 0;
    while (done < repl && !glide->wild) {
        int phase = (int)(glide->end & (phases - 1));
        if (met_at[phase] < 0) {
            met_at[phase] = done++;
            glide_append(glide, &once[phase]);
            continue;
        }

        /* The phase has come back: from here on, every `period` repeats do the same, `step` bytes further each
         * time. Of all these rounds the first and the last go to the extremes. */
        int period = done - met_at[phase];
        int rounds = (repl - done) / period, rest = (repl - done) % period;
        struct glide round = glide_nothing(phase);
        for (int i = 0; i < period; i++)
            glide_append(&round, next_of(&round, once, phases));
        int64_t step = round.end - round.start;
        if (rounds > 0)
            glide_append(glide, &round);
        if (rounds > 1 && !glide->wild) {
            move_to(glide, glide->end + step * (rounds - 2));
            glide_append(glide, &round);
        }
        for (int i = 0; i < rest && !glide->wild; i++)
            glide_append(glide, next_of(glide, once, phases));
        return;
    }
}

bool glide_fits(const struct glide *glide, int64_t pos, int64_t length_bytes)
{
    int64_t base = pos - glide->start;
    return !glide->wild && base + glide->lowest >= 0 && base + glide->highest <= INT_MAX &&
           (glide->reach == GLIDE_NO_REACH || base + glide->reach <= length_bytes);
}

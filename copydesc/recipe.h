/* SPDX-License-Identifier: MIT */
/*
 * recipe.h -- everything that is known of one descriptor for one pair of layouts and phases: what a call needs to copy
 * without looking at the descriptor again. Recipes are made, kept and given up by a bcri_copier (copier.c).
 */
#ifndef COPYDESC_RECIPE_H
#define COPYDESC_RECIPE_H

#include "key.h"
#include "plan.h"
#include "survey.h"

/* What a recipe depends on beside the descriptor's content. */
struct shape {
    int32_t source_archtype, destination_archtype; /* LAYOUT_USER: the user side */
    uint8_t source_phase, destination_phase;       /* of the first positions, modulo LAYOUT_PHASES */
};

/* What one repeat, or two, do to one side's position; all relative to the first position. */
struct extent {
    int64_t end, lowest, highest, reach;
};

struct recipe {
    /* hot */
    uint32_t hash;
    struct shape shape;
    struct recipe *next; /* in the same bucket */
    struct key key;
    bool planned; /* plan and what follows are good */
    bool steady;  /* from the second repeat on, each does the same a step further, never backwards */
    struct plan plan;
    struct extent source[2], destination[2]; /* of one repeat; of two */
    /* cold */
    struct recipe *older, *newer; /* by last use */
    struct survey survey;
    size_t size_bytes;
};

/* A position on each side, and where the sides end. */
struct room {
    int64_t source_pos, source_length;
    int64_t destination_pos, destination_length;
};

/* 0, bcrE_DESC, bcrE_NOMEM. The archtypes are valid. */
int recipe_make(struct recipe **recipe_out, const int *copydesc, uint32_t hash, const struct shape *shape);
void recipe_free(struct recipe *recipe);

/* Does all of `repl` repeats fit? Then the positions behind them. A quick look: false may also mean that it is not
 * obvious. */
bool recipe_fits(const struct recipe *recipe, int repl, const struct room *room, int64_t *source_end_out,
                 int64_t *destination_end_out);

#endif

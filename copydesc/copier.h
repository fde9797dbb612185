/* SPDX-License-Identifier: MIT */
/*
 * copier.h -- the recipes that a CCE keeps; bcri/copydesc.h has what others see of them.
 *
 * Finding the one used last is here, so that it becomes part of each call; all else is in copier.c.
 */
#ifndef COPYDESC_COPIER_H
#define COPYDESC_COPIER_H

#include <bcri/copydesc.h>

#include "recipe.h"

enum { COPIER_BUCKETS = 2 * BCRI_COPIER_RECIPES, COPIER_RECIPE_BYTES_MAX = BCRI_COPIER_BYTES / 8 };

struct bcri_copier {
    struct recipe *bucket[COPIER_BUCKETS];
    struct recipe *newest, *oldest; /* by last use */
    const struct bcri_reverse *reverse;
    struct bcri_copier_state state;
};

void copier_give_up(struct recipe *recipe);

/* The same for any other than the one used last. */
int copier_find_other(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                      struct recipe **recipe_out);

/* The recipe for a descriptor, found or made: 0, bcrE_DESC, bcrE_ARCH, bcrE_NOMEM. It lives until copier_done, which is
 * due before the next call of this. */
static inline __attribute__((always_inline)) int copier_find(struct bcri_copier *copier, const int *copydesc,
                                                             const struct shape *shape,
                                                             struct recipe **recipe_out)
{
    struct recipe *newest = copier->newest; /* most often it is the one used last */
    if (newest && shape_equals(&newest->shape, shape) && key_equals_unseen(&newest->key, copydesc)) {
        copier->state.found_count++;
        *recipe_out = newest;
        return 0;
    }
    return copier_find_other(copier, copydesc, shape, recipe_out);
}

/* Gives up what is not to be kept. */
static inline void copier_done(struct recipe *recipe)
{
    if (bcri_unlikely(recipe->size_bytes > COPIER_RECIPE_BYTES_MAX))
        copier_give_up(recipe);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * copier.h -- the recipes that a CCE keeps; bcri/copydesc.h has what others see of them.
 *
 * Finding one is here, so that it becomes part of each call; making and giving up is in copier.c.
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

int copier_make(struct bcri_copier *copier, const int *copydesc, uint64_t hash, const struct shape *shape,
                struct recipe **recipe_out);
void copier_renew(struct bcri_copier *copier, struct recipe *recipe);
void copier_give_up(struct recipe *recipe);

static inline uint64_t copier_hash(const struct key_look *look, const struct shape *shape)
{
    uint64_t hash = look->hash ^ shape->archtypes ^ (uint64_t)shape->phases << 50;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* The recipe for a descriptor, found or made: 0, bcrE_DESC, bcrE_ARCH, bcrE_NOMEM. It lives until copier_done, which is
 * due before the next call of this. */
static inline int copier_find(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                              struct recipe **recipe_out)
{
    struct recipe *newest = copier->newest; /* most often it is the one used last */
    if (newest && shape_equals(&newest->shape, shape) && key_equals_unseen(&newest->key, copydesc)) {
        copier->state.found_count++;
        *recipe_out = newest;
        return 0;
    }
    const struct key_look look = key_look(copydesc);
    uint64_t hash = copier_hash(&look, shape);
    struct recipe *recipe = copier->bucket[hash % COPIER_BUCKETS];
    for (; recipe; recipe = recipe->next)
        if (recipe->hash == hash && shape_equals(&recipe->shape, shape) &&
            key_equals(&recipe->key, copydesc, &look))
            break;
    if (bcri_unlikely(!recipe))
        return copier_make(copier, copydesc, hash, shape, recipe_out);
    copier->state.found_count++;
    copier_renew(copier, recipe); /* it is not the newest */
    *recipe_out = recipe;
    return 0;
}

/* Gives up what is not to be kept. */
static inline void copier_done(struct recipe *recipe)
{
    if (bcri_unlikely(recipe->size_bytes > COPIER_RECIPE_BYTES_MAX))
        copier_give_up(recipe);
}

#endif

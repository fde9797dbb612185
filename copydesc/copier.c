/* SPDX-License-Identifier: MIT */
/*
 * copier.c -- finds recipes, makes those that are missing, and gives up what has not been used for longest.
 *
 * One CCE uses it, one call at a time (threads that share a CCE never call at once), so there are no locks.
 */
#include "copier.h"

#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

struct bcri_copier *bcri_copier_create(const struct bcri_reverse *reverse)
{
    struct bcri_copier *copier = calloc(1, sizeof *copier);
    if (copier)
        copier->reverse = reverse;
    return copier;
}

void bcri_copier_destroy(struct bcri_copier *copier)
{
    struct recipe *recipe = copier ? copier->newest : NULL;
    while (recipe) {
        struct recipe *older = recipe->older;
        recipe_free(recipe);
        recipe = older;
    }
    free(copier);
}

struct bcri_copier_state bcri_copier_state(const struct bcri_copier *copier)
{
    return copier->state;
}

/* ---- by last use ---- */

static void unlink_use(struct bcri_copier *copier, struct recipe *recipe)
{
    *(recipe->newer ? &recipe->newer->older : &copier->newest) = recipe->older;
    *(recipe->older ? &recipe->older->newer : &copier->oldest) = recipe->newer;
}

static void link_use(struct bcri_copier *copier, struct recipe *recipe)
{
    recipe->older = copier->newest;
    recipe->newer = NULL;
    *(copier->newest ? &copier->newest->newer : &copier->oldest) = recipe;
    copier->newest = recipe;
}

static void give_up(struct bcri_copier *copier, struct recipe *recipe)
{
    struct recipe **link = &copier->bucket[recipe->hash % COPIER_BUCKETS];
    while (*link != recipe)
        link = &(*link)->next;
    *link = recipe->next;
    unlink_use(copier, recipe);
    copier->state.recipe_count--;
    copier->state.size_bytes -= recipe->size_bytes;
    recipe_free(recipe);
}

static void keep(struct bcri_copier *copier, struct recipe *recipe)
{
    recipe->next = copier->bucket[recipe->hash % COPIER_BUCKETS];
    copier->bucket[recipe->hash % COPIER_BUCKETS] = recipe;
    link_use(copier, recipe);
    copier->state.recipe_count++;
    copier->state.size_bytes += recipe->size_bytes;
    while (copier->oldest &&
           (copier->state.recipe_count > BCRI_COPIER_RECIPES || copier->state.size_bytes > BCRI_COPIER_BYTES))
        give_up(copier, copier->oldest);
}

/* ---- finding and making ---- */

enum { RECENT = 3 }; /* programs take turns between a few: those are compared before anything is hashed */

static struct recipe *recent(const struct bcri_copier *copier, const int *copydesc, const struct shape *shape)
{
    struct recipe *recipe = copier->newest ? copier->newest->older : NULL;
    for (int i = 0; recipe && i < RECENT; i++, recipe = recipe->older)
        if (shape_equals(&recipe->shape, shape) && key_equals_unseen(&recipe->key, copydesc))
            return recipe;
    return NULL;
}

static uint64_t hash_of(const struct key_look *look, const struct shape *shape)
{
    uint64_t hash = look->hash ^ shape->archtypes ^ (uint64_t)shape->phases << 50;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static int make(struct bcri_copier *copier, const int *copydesc, uint64_t hash, const struct shape *shape,
                struct recipe **recipe_out)
{
    struct recipe *recipe;
    int error = recipe_make(&recipe, copydesc, hash, shape);
    if (error)
        return error;
    copier->state.made_count++;
    if (recipe->size_bytes <= COPIER_RECIPE_BYTES_MAX)
        keep(copier, recipe);
    *recipe_out = recipe;
    return 0;
}

int copier_find_other(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                      struct recipe **recipe_out)
{
    struct recipe *recipe = recent(copier, copydesc, shape);
    if (!recipe) {
        const struct key_look look = key_look(copydesc);
        uint64_t hash = hash_of(&look, shape);
        recipe = copier->bucket[hash % COPIER_BUCKETS];
        for (; recipe; recipe = recipe->next)
            if (recipe->hash == hash && shape_equals(&recipe->shape, shape) &&
                key_equals(&recipe->key, copydesc, &look))
                break;
        if (!recipe)
            return make(copier, copydesc, hash, shape, recipe_out);
    }
    copier->state.found_count++;
    unlink_use(copier, recipe); /* it is not the newest */
    link_use(copier, recipe);
    *recipe_out = recipe;
    return 0;
}

void copier_give_up(struct recipe *recipe)
{
    recipe_free(recipe);
}

/* SPDX-License-Identifier: MIT */
/*
 * copier.c -- finds recipes by content, makes those that are missing, and gives up what has not been used for longest.
 *
 * One CCE uses it, one call at a time (threads that share a CCE never call at once), so there are no locks.
 */
#include "copier.h"

#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

enum { BUCKETS = 2 * BCRI_COPIER_RECIPES, RECIPE_BYTES_MAX = BCRI_COPIER_BYTES / 8 };

struct bcri_copier {
    struct recipe *bucket[BUCKETS];
    struct recipe *newest, *oldest;
    const struct bcri_reverse *reverse;
    struct bcri_copier_state state;
};

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

const struct bcri_reverse *copier_reverse(const struct bcri_copier *copier)
{
    return copier->reverse;
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
    struct recipe **link = &copier->bucket[recipe->hash % BUCKETS];
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
    recipe->next = copier->bucket[recipe->hash % BUCKETS];
    copier->bucket[recipe->hash % BUCKETS] = recipe;
    link_use(copier, recipe);
    copier->state.recipe_count++;
    copier->state.size_bytes += recipe->size_bytes;
    while (copier->oldest &&
           (copier->state.recipe_count > BCRI_COPIER_RECIPES || copier->state.size_bytes > BCRI_COPIER_BYTES))
        give_up(copier, copier->oldest);
}

/* ---- by content ---- */

static uint32_t mix(uint32_t hash, const struct shape *shape)
{
    uint32_t phases = (uint32_t)shape->source_phase << 8 | shape->destination_phase;
    hash ^= (uint32_t)shape->source_archtype * UINT32_C(0x85ebca6b) ^
            (uint32_t)shape->destination_archtype * UINT32_C(0xc2b2ae35) ^ phases * UINT32_C(0x9e3779b1);
    return hash ^ hash >> 15;
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    return a->source_archtype == b->source_archtype && a->destination_archtype == b->destination_archtype &&
           a->source_phase == b->source_phase && a->destination_phase == b->destination_phase;
}

int copier_find(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                struct recipe **recipe_out)
{
    uint32_t hash = mix(key_hash(copydesc), shape);
    struct recipe *recipe = copier->bucket[hash % BUCKETS];
    for (; recipe; recipe = recipe->next)
        if (recipe->hash == hash && same_shape(&recipe->shape, shape) && key_equals(&recipe->key, copydesc))
            break;
    if (recipe) {
        copier->state.found_count++;
        if (recipe != copier->newest) {
            unlink_use(copier, recipe);
            link_use(copier, recipe);
        }
        *recipe_out = recipe;
        return 0;
    }
    int error = recipe_make(&recipe, copydesc, hash, shape);
    if (error)
        return error;
    copier->state.made_count++;
    if (recipe->size_bytes <= RECIPE_BYTES_MAX)
        keep(copier, recipe);
    *recipe_out = recipe;
    return 0;
}

void copier_done(struct bcri_copier *copier, struct recipe *recipe)
{
    (void)copier;
    if (recipe->size_bytes > RECIPE_BYTES_MAX)
        recipe_free(recipe);
}

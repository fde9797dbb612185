/* SPDX-License-Identifier: MIT */
/*
 * recipe.c -- making recipes, and the quick answer to whether all of a copy fits.
 */
#include "recipe.h"

#include <limits.h>
#include <stdlib.h>

#include <bcr/error.h>

static struct extent extent_of(const struct glide *glide)
{
    return (struct extent){.end = glide->end - glide->start,
                           .lowest = glide->lowest - glide->start,
                           .highest = glide->highest - glide->start,
                           .reach = glide->reach == GLIDE_NO_REACH ? 0 : glide->reach - glide->start};
}

static bool extents_of(const struct trip *trip, int phase, struct extent extents[2])
{
    for (int repl = 1; repl <= 2; repl++) {
        struct glide glide = survey_glide(trip, phase, repl);
        if (glide.wild)
            return false;
        extents[repl - 1] = extent_of(&glide);
    }
    return true;
}

static void add_plan(struct recipe *recipe)
{
    struct note *root = &recipe->survey.root;
    const struct shape *shape = &recipe->shape;
    if (!root->copies || !extents_of(&root->source, shape->source_phase, recipe->source) ||
        !extents_of(&root->destination, shape->destination_phase, recipe->destination))
        return;
    recipe->planned =
        plan_make(&recipe->plan, &recipe->survey, root, shape->source_phase, shape->destination_phase) == 0;
    plan_forget(&recipe->survey);
    recipe->steady = recipe->planned && recipe->plan.period == 1 && recipe->plan.lead <= 1 &&
                     recipe->plan.source_step >= 0 && recipe->plan.destination_step >= 0;
}

static size_t plan_bytes(const struct plan *plan)
{
    size_t ops = (size_t)plan->round.capacity;
    for (int i = 0; i < plan->count; i++)
        ops += (size_t)plan->first[i].capacity;
    return ops * sizeof(struct op) + (size_t)plan->count * (sizeof(struct oplist) + 2 * sizeof(int64_t));
}

int recipe_make(struct recipe **recipe_out, const int *copydesc, uint32_t hash, const struct shape *shape)
{
    struct recipe *recipe = calloc(1, sizeof *recipe);
    if (!recipe)
        return bcrE_NOMEM;
    recipe->hash = hash;
    recipe->shape = *shape;
    int error = key_read(&recipe->key, copydesc);
    if (error)
        goto free_recipe;
    const struct layout source = layout_of(shape->source_archtype);
    const struct layout destination = layout_of(shape->destination_archtype);
    error = survey_init(&recipe->survey, recipe->key.triples, &source, &destination);
    if (error)
        goto free_key;
    add_plan(recipe); /* without a plan it goes slower */
    recipe->size_bytes = sizeof *recipe + (size_t)recipe->key.triple_count * 3 * sizeof(int) +
                         (size_t)recipe->key.span_count * sizeof(struct span) + recipe->survey.size_bytes +
                         plan_bytes(&recipe->plan);
    *recipe_out = recipe;
    return 0;

free_key:
    key_free(&recipe->key);
free_recipe:
    free(recipe);
    return error;
}

void recipe_free(struct recipe *recipe)
{
    plan_free(&recipe->plan);
    survey_fini(&recipe->survey);
    key_free(&recipe->key);
    free(recipe);
}

/* `beyond` is by how much the last of the repeats is further than the last that `extent` counts. */
static inline bool side_fits(const struct extent *extent, int64_t beyond, int64_t pos, int64_t length)
{
    return pos + extent->lowest >= 0 && pos + extent->highest + beyond <= INT_MAX &&
           pos + extent->reach + beyond <= length;
}

bool recipe_fits(const struct recipe *recipe, int repl, const struct room *room, int64_t *source_end_out,
                 int64_t *destination_end_out)
{
    if (!recipe->planned || repl < 1 || (repl > 2 && !recipe->steady))
        return false;
    int counted = repl > 1, more = repl - 1 - counted;
    int64_t source_beyond = more * recipe->plan.source_step;
    int64_t destination_beyond = more * recipe->plan.destination_step;
    const struct extent *source = &recipe->source[counted], *destination = &recipe->destination[counted];
    if (!side_fits(source, source_beyond, room->source_pos, room->source_length) ||
        !side_fits(destination, destination_beyond, room->destination_pos, room->destination_length))
        return false;
    *source_end_out = room->source_pos + source->end + source_beyond;
    *destination_end_out = room->destination_pos + destination->end + destination_beyond;
    return true;
}

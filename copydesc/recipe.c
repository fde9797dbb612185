/* SPDX-License-Identifier: MIT */
/*
 * recipe.c -- making recipes.
 */
#include "recipe.h"

#include <limits.h>
#include <stdlib.h>

#include <bcr/error.h>

static struct bounds bounds_of(const struct extent *extent)
{
    return (struct bounds){.end = extent->end - extent->start,
                           .lowest = extent->lowest - extent->start,
                           .highest = extent->highest - extent->start,
                           .reach = extent->reach == EXTENT_NO_REACH ? 0 : extent->reach - extent->start};
}

static bool bounds_of_repeats(const struct extent_table *table, int phase, struct bounds bounds[2])
{
    for (int repl = 1; repl <= 2; repl++) {
        struct extent extent = extent_of_repeats(table, phase, repl);
        if (extent.wild)
            return false;
        bounds[repl - 1] = bounds_of(&extent);
    }
    return true;
}

static bool within_items(const struct bounds *bounds)
{
    return bounds->lowest >= 0 && bounds->highest <= bounds->reach;
}

static void add_plan(struct recipe *recipe)
{
    struct note *root = &recipe->validation.root;
    const struct shape *shape = &recipe->shape;
    if (!root->copies || !bounds_of_repeats(&root->source, shape_source_phase(shape), recipe->source) ||
        !bounds_of_repeats(&root->destination, shape_destination_phase(shape), recipe->destination))
        return;
    int work;
    recipe->planned = plan_make(&recipe->plan, &recipe->validation, root, shape_source_phase(shape),
                                shape_destination_phase(shape), &work) == 0;
    recipe->plain = recipe->planned && within_items(recipe->source) && within_items(recipe->destination);
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

static bool known(int archtype)
{
    return archtype == LAYOUT_USER || bcri_archtype_valid(archtype);
}

int recipe_make(struct recipe **recipe_out, const int *copydesc, uint64_t hash, const struct shape *shape)
{
    struct recipe *recipe = calloc(1, sizeof *recipe);
    if (!recipe)
        return bcrE_NOMEM;
    recipe->hash = hash;
    recipe->shape = *shape;
    int error = key_read(&recipe->key, copydesc);
    if (error)
        goto free_recipe;
    int from = shape_source_archtype(shape), to = shape_destination_archtype(shape);
    bool translatable = known(from) && known(to);
    const struct layout source = layout_of(translatable ? from : LAYOUT_USER);
    const struct layout destination = layout_of(translatable ? to : LAYOUT_USER);
    error = validation_init(&recipe->validation, &recipe->key, &source, &destination);
    if (error)
        goto free_key;
    if (!translatable) { /* said only of descriptors that are good */
        error = bcrE_ARCH;
        goto fini_validation;
    }
    add_plan(recipe); /* without a plan it goes slower */
    recipe->size_bytes = sizeof *recipe + (size_t)recipe->key.triple_count * 3 * sizeof(int) +
                         (size_t)recipe->key.span_count * sizeof(struct span) +
                         recipe->validation.size_bytes + plan_bytes(&recipe->plan);
    *recipe_out = recipe;
    return 0;

fini_validation:
    validation_fini(&recipe->validation);
free_key:
    key_free(&recipe->key);
free_recipe:
    free(recipe);
    return error;
}

void recipe_free(struct recipe *recipe)
{
    plan_free(&recipe->plan);
    validation_fini(&recipe->validation);
    key_free(&recipe->key);
    free(recipe);
}

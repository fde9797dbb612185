/* SPDX-License-Identifier: MIT */
/*
 * compiled.c -- making compiled descriptors.
 */
#include "compiled.h"

#include <limits.h>

#include <bcr/error.h>

#include "bcri/private.h"

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

static void add_plan(struct compiled *compiled)
{
    struct note *root = &compiled->validation.root;
    const struct shape *shape = &compiled->shape;
    if (!root->copies || !bounds_of_repeats(&root->source, shape_source_phase(shape), compiled->source) ||
        !bounds_of_repeats(&root->destination, shape_destination_phase(shape), compiled->destination))
        return;
    int work;
    compiled->planned = plan_make(&compiled->plan, &compiled->validation, root, shape_source_phase(shape),
                                  shape_destination_phase(shape), &work) == 0;
    compiled->fast =
        compiled->planned && within_items(compiled->source) && within_items(compiled->destination);
    compiled->steady = compiled->planned && compiled->plan.period == 1 && compiled->plan.lead <= 1 &&
                       compiled->plan.source_step >= 0 && compiled->plan.destination_step >= 0;
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

int compiled_make(struct compiled **compiled_out, const int *copydesc, uint64_t hash,
                  const struct shape *shape)
{
    struct compiled *compiled = bcri_private_zeroed(1, sizeof *compiled);
    if (!compiled)
        return bcrE_NOMEM;
    compiled->hash = hash;
    compiled->shape = *shape;
    int error = key_read(&compiled->key, copydesc);
    if (error)
        goto free_compiled;
    int from = shape_source_archtype(shape), to = shape_destination_archtype(shape);
    bool translatable = known(from) && known(to);
    const struct layout source = layout_of(translatable ? from : LAYOUT_USER);
    const struct layout destination = layout_of(translatable ? to : LAYOUT_USER);
    error = validation_init(&compiled->validation, &compiled->key, &source, &destination);
    if (error)
        goto free_key;
    if (!translatable) { /* reported only for well-formed descriptors */
        error = bcrE_ARCH;
        goto fini_validation;
    }
    add_plan(compiled); /* without a plan copies are only slower */
    compiled->size_bytes = sizeof *compiled + (size_t)compiled->key.triple_count * 3 * sizeof(int) +
                           (size_t)compiled->key.span_count * sizeof(struct span) +
                           compiled->validation.size_bytes + plan_bytes(&compiled->plan);
    *compiled_out = compiled;
    return 0;

fini_validation:
    validation_fini(&compiled->validation);
free_key:
    key_free(&compiled->key);
free_compiled:
    bcri_private_free(compiled);
    return error;
}

void compiled_free(struct compiled *compiled)
{
    plan_free(&compiled->plan);
    validation_fini(&compiled->validation);
    key_free(&compiled->key);
    bcri_private_free(compiled);
}

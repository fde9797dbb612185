/* SPDX-License-Identifier: MIT */
/*
 * copier.c -- finds compiled descriptors, makes those that are missing, and frees those that have
 * not been used for longest.
 *
 * Only one CCE uses a copier, one call at a time (threads that share a CCE never call at once), so
 * there are no locks. */
#include "copier.h"

#include <string.h>

#include <bcr/error.h>

#include "bcri/private.h"

struct bcri_copier *bcri_copier_create(const struct bcri_reverse *reverse)
{
    struct bcri_copier *copier = bcri_private_zeroed(1, sizeof *copier);
    if (copier)
        copier->reverse = reverse;
    return copier;
}

void bcri_copier_destroy(struct bcri_copier *copier)
{
    struct compiled *compiled = copier ? copier->newest : NULL;
    while (compiled) {
        struct compiled *older = compiled->older;
        compiled_free(compiled);
        compiled = older;
    }
    bcri_private_free(copier);
}

struct bcri_copier_state bcri_copier_state(const struct bcri_copier *copier)
{
    return copier->state;
}

/* ---- by last use ---- */

static void unlink_use(struct bcri_copier *copier, struct compiled *compiled)
{
    *(compiled->newer ? &compiled->newer->older : &copier->newest) = compiled->older;
    *(compiled->older ? &compiled->older->newer : &copier->oldest) = compiled->newer;
}

static void link_use(struct bcri_copier *copier, struct compiled *compiled)
{
    compiled->older = copier->newest;
    compiled->newer = NULL;
    *(copier->newest ? &copier->newest->newer : &copier->oldest) = compiled;
    copier->newest = compiled;
}

static void give_up(struct bcri_copier *copier, struct compiled *compiled)
{
    struct compiled **link = &copier->bucket[compiled->hash % COPIER_BUCKETS];
    while (*link != compiled)
        link = &(*link)->next;
    *link = compiled->next;
    unlink_use(copier, compiled);
    copier->state.compiled_count--;
    copier->state.size_bytes -= compiled->size_bytes;
    compiled_free(compiled);
}

static void keep(struct bcri_copier *copier, struct compiled *compiled)
{
    compiled->next = copier->bucket[compiled->hash % COPIER_BUCKETS];
    copier->bucket[compiled->hash % COPIER_BUCKETS] = compiled;
    link_use(copier, compiled);
    copier->state.compiled_count++;
    copier->state.size_bytes += compiled->size_bytes;
    while (copier->oldest && (copier->state.compiled_count > BCRI_COPIER_COMPILED ||
                              copier->state.size_bytes > BCRI_COPIER_BYTES))
        give_up(copier, copier->oldest);
}

/* ---- finding and making ---- */

enum { RECENT = 3 }; /* programs alternate between a few: these are compared first, without a hash */

static struct compiled *recent(const struct bcri_copier *copier, const int *copydesc,
                               const struct shape *shape)
{
    struct compiled *compiled = copier->newest ? copier->newest->older : NULL;
    for (int i = 0; compiled && i < RECENT; i++, compiled = compiled->older)
        if (shape_equals(&compiled->shape, shape) && key_equals_unseen(&compiled->key, copydesc))
            return compiled;
    return NULL;
}

static uint64_t hash_of(const struct key_look *look, const struct shape *shape)
{
    uint64_t hash = look->hash ^ shape->archtypes ^ (uint64_t)shape->phases << 50;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static int make(struct bcri_copier *copier, const int *copydesc, uint64_t hash, const struct shape *shape,
                struct compiled **compiled_out)
{
    struct compiled *compiled;
    int error = compiled_make(&compiled, copydesc, hash, shape);
    if (error)
        return error;
    copier->state.made_count++;
    if (compiled->size_bytes <= COPIER_COMPILED_BYTES_MAX)
        keep(copier, compiled);
    *compiled_out = compiled;
    return 0;
}

int copier_find_other(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                      struct compiled **compiled_out)
{
    struct compiled *compiled = recent(copier, copydesc, shape);
    if (!compiled) {
        const struct key_look look = key_look(copydesc);
        uint64_t hash = hash_of(&look, shape);
        compiled = copier->bucket[hash % COPIER_BUCKETS];
        for (; compiled; compiled = compiled->next)
            if (compiled->hash == hash && shape_equals(&compiled->shape, shape) &&
                key_equals(&compiled->key, copydesc, &look))
                break;
        if (!compiled)
            return make(copier, copydesc, hash, shape, compiled_out);
    }
    copier->state.found_count++;
    unlink_use(copier, compiled); /* it is not the newest */
    link_use(copier, compiled);
    *compiled_out = compiled;
    return 0;
}

void copier_give_up(struct compiled *compiled)
{
    compiled_free(compiled);
}

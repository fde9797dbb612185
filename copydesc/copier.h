/* SPDX-License-Identifier: MIT */
/*
 * copier.h -- the compiled descriptors that a CCE keeps; bcri/copydesc.h has what others see of
 * them.
 *
 * Finding the one used last is here, so that it becomes part of each call; all else is in
 * copier.c. */
#ifndef COPYDESC_COPIER_H
#define COPYDESC_COPIER_H

#include <bcri/copydesc.h>

#include "compiled.h"

enum { COPIER_BUCKETS = 2 * BCRI_COPIER_COMPILED, COPIER_COMPILED_BYTES_MAX = BCRI_COPIER_BYTES / 8 };

struct bcri_copier {
    struct compiled *bucket[COPIER_BUCKETS];
    struct compiled *newest, *oldest; /* by last use */
    const struct bcri_reverse *reverse;
    struct bcri_copier_state state;
};

void copier_give_up(struct compiled *compiled);

/* The same for any other than the one used last. */
int copier_find_other(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                      struct compiled **compiled_out);

/* The compiled descriptor for a descriptor, found or made: 0, bcrE_DESC, bcrE_ARCH, bcrE_NOMEM. It
 * lives until copier_done, which is due before the next call of this. */
static inline __attribute__((always_inline)) int copier_find(struct bcri_copier *copier, const int *copydesc,
                                                             const struct shape *shape,
                                                             struct compiled **compiled_out)
{
    struct compiled *newest = copier->newest; /* most often it is the one used last */
    if (newest && shape_equals(&newest->shape, shape) && key_equals_unseen(&newest->key, copydesc)) {
        copier->state.found_count++;
        *compiled_out = newest;
        return 0;
    }
    return copier_find_other(copier, copydesc, shape, compiled_out);
}

/* Gives up what is not to be kept. */
static inline void copier_done(struct compiled *compiled)
{
    if (bcri_unlikely(compiled->size_bytes > COPIER_COMPILED_BYTES_MAX))
        copier_give_up(compiled);
}

#endif

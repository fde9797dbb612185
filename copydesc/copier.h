/* SPDX-License-Identifier: MIT */
/*
 * copier.h -- the compiled descriptors that a CCE keeps. What other folders see of them is in
 * bcri/copydesc.h.
 *
 * Finding the one used last is here, so that the compiler can inline it into each call. All else is
 * in copier.c. */
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

/* The rest of copier_find: for a descriptor other than the one used last. */
int copier_find_other(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                      struct compiled **compiled_out);

/* Finds or makes the compiled descriptor for a descriptor. Returns 0; bcrE_DESC; bcrE_ARCH;
 * bcrE_NOMEM. It lives until copier_done, which the caller must call before the next
 * copier_find. */
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

/* Frees a compiled descriptor that is too large to be kept. */
static inline void copier_done(struct compiled *compiled)
{
    if (bcri_unlikely(compiled->size_bytes > COPIER_COMPILED_BYTES_MAX))
        copier_give_up(compiled);
}

#endif

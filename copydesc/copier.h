/* SPDX-License-Identifier: MIT */
/* copier.h -- the recipes that a CCE keeps (copier.c); bcri/copydesc.h has what others see of it. */
#ifndef COPYDESC_COPIER_H
#define COPYDESC_COPIER_H

#include <bcri/copydesc.h>

#include "recipe.h"

/* The recipe for a descriptor, found or made: 0, bcrE_DESC, bcrE_NOMEM. It lives until bcri_copier_done, which is due
 * before the next call of this. */
int copier_find(struct bcri_copier *copier, const int *copydesc, const struct shape *shape,
                struct recipe **recipe_out);

/* Gives up what is not to be kept. */
void copier_done(struct bcri_copier *copier, struct recipe *recipe);

const struct bcri_reverse *copier_reverse(const struct bcri_copier *copier);

#endif

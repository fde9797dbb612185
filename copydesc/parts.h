/* SPDX-License-Identifier: MIT */
/*
 * parts.h -- how copies go through a list: what copies nothing is passed at once, so the time that
 * a copy takes goes by what is copied, whatever stands between. */
#ifndef COPYDESC_PARTS_H
#define COPYDESC_PARTS_H

#include "validation.h"

/* Triples of a list, all of whose nested ones are noted, and what follows them. */
struct stretch {
    int first, end;                                  /* `end` is the first behind them */
    int skip;                                        /* the list's */
    const struct extent_table *source, *destination; /* what follows; NULL: nothing */
};

/* Fills in what a stretch does; the phases of both tables are known. 0, bcrE_NOMEM: both are to be
 * freed all the same. */
int stretch_extents(struct validation *validation, const struct stretch *stretch, struct extent_table *source,
                    struct extent_table *destination);

/* Finds the parts of a note in which something is copied, and which is complete but for them, like
 * its tail. 0, bcrE_NOMEM: parts_free is due all the same. */
int parts_make(struct validation *validation, struct note *note);
void parts_free(struct note *note);

#endif

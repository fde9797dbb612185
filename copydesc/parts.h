/* SPDX-License-Identifier: MIT */
/*
 * parts.h -- the parts of a list. A copy passes each part that copies nothing at once, so its time
 * depends on what is copied, and not on what lies in between. */
#ifndef COPYDESC_PARTS_H
#define COPYDESC_PARTS_H

#include "validation.h"

/* Triples of a list whose nested lists all have notes, and what follows these triples. */
struct stretch {
    int first, end;                                  /* `end` is the first behind them */
    int skip;                                        /* the list's */
    const struct extent_table *source, *destination; /* what follows; NULL: nothing */
};

/* Fills in what a stretch does; the phases of both tables must be set. Returns 0; bcrE_NOMEM: the
 * caller must free both tables then, too. */
int stretch_extents(struct validation *validation, const struct stretch *stretch, struct extent_table *source,
                    struct extent_table *destination);

/* Finds the parts of a note that copies something. Apart from its parts the note must be complete,
 * and its tail entirely. Returns 0; bcrE_NOMEM: the caller must call parts_free then, too. */
int parts_make(struct validation *validation, struct note *note);
void parts_free(struct note *note);

#endif

/* SPDX-License-Identifier: MIT */
/* What several looks at the same cells tell, and one cannot: the most regions that any of them has
 * met in a cell, and since when its oldest region is there. The cells themselves do not know it,
 * since each would cost every put a store.
 *
 * A cell has had `puts` - `length` regions taken away. If these are fewer now than there were puts in
 * all at an earlier look, a region of that time is still there, in whatever order they are taken. So
 * the age is a lower bound: for a cell that nobody empties it is the time since a look first met
 * something there, and in one through which regions flow it grows to how long that takes, and begins
 * anew. */
#ifndef ENL_LOOK_SEEN_H
#define ENL_LOOK_SEEN_H

#include "inspect/look/view.h"

struct look_seen {
    struct look_seen_cell *cells; /* in the order of the view */
    size_t count;
};

/* Writes `high` and `oldest_ns` (0: the cell is empty) into the cells of a sorted view, from this look
 * and those before. Without memory for it they stay 0, and what was seen is forgotten. */
void look_seen_add(struct look_seen *seen, struct look_view *view);
void look_seen_fini(struct look_seen *seen);

#endif

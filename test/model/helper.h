/* SPDX-License-Identifier: MIT */
/* The helper: a third CCE, `three`, on a thread of its own. When no invocation of `one` can run, as
 * the references say, it sees that `one` sleeps and then puts or takes something, until one can. Also
 * what CCEs without handlers do, `two` and the helper. */
#ifndef BCR_TEST_MODEL_HELPER_H
#define BCR_TEST_MODEL_HELPER_H

#include <stdbool.h>

#include "cce.h"
#include "joint.h"

/* What a CCE other than `one` does. */
struct deed {
    bool put, write, takes;
    int cell;
};
struct deed some_put(int cell);
struct deed some_get(int cell);
/* `who` does it, and the references do. */
void do_as(struct bcri_ctx *who, struct deed deed);

extern int cell_number[CELLS]; /* of each cell of the references */
extern int next_value;         /* to be put */

/* The calling thread is that of `one`. */
void helper_begin(void);
void helper_end(void);

/* Called by `one` before it does what leaves no invocation that can run. */
void expect_idleness(void);
/* Called by `one` when it runs again: the helper may still be in the last lines of what it did. */
void wait_for_helper(void);

#endif

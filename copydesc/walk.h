/* SPDX-License-Identifier: MIT */
/*
 * walk.h -- a copy that follows the descriptor itself and knows at each item how much room there
 * is.
 *
 * It serves copies that end before the descriptor does: it finds the item at which they stop, and
 * why. For what fits as a whole it uses plans, and what copies nothing it passes in closed form. */
#ifndef COPYDESC_WALK_H
#define COPYDESC_WALK_H

#include "op.h"
#include "plan.h"
#include "validation.h"

enum stop {
    GO_ON,            /* it has not stopped; at the end: the descriptor is expended */
    STOP_SOURCE,      /* the source ran out */
    STOP_DESTINATION, /* the destination is full */
    STOP_ERROR,
};

/* One side: a position relative to its first byte, and where it ends. */
struct side {
    int64_t pos;
    int64_t length_bytes;
};

struct walk {
    struct validation *validation;
    const struct plan *plan; /* of the descriptor itself at the first position; NULL: none */
    const uint8_t *source_data;
    uint8_t *destination_data;
    struct side source, destination;
    struct op_tools tools;
    bool dry;          /* copies nothing, only moves the positions */
    bool sure;         /* all that is being done now is known to fit */
    int64_t plan_work; /* done so far for plans of nested lists */
    int error;         /* with STOP_ERROR */
};

/* Does the descriptor `repl` times. */
enum stop walk_run(struct walk *walk, int repl);

#endif

/* SPDX-License-Identifier: MIT */
/* What several threads did to one cell at the same time, and whether that can have happened one
 * after the other.
 *
 * Each operation has a time before it was called and one after it returned. The history is
 * linearizable if the operations can be put into an order that contradicts neither these times nor
 * a plain bounded queue. Source: J. M. Wing, C. Gong: Testing and Verifying Concurrent Objects,
 * 1993, with a memory of the states that failed. */
#ifndef BCR_TEST_MODEL_HISTORY_H
#define BCR_TEST_MODEL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum { HISTORY_OPS = 40, HISTORY_QUEUE = 64 };

enum history_what {
    HISTORY_PUT,   /* value is at the end */
    HISTORY_WRITE, /* value is all that there is */
    HISTORY_FULL,  /* there was no room to put */
    HISTORY_TAKE,  /* value was first, and is gone */
    HISTORY_READ,  /* value was first */
    HISTORY_EMPTY, /* there was nothing */
    HISTORY_ZAP,
    HISTORY_LENGTH, /* there were `value` regions */
};
struct history_op {
    enum history_what what;
    int value;
    uint64_t called, returned;
};
struct history {
    int nrgns;
    int count, start_count;
    struct history_op op[HISTORY_OPS];
    int start[HISTORY_QUEUE]; /* what was in the cell before */
};

bool history_is_linearizable(const struct history *history);
void history_print(const struct history *history);

#endif

/* SPDX-License-Identifier: MIT */
/* What waits until a time, the next first: a heap. */
#ifndef BCRI_AGENT_DEADLINES_H
#define BCRI_AGENT_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the record of what waits. */
struct deadline {
    uint64_t at_ns;
    uint32_t place; /* in the heap, from 1; 0: it is not there */
};

struct deadlines {
    struct deadline **heap; /* from 1 */
    uint32_t count;
    size_t room;
};

/* False: no memory for one more. */
bool bcri_deadlines_reserve(struct deadlines *deadlines);
/* There is room, and the deadline is not there. */
void bcri_deadlines_add(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns);
/* Nothing happens if it is not there. */
void bcri_deadlines_remove(struct deadlines *deadlines, struct deadline *deadline);

static inline struct deadline *deadlines_next(const struct deadlines *deadlines)
{
    return deadlines->count != 0 ? deadlines->heap[1] : NULL;
}

#endif

/* SPDX-License-Identifier: MIT */
/* What waits until a time, the next first: a heap. */
#ifndef BCRI_AGENT_DEADLINES_H
#define BCRI_AGENT_DEADLINES_H

#include <stdint.h>

#include "base/grow.h"

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

static inline struct deadline *deadlines_next(const struct deadlines *deadlines)
{
    return deadlines->count != 0 ? deadlines->heap[1] : NULL;
}

/* False: no memory for one more. */
static inline bool deadlines_reserve(struct deadlines *deadlines)
{
    return enl_grow(&deadlines->heap, &deadlines->room, deadlines->count + 2ul, sizeof(struct deadline *));
}

/* Puts it at `place`, which is free, or higher or lower. */
static inline void deadlines_place(struct deadlines *deadlines, uint32_t place, struct deadline *deadline)
{
    struct deadline **const heap = deadlines->heap;
    for (; place > 1 && heap[place / 2]->at_ns > deadline->at_ns; place /= 2)
        (heap[place] = heap[place / 2])->place = place;
    for (uint32_t child; (child = 2 * place) <= deadlines->count; place = child) {
        if (child < deadlines->count && heap[child + 1]->at_ns < heap[child]->at_ns)
            child++;
        if (heap[child]->at_ns >= deadline->at_ns)
            break;
        (heap[place] = heap[child])->place = place;
    }
    (heap[place] = deadline)->place = place;
}

/* There is room, and the deadline is not there. */
static inline void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns)
{
    deadline->at_ns = at_ns;
    deadlines->heap[++deadlines->count] = deadline;
    deadlines_place(deadlines, deadlines->count, deadline);
}

/* Nothing happens if it is not there. */
static inline void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    const uint32_t place = deadline->place;
    if (place == 0)
        return;
    struct deadline *last = deadlines->heap[deadlines->count--];
    deadline->place = 0;
    if (last != deadline)
        deadlines_place(deadlines, place, last);
}

#endif

/* SPDX-License-Identifier: MIT */
/* deadlines.c -- what waits until a time: deadlines.h. */
#include "links/agent/deadlines.h"

#include <stdlib.h>

#include "base/grow.h"

bool bcri_deadlines_reserve(struct deadlines *deadlines)
{
    return enl_grow(&deadlines->heap, &deadlines->room, deadlines->count + 2ul, sizeof(struct deadline *));
}

static void put_deadline(struct deadlines *deadlines, uint32_t place, struct deadline *deadline)
{
    deadlines->heap[place] = deadline;
    deadline->place = place;
}

/* Puts it at `place`, which is free, or higher. */
static void raise_deadline(struct deadlines *deadlines, uint32_t place, struct deadline *deadline)
{
    for (; place > 1 && deadlines->heap[place / 2]->at_ns > deadline->at_ns; place /= 2)
        put_deadline(deadlines, place, deadlines->heap[place / 2]);
    put_deadline(deadlines, place, deadline);
}

/* Puts it at `place`, which is free, or lower. */
static void sink_deadline(struct deadlines *deadlines, uint32_t place, struct deadline *deadline)
{
    for (uint32_t child; (child = 2 * place) <= deadlines->count; place = child) {
        if (child < deadlines->count && deadlines->heap[child + 1]->at_ns < deadlines->heap[child]->at_ns)
            child++;
        if (deadlines->heap[child]->at_ns >= deadline->at_ns)
            break;
        put_deadline(deadlines, place, deadlines->heap[child]);
    }
    put_deadline(deadlines, place, deadline);
}

void bcri_deadlines_add(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns)
{
    deadline->at_ns = at_ns;
    raise_deadline(deadlines, ++deadlines->count, deadline);
}

void bcri_deadlines_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    const uint32_t place = deadline->place;
    if (place == 0)
        return;
    struct deadline *last = deadlines->heap[deadlines->count--];
    deadline->place = 0;
    if (last == deadline)
        return;
    if (place > 1 && deadlines->heap[place / 2]->at_ns > last->at_ns)
        raise_deadline(deadlines, place, last);
    else
        sink_deadline(deadlines, place, last);
}

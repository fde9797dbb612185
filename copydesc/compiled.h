/* SPDX-License-Identifier: MIT */
/*
 * compiled.h -- all that is known about one descriptor for one pair of layouts and phases: what a
 * call needs to copy without looking at the descriptor again. A bcri_copier (copier.c) makes
 * compiled descriptors, keeps them and frees those that are not used. */
#ifndef COPYDESC_COMPILED_H
#define COPYDESC_COMPILED_H

#include <limits.h>

#include "key.h"
#include "plan.h"
#include "validation.h"

/* What a compiled descriptor depends on beside the descriptor's content: the archtypes (LAYOUT_USER
 * for the user side), and the phases of the first positions, modulo LAYOUT_PHASES. */
struct shape {
    uint64_t archtypes;
    uint32_t phases;
};

static inline struct shape shape_of(int source_archtype, int source_pos, int destination_archtype,
                                    int destination_pos)
{
    return (struct shape){
        (uint64_t)(uint32_t)source_archtype << 32 | (uint32_t)destination_archtype,
        ((uint32_t)source_pos % LAYOUT_PHASES) << 8 | ((uint32_t)destination_pos % LAYOUT_PHASES),
    };
}
static inline bool shape_equals(const struct shape *a, const struct shape *b)
{
    return a->archtypes == b->archtypes && a->phases == b->phases;
}
static inline int shape_source_archtype(const struct shape *shape)
{
    return (int)(shape->archtypes >> 32);
}
static inline int shape_destination_archtype(const struct shape *shape)
{
    return (int)(uint32_t)shape->archtypes;
}
static inline int shape_source_phase(const struct shape *shape)
{
    return (int)(shape->phases >> 8);
}
static inline int shape_destination_phase(const struct shape *shape)
{
    return (int)(shape->phases & 0xff);
}

/* What one repeat, or two, do to one side's position. All values are relative to the first
 * position. */
struct bounds {
    int64_t end, lowest, highest, reach;
};

struct compiled {
    /* hot */
    uint64_t hash;
    struct shape shape;
    struct compiled *older, *newer; /* by last use */
    struct key key;
    bool planned; /* `plan` and the fields below are valid */
    bool steady;  /* from the second repeat on, each does the same a step further, never backwards */
    bool fast;    /* planned; one repeat stays between its start and its items' end */
    struct plan plan;
    struct bounds source[2], destination[2]; /* of one repeat; of two */
    /* cold */
    struct compiled *next; /* in the same bucket */
    struct validation validation;
    size_t size_bytes;
};

/* A position on each side, and the length of each side. */
struct room {
    int64_t source_pos, source_length;
    int64_t destination_pos, destination_length;
};

/* Returns 0; bcrE_DESC; bcrE_ARCH if one of the archtypes is not valid; bcrE_NOMEM. */
int compiled_make(struct compiled **compiled_out, const int *copydesc, uint64_t hash,
                  const struct shape *shape);
void compiled_free(struct compiled *compiled);

/* `beyond`: how far the last repeat lies behind the last one that `bounds` covers. */
static inline bool compiled_side_fits(const struct bounds *bounds, int64_t beyond, int64_t pos,
                                      int64_t length)
{
    return pos + bounds->lowest >= 0 && pos + bounds->highest + beyond <= INT_MAX &&
           pos + bounds->reach + beyond <= length;
}

/* Whether all of `repl` repeats fit; if so, also gives the positions behind them. This is a quick
 * test: false may also mean that it cannot tell. */
static inline bool compiled_fits(const struct compiled *compiled, int repl, const struct room *room,
                                 int64_t *source_end_out, int64_t *destination_end_out)
{
    if (bcri_likely(repl == 1 && compiled->fast)) {
        *source_end_out = room->source_pos + compiled->source[0].end;
        *destination_end_out = room->destination_pos + compiled->destination[0].end;
        return room->source_pos + compiled->source[0].reach <= room->source_length &&
               room->destination_pos + compiled->destination[0].reach <= room->destination_length;
    }
    if (bcri_unlikely(!compiled->planned || repl < 1 || (repl > 2 && !compiled->steady)))
        return false;
    int counted = repl > 1, more = repl - 1 - counted;
    int64_t source_beyond = more * compiled->plan.source_step;
    int64_t destination_beyond = more * compiled->plan.destination_step;
    const struct bounds *source = &compiled->source[counted], *destination = &compiled->destination[counted];
    if (!compiled_side_fits(source, source_beyond, room->source_pos, room->source_length) ||
        !compiled_side_fits(destination, destination_beyond, room->destination_pos, room->destination_length))
        return false;
    *source_end_out = room->source_pos + source->end + source_beyond;
    *destination_end_out = room->destination_pos + destination->end + destination_beyond;
    return true;
}

#endif

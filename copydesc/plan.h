/* SPDX-License-Identifier: MIT */
/*
 * plan.h -- what a list copies, as steps that need no more looking at the descriptor.
 *
 * A plan knows where every item lies relative to where the list begins, given the phases there, but
 * not how much room there is: it is followed only where all of it is known to fit. Its size is
 * bounded; repeats are loops in it. */
#ifndef COPYDESC_PLAN_H
#define COPYDESC_PLAN_H

#include "op.h"
#include "validation.h"

/* A list that needs more steps than this, or looks at more in being compiled, is not compiled. */
enum { PLAN_OPS_MAX = 1024, PLAN_WORK_MAX = 1 << 16 };

struct oplist {
    struct op *ops; /* owned */
    int count;
    int capacity;
    int barrier; /* steps before this one belong to loops: nothing is joined to them */
};

void oplist_free(struct oplist *list);

/* Adds a step, or makes the last one longer. A loop is added together with its body by
 * oplist_add_turns. 0, bcrE_NOMEM. */
int oplist_add(struct oplist *list, const struct op *op);

/* Adds all steps of `from`, its bases moved. 0, bcrE_NOMEM. */
int oplist_append(struct oplist *list, const struct oplist *from, int64_t source_off,
                  int64_t destination_off);

/* The same `turns` times, the bases a step further each time. */
int oplist_add_turns(struct oplist *list, const struct oplist *body, int64_t turns, int64_t source_off,
                     int64_t destination_off, int64_t source_step, int64_t destination_step);

/* The step that does a body over and over; `blocks` is to be filled in, and the offsets. */
struct op oplist_turns(const struct oplist *body, int64_t source_step, int64_t destination_step);

/* What a number of repeats of a list do, from given phases: some that are like no other, then
 * rounds that are all alike, since the phases have come back. */
struct plan {
    struct oplist *first; /* what each repeat does by itself, up to the end of the first round; owned */
    int64_t *source_at;   /* where each begins, and the end of the last; count + 1 of each; owned */
    int64_t *destination_at;
    int count;
    int lead;            /* repeats before the first round */
    int period;          /* repeats in a round; lead + period == count */
    struct oplist round; /* all of a round, from where it begins */
    int64_t source_step; /* how far a round leads */
    int64_t destination_step;
    struct op whole; /* all rounds as one step, or as a loop of the round's; `blocks` is their number */
    bool lengthens;  /* rounds follow each other without a gap: `items` times their number is enough */
};

/* 0; bcrE_NOMEM; PLAN_DECLINED: it would take more than the limits, or leads further than any
 * buffer is long. What it took is counted in any case. */
enum { PLAN_DECLINED = -1 };
int plan_make(struct plan *plan_out, struct validation *validation, struct note *note, int source_phase,
              int destination_phase, int *work_out);
void plan_free(struct plan *plan);

/* Does it once, from these places, or `repl` times. 0, or the code at which it stopped. */
int plan_do_once(const struct plan *plan, const uint8_t *source, uint8_t *destination,
                 const struct op_tools *tools);
int plan_do(const struct plan *plan, int repl, const uint8_t *source, uint8_t *destination,
            const struct op_tools *tools);

#endif

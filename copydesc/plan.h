/* SPDX-License-Identifier: MIT */
/*
 * plan.h -- what a list copies, as steps that can be done without the descriptor.
 *
 * A plan holds for one pair of phases at the start of the list. It knows where every item lies
 * relative to that start, but not how long the two sides are. So it is used only where all of it is
 * known to fit. Its size is bounded, since repeats are loops in it. */
#ifndef COPYDESC_PLAN_H
#define COPYDESC_PLAN_H

#include "op.h"
#include "validation.h"

/* A list that needs more steps than this, or more work to compile, is not compiled. */
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

/* Adds the steps of `body` `turns` times, the bases one step further each time. */
int oplist_add_turns(struct oplist *list, const struct oplist *body, int64_t turns, int64_t source_off,
                     int64_t destination_off, int64_t source_step, int64_t destination_step);

/* The step that repeats a body. The caller fills in `blocks` and the offsets. */
struct op oplist_turns(const struct oplist *body, int64_t source_step, int64_t destination_step);

/* What a number of repeats of a list do, from given phases. First come repeats that differ from
 * each other. Once the phases have come back, rounds follow that are all alike. */
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

/* Returns 0; bcrE_NOMEM; PLAN_DECLINED: the plan would exceed the limits, or leads further than any
 * buffer is long. `work_out` is written in all cases. */
enum { PLAN_DECLINED = -1 };
int plan_make(struct plan *plan_out, struct validation *validation, struct note *note, int source_phase,
              int destination_phase, int *work_out);
void plan_free(struct plan *plan);

/* Does the plan once, or `repl` times, from these addresses. Returns 0, or the code at which a step
 * stopped. */
int plan_do_once(const struct plan *plan, const uint8_t *source, uint8_t *destination,
                 const struct op_tools *tools);
int plan_do(const struct plan *plan, int repl, const uint8_t *source, uint8_t *destination,
            const struct op_tools *tools);

#endif

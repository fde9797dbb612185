/* SPDX-License-Identifier: MIT */
/*
 * plan.c -- from a validated descriptor to a plan.
 *
 * Each list is compiled once for each pair of phases in which it occurs, however many NESTs lead
 * there, and its steps are then added as a whole. So steps that lie together are joined across
 * triples, repeats and nesting, and the work is bounded by the number of steps, not by what they
 * expand to. The compiler counts all its work and declines a descriptor that takes too much. */
#include "plan.h"

#include <limits.h>
#include <string.h>

#include <bcr/error.h>

#include "bcri/private.h"
#include "triple.h"

/* A pair of phases that a list can begin with; at most these many. */
enum { PAIRS = LAYOUT_PHASES * LAYOUT_PHASES };

struct compiler {
    struct validation *validation;
    int work;
};

/* Where the next step goes, relative to the start of the list that is compiled, and the phases of
 * that start. */
struct place {
    int64_t source, destination;
    int source_phase, destination_phase;
};

static int pair_of(const struct note *note, const struct place *at)
{
    int64_t source = (at->source + at->source_phase) & (note->source.phases - 1);
    int64_t destination = (at->destination + at->destination_phase) & (note->destination.phases - 1);
    return (int)(source * LAYOUT_PHASES + destination);
}

/* Moves a place on by repeats of a list or of a stretch. PLAN_DECLINED if that leads too far. */
static int move_on(const struct extent_table *on_source, const struct extent_table *on_destination,
                   struct place *at, int repl)
{
    struct extent source = extent_of_repeats(on_source, at->source + at->source_phase, repl);
    struct extent destination =
        extent_of_repeats(on_destination, at->destination + at->destination_phase, repl);
    if (source.wild || destination.wild)
        return PLAN_DECLINED;
    at->source += source.end - source.start;
    at->destination += destination.end - destination.start;
    return 0;
}

static int spend(struct compiler *compiler, int work)
{
    compiler->work += work;
    return compiler->work > PLAN_WORK_MAX ? PLAN_DECLINED : 0;
}

static int compile(struct compiler *compiler, struct note *note, int pair, struct oplist **list_out);

/* The repeats of a list until the phases come back or no repeat is left, with the list compiled for
 * the phases of each. */
struct rounds {
    struct oplist *turn[PAIRS];
    struct place at[PAIRS + 1];
    int count, lead;
};

static int find_rounds(struct compiler *compiler, struct note *note, struct place start, int repl,
                       struct rounds *rounds)
{
    int met_at[PAIRS];
    memset(met_at, -1, sizeof met_at);
    rounds->at[0] = start;
    rounds->count = 0;
    for (;;) {
        struct place *at = &rounds->at[rounds->count];
        int pair = pair_of(note, at);
        rounds->lead = met_at[pair] < 0 ? rounds->count : met_at[pair];
        if (met_at[pair] >= 0 || rounds->count == repl)
            return 0;
        met_at[pair] = rounds->count;
        int error = compile(compiler, note, pair, &rounds->turn[rounds->count]);
        at[1] = at[0];
        if (!error)
            error = move_on(&note->source, &note->destination, &at[1], 1);
        if (error)
            return error;
        rounds->count++;
    }
}

/* Makes one list of a round; its offsets count from the start of the round. */
static int join_round(const struct rounds *rounds, struct oplist *round)
{
    const struct place *start = &rounds->at[rounds->lead];
    int error = 0;
    for (int i = rounds->lead; i < rounds->count && !error; i++)
        error = oplist_append(round, rounds->turn[i], rounds->at[i].source - start->source,
                              rounds->at[i].destination - start->destination);
    return error;
}

/* Adds repeats of a list to another, and moves on. */
static int add_repeats(struct compiler *compiler, struct oplist *list, struct note *note, struct place *at,
                       int repl)
{
    struct rounds *rounds = bcri_private_zeroed(1, sizeof *rounds);
    if (!rounds)
        return bcrE_NOMEM;
    struct oplist round = {NULL, 0, 0, 0};
    int error = find_rounds(compiler, note, *at, repl, rounds);
    for (int i = 0; !error && i < rounds->lead; i++)
        error = oplist_append(list, rounds->turn[i], rounds->at[i].source, rounds->at[i].destination);
    int period = error ? 0 : rounds->count - rounds->lead;
    if (period > 0) {
        const struct place *start = &rounds->at[rounds->lead], *end = &rounds->at[rounds->count];
        int64_t source_step = end->source - start->source,
                destination_step = end->destination - start->destination;
        int turns = (repl - rounds->lead) / period, rest = (repl - rounds->lead) % period;
        error = join_round(rounds, &round);
        if (!error)
            error = oplist_add_turns(list, &round, turns, start->source, start->destination, source_step,
                                     destination_step);
        for (int i = 0; !error && i < rest; i++)
            error = oplist_append(list, rounds->turn[rounds->lead + i],
                                  rounds->at[rounds->lead + i].source + turns * source_step,
                                  rounds->at[rounds->lead + i].destination + turns * destination_step);
        if (!error)
            error = spend(compiler, round.count);
    }
    oplist_free(&round);
    bcri_private_free(rounds);
    return error ? error : move_on(&note->source, &note->destination, at, repl);
}

/* Adds the step for items of an atomic type, if they are copied, and moves past them. */
static int add_items(struct compiler *compiler, struct oplist *list, const struct triple *triple, int skip,
                     struct place *at)
{
    const struct layout *source = &compiler->validation->source,
                        *destination = &compiler->validation->destination;
    int type = triple->type;
    int64_t from =
        layout_align_up(at->source + at->source_phase, source->align_bytes[type]) - at->source_phase;
    int64_t to = layout_align_up(at->destination + at->destination_phase, destination->align_bytes[type]) -
                 at->destination_phase;
    if (skip_moves_source(skip))
        at->source = from + (int64_t)triple->repl * source->size_bytes[type];
    if (skip_moves_destination(skip))
        at->destination = to + (int64_t)triple->repl * destination->size_bytes[type];
    if (at->source > INT_MAX || at->destination > INT_MAX)
        return PLAN_DECLINED;
    if (skip != 0)
        return 0;
    struct op op = op_for(source, destination, type, triple->repl, from, to);
    return oplist_add(list, &op);
}

static int add_triple(struct compiler *compiler, struct oplist *list, int idx, int list_skip,
                      struct place *at)
{
    const struct triple triple = triple_known(compiler->validation->triples, idx);
    int skip = list_skip | triple.skip;
    if (compiler->validation->source.user)
        at->source += triple.adjust;
    if (compiler->validation->destination.user)
        at->destination += triple.adjust;
    if (triple.repl == 0)
        return 0;
    if (!triple.nest)
        return add_items(compiler, list, &triple, skip, at);
    struct note *below = validate_nested(compiler->validation, triple.target, skip);
    return below->copies ? add_repeats(compiler, list, below, at, triple.repl)
                         : move_on(&below->source, &below->destination, at, triple.repl);
}

static int add_part(struct compiler *compiler, struct oplist *list, const struct part *part, int list_skip,
                    struct place *at)
{
    int error = spend(compiler, 1);
    if (!error && part_is_stretch(part))
        return move_on(&part->source, &part->destination, at, 1);
    for (int idx = part->first; idx < part->end && !error; idx++) {
        error = spend(compiler, 1 + list->count / 8);
        if (!error)
            error = add_triple(compiler, list, idx, list_skip, at);
        if (!error && list->count > PLAN_OPS_MAX)
            error = PLAN_DECLINED;
    }
    return error;
}

static int compile_list(struct compiler *compiler, struct note *note, struct place at, struct oplist *list)
{
    int from = 0, error = 0;
    for (const struct note *here = note; here && !error; from = here->rest_from, here = here->rest)
        for (int i = from; i < here->part_count && !error; i++)
            error = add_part(compiler, list, &here->parts[i], note->skip, &at);
    return error;
}

/* Finds or makes the steps of a list for a pair of phases. */
static int compile(struct compiler *compiler, struct note *note, int pair, struct oplist **list_out)
{
    if (!note->compiled) {
        note->compiled = bcri_private_zeroed(PAIRS, sizeof *note->compiled);
        if (!note->compiled)
            return bcrE_NOMEM;
        note->compiled_next = compiler->validation->compiled;
        compiler->validation->compiled = note;
    }
    struct oplist *list = &note->compiled[pair];
    *list_out = list;
    if (list->count > 0) /* never 0: something in it is copied */
        return 0;
    struct place start = {.source_phase = pair / LAYOUT_PHASES, .destination_phase = pair % LAYOUT_PHASES};
    int error = compile_list(compiler, note, start, list);
    if (error)
        oplist_free(list);
    return error;
}

/* Frees the lists that were compiled for the notes. */
static void forget(struct validation *validation)
{
    while (validation->compiled) {
        struct note *note = validation->compiled;
        validation->compiled = note->compiled_next;
        for (int pair = 0; pair < PAIRS; pair++)
            oplist_free(&note->compiled[pair]);
        bcri_private_free(note->compiled);
        note->compiled = NULL;
    }
}

static void mark_quick(struct oplist *list)
{
    for (int i = 0; i < list->count; i++) {
        struct op *op = &list->ops[i];
        bool short_run = op->items <= 16 && (op->items & (op->items - 1)) == 0;
        op->quick = 0;
        if (op->kind == OP_COPY && op->blocks == 1 && short_run)
            op->quick = (uint8_t)op->items;
        else if (op->kind == OP_REVERSE && op->blocks == 1 && op->items == 1)
            op->quick = OP_QUICK_REVERSE | op->source_size;
    }
}

/* Stores the result of find_rounds in the plan, with copies of the lists that it borrowed. */
static int keep(struct plan *plan, const struct rounds *rounds)
{
    size_t room = (size_t)rounds->count + 1;
    plan->first = bcri_private_zeroed(room, sizeof *plan->first);
    plan->source_at = bcri_private_zeroed(room, sizeof *plan->source_at);
    plan->destination_at = bcri_private_zeroed(room, sizeof *plan->destination_at);
    if (!plan->first || !plan->source_at || !plan->destination_at)
        return bcrE_NOMEM;
    plan->count = rounds->count;
    plan->lead = rounds->lead;
    plan->period = rounds->count - rounds->lead;
    int error = 0;
    for (int i = 0; i <= rounds->count && !error; i++) {
        plan->source_at[i] = rounds->at[i].source;
        plan->destination_at[i] = rounds->at[i].destination;
        if (i < rounds->count)
            error = oplist_append(&plan->first[i], rounds->turn[i], 0, 0);
    }
    if (!error)
        error = join_round(rounds, &plan->round);
    if (error)
        return error;
    for (int i = 0; i < plan->count; i++)
        mark_quick(&plan->first[i]);
    mark_quick(&plan->round);
    plan->source_step = rounds->at[rounds->count].source - rounds->at[rounds->lead].source;
    plan->destination_step = rounds->at[rounds->count].destination - rounds->at[rounds->lead].destination;
    plan->whole = oplist_turns(&plan->round, plan->source_step, plan->destination_step);
    plan->lengthens = plan->whole.kind != OP_LOOP &&
                      plan->source_step == (int64_t)plan->whole.items * plan->whole.source_size &&
                      plan->destination_step == (int64_t)plan->whole.items * plan->whole.destination_size;
    return 0;
}

int plan_make(struct plan *plan_out, struct validation *validation, struct note *note, int source_phase,
              int destination_phase, int *work_out)
{
    struct compiler compiler = {.validation = validation};
    struct place start = {.source_phase = source_phase, .destination_phase = destination_phase};
    struct plan plan = {.first = NULL};
    *work_out = 0;
    struct rounds *rounds = bcri_private_zeroed(1, sizeof *rounds);
    if (!rounds)
        return bcrE_NOMEM;
    int error = find_rounds(&compiler, note, start, INT_MAX, rounds);
    if (!error)
        error = keep(&plan, rounds);
    bcri_private_free(rounds);
    forget(validation);
    *work_out = compiler.work;
    if (error)
        plan_free(&plan);
    else
        *plan_out = plan;
    return error;
}

void plan_free(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        oplist_free(&plan->first[i]);
    oplist_free(&plan->round);
    bcri_private_free(plan->first);
    bcri_private_free(plan->source_at);
    bcri_private_free(plan->destination_at);
    *plan = (struct plan){.first = NULL};
}

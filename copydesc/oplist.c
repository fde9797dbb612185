/* SPDX-License-Identifier: MIT */
/*
 * oplist.c -- lists of steps. Steps that lie together are joined: a step that continues the last
 * one makes that longer, and a repeated step becomes one step with blocks. Only what cannot be
 * joined becomes a loop. */
#include "plan.h"

#include <limits.h>
#include <string.h>

#include <bcr/error.h>

#include "bcri/private.h"

enum { UNROLL_OPS_MAX = 8 };

void oplist_free(struct oplist *list)
{
    bcri_private_free(list->ops);
    *list = (struct oplist){NULL, 0, 0, 0};
}

static int reserve(struct oplist *list, int more)
{
    if (list->count + more <= list->capacity)
        return 0;
    int capacity = list->capacity ? 2 * list->capacity : 4;
    while (capacity < list->count + more)
        capacity *= 2;
    struct op *ops = bcri_private_resize(list->ops, (size_t)capacity * sizeof *ops);
    if (!ops)
        return bcrE_NOMEM;
    list->ops = ops;
    list->capacity = capacity;
    return 0;
}

static bool same_kind(const struct op *a, const struct op *b)
{
    return a->kind == b->kind && a->source_size == b->source_size &&
           a->destination_size == b->destination_size && a->source_swapped == b->source_swapped &&
           a->destination_swapped == b->destination_swapped;
}

/* Whether the run `next` begins where the run `last` ends, on both sides. */
static bool continues(const struct op *last, const struct op *next)
{
    return last->kind != OP_LOOP && last->blocks == 1 && next->blocks == 1 && same_kind(last, next) &&
           last->source_off + (int64_t)last->items * last->source_size == next->source_off &&
           last->destination_off + (int64_t)last->items * last->destination_size == next->destination_off &&
           last->items <= INT_MAX - next->items;
}

int oplist_add(struct oplist *list, const struct op *op)
{
    if (list->count > list->barrier && continues(&list->ops[list->count - 1], op)) {
        list->ops[list->count - 1].items += op->items;
        return 0;
    }
    int error = reserve(list, 1);
    if (!error)
        list->ops[list->count++] = *op;
    return error;
}

/* Adds a loop and, behind it, its body. */
static int add_loop(struct oplist *list, const struct op *loop, const struct op *body)
{
    int error = reserve(list, 1 + loop->items);
    if (error)
        return error;
    list->ops[list->count++] = *loop;
    memcpy(list->ops + list->count, body, (size_t)loop->items * sizeof *body);
    list->count += loop->items;
    list->barrier = list->count;
    return 0;
}

int oplist_append(struct oplist *list, const struct oplist *from, int64_t source_off, int64_t destination_off)
{
    for (int i = 0; i < from->count; i++) {
        struct op op = from->ops[i];
        op.source_off += source_off;
        op.destination_off += destination_off;
        int error;
        if (op.kind == OP_LOOP) { /* offsets in its body count from the loop's base */
            error = add_loop(list, &op, &from->ops[i + 1]);
            i += op.items;
        } else {
            error = oplist_add(list, &op);
        }
        if (error)
            return error;
    }
    return 0;
}

/* Whether each step of this body may be done for many turns before the next step. Not if a step can
 * stop, and not if turns write to the same bytes, which only adjusts can cause. */
static bool by_columns(const struct oplist *body, int64_t destination_step)
{
    int64_t end = INT64_MIN;
    for (int i = 0; i < body->count; i++) {
        const struct op *op = &body->ops[i];
        if (op->kind == OP_LOOP || op->blocks != 1 || op_can_stop(op) || op->destination_off < end)
            return false;
        end = op->destination_off + (int64_t)op->items * op->destination_size;
    }
    return end - body->ops[0].destination_off <= destination_step;
}

/* Makes a run longer if it is repeated `turns` times, each time where it ended before. False: it is
 * no such run. */
static bool lengthen(struct op *op, int64_t turns, int64_t source_step, int64_t destination_step)
{
    if (op->kind == OP_LOOP || op->blocks != 1 || source_step != (int64_t)op->items * op->source_size ||
        destination_step != (int64_t)op->items * op->destination_size || turns > INT_MAX / op->items)
        return false;
    op->items *= (int32_t)turns;
    return true;
}

struct op oplist_turns(const struct oplist *body, int64_t source_step, int64_t destination_step)
{
    struct op op = body->ops[0];
    if (body->count > 1 || op.kind == OP_LOOP || op.blocks > 1)
        op = (struct op){
            .kind = OP_LOOP, .items = body->count, .by_columns = by_columns(body, destination_step)};
    op.source_step = source_step;
    op.destination_step = destination_step;
    return op;
}

/* Adds a body whose last run continues in the first run of the next turn. The two runs are joined,
 * so each turn has one run less. The first run then comes before the loop, and the rest of the last
 * turn after it. */
static int add_rotated(struct oplist *list, const struct oplist *body, const struct op *loop)
{
    struct oplist rotated = {NULL, 0, 0, 0}, rest = {body->ops + 1, body->count - 1, 0, 0};
    struct op first = body->ops[0], joined = body->ops[body->count - 1];
    int64_t turns = loop->blocks - 1;
    joined.items += first.items;
    first.source_off += loop->source_off;
    first.destination_off += loop->destination_off;
    int error = oplist_add(list, &first);
    for (int i = 1; i < body->count - 1 && !error; i++)
        error = oplist_add(&rotated, &body->ops[i]);
    if (!error)
        error = oplist_add(&rotated, &joined);
    if (!error)
        error = oplist_add_turns(list, &rotated, turns, loop->source_off, loop->destination_off,
                                 loop->source_step, loop->destination_step);
    if (!error)
        error = oplist_append(list, &rest, loop->source_off + turns * loop->source_step,
                              loop->destination_off + turns * loop->destination_step);
    oplist_free(&rotated);
    return error;
}

static bool flat(const struct oplist *body)
{
    for (int i = 0; i < body->count; i++)
        if (body->ops[i].kind == OP_LOOP)
            return false;
    return true;
}

int oplist_add_turns(struct oplist *list, const struct oplist *body, int64_t turns, int64_t source_off,
                     int64_t destination_off, int64_t source_step, int64_t destination_step)
{
    if (turns <= 0 || body->count == 0)
        return 0;
    if (turns == 1)
        return oplist_append(list, body, source_off, destination_off);
    struct op op = body->ops[0];
    if (body->count == 1 && lengthen(&op, turns, source_step, destination_step)) {
        op.source_off += source_off;
        op.destination_off += destination_off;
        return oplist_add(list, &op);
    }
    if (turns * body->count <= UNROLL_OPS_MAX) {
        int error = 0;
        for (int64_t i = 0; i < turns && !error; i++)
            error = oplist_append(list, body, source_off + i * source_step,
                                  destination_off + i * destination_step);
        return error;
    }
    op = oplist_turns(body, source_step, destination_step);
    op.blocks = turns;
    op.source_off += source_off;
    op.destination_off += destination_off;
    if (op.kind != OP_LOOP)
        return oplist_add(list, &op);
    if (body->count > 1 && flat(body)) {
        struct op next = body->ops[0];
        next.source_off += source_step;
        next.destination_off += destination_step;
        if (continues(&body->ops[body->count - 1], &next))
            return add_rotated(list, body, &op);
    }
    return add_loop(list, &op, body->ops);
}

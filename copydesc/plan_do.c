/* SPDX-License-Identifier: MIT */
/*
 * plan_do.c -- does the steps of a plan.
 *
 * Loops whose steps may be reordered are done by columns: one step for as many turns as fit into
 * the nearest cache, then the next step for the same turns. */
#include "plan.h"

#include <string.h>

enum { COLUMN_BYTES = 8192, COLUMN_TURNS_MIN = 16 };

static int do_ops(const struct op *ops, int count, const uint8_t *source, uint8_t *destination,
                  const struct op_tools *tools);

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static int do_columns(const struct op *loop, const struct op *body, const uint8_t *source,
                      uint8_t *destination, const struct op_tools *tools)
{
    int64_t step = magnitude(loop->source_step) + magnitude(loop->destination_step);
    int64_t some = COLUMN_BYTES / (step + 1) + COLUMN_TURNS_MIN;
    for (int64_t done = 0; done < loop->blocks; done += some) {
        int64_t turns = loop->blocks - done < some ? loop->blocks - done : some;
        for (int i = 0; i < loop->items; i++) {
            struct op column = body[i];
            column.blocks = turns;
            column.source_step = loop->source_step;
            column.destination_step = loop->destination_step;
            (void)op_do(&column, source, destination, tools); /* such steps do not stop */
        }
        source += turns * loop->source_step;
        destination += turns * loop->destination_step;
    }
    return 0;
}

static int do_loop(const struct op *loop, const struct op *body, const uint8_t *source, uint8_t *destination,
                   const struct op_tools *tools)
{
    source += loop->source_off;
    destination += loop->destination_off;
    if (loop->by_columns)
        return do_columns(loop, body, source, destination, tools);
    for (int64_t i = 0; i < loop->blocks; i++) {
        int error = do_ops(body, loop->items, source + i * loop->source_step,
                           destination + i * loop->destination_step, tools);
        if (error)
            return error;
    }
    return 0;
}

#define REVERSE_ONE(bytes, word, swap)                                              \
    static inline void reverse_##bytes(uint8_t *destination, const uint8_t *source) \
    {                                                                               \
        word item;                                                                  \
        memcpy(&item, source, sizeof item);                                         \
        item = swap(item);                                                          \
        memcpy(destination, &item, sizeof item);                                    \
    }
REVERSE_ONE(2, uint16_t, __builtin_bswap16)
REVERSE_ONE(4, uint32_t, __builtin_bswap32)
REVERSE_ONE(8, uint64_t, __builtin_bswap64)

static int do_ops(const struct op *ops, int count, const uint8_t *source, uint8_t *destination,
                  const struct op_tools *tools)
{
    for (const struct op *op = ops, *end = ops + count; op < end; op++) {
        const uint8_t *from = source + op->source_off;
        uint8_t *to = destination + op->destination_off;
        int error = 0;
        switch (op->quick) { /* structs consist of short runs: they need no call */
        case 1: *to = *from; continue;
        case 2: memcpy(to, from, 2); continue;
        case 4: memcpy(to, from, 4); continue;
        case 8: memcpy(to, from, 8); continue;
        case 16: memcpy(to, from, 16); continue;
        case OP_QUICK_REVERSE | 2: reverse_2(to, from); continue;
        case OP_QUICK_REVERSE | 4: reverse_4(to, from); continue;
        case OP_QUICK_REVERSE | 8: reverse_8(to, from); continue;
        default: break;
        }
        if (op->kind == OP_LOOP) {
            error = do_loop(op, op + 1, source, destination, tools);
            op += op->items;
        } else {
            error = op_do(op, source, destination, tools);
        }
        if (error)
            return error;
    }
    return 0;
}

/* Does `turns` rounds. */
static int do_rounds(const struct plan *plan, int turns, const uint8_t *source, uint8_t *destination,
                     const struct op_tools *tools)
{
    struct op whole = plan->whole;
    const struct op *body = plan->round.ops;
    if (plan->lengthens) { /* what fits into memory fits into an int */
        whole.items = body->items * turns;
        return op_do(&whole, source, destination, tools);
    }
    if (turns == 1)
        return do_ops(body, plan->round.count, source, destination, tools);
    whole.blocks = turns;
    if (whole.kind != OP_LOOP)
        return op_do(&whole, source, destination, tools);
    return do_loop(&whole, body, source, destination, tools);
}

int plan_do_once(const struct plan *plan, const uint8_t *source, uint8_t *destination,
                 const struct op_tools *tools)
{
    return do_ops(plan->first[0].ops, plan->first[0].count, source, destination, tools);
}

int plan_do(const struct plan *plan, int repl, const uint8_t *source, uint8_t *destination,
            const struct op_tools *tools)
{
    int error = 0, alone = repl < plan->lead ? repl : plan->lead;
    for (int i = 0; i < alone && !error; i++)
        error = do_ops(plan->first[i].ops, plan->first[i].count, source + plan->source_at[i],
                       destination + plan->destination_at[i], tools);
    repl -= alone;
    if (repl == 0 || error)
        return error;
    int turns = plan->period == 1 ? repl : repl / plan->period, rest = repl - turns * plan->period;
    source += plan->source_at[plan->lead];
    destination += plan->destination_at[plan->lead];
    if (turns > 0)
        error = do_rounds(plan, turns, source, destination, tools);
    source += turns * plan->source_step;
    destination += turns * plan->destination_step;
    for (int i = 0; i < rest && !error; i++) {
        int turn = plan->lead + i;
        error = do_ops(plan->first[turn].ops, plan->first[turn].count,
                       source + (plan->source_at[turn] - plan->source_at[plan->lead]),
                       destination + (plan->destination_at[turn] - plan->destination_at[plan->lead]), tools);
    }
    return error;
}

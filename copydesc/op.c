/* SPDX-License-Identifier: MIT */
/*
 * op.c -- which kind of step a type needs between two layouts, and doing one.
 */
#include "op.h"

#include <bcr/types.h>

#include "layout.h"

static enum op_kind kind_for(const struct layout *source, const struct layout *destination, int type)
{
    if (type == bcrT_CCE)
        return source->user ? OP_ENCODE : destination->user ? OP_DECODE : OP_COPY;
    if (source->size_bytes[type] != destination->size_bytes[type])
        return type == bcrT_FLOAT || type == bcrT_DOUBLE ? OP_FLOAT : OP_INTEGER;
    return source->size_bytes[type] > 1 && source->swapped != destination->swapped ? OP_REVERSE : OP_COPY;
}

struct op op_for(const struct layout *source, const struct layout *destination, int type, int32_t count,
                 int64_t source_off, int64_t destination_off)
{
    struct op op = {
        .kind = (uint8_t)kind_for(source, destination, type),
        .source_size = source->size_bytes[type],
        .destination_size = destination->size_bytes[type],
        .items = count,
        .blocks = 1,
        .source_off = source_off,
        .destination_off = destination_off,
    };
    if (op.kind == OP_COPY) { /* so that it joins with bytes of other types */
        op.items *= op.source_size;
        op.source_size = op.destination_size = 1;
    } else if (op.kind == OP_INTEGER || op.kind == OP_FLOAT) {
        op.source_swapped = source->swapped;
        op.destination_swapped = destination->swapped;
    }
    return op;
}

int op_do(const struct op *op, const uint8_t *source, uint8_t *destination, const struct op_tools *tools)
{
    source += op->source_off;
    destination += op->destination_off;
    switch (op->kind) {
    case OP_COPY: op_copy(op, source, destination); return 0;
    case OP_REVERSE: op_reverse(op, source, destination, tools->reverse); return 0;
    case OP_INTEGER: return op_integer(op, source, destination);
    case OP_FLOAT: return op_float(op, source, destination);
    case OP_ENCODE: return op_encode(op, source, destination, tools->codec);
    default: return op_decode(op, source, destination, tools->codec);
    }
}

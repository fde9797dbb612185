/* SPDX-License-Identifier: MIT */
/*
 * op_copy.c -- bytes as they are: one run, or blocks of them.
 *
 * Small blocks are what structs are made of, so each small size has a loop of its own in which a block is one load and
 * one store, or two of each that overlap. No byte between blocks is read or written.
 */
#include "op.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

/* Blocks of 2 * `half` - `shared` bytes: the first and the last `half` of them. */
ALWAYS void copy_halves(const struct op *op, const uint8_t *from, uint8_t *to, size_t half)
{
    size_t second = (size_t)op->items - half;
    for (int64_t i = 0; i < op->blocks; i++) {
        uint8_t first_bytes[32], second_bytes[32];
        memcpy(first_bytes, from, half);
        memcpy(second_bytes, from + second, half);
        memcpy(to, first_bytes, half);
        memcpy(to + second, second_bytes, half);
        from += op->source_step;
        to += op->destination_step;
    }
}

ALWAYS void copy_whole(const struct op *op, const uint8_t *from, uint8_t *to, size_t size)
{
    int64_t source_step = op->source_step, destination_step = op->destination_step;
    for (int64_t i = 0; i < op->blocks; i++)
        memcpy(to + i * destination_step, from + i * source_step, size);
}

void op_copy(const struct op *op, const uint8_t *source, uint8_t *destination)
{
    if (op->blocks == 1) {
        memcpy(destination, source, (size_t)op->items);
        return;
    }
    switch (op->items) {
    case 1: copy_whole(op, source, destination, 1); return;
    case 2: copy_whole(op, source, destination, 2); return;
    case 3: copy_halves(op, source, destination, 2); return;
    case 4: copy_whole(op, source, destination, 4); return;
    case 8: copy_whole(op, source, destination, 8); return;
    case 12: copy_whole(op, source, destination, 12); return;
    case 16: copy_whole(op, source, destination, 16); return;
    case 24: copy_whole(op, source, destination, 24); return;
    case 32: copy_whole(op, source, destination, 32); return;
    default: break;
    }
    if (op->items < 8)
        copy_halves(op, source, destination, 4);
    else if (op->items < 16)
        copy_halves(op, source, destination, 8);
    else if (op->items < 32)
        copy_halves(op, source, destination, 16);
    else if (op->items < 64)
        copy_halves(op, source, destination, 32);
    else
        copy_whole(op, source, destination, (size_t)op->items);
}

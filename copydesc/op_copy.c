/* SPDX-License-Identifier: MIT */
/*
 * op_copy.c -- copies bytes unchanged: one run, or blocks of them.
 *
 * Structs consist of small blocks. So each small size has its own loop, in which a block is one
 * load and one store, or two of each that overlap. No byte between blocks is written. */
#include "op.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

/* Copies a block of at most 2 * `half` bytes as its first and its last `half` bytes. */
ALWAYS void copy_block(const uint8_t *from, uint8_t *to, size_t half, size_t second)
{
    uint8_t first_bytes[32], second_bytes[32];
    memcpy(first_bytes, from, half);
    if (second > 0)
        memcpy(second_bytes, from + second, half);
    memcpy(to, first_bytes, half);
    if (second > 0)
        memcpy(to + second, second_bytes, half);
}

/* Copies the blocks one after the other, four in a turn. */
ALWAYS void copy_blocks(const struct op *op, const uint8_t *from, uint8_t *to, size_t half, size_t second)
{
    /* Local copies: as far as the compiler knows, stores to `to` could change `*op`. */
    const int64_t source_step = op->source_step, destination_step = op->destination_step, blocks = op->blocks;
    int64_t i = 0;
    for (; i + 4 <= blocks; i += 4, from += 4 * source_step, to += 4 * destination_step) {
        copy_block(from, to, half, second);
        copy_block(from + source_step, to + destination_step, half, second);
        copy_block(from + 2 * source_step, to + 2 * destination_step, half, second);
        copy_block(from + 3 * source_step, to + 3 * destination_step, half, second);
    }
    for (; i < blocks; i++, from += source_step, to += destination_step)
        copy_block(from, to, half, second);
}

ALWAYS void copy_whole(const struct op *op, const uint8_t *from, uint8_t *to, size_t size)
{
    copy_blocks(op, from, to, size, 0);
}

ALWAYS void copy_halves(const struct op *op, const uint8_t *from, uint8_t *to, size_t half)
{
    copy_blocks(op, from, to, half, (size_t)op->items - half);
}

/* Blocks of any size. */
static void copy_large(const struct op *op, const uint8_t *from, uint8_t *to)
{
    for (int64_t i = 0; i < op->blocks; i++)
        memcpy(to + i * op->destination_step, from + i * op->source_step, (size_t)op->items);
}

/* gather() packs every other one of items of eight bytes. It loads an item and the gap behind it as
 * one vector, so it reads the gaps, too. */
typedef uint64_t pair __attribute__((vector_size(16)));

static void gather(const uint8_t *from, uint8_t *to, int64_t count)
{
    int64_t i = 0;
    for (; i + 3 <= count; i += 2, from += 32, to += 16) {
        pair first, second;
        memcpy(&first, from, sizeof first);
        memcpy(&second, from + 16, sizeof second);
        first[1] = second[0];
        memcpy(to, &first, sizeof first);
    }
    for (; i < count; i++, from += 16, to += 8)
        memcpy(to, from, 8);
}

void op_copy(const struct op *op, const uint8_t *source, uint8_t *destination)
{
    if (op->blocks == 1) {
        memcpy(destination, source, (size_t)op->items);
        return;
    }
    if (op->items == 8 && op->source_step == 16 && op->destination_step == 8) {
        gather(source, destination, op->blocks);
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
        copy_large(op, source, destination);
}

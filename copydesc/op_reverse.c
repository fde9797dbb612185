/* SPDX-License-Identifier: MIT */
/*
 * op_reverse.c -- items whose bytes stand in the other order: one run, or blocks of them.
 *
 * Blocks of a few items, as structs have them, are done column by column: first every block's first item, then every
 * block's second one. That is one load, one reversal and one store each, without a decision in between.
 */
#include "op.h"

#include <string.h>

#include <bcri/reverse.h>

enum { COLUMNS_MAX = 8 };

#define COLUMN(bits)                                                                                \
    static void column_##bits(const uint8_t *from, uint8_t *to, int64_t count, int64_t source_step, \
                              int64_t destination_step)                                             \
    {                                                                                               \
        for (int64_t i = 0; i < count; i++) {                                                       \
            uint##bits##_t item;                                                                    \
            memcpy(&item, from + i * source_step, sizeof item);                                     \
            item = __builtin_bswap##bits(item);                                                     \
            memcpy(to + i * destination_step, &item, sizeof item);                                  \
        }                                                                                           \
    }

COLUMN(16)
COLUMN(32)
COLUMN(64)

void op_reverse(const struct op *op, const uint8_t *source, uint8_t *destination,
                const struct bcri_reverse *reverse)
{
    size_t size = op->source_size;
    /* Columns change the order of writes, which shows if blocks lie in one another. */
    bool apart = op->destination_step >= (int64_t)op->items * (int64_t)size;
    if (op->blocks > 1 && (op->items == 1 || (apart && op->items <= COLUMNS_MAX))) {
        for (size_t at = 0; at < (size_t)op->items * size; at += size) {
            if (size == 2)
                column_16(source + at, destination + at, op->blocks, op->source_step, op->destination_step);
            else if (size == 4)
                column_32(source + at, destination + at, op->blocks, op->source_step, op->destination_step);
            else
                column_64(source + at, destination + at, op->blocks, op->source_step, op->destination_step);
        }
        return;
    }
    void (*run)(uint8_t *, const uint8_t *, size_t) = size == 2   ? reverse->items_2
                                                      : size == 4 ? reverse->items_4
                                                                  : reverse->items_8;
    for (int64_t i = 0; i < op->blocks; i++)
        run(destination + i * op->destination_step, source + i * op->source_step, (size_t)op->items);
}

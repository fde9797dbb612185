/* SPDX-License-Identifier: MIT */
/*
 * op_reverse.c -- copies items whose byte order differs on the two sides: one run, or blocks of
 * them.
 *
 * For blocks of a few items, as structs have them, there is a loop for each size. It handles a
 * block as one or two words, with one load, reversal and store for each, and no branch in between.
 * Longer runs go to the vector routines (bcri/reverse.h). */
#include "op.h"

#include <string.h>

#include <bcri/reverse.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint64_t load(const uint8_t *from, int bytes)
{
    if (bytes == 8) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        return word;
    }
    if (bytes == 4) {
        uint32_t word;
        memcpy(&word, from, sizeof word);
        return word;
    }
    uint16_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

ALWAYS void store(uint8_t *to, uint64_t value, int bytes)
{
    uint32_t half = (uint32_t)value;
    uint16_t quarter = (uint16_t)value;
    if (bytes == 8)
        memcpy(to, &value, sizeof value);
    else if (bytes == 4)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &quarter, sizeof quarter);
}

/* Reverses the bytes of each item of `size` bytes in a word of 2, 4 or 8 bytes. */
ALWAYS uint64_t reverse_in(uint64_t word, int size, int bytes)
{
    const uint64_t low_bytes = UINT64_C(0x00ff00ff00ff00ff);
    if (size == 8)
        return __builtin_bswap64(word);
    if (size == 4 && bytes == 4)
        return __builtin_bswap32((uint32_t)word);
    if (size == 4)
        return __builtin_bswap64(word << 32 | word >> 32);
    if (bytes == 2)
        return __builtin_bswap16((uint16_t)word);
    return (word & low_bytes) << 8 | (word >> 8 & low_bytes);
}

ALWAYS void block(const uint8_t *from, uint8_t *to, int size, int first, int second)
{
    uint64_t a = load(from, first), b = second ? load(from + first, second) : 0;
    store(to, reverse_in(a, size, first), first);
    if (second)
        store(to + first, reverse_in(b, size, second), second);
}

/* Copies blocks of `first` + `second` bytes, each part as one word; `second` may be 0. The blocks
 * follow one after the other, four in a turn. */
ALWAYS void stepped(const struct op *op, const uint8_t *from, uint8_t *to, int size, int first, int second,
                    int64_t source_step, int64_t destination_step)
{
    const int64_t blocks =
        op->blocks; /* a copy: as far as the compiler knows, stores to `to` could change it */
    int64_t i = 0;
    for (; i + 4 <= blocks; i += 4, from += 4 * source_step, to += 4 * destination_step) {
        block(from, to, size, first, second);
        block(from + source_step, to + destination_step, size, first, second);
        block(from + 2 * source_step, to + 2 * destination_step, size, first, second);
        block(from + 3 * source_step, to + 3 * destination_step, size, first, second);
    }
    for (; i < blocks; i++, from += source_step, to += destination_step)
        block(from, to, size, first, second);
}

/* The same with steps that the compiler knows. The loop is not unrolled, since the processor
 * prefetches long arrays best that way. */
ALWAYS void plain(const struct op *op, const uint8_t *from, uint8_t *to, int size, int first, int second,
                  int64_t source_step, int64_t destination_step)
{
    const int64_t blocks = op->blocks;
    for (int64_t i = 0; i < blocks; i++, from += source_step, to += destination_step)
        block(from, to, size, first, second);
}

/* Beside structs, the most frequent case is every other block from or to a dense array. */
ALWAYS void column(const struct op *op, const uint8_t *from, uint8_t *to, int size, int first, int second)
{
    int64_t bytes = first + second;
    if (op->source_step == 2 * bytes && op->destination_step == bytes)
        plain(op, from, to, size, first, second, 2 * bytes, bytes);
    else if (op->source_step == bytes && op->destination_step == 2 * bytes)
        plain(op, from, to, size, first, second, bytes, 2 * bytes);
    else
        stepped(op, from, to, size, first, second, op->source_step, op->destination_step);
}

/* Copies small blocks; false if the blocks are not small. */
static bool small_blocks(const struct op *op, const uint8_t *from, uint8_t *to)
{
    if (op->items > 4)
        return false;
    switch (op->source_size * 16 + op->items) {
    case 0x21: column(op, from, to, 2, 2, 0); return true;
    case 0x22: column(op, from, to, 2, 4, 0); return true;
    case 0x23: column(op, from, to, 2, 4, 2); return true;
    case 0x24: column(op, from, to, 2, 8, 0); return true;
    case 0x41: column(op, from, to, 4, 4, 0); return true;
    case 0x42: column(op, from, to, 4, 8, 0); return true;
    case 0x43: column(op, from, to, 4, 8, 4); return true;
    case 0x44: column(op, from, to, 4, 8, 8); return true;
    case 0x81: column(op, from, to, 8, 8, 0); return true;
    case 0x82: column(op, from, to, 8, 8, 8); return true;
    default: return false;
    }
}

void op_reverse(const struct op *op, const uint8_t *source, uint8_t *destination,
                const struct bcri_reverse *reverse)
{
    if (small_blocks(op, source, destination))
        return;
    void (*run)(uint8_t *, const uint8_t *, size_t) = op->source_size == 2   ? reverse->items_2
                                                      : op->source_size == 4 ? reverse->items_4
                                                                             : reverse->items_8;
    for (int64_t i = 0; i < op->blocks; i++)
        run(destination + i * op->destination_step, source + i * op->source_step, (size_t)op->items);
}

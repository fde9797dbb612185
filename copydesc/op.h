/* SPDX-License-Identifier: MIT */
/*
 * op.h -- one step of a plan: moves blocks of equal items, at even distances on either side.
 *
 *     source_off                        destination_off
 *     |                                 |
 *     [item][item][item]....[item][item][item]....        blocks of `items` items each, without gaps inside;
 *     |<-- source_step ---->|                             their beginnings a step apart on either side
 *
 * Offsets count from a base that the caller of op_do gives. source_step and destination_step mean
 * nothing if there is at most one block.
 *
 * OP_LOOP means instead: do the `items` steps after this one `blocks` times, with the bases one
 * source_step and destination_step further each time. */
#ifndef COPYDESC_OP_H
#define COPYDESC_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_kind {
    OP_COPY,    /* bytes as they are; an item is one byte */
    OP_REVERSE, /* the bytes of each item in reverse order; 2, 4 or 8 */
    OP_INTEGER, /* integers of another size; a value that does not fit stops the copy */
    OP_FLOAT,   /* the same for floats */
    OP_ENCODE,  /* an int that names a CCE becomes its identity, or the copy stops */
    OP_DECODE,  /* and back */
    OP_LOOP,
};

enum { OP_QUICK_REVERSE = 32 };

struct op {
    uint8_t kind;
    uint8_t source_size, destination_size; /* bytes of an item */
    bool source_swapped, destination_swapped;
    uint8_t
        quick; /* in a finished plan: OP_COPY of one run of 1, 2, 4, 8 or 16 bytes; OP_QUICK_REVERSE and the bytes of a single
                        item that is reversed; else 0 */
    bool by_columns; /* OP_LOOP: each step of the body may be done for many turns before the next step */
    int32_t items;
    int64_t blocks;
    int64_t source_off, destination_off;
    int64_t source_step, destination_step;
};

struct layout;
struct bcri_cce_codec;
struct bcri_reverse;

/* What steps need beside the data. */
struct op_tools {
    const struct bcri_reverse *reverse;
    const struct bcri_cce_codec *codec; /* NULL: no int names a CCE, except -1 */
};

/* The step that moves `count` items of a type from one side to the other. */
struct op op_for(const struct layout *source, const struct layout *destination, int type, int32_t count,
                 int64_t source_off, int64_t destination_off);

/* Whether the step can stop in the middle. */
static inline bool op_can_stop(const struct op *op)
{
    return op->kind >= OP_INTEGER && op->kind <= OP_DECODE;
}

/* Does a step that is no loop, from these bases. Returns 0, or the code at which it stopped:
 * bcrE_RANGE, or the codec's code. Items are moved one after the other: those before a stop are
 * complete, and nothing after it is written. */
int op_do(const struct op *op, const uint8_t *source, uint8_t *destination, const struct op_tools *tools);

/* The kinds of steps, each in a file op_*.c. */
void op_copy(const struct op *op, const uint8_t *source, uint8_t *destination);
void op_reverse(const struct op *op, const uint8_t *source, uint8_t *destination,
                const struct bcri_reverse *reverse);
int op_integer(const struct op *op, const uint8_t *source, uint8_t *destination);
int op_float(const struct op *op, const uint8_t *source, uint8_t *destination);
int op_encode(const struct op *op, const uint8_t *source, uint8_t *destination,
              const struct bcri_cce_codec *codec);
int op_decode(const struct op *op, const uint8_t *source, uint8_t *destination,
              const struct bcri_cce_codec *codec);

#endif

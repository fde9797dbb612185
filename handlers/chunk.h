/* SPDX-License-Identifier: MIT */
/* What stack.c and stack_overflow.c share: a chunk is the stacks that were made at one time, one behind
 * the other in one mapping. */
#ifndef BCRI_CHUNK_H
#define BCRI_CHUNK_H

#include "bcri/stack.h"

struct bcri_stack_chunk {
    struct bcri_stack_chunk *next; /* of the pool */
    unsigned char *base;
    size_t stride, guard_bytes; /* of each stack; its guard is below it */
    uint32_t count;
    size_t element_bytes;
    unsigned char *elements; /* count of them, each beginning with its struct bcri_stack */
};

static inline struct bcri_stack *bcri_stack_at(const struct bcri_stack_chunk *chunk, uint32_t i)
{
    return (struct bcri_stack *)(void *)(chunk->elements + i * chunk->element_bytes);
}

/* Lists a chunk for the fault handler, which looks for a faulting address in listed chunks only;
 * takes it off the list. */
void bcri_chunk_list(const struct bcri_stack_chunk *chunk);
void bcri_chunk_unlist(const struct bcri_stack_chunk *chunk);

void bcri_stack_set_canary(const struct bcri_stack *stack);

#endif

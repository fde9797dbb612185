/* SPDX-License-Identifier: MIT */
/* Tells a process outside where invocations lie (bcri/coroutines.h). */
#include <stddef.h>

#include "bcri/coroutines.h"
#include "bcri/scheduler.h"
#include "chunk.h"

void bcri_sched_describe(const struct bcri_scheduler *sched, struct bcri_coroutines *out)
{
    *out = (struct bcri_coroutines){
        .magic = BCRI_COROUTINES_MAGIC,
        .fcontext = BCRI_FCONTEXT,
        .scheduler = (uintptr_t)sched,
        .current = offsetof(struct bcri_scheduler, current),
        .chunks = offsetof(struct bcri_scheduler, stacks.chunks),
        .main = offsetof(struct bcri_scheduler, main),
        .next = offsetof(struct bcri_stack_chunk, next),
        .count = offsetof(struct bcri_stack_chunk, count),
        .element_bytes = offsetof(struct bcri_stack_chunk, element_bytes),
        .elements = offsetof(struct bcri_stack_chunk, elements),
        .handler = offsetof(struct bcri_invocation, handler),
        .cell = offsetof(struct bcri_invocation, cell),
        .context = offsetof(struct bcri_invocation, co.context),
    };
}

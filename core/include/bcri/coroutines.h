/* SPDX-License-Identifier: MIT */
/* Where a process that reads a CCE's private memory from outside finds its suspended coroutines: offsets in
 * the structures of handlers/, which that process then need not know. enl --trace reads it (enl/inspect/crash/). */
#ifndef BCRI_COROUTINES_H
#define BCRI_COROUTINES_H

#include <stdint.h>

#define BCRI_COROUTINES_MAGIC 0x42435243u /* "BCRC" */

struct bcri_coroutines {
    uint32_t magic;
    uint32_t fcontext;  /* 1: a suspended one's context is Boost.Context's */
    uint64_t scheduler; /* its address; 0: this CCE has run no handler */
    /* in the scheduler: pointers to the executing invocation and to the first chunk of stacks; the main
     * program's invocation */
    uint32_t current, chunks, main;
    /* in a chunk: a pointer, a uint32_t, a size_t, a pointer. Each element is an invocation. */
    uint32_t next, count, element_bytes, elements;
    /* in an invocation: a pointer (NULL: none is under way), an int, a pointer to what was saved */
    uint32_t handler, cell, context;
};

#endif

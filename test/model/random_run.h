/* SPDX-License-Identifier: MIT */
/* A run of random steps that depends on its seed alone. */
#ifndef BCR_TEST_MODEL_RANDOM_RUN_H
#define BCR_TEST_MODEL_RANDOM_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern uint64_t rng; /* the run sets it to its seed */
int below(int bound);

/* Prints a step, if BCR_MODEL_TRACE is set. */
extern bool tracing;
void trace_if_wanted(void);
#define TRACE(...)               \
    do {                         \
        if (tracing) {           \
            printf(__VA_ARGS__); \
            fflush(stdout);      \
        }                        \
    } while (0)

#endif

/* SPDX-License-Identifier: MIT */
/* See random_run.h. */
#include "random_run.h"

#include <stdlib.h>

#include "check.h"

uint64_t rng;
bool tracing;

void trace_if_wanted(void)
{
    tracing = getenv("BCR_MODEL_TRACE") != NULL;
}

int below(int bound)
{
    return (int)test_rand_below(&rng, (uint64_t)bound);
}

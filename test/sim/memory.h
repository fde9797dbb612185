/* SPDX-License-Identifier: MIT */
/* Memory that is not to be had: malloc, calloc and realloc of the engine, as a test wishes.
 *
 * The linker sends the calls of a test program here (--wrap). Only calls within a watched part
 * fail; what the tests allocate for themselves does not. */
#ifndef BCR_TEST_MEMORY_H
#define BCR_TEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Allocations of this thread from here on are the engine's (true) or the test's. Returns what this thread said before. */
bool memory_watch(bool is_engines);
/* Of 1000 watched allocations so many fail, drawn from a seed of their own; 0: none. */
void memory_fails(unsigned of_1000, uint64_t seed);
/* The watched allocation fails before which `count` others succeed, and no other. */
void memory_fails_after(uint64_t count);
/* That one and all later ones fail. */
void memory_fails_from(uint64_t count);
/* How many were watched since memory_fails_after. */
uint64_t memory_asked(void);
/* Whether any can fail. */
bool memory_may_fail(void);

#endif

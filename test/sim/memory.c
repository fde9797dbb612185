/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stddef.h>

#include "check.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static _Thread_local bool watched;
static bool and_later;
static unsigned chance;
static uint64_t state, asked, fails_at = UINT64_MAX;

bool memory_watch(bool is_engines)
{
    const bool before = watched;
    watched = is_engines;
    return before;
}

void memory_fails(unsigned of_1000, uint64_t seed)
{
    chance = of_1000;
    state = seed;
}

void memory_fails_after(uint64_t count)
{
    fails_at = count;
    and_later = false;
    asked = 0;
}

void memory_fails_from(uint64_t count)
{
    memory_fails_after(count);
    and_later = true;
}

uint64_t memory_asked(void)
{
    return asked;
}

bool memory_may_fail(void)
{
    return chance != 0 || fails_at != UINT64_MAX;
}

static bool fails(void)
{
    if (!watched)
        return false;
    const uint64_t number = asked++;
    return number == fails_at || (and_later && number > fails_at) ||
           (chance != 0 && test_rand_below(&state, 1000) < chance);
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}
/* NOLINTEND(bugprone-reserved-identifier) */

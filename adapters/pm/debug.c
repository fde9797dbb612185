/* SPDX-License-Identifier: MIT */
/* debug.c -- PM_DEBUG, the sentences of codes, and what a process does that finds nothing many times in a row. */
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_private.h"
#include "sentence.h"

/* 1: errors; 2: temporary ones too, and warnings; 3: each call. */
enum { ERRORS = 1, WARNINGS, CALLS };
static atomic_int debug_level;

/* Calls in a row that find nothing, before the thread lets others run: with more processes than cores the one that it
 * waits for may be one of these. */
enum { EMPTY_CALLS = 60 };
static _Thread_local unsigned empty_calls;

static int level_of(const char *text)
{
    char *end = NULL;
    const long level = text != NULL ? strtol(text, &end, 10) : 0;
    return end == NULL || end == text || *end != '\0' || level < 0 ? 0 : level > CALLS ? CALLS : (int)level;
}

void pm_debug_begin(void)
{
    atomic_store(&debug_level, level_of(getenv("PM_DEBUG")));
}

int pmDebug(int level)
{
    return atomic_exchange(&debug_level, level < 0 ? 0 : level);
}

void pm_say(int level, const char *format, ...)
{
    if (atomic_load_explicit(&debug_level, memory_order_relaxed) < level)
        return;
    static const char *const tags[] = {"", "Error", "Warning", "Info"};
    char head[40];
    va_list arguments;
    snprintf(head, sizeof head, "pm: node %d: %s", pm_self.self, tags[level]);
    va_start(arguments, format);
    adapter_say(head, format, arguments);
    va_end(arguments);
}

int pm_return(const char *routine, int code)
{
    if (code == ENOBUFS || code == EBUSY) {
        if (++empty_calls >= EMPTY_CALLS) {
            empty_calls = 0;
            sched_yield();
        }
    } else {
        empty_calls = 0;
    }
    if (atomic_load_explicit(&debug_level, memory_order_relaxed) != 0)
        pm_say(code == PM_SUCCESS                 ? CALLS
               : code == ENOBUFS || code == EBUSY ? WARNINGS
                                                  : ERRORS,
               "%s: %s", routine, pmErrorString(code));
    return code;
}

char *pmErrorString(int error)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {{PM_SUCCESS, "success"},
                 {ENOBUFS, "nothing is there, or no room; call again"},
                 {EBUSY, "the context is locked, or the work is not done yet"},
                 {EINVAL, "an argument is out of range"},
                 {EIO, "there is no buffer, or data has not come to its destination"},
                 {ENOSYS, "the operation is not supported"},
                 {ENOSPC, "too little room for all"},
                 {ENOENT, "the memory is not locked"},
                 {ENODEV, "there is no such device"},
                 {ENOMEM, "no memory"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == error)
            return (char *)known[i].text;
    return strerror(error); /* NOLINT(concurrency-mt-unsafe): glibc has a text for each thread */
}

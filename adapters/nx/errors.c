/* SPDX-License-Identifier: MIT */
/* errors.c -- codes and sentences: what _NAME leaves in errno, and what NAME says before it ends the program. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "nx_private.h"

static char sentence[200];

long nxi_bad(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return -code;
}

long nxi_result(int result)
{
    if (result >= 0 || result == EARL_E_ENDED)
        return result > 0 ? result : 0;
    switch (result) {
    case EARL_E_MEMORY: return nxi_bad(EQMEM, "no memory");
    case EARL_E_SYSTEM: return nxi_bad(EQDRVERR, "%s", earl_sentence());
    default: return nxi_bad(EQDRVERR, "%s", earl_strerror(result));
    }
}

long nxi_too_long(int result, const struct earl_envelope *envelope, size_t room)
{
    if (result != EARL_E_CUT)
        return nxi_result(result);
    return nxi_bad(EQMSGLONG,
                   "a message of %lld bytes, of type %d from node %d, is longer than the buffer of %zu",
                   envelope->length, envelope->tag, envelope->source, room);
}

long nxi_global_result(int result)
{
    if (result == EARL_E_CUT)
        return nxi_bad(EQLEN, "the nodes give different lengths");
    return nxi_result(result);
}

long nxi_told(long result)
{
    if (result >= -1)
        return result;
    errno = (int)-result;
    return -1;
}

long nxi_must(const char *routine, long result)
{
    if (result < -1)
        earl_fail(routine, "%s", sentence);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* errors.c -- codes and sentences: what _NAME leaves in errno, and what NAME says before it ends the program. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nx_private.h"

static char sentence[200];

static const struct {
    int code;
    const char *text;
} codes[] = {
    {EQDRVERR, "what is below NX has failed"},
    {EQPBUF, "a pointer is null"},
    {EQBLEN, "a buffer is too small for what all nodes give"},
    {EQLEN, "a length is below 0, or not the same on all nodes"},
    {EQMSGLONG, "the message is longer than the buffer: what fits was stored, the rest is lost"},
    {EQPID, "no process has that type"},
    {EQNODE, "there is no such node"},
    {EQTYPE, "that is no type, or selects none"},
    {EQMID, "that message ID is none, or was given back"},
    {EQHND, "there is no handler"},
    {EQPARAM, "an argument is out of range"},
    {EQMEM, "no memory"},
    {EQSET, "the process type is set already"},
    {EQCUBE, "there is no such cube, or there is one already"},
    {EQFILE, "a program cannot be started"},
};

long nxi_bad(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun on the line above */
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
    int node, ptype;
    nxi_place_of(envelope->source, &node, &ptype);
    return nxi_bad(EQMSGLONG,
                   "a message of %lld bytes, of type %d from node %d, is longer than the buffer of %zu",
                   envelope->length, envelope->tag, node, room);
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

NX_WEAK void nx_perror(const char *string)
{
    const int code = errno;
    const char *text = NULL;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].code == code)
            text = codes[i].text;
    fprintf(stderr, "%s: %s\n", string == NULL ? "nx" : string, text != NULL ? text : strerror(code));
}

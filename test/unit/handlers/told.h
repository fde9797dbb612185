/* SPDX-License-Identifier: MIT */
/* What ran, in order, as text: handlers say a word each, the test compares and begins anew. */
#ifndef BCR_TEST_HANDLERS_TOLD_H
#define BCR_TEST_HANDLERS_TOLD_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static char told[16000];

__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(told);
    CHECK(used + 40 < sizeof told);
    va_start(arguments, format);
    vsnprintf(told + used, sizeof told - used, format, arguments);
    va_end(arguments);
}

#define SAID(wanted)             \
    do {                         \
        CHECK_STR(told, wanted); \
        told[0] = '\0';          \
    } while (0)

#endif

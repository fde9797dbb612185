/* SPDX-License-Identifier: MIT */
/* What the library says to a person: a sentence on stderr, with the name of the program. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "bcri/client.h"

void bcri_client_complain(const char *format, ...)
{
    char text[1500];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "bcr: %s: %s\n", program_invocation_short_name, text);
}

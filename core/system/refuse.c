/* SPDX-License-Identifier: MIT */
/* The sentence and the code of a refusal (bcri/refuse.h). */
#include "bcri/refuse.h"

#include <stdarg.h>
#include <stdio.h>

int bcri_refuse(char *error, size_t error_size, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, error_size, format, args);
    va_end(args);
    return code;
}

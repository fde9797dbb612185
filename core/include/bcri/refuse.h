/* SPDX-License-Identifier: MIT */
/* How a routine with an `error` buffer refuses: one sentence for a person, one code for the
 * program. */
#ifndef BCRI_REFUSE_H
#define BCRI_REFUSE_H

#include <stddef.h>

/* Formats the sentence into `error` (cut to error_size; NULL with size 0 is allowed) and returns
 * `code`. */
int bcri_refuse(char *error, size_t error_size, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

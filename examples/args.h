/* SPDX-License-Identifier: MIT */
/*
 * args.h -- reading the examples' command lines.
 *
 * Only the root CCE has arguments; an enlisted one has none and learns its task from its birth region.  So
 * every program reads its arguments, if any, before it knows which of the two it is.
 */
#ifndef ARGS_H
#define ARGS_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

/* `text` as a whole number from `min` to `max`. */
static inline bool args_parse(const char *text, int min, int max, int *value_out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min || value > max)
        return false;
    *value_out = (int)value;
    return true;
}

/* Argument `idx` as a number, or `preset` where there is none; ends the program if it is not one. */
static inline int args_number(int argc, char **argv, int idx, const char *name, int preset, int min, int max)
{
    int value = preset;
    if (idx < argc && !args_parse(argv[idx], min, max, &value)) {
        fprintf(stderr, "%s: %s is '%s', but must be a number from %d to %d\n", argv[0], name, argv[idx], min,
                max);
        exit(EXIT_USAGE);
    }
    return value;
}

/* Answers --help, and refuses more than `most` arguments. */
static inline void args_check(int argc, char **argv, int most, const char *usage)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        exit(EXIT_SUCCESS);
    }
    if (argc - 1 > most) {
        fputs(usage, stderr);
        exit(EXIT_USAGE);
    }
}

#endif

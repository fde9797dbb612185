/* SPDX-License-Identifier: MIT */
/*
 * readstrings.c -- see readstrings.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "readstrings.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `line` without blanks at either end. */
static const char *trimmed(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return line;
}

int addstring(struct strings *strings, const char *text)
{
    char **item = realloc(strings->item, ((size_t)strings->count + 1) * sizeof *item);
    if (item == NULL)
        return ENOMEM;
    strings->item = item;
    char *copy = strdup(text);
    if (copy == NULL)
        return ENOMEM;
    item[strings->count++] = copy;
    return 0;
}

int readstrings(const char *path, struct strings *strings_out)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return errno;

    struct strings strings = {0};
    char *line = NULL;
    size_t capacity = 0;
    int error = 0;
    while (error == 0 && getline(&line, &capacity, file) >= 0) {
        const char *text = trimmed(line);
        if (*text != '\0' && *text != '#')
            error = addstring(&strings, text);
    }
    if (error == 0 && !feof(file))
        error = errno; /* getline's */
    free(line);
    fclose(file);

    if (error != 0) {
        freestrings(&strings);
        return error;
    }
    *strings_out = strings;
    return 0;
}

void freestrings(struct strings *strings)
{
    for (int i = 0; i < strings->count; i++)
        free(strings->item[i]);
    free(strings->item);
    *strings = (struct strings){0};
}

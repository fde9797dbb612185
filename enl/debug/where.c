/* SPDX-License-Identifier: MIT */
/* See where.h. */
#include "debug/where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"

int enl_where_parse(const char *text, enum enl_where *where_out, const char **value_out, char *error,
                    size_t error_size)
{
    *value_out = "";
    if (strncmp(text, "batch:", 6) == 0 && text[6] != '\0') {
        *where_out = ENL_WHERE_BATCH;
        *value_out = text + 6;
    } else if (strcmp(text, "tmux") == 0) {
        *where_out = ENL_WHERE_TMUX;
    } else if (strcmp(text, "server") == 0) {
        *where_out = ENL_WHERE_SERVER;
    } else if (strncmp(text, "batch", 5) != 0 && strchr(text, ':') != NULL) {
        *where_out = ENL_WHERE_DISPLAY;
        *value_out = text;
    } else {
        return bcri_refuse(error, error_size, -1,
                           "-D takes an X display such as :0, tmux, server, or batch:FILE, not %s", text);
    }
    return 0;
}

/* Reads one number or range, and goes behind it. NULL: there is none. */
static const char *range(const char *at, unsigned long *low_out, unsigned long *high_out)
{
    char *end;
    if (*at < '0' || *at > '9')
        return NULL;
    errno = 0;
    *low_out = *high_out = strtoul(at, &end, 10);
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return NULL;
        *high_out = strtoul(end + 1, &end, 10);
    }
    if (errno != 0 || *high_out < *low_out || *high_out > INT32_MAX)
        return NULL;
    return *end == '\0' || (*end == ',' && end[1] != '\0') ? end : NULL;
}

bool enl_ordinals_ok(const char *list)
{
    unsigned long low, high;
    do
        list = range(list, &low, &high);
    while (list != NULL && *list++ == ',');
    return list != NULL;
}

bool enl_ordinals_has(const char *list, uint32_t ordinal)
{
    unsigned long low, high;
    if (list == NULL)
        return true;
    while ((list = range(list, &low, &high)) != NULL) {
        if (ordinal >= low && ordinal <= high)
            return true;
        if (*list++ == '\0')
            break;
    }
    return false;
}

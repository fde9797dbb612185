/* SPDX-License-Identifier: MIT */
/* See number_list.h. */
#include "base/number_list.h"

#include <errno.h>
#include <stdlib.h>

/* Reads one number or range, and goes behind it. NULL: there is none. */
static const char *read_range(const char *at, unsigned long *low_out, unsigned long *high_out)
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

bool enl_number_list_ok(const char *list)
{
    unsigned long low, high;
    do
        list = read_range(list, &low, &high);
    while (list != NULL && *list++ == ',');
    return list != NULL;
}

bool enl_number_list_has(const char *list, uint32_t number)
{
    unsigned long low, high;
    if (list == NULL)
        return true;
    while ((list = read_range(list, &low, &high)) != NULL) {
        if (number >= low && number <= high)
            return true;
        if (*list++ == '\0')
            break;
    }
    return false;
}

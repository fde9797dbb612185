/* SPDX-License-Identifier: MIT */
/* order.c -- Generic_CTOH..., Generic_HTOC...: numbers between the byte orders of a cube and its host. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "earl_generic.h"

static bool is_other_order(void)
{
    const char *order = getenv("EARL_CUBE_ORDER");
    const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return order != NULL && strcmp(order, is_big ? "little" : "big") == 0;
}

static void swap(unsigned long *values, short count, size_t size)
{
    unsigned char *bytes = (unsigned char *)values;
    if (!is_other_order())
        return;
    for (short i = 0; i < count; i++, bytes += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            const unsigned char byte = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = byte;
        }
}

#define BOTH_WAYS(letter, type)                           \
    void Generic_CTOH##letter(unsigned long *sv, short n) \
    {                                                     \
        swap(sv, n, sizeof(type));                        \
    }                                                     \
    void Generic_HTOC##letter(unsigned long *sv, short n) \
    {                                                     \
        swap(sv, n, sizeof(type));                        \
    }

BOTH_WAYS(f, float)
BOTH_WAYS(l, long)
BOTH_WAYS(s, short)
BOTH_WAYS(d, double)

/* SPDX-License-Identifier: MIT */
/* Bytes that follow from a seed. */
#include "earl_members.h"

void fill(unsigned char *data, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        data[i] = (unsigned char)(seed + i * 7 + (i >> 8));
}

int is_filled(const unsigned char *data, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] != (unsigned char)(seed + i * 7 + (i >> 8)))
            return 0;
    return 1;
}

unsigned char *allocate(size_t length)
{
    unsigned char *data = malloc(length + 1);
    MUST(data != NULL);
    return data;
}

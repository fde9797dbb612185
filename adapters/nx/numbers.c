/* SPDX-License-Identifier: MIT */
/* numbers.c -- Gray codes, by which neighbours in a ring or grid are neighbours in a hypercube. */
#include "nx_private.h"

long nxi_gray(long number)
{
    const uint32_t low = (uint32_t)nxi_low(number);
    return (int32_t)(low ^ low >> 1);
}

long nxi_ginv(long code)
{
    uint32_t low = (uint32_t)nxi_low(code);
    for (int shift = 1; shift < 32; shift *= 2)
        low ^= low >> shift;
    return (int32_t)low;
}

NX_WEAK long gray(long number)
{
    return nxi_gray(number);
}

NX_WEAK long ginv(long code)
{
    return nxi_ginv(code);
}

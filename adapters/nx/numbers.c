/* SPDX-License-Identifier: MIT */
/* numbers.c -- Gray codes, by which neighbours in a ring or grid are neighbours in a hypercube. */
#include <earl_generic.h>

#include "nx_private.h"

long nxi_gray(long number)
{
    return Generic_gray(number);
}

long nxi_ginv(long code)
{
    return Generic_ginv(code);
}

NX_WEAK long gray(long number)
{
    return nxi_gray(number);
}

NX_WEAK long ginv(long code)
{
    return nxi_ginv(code);
}

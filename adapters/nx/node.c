/* SPDX-License-Identifier: MIT */
/* node.c -- what a node has beside messages: clocks, a lamp, and a processor that others may have. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <earl_generic.h>

#include "nx_private.h"

uint64_t nxi_ticks(void)
{
    return (uint64_t)(Generic_clock() * 1e-3 * HWHZ);
}

double nxi_seconds(void)
{
    return Generic_clock() * 1e-3;
}

NX_WEAK unsigned long mclock(void)
{
    return (uint32_t)(nxi_ticks() / (HWHZ / 1000));
}

NX_WEAK double dclock(void)
{
    return nxi_seconds();
}

NX_WEAK void hwclock(esize_t *hwtime)
{
    const uint64_t ticks = nxi_ticks();
    hwtime->slow = (long)(uint32_t)ticks;
    hwtime->shigh = (long)(ticks >> 32);
}

void nxi_flick(void)
{
    nxi_need();
    Generic_flick();
}

NX_WEAK void flick(void)
{
    nxi_flick();
}

void nxi_led(long state)
{
    char line[64];
    nxi_need();
    if (getenv("EARL_VERBOSE") == NULL)
        return;
    const int length = snprintf(line, sizeof line, "nx: process %d: led %s\n", nxi_process.self,
                                nxi_low(state) == 0 ? "off" : "on");
    (void)!write(STDERR_FILENO, line, (size_t)length); /* at once: a handler may have lit it */
}

NX_WEAK void led(long state)
{
    nxi_led(state);
}

/* SPDX-License-Identifier: MIT */
/* boottime.h -- the clock by which hosts are given up: it also counts while the machine sleeps. */
#ifndef ENL_BOOTTIME_H
#define ENL_BOOTTIME_H

#include <stdint.h>
#include <time.h>

/* CLOCK_BOOTTIME in ms. */
static inline uint64_t enl_boottime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif

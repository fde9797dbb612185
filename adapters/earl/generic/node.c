/* SPDX-License-Identifier: MIT */
/* node.c -- what a node has beside messages: a clock, a lamp, traps, a processor that others may have; and Gray codes. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "generic.h"

double Generic_clock(void)
{
    static struct timespec begun;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begun.tv_sec == 0 && begun.tv_nsec == 0)
        begun = now;
    return (double)(now.tv_sec - begun.tv_sec) * 1e3 + (double)(now.tv_nsec - begun.tv_nsec) * 1e-6;
}

void Generic_flick(void)
{
    (void)earl_pause();
    (void)sched_yield();
}

void Generic_led(long lstate)
{
    char line[64];
    if (getenv("EARL_VERBOSE") == NULL)
        return;
    const int length =
        snprintf(line, sizeof line, "earl: process %d: led %s\n", earl_process(), lstate == 0 ? "off" : "on");
    (void)!write(STDERR_FILENO, line, (size_t)length); /* at once: a handler may have lit it */
}

long Generic_masktrap(long mask)
{
    return earl_mask(mask != 0);
}

long Generic_gray(long num)
{
    const uint32_t low = (uint32_t)num;
    return (int32_t)(low ^ low >> 1);
}

long Generic_ginv(long num)
{
    uint32_t low = (uint32_t)num;
    for (int shift = 1; shift < 32; shift *= 2)
        low ^= low >> shift;
    return (int32_t)low;
}

void Generic_newserver(const char *cubename)
{
    (void)cubename;
}

void Generic_setsyslog(long stdfd)
{
    (void)stdfd;
}

void Generic_killsyslog(void) {}

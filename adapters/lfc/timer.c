/* SPDX-License-Identifier: MIT */
/* timer.c -- the one timer of LFC. */
#include <time.h>

#include "lfc_private.h"

static double started, stopped;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void lfc_timer_start(void)
{
    started = now_us();
}

void lfc_timer_stop(void)
{
    stopped = now_us();
}

double lfc_timer_elapsed(void)
{
    return stopped - started;
}

void lfc_timer_delta(unsigned microsec)
{
    const double until = now_us() + microsec;
    while (now_us() < until)
        ;
}

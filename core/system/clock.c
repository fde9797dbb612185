/* SPDX-License-Identifier: MIT */
/* Monotonic time and deadlines; the rules are in bcri/clock.h. */
#include "bcri/clock.h"

#include <limits.h>
#include <stddef.h>

static uint64_t read_clock(clockid_t id)
{
    /* Neither clock can fail on a Linux that has futexes. If a sandbox forbids the call, the result
     * is at least defined. */
    struct timespec now = {0};

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * BCRI_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t bcri_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t bcri_clock_coarse_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t bcri_clock_unix_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t bcri_deadline_from(uint64_t now_ns, int msec)
{
    if (msec < 0)
        return BCRI_DEADLINE_NEVER;
    if (msec == 0)
        return BCRI_DEADLINE_PASSED;

    /* INT_MAX ms is 2^51 ns, so only the addition can overflow. */
    uint64_t span_ns = (uint64_t)msec * BCRI_NS_PER_MS + 1;

    if (now_ns >= BCRI_DEADLINE_NEVER - span_ns)
        return BCRI_DEADLINE_NEVER - 1;
    return now_ns + span_ns;
}

uint64_t bcri_deadline_after(int msec)
{
    return bcri_deadline_from(msec > 0 ? bcri_clock_ns() : 0, msec);
}

int bcri_deadline_left_ms(uint64_t deadline_ns, uint64_t now_ns)
{
    uint64_t left_ns = bcri_deadline_left_ns(deadline_ns, now_ns);

    if (left_ns == BCRI_DEADLINE_NEVER)
        return -1;

    uint64_t left_ms = left_ns / BCRI_NS_PER_MS + (left_ns % BCRI_NS_PER_MS != 0);

    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

const struct timespec *bcri_deadline_timespec(uint64_t deadline_ns, struct timespec *buffer)
{
    if (deadline_ns == BCRI_DEADLINE_NEVER)
        return NULL;

    uint64_t sec = deadline_ns / BCRI_NS_PER_S;
    uint64_t sec_max = sizeof(time_t) == 4 ? INT32_MAX : INT64_MAX;

    buffer->tv_sec = (time_t)(sec < sec_max ? sec : sec_max);
    buffer->tv_nsec = (long)(deadline_ns % BCRI_NS_PER_S);
    return buffer;
}

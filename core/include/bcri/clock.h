/* SPDX-License-Identifier: MIT */
/* Monotonic time and deadlines, in nanoseconds.
 *
 * A deadline is a plain uint64_t: time is up once bcri_clock_ns() has reached it. So it can lie in
 * shared memory, and every process of the host can compare it. Two values are special and need no
 * clock:
 *     BCRI_DEADLINE_PASSED (0)           time is up: polling
 *     BCRI_DEADLINE_NEVER (UINT64_MAX)   time is never up
 * Invariant: no wait ends early. A deadline is made from the exact clock and lies one nanosecond
 * beyond the sum, because a reading may be almost a nanosecond older than the moment it stands for.
 * Conversions to coarser units round up. The coarse clock is behind the exact one by up to a tick.
 * A deadline may be checked against the coarse clock, which then notices it late, but must never be
 * made from it.
 *
 * Source: clock_gettime(2), futex(2) (FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time). */
#ifndef BCRI_CLOCK_H
#define BCRI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define BCRI_NS_PER_US UINT64_C(1000)
#define BCRI_NS_PER_MS UINT64_C(1000000)
#define BCRI_NS_PER_S  UINT64_C(1000000000)

#define BCRI_DEADLINE_PASSED UINT64_C(0)
#define BCRI_DEADLINE_NEVER  UINT64_MAX

/* CLOCK_MONOTONIC, some 20 ns. */
uint64_t bcri_clock_ns(void);

/* CLOCK_MONOTONIC_COARSE: a few ns to read, up to one kernel tick (1 to 10 ms) behind
 * bcri_clock_ns(). */
uint64_t bcri_clock_coarse_ns(void);

/* Nanoseconds since 1970, for people: it is set, and so may go back. */
uint64_t bcri_clock_unix_ns(void);

/* The deadline `msec` milliseconds after the reading `now_ns`. It saturates below
 * BCRI_DEADLINE_NEVER.
 * Shape   : msec as in the public calls: negative (bcr_BLOCK) is for ever, 0 polls. bcr_PENDING has
 *           no deadline; a routine that accepts it handles it before it calls this.
 */
uint64_t bcri_deadline_from(uint64_t now_ns, int msec);

/* The same, from now. Reads the clock only if msec is positive. */
uint64_t bcri_deadline_after(int msec);

static inline bool bcri_deadline_passed(uint64_t deadline_ns, uint64_t now_ns)
{
    return now_ns >= deadline_ns && deadline_ns != BCRI_DEADLINE_NEVER;
}

/* The time that is left: 0 when time is up, BCRI_DEADLINE_NEVER for a deadline that never comes. */
static inline uint64_t bcri_deadline_left_ns(uint64_t deadline_ns, uint64_t now_ns)
{
    if (deadline_ns == BCRI_DEADLINE_NEVER)
        return BCRI_DEADLINE_NEVER;
    return now_ns >= deadline_ns ? 0 : deadline_ns - now_ns;
}

/* The time that is left, for poll(2) and libuv: whole milliseconds rounded up, at most INT_MAX; -1
 * for ever. Such a wait may end before a very distant deadline, so the caller must look at the
 * clock again. */
int bcri_deadline_left_ms(uint64_t deadline_ns, uint64_t now_ns);

/* The deadline as an absolute timespec for FUTEX_WAIT_BITSET: `buffer` filled and returned, or NULL
 * (no timeout) for BCRI_DEADLINE_NEVER. Clamped to what time_t holds. */
const struct timespec *bcri_deadline_timespec(uint64_t deadline_ns, struct timespec *buffer);

#endif

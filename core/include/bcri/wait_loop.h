/* SPDX-License-Identifier: MIT */
/* The one loop by which this library waits. It first looks again and again, while an answer is
 * likely to come at once (spins), then lets others run between its looks (yields), and then sleeps.
 * The caller says what the loop looks at and how it sleeps. The compiler inlines the loop together
 * with both, so a turn of the spin does nothing but the look.
 *
 * How long each part lasts: docs/adr/0002-waiting.md. */
#ifndef BCRI_WAIT_LOOP_H
#define BCRI_WAIT_LOOP_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/clock.h"

#define BCRI_NOT_YET (-1)

struct bcri_wait_loop {
    int spins;  /* looks before the first yield */
    int yields; /* looks between that and the first sleep */
    uint64_t deadline_ns;
    /* Each returns the result that ends the wait, or BCRI_NOT_YET. look_around looks at what
     * changes seldom: in every 64th turn of the spin, and in each turn after the spin. It may be
     * NULL. */
    int (*look)(void *arg);
    int (*look_around)(void *arg);
    /* Returns when the CCE is rung, at the deadline, or early. NULL: the wait ends where it would
     * sleep. */
    int (*sleep)(void *arg, uint64_t deadline_ns);
};

/* Reads the clock only for a wait that has a deadline. */
static inline bool bcri_wait_is_over(uint64_t deadline_ns)
{
    return deadline_ns != BCRI_DEADLINE_NEVER && bcri_clock_ns() >= deadline_ns;
}

/* Returns what look, look_around or sleep has returned; BCRI_NOT_YET if the deadline has passed or
 * there is no sleep. The loop checks the deadline only where it calls look_around, after at least
 * one look. A caller whose deadline may have passed already must check it before. */
BCRI_INLINE int bcri_wait_loop(struct bcri_wait_loop loop, void *arg)
{
    enum { AROUND = 64 };
    for (int turn = 1;; turn++) {
        int result = loop.look(arg);
        if (result != BCRI_NOT_YET)
            return result;
        const bool spins = turn < loop.spins;
        if (spins && bcri_likely(turn % AROUND != 0))
            continue;
        if (loop.look_around != NULL && (result = loop.look_around(arg)) != BCRI_NOT_YET)
            return result;
        if (bcri_wait_is_over(loop.deadline_ns))
            return BCRI_NOT_YET;
        if (spins)
            continue;
        if (turn < loop.spins + loop.yields) {
            sched_yield();
            continue;
        }
        if (loop.sleep == NULL || (result = loop.sleep(arg, loop.deadline_ns)) != BCRI_NOT_YET)
            return loop.sleep == NULL ? BCRI_NOT_YET : result;
        turn--; /* sleeps are not counted, so the count does not overflow */
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* Two die at once, each anywhere in a call on the same cell: one may hold what the other waits for,
 * and one may die while the other is being repaired.
 *
 * The first victim is stepped to some instruction and stopped. The second is stepped to one of its
 * own, or until it sleeps on a lock of the first. Then, in turn: both are dead before either is
 * repaired, in this order or the other; or the first is repaired while the second still holds
 * whatever it holds, and that one is killed when the repair is parked on it, or done. Afterwards
 * the audit has no finding, and the survivors go on.
 *
 * With a third one that lives: it is stopped (as by SIGSTOP or a debugger) anywhere in the second's
 * call, then one dies, and while its repair is parked on the one that is stopped, another dies.
 * That one is repaired, too; then the stopped one goes on, and everything comes to its end. */
#ifndef BCR_TEST_TWO_H
#define BCR_TEST_TWO_H

#include "scene_parts.h"

/* `second` dies besides `run`. */
void two_die(const struct scenario *scenario);
/* `run` has died; one that lives is stopped in `second`, another dies in it. */
void two_one_is_stopped(const struct scenario *scenario);

#define TWO(name, ...)                                         \
    TEST_TIMEOUT(name, 900)                                    \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        two_die(&scenario);                                    \
    }

#define STOPPED(name, ...)                                     \
    TEST_TIMEOUT(name, 900)                                    \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        two_one_is_stopped(&scenario);                         \
    }

#endif

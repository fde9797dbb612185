/* SPDX-License-Identifier: MIT */
/* Which core a CCE runs on when its enlistor leaves that to BCR: of the cores that enl itself may
 * use, the one with the fewest CCEs of this program that are pinned; of several, the next in
 * turn. */
#ifndef ENL_CORES_H
#define ENL_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct enl_cores {
    cpu_set_t allowed;
    bool begun;
    int turn; /* the core taken last */
    uint16_t pinned[CPU_SETSIZE];
};

/* Looks at what this process may use. */
void enl_cores_init(struct enl_cores *cores);
/* The turn begins behind `core`, on which the first enlistor runs: two CCEs that wait for each
 * other on one core stay there for a long time, since neither is ever seen to lack another. */
void enl_cores_begin(struct enl_cores *cores, int core);
bool enl_cores_has(const struct enl_cores *cores, int core);
/* The core for the next one; -1: there is no choice, or nobody knows. */
int enl_cores_choose(const struct enl_cores *cores);
/* A CCE is pinned to `core`, or no longer; -1 is nothing. */
void enl_cores_take(struct enl_cores *cores, int core);
void enl_cores_give(struct enl_cores *cores, int core);

#endif

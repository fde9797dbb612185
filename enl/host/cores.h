/* SPDX-License-Identifier: MIT */
/* The core that a CCE runs on when its enlistor leaves that to BCR: of the cores that enl itself
 * may use, the one to which the fewest CCEs of this program are pinned; of several such, the next
 * in turn. */
#ifndef ENL_CORES_H
#define ENL_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct enl_cores {
    cpu_set_t allowed;
    bool begun;
    int first; /* on which the first enlistor runs; -1: on none of them, or there is none yet */
    int turn;  /* the core taken last */
    uint16_t pinned[CPU_SETSIZE];
};

/* Notes the cores that this process may use. */
void enl_cores_init(struct enl_cores *cores);
/* The turn begins behind `core`, on which the first enlistor runs. Two CCEs that wait for each
 * other on one core would stay there for a long time, since the kernel never sees one of them lack
 * a core. */
void enl_cores_begin(struct enl_cores *cores, int core);
/* The next one is the one of that number, counted round and round among those that the program may use,
 * unless another has fewer CCEs. */
void enl_cores_turn(struct enl_cores *cores, uint32_t number);
/* The number of the first enlistor's; -1: it has none. */
int enl_cores_first(const struct enl_cores *cores);
bool enl_cores_has(const struct enl_cores *cores, int core);
/* The core of that number, counted from 0 among those that the program may use; -1: it has fewer. */
int enl_cores_nth(const struct enl_cores *cores, int number);
/* The core for the next CCE; -1: there is only one, or the daemon does not know which it may
 * use. */
int enl_cores_choose(const struct enl_cores *cores);
/* _take: a CCE is pinned to `core`; _give: it no longer is. -1 does nothing. */
void enl_cores_take(struct enl_cores *cores, int core);
void enl_cores_give(struct enl_cores *cores, int core);

#endif

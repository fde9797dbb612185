/* SPDX-License-Identifier: MIT */
/* drain.h -- when what CCEs here have printed has gone on from this daemon (bcr_outdone). */
#ifndef ENL_DRAIN_H
#define ENL_DRAIN_H

#include <uv.h>

struct enl_here;

struct enl_drain {
    uv_timer_t timer; /* looks in a turn of the loop of its own */
    enum { ENL_DRAIN_NOT, ENL_DRAIN_TURNS, ENL_DRAIN_WRITERS } waits_for;
    void (*done)(struct enl_here *here); /* when it is over */
};

void enl_drain_start(struct enl_here *here);
void enl_drain_stop(struct enl_here *here);
/* Reads all that the pipes of the CCEs hold now, whosever turn it is to print: as much as pipes hold, at most. */
void enl_drain_read(struct enl_here *here);
/* Calls `done`, later, when all that was read until now, and has come from other daemons, is sent up; at the root, when it is
 * written. A new call takes the place of one that is not over. */
void enl_drain_mark(struct enl_here *here, void (*done)(struct enl_here *here));
/* A stream has passed what was marked, or a writer has written it. */
void enl_drain_look(struct enl_here *here);

#endif

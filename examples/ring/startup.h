/* SPDX-License-Identifier: MIT */
/*
 * startup.h -- how a ring of CCEs comes into being.
 *
 * The root enlists the others and gives each the task in its birth region.  Each grows its cells and sends
 * its birthcry; when all have cried, the root tells each who its next one is.  Machine names stay out of the
 * program: they come from the caller.
 *
 * All routines end the program when they cannot do what they are for.
 */
#ifndef STARTUP_H
#define STARTUP_H

#include "readstrings.h"

/* The cells that every CCE of the ring has grown, at these numbers, before start_ring or join_ring. */
enum {
    RING_START = 1, /* birthcries at the root, the next CCE's ID at the others */
    RING_PASS = 2   /* what the previous CCE passes on */
};

/* A region of the start-up.  A CCE's comm heap needs room for one of them, the root's for one per CCE. */
enum { RING_START_BYTES = 64 };

struct ring_task {
    int cces;
    int minlog, maxlog; /* region sizes, as powers of 10 */
    int passes;
    int reduce; /* whether to do the all-to-all reduction */
};

/* In the root: enlists CCEs 1 to cces-1 of `program`, on `machines`, of which there is one at least, in turn.
 * Returns the ID of the root's next CCE, which is the root itself in a ring of one.  bcr_init must have
 * been asked for bcr_errors, which reports a start that fails later. */
int start_ring(const char *program, const struct ring_task *task, const struct strings *machines);

/* In the others: the task first, since the size of the comm heap depends on it; then, with the cells grown,
 * the place in the ring.  Returns the ID of the next CCE. */
struct ring_task take_ring_task(void);
int join_ring(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * handlers.h -- what the parts of bench_handlers share: cells, and the traffic that goes through
 * handlers. */
#ifndef BENCH_HANDLERS_H
#define BENCH_HANDLERS_H

#include "bench_cells.h"

/* Cells beside those of bench_cells.h. */
enum {
    CELL_BALL = 11,    /* of each side: has a handler, the other puts here */
    CELL_ASK = 12,     /* of side 1: has another handler */
    CELL_STOP = 13,    /* of each side: its handler's last run wakes the main program */
    CELL_PLAIN = 14,   /* of side 0: without a handler */
    CELL_WATCHED = 15, /* of side 0: has a handler that does nothing, mark 1 */
    CELL_DEMAND = 16,  /* of side 0: the same, mark 0 */
    CELL_RING = 1000,  /* of side 0: actors, one a cell */
    CELL_LINE = 3000,  /* of side 0: as many cells without handlers */
};
enum { RING_ACTORS = 1000, RUNS_AT_A_TIME = 12 };

/* handlers_pair.c: between two CCEs */
void handlers_pair_prepare(struct bench_pair *pair);
bench_step handlers_ball; /* cells_handover, by handlers on both sides: an actor ping-pong */
bench_step
    handlers_request;      /* from before the put to the first instruction of the handler; only that counts */
bench_step handlers_plain; /* from before the put to the return of the get that waited; only that counts */

/* handlers_alone.c: within one, side 0 */
void handlers_alone_prepare(void);
bench_step handlers_ring_10, handlers_ring_100,
    handlers_ring_mixed;  /* as handlers_ring, with few, or in no order */
bench_step handlers_ring; /* a region goes round a ring of actors: take it, put it into the next one's cell */
bench_step handlers_no_ring;   /* puts and takes along as many cells */
bench_step handlers_run;       /* invocations alone: from their requests, which are there, to their ends */
bench_step handlers_put;       /* puts, each of which requests a handler, and takes */
bench_step handlers_no_put;    /* puts and takes */
bench_step handlers_demand;    /* gets that find nothing, each of which requests a handler */
bench_step handlers_no_demand; /* gets that find nothing */

#endif

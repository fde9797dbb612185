/* SPDX-License-Identifier: MIT */
/* What the killer (test_chaos) and the CCEs of its program (chaos_cce) see of each other: a file
 * that all map.
 *
 * A place is one of CCES, for as long as the test runs; one CCE after the other has it, each with
 * an ordinal of its own. Place 0 is the root's, which is never killed.
 *
 *   phase % PHASES   all do
 *   CHAOS_RUN        whatever there is, and are killed
 *   CHAOS_STAND      nothing more; the root still enlists for places whose CCE was killed
 *   CHAOS_EMPTY      each empties its own cells, and frees what it has; the root also what holds shared regions
 *   CHAOS_COUNT      the root takes all out of the shared cells, counts it and puts it back
 *
 * The killer counts the phase up when all have come to the one before; that after CHAOS_EMPTY when nothing is on its way
 * any more. */
#ifndef CHAOS_BOARD_H
#define CHAOS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CHAOS_CCES = 12, CHAOS_TOKENS = 24, CHAOS_LOCKS = 4 };
enum { CHAOS_RUN, CHAOS_STAND, CHAOS_EMPTY, CHAOS_COUNT, CHAOS_PHASES };
#define CHAOS_OVER UINT32_MAX

#define CHAOS_DOINGS(X)                                                                                     \
    X(NOTHING), X(INIT), X(TOKEN), X(PENDING), X(MANY), X(SHARE), X(LOCK), X(READ_LOCK), X(LONG), X(THREE), \
        X(HANDLED), X(PEER), X(AREA), X(ENLIST), X(ZAP), X(RECOVER), X(EMPTYING), X(COUNTING)
#define CHAOS_DOING(name) DOING_##name
enum chaos_doing { CHAOS_DOINGS(CHAOS_DOING), DOINGS };

struct chaos_place {
    atomic_int pid;       /* 0: to be enlisted, or not there yet. From before bcr_init on */
    atomic_int host;      /* the number of its host; known once it has done with a phase */
    atomic_int wanted;    /* 1: the root shall enlist one */
    atomic_uint deaths;   /* of those that had it, after each of which the killer wants another */
    atomic_uint at_phase; /* the last phase that it has done with */
    atomic_uint doing, calls;
    atomic_int cell;
    atomic_int at_risk; /* tokens that it may hold: as many may be missing after its death */
};

struct chaos_board {
    uint64_t seed;
    int hosts; /* beside the root's, on which CCEs live */
    atomic_uint phase;
    struct chaos_place place[CHAOS_CCES];
    atomic_int holder[CHAOS_LOCKS]; /* ordinal + 1 of the CCE that has the write lock; 0: nobody */
    atomic_int ending;              /* the host whose CCEs are being killed with it; 0: none */
    /* Of CHAOS_COUNT. */
    atomic_int missing;                   /* tokens, which the root has replaced by new ones */
    atomic_int regions;                   /* in the shared cells, and no others are there */
    atomic_uint generation[CHAOS_TOKENS]; /* of the token that is under way now */
    /* Tallies: locks recovered, calls that met a dead CCE, puts refused where there was room. */
    atomic_uint owner_died, dead_ends, refused;
};

/* The host of a place: 0, the root's, or K, local<K>. */
static inline int chaos_host(const struct chaos_board *board, int place)
{
    return place % (board->hosts + 1);
}

#endif

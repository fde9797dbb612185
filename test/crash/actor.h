/* SPDX-License-Identifier: MIT */
/* What those do of whom test_kill kills one after the other: all calls, as fast as they can, on
 * each other's cells. */
#ifndef BCR_TEST_CRASH_ACTOR_H
#define BCR_TEST_CRASH_ACTOR_H

#include <bcr/types.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"

enum {
    MEMBERS = 4,
    CELLS = 3,
    BAG = 8, /* regions that a member keeps */
    RECORDS = 64
};
#define OVER (UINT32_MAX - 1)

struct arena {
    _Atomic uint32_t pause;              /* futex: 1: stop between two calls; 2: and exit */
    _Atomic uint32_t parked;             /* futex */
    _Atomic uint32_t index[MEMBERS];     /* records; 0: none */
    _Atomic uint32_t under_way[RECORDS]; /* invocations of handlers that have begun; by record */
};

struct actor {
    struct bcri_ctx *ctx;
    struct arena *arena;
    uint64_t random, seed;
    bool marked;   /* its cells have handlers */
    int under_way; /* invocations of handlers */
    bcr_region held[BAG];
    bcr_region pending[BAG];
};

/* The body of a member's process. */
int actor_body(struct bcri_ctx *ctx, void *actor);

#endif

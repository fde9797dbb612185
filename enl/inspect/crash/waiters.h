/* SPDX-License-Identifier: MIT */
/* Who waits for a CCE that has crashed: by what each CCE of this host has noted before it went to sleep
 * (struct bcri_sleep_shm); and how many requests of CCEs elsewhere the agent has at its cells. The loop copies the notes; the worker follows them, since it may map segments. What they
 * find is a hint: nobody is stopped for it. */
#ifndef ENL_WAITERS_H
#define ENL_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "host/worker.h"

struct enl_waiter {
    bcri_ref request; /* an ID slot; none: it waits for a lock of that CCE's */
    uint32_t index;   /* of the CCE that waits; the agent's: CCEs of other hosts do */
    uint32_t cell;    /* for what it waits */
    uint32_t others;  /* how many requests the agent has there for them; 0: it is a CCE's */
    bool puts;
    bool waits; /* it does wait for that CCE */
    uint64_t since_ns;
};

#define ENL_WAITERS_MAX 256u

struct enl_waiters {
    struct enl_call call;
    uint32_t owner; /* for whom they wait */
    uint32_t count;
    struct enl_waiter at[ENL_WAITERS_MAX];
};

/* For the call: finds out for each whether it waits for the owner, and adds the agent's. */
int enl_waiters_resolve(struct enl_call *call, struct bcri_ctx *ctx);

#endif

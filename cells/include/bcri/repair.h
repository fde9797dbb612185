/* SPDX-License-Identifier: MIT */
/* After a death: what enl does so that the others go on. docs/crash.md tells it as a story. */
#ifndef BCRI_REPAIR_H
#define BCRI_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/host.h"

/* The process of CCE `index` is dead (state DYING, bcri_cce_dying): finishes or reverts what it was doing, frees its
 * locks, gives back what it was handed but had not taken, withdraws its requests, drops its holds, closes its cells, and
 * sets state DEAD. May wait for locks of living CCEs; never for the dead. One thread of enl, on enl's context. */
void bcri_cce_repair(struct bcri_ctx *enl, uint32_t index);

/* Called by whichever thread of enl learns of the death, before the repair is queued: wakes everybody who sleeps on a
 * lock of the dead one, the repairing thread itself included. */
void bcri_cce_dying(struct bcri_host *host, uint32_t index);

/* Lets a repair that sleeps until a living CCE lets go of something look round: at who else has died, at what may be done
 * meanwhile (ctx->meanwhile). Called after that has come to be. */
void bcri_repair_wake(struct bcri_host *host);

/* Wakes everybody who sleeps until the dead one lets go of something. */
void bcri_cce_wake_sleepers(struct bcri_record_shm *record);

/* Once, before enl's context takes any lock that a CCE may hold. */
void bcri_repair_init(struct bcri_ctx *enl);

/* Serves the puts that wait in areas where the dead may have made room. Part of bcri_cce_repair. */
void bcri_repair_serve(struct bcri_ctx *enl);

/* Only the journal: locks and the open operation. Called by bcri_cce_repair, and when the repair of one CCE meets a
 * lock of another dead one. False, and nothing is done: that repair itself has come here, by way of others', or is aside. */
bool bcri_journal_repair(struct bcri_ctx *enl, uint32_t index);
/* The same, or waits until the repair that is aside has done it. */
void bcri_journal_repair_surely(struct bcri_ctx *enl, uint32_t index);

/* A repair that waits for a lock may be put aside: another thread of the daemon goes on with something else on the same context, until
 * it takes the first one up again, under the same mutual exclusion. What it has in the context is kept for it. That is all: it is in
 * the midst of no transaction and holds no count word, since nobody waits with one; locks that it holds carry the daemon's tag, and
 * another one of its threads that needs one waits for it (core/lock.c) as it would for a CCE. */
#define BCRI_JOURNAL_WORDS (sizeof(struct bcri_journal_shm) / sizeof(uint64_t))
struct bcri_repair_aside {
    uint64_t journal[BCRI_JOURNAL_WORDS];
    bool damaged;
};
void bcri_repair_put_aside(struct bcri_ctx *enl, struct bcri_repair_aside *aside);
void bcri_repair_take_up(struct bcri_ctx *enl, const struct bcri_repair_aside *aside);

#endif

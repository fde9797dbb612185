/* SPDX-License-Identifier: MIT */
/* The dead CCE whose journal is repaired: journal_repair.c and operation_repair.c only. */
#ifndef BCRI_DEAD_H
#define BCRI_DEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/lookup.h"
#include "bcri/record.h"

struct bcri_dead {
    uint32_t index, tag;
    struct bcri_record_shm *record;
    struct bcri_journal_shm *journal;
    bool counted; /* the count change that was open is done */
};

static inline bool bcri_dead_holds(const struct bcri_dead *dead, _Atomic uint32_t *lock)
{
    return bcri_load_acquire(lock) == dead->tag;
}

/* Finishes or undoes the operation; `resolved` is its cell, NULL if it has none. False: the daemon
 * is parked. */
bool bcri_operation_repair(struct bcri_ctx *enl, struct bcri_dead *dead, struct bcri_resolved *resolved);

#endif

/* SPDX-License-Identifier: MIT */
/* The seam between the two tiers of puts and gets. The fast tier is inlined into the public routine
 * and calls nothing. When it meets something that it cannot do, it hands the call to the resume
 * tier, together with what the call holds by then. The resume tier makes an attempt under the lock
 * of one end of the cell, and then does what the attempt says is needed. */
#ifndef BCRI_TIERS_H
#define BCRI_TIERS_H

#include "bcri/cell.h"
#include "bcri/lookup.h"

/* What a call holds when the fast tier hands it to the resume tier. */
enum bcri_held {
    BCRI_HOLDS_NOTHING,
    BCRI_HOLDS_JOURNAL, /* opened; another CCE has the lock */
    BCRI_HOLDS_LOCK     /* opened, and this CCE has the lock of the cell's end */
};

/* How an attempt under the lock of one end of a cell has ended. The lock is released by then, and
 * the journal closed. */
enum bcri_attempt {
    BCRI_TRY_DONE,
    BCRI_TRY_WAITS,      /* a get: it has a ticket */
    BCRI_TRY_EMPTY,      /* a get that does not wait found nothing */
    BCRI_TRY_STALE,      /* the resolved cell is out of date */
    BCRI_TRY_BOTH_LOCKS, /* the cell's other end is needed, too */
    BCRI_TRY_NO_ROOM,
    BCRI_TRY_NO_MEMORY,
    BCRI_TRY_TIME_UP /* the holder of the lock is stopped */
};

/* Why a cell whose state under one of its locks is not resolved->open allows no attempt. */
static inline enum bcri_attempt bcri_why_not_open(const struct bcri_resolved *resolved, uint64_t state)
{
    return state >> 32 == resolved->open >> 32 && (state & BCRI_CELL_CLOSED) == 0 ? BCRI_TRY_BOTH_LOCKS
                                                                                  : BCRI_TRY_STALE;
}

#endif

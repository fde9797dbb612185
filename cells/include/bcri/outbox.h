/* SPDX-License-Identifier: MIT */
/* The outbox of a CCE: a ring in shared memory by which the CCE hands orders to its host's agent.
 *
 * There is one producer, the CCE, and one consumer, the agent; no lock. An entry names an ID of the
 * CCE, in which the order is written down (order.h). The store of the entry is the order: before it
 * nothing has happened, after it the agent carries the order out, even if the CCE dies. The entry's
 * lap tag tells the agent that it is new, so the producer has no counter that others read.
 *
 *   entry:  63..56 lap tag · 55..48 enum bcri_outbox_kind · 47..0 the ID's slot
 *
 * The agent alone writes all but the entries. It tells there, one after the other, of puts that have failed after
 * their call had returned. Before each such call the CCE reads what it was told (bcri_order_put); no more than
 * BCRI_OUTBOX_WINDOW puts can fail before the next, so none is overwritten unread.
 *
 * What a death leaves: the outbox of a dead CCE is read to its end by the agent (bcri_agent_forget), and
 * its segment goes with the CCE's others. */
#ifndef BCRI_OUTBOX_H
#define BCRI_OUTBOX_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/cell.h"
#include "bcri/ref.h"

#define BCRI_OUTBOX_LOG2    8u
#define BCRI_OUTBOX_ENTRIES (1u << BCRI_OUTBOX_LOG2)
/* How many puts of a CCE may be ordered and not completed when it orders one whose call returns then. */
#define BCRI_OUTBOX_WINDOW 1024u

enum bcri_outbox_kind {
    BCRI_OUTBOX_ORDER = 1,
    BCRI_OUTBOX_CANCEL,
    BCRI_OUTBOX_PUTM_OVER /* no further put of the bcr_putm at hand comes; the ID says nothing */
};

/* A put that has failed: to which cell of which CCE, and why: order.h says what a code
 * may have beside it. */
struct bcri_failure_shm {
    _Atomic uint64_t owner[2]; /* its identity */
    _Atomic uint32_t cell, code;
};
static_assert(sizeof(struct bcri_failure_shm) == 24, "docs/layout/outbox.md");

struct bcri_outbox_shm {
    _Atomic uint64_t taken;     /* how many entries the agent has taken */
    _Atomic uint64_t completed; /* how many puts have ended, in whatever way */
    _Atomic uint64_t failed;    /* how many failures it has told of */
    uint64_t pad[13];           /* to the next pair of lines: the CCE writes the entries */
    _Atomic uint64_t entry[BCRI_OUTBOX_ENTRIES];
    struct bcri_failure_shm failure[BCRI_OUTBOX_WINDOW]; /* failure n at n modulo their number */
};
static_assert(offsetof(struct bcri_outbox_shm, completed) == 8, "docs/layout/outbox.md");
static_assert(offsetof(struct bcri_outbox_shm, failed) == 16, "docs/layout/outbox.md");
static_assert(offsetof(struct bcri_outbox_shm, entry) == BCRI_LINE_PAIR, "docs/layout/outbox.md");
static_assert(offsetof(struct bcri_outbox_shm, failure) == 2176, "docs/layout/outbox.md");
static_assert(sizeof(struct bcri_outbox_shm) == 26752, "docs/layout/outbox.md");
/* Of its segment. */
#define BCRI_OUTBOX_BYTES (7 * BCRI_PAGE_BYTES)
static_assert(sizeof(struct bcri_outbox_shm) <= BCRI_OUTBOX_BYTES, "an outbox has a segment of its own");

/* What the ring of an order names (bell.h): the outbox. No cell lies so far behind in its segment. */
static inline uint32_t bcri_outbox_ring(bcri_ref outbox)
{
    return UINT32_C(0xffff0000) | bcri_ref_seg(outbox);
}
static inline uint64_t bcri_outbox_entry(uint64_t number, enum bcri_outbox_kind kind, bcri_ref slot)
{
    return bcri_lap(number, BCRI_OUTBOX_LOG2) << 56 | (uint64_t)kind << 48 | slot;
}
/* For the agent: whether entry `number` has been stored.
 * Model: outbox.pml */
static inline bool bcri_outbox_look(const struct bcri_outbox_shm *outbox, uint64_t number,
                                    enum bcri_outbox_kind *kind_out, bcri_ref *slot_out)
{
    const uint64_t entry = bcri_load_acquire(&outbox->entry[number % BCRI_OUTBOX_ENTRIES]);
    if (!bcri_entry_is(entry, number, BCRI_OUTBOX_LOG2))
        return false;
    *kind_out = (enum bcri_outbox_kind)(entry >> 48 & 0xffu);
    *slot_out = entry & BCRI_REF_MASK;
    return true;
}

#endif

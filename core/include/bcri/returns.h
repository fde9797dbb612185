/* SPDX-License-Identifier: MIT */
/* Ways home for freed blocks: one queue per (freer, owner) pair, single producer, single consumer, plain stores.
 *
 * The freer writes lap-tagged references, eight to a line; the owner reads them when its lists run dry. No atomic
 * instruction on either side, and a death at any point can be finished exactly: the freer journals the place and the
 * value (ret_entry, ret_value) before it stores, and storing the same value at the same place twice changes nothing.
 * A queue is a chain of blocks that grows while the owner does not collect, and shrinks to a few that circulate.
 * Queues lie in segments that the freer made (BCRI_SEG_RETURNS) and that outlive it until the owners have drained them.
 *
 *   a returns segment: cells of 1 KiB, carved in order, the first unused one has kind 0
 *
 *   QUEUES cell                              BLOCK cell
 *     0  kind                                  0  kind, lap    freer, before the block is linked
 *    64  15 queue heads of 64 bytes            8  consumed     owner: the lap that it has read to the end
 *                                             64  119 entries, then the link to the next block of the chain
 *
 *   entry and link:  63..48 lap of this use of the block   47..0 reference of a region, or of the next block
 *
 * A block is used again only when it was read to the end, so each of its words is written once per lap, and a word
 * with another lap's tag is one that has not been written yet.
 *
 * Owner's list: record->returns -> newest queue -> next -> ... Queues are pushed by CAS, once per pair; the owner takes the list
 * whole, and none of it is named there again. So a push may mistake a queue for another that lay at the same place, and be
 * right: what it found is the list's head.
 * Pages: docs/layout/returns.md. */
#ifndef BCRI_RETURNS_H
#define BCRI_RETURNS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/ref.h"

#define BCRI_RETURN_CELL_BYTES 1024u
#define BCRI_RETURN_ENTRIES    119u /* to a block; then comes the link */
#define BCRI_RETURN_QUEUES     15u  /* to a cell */
#define BCRI_RETURN_POLLS      16u  /* queues looked at by a bounded collect */
#define BCRI_RETURN_BATCH      64u
#define BCRI_RETURN_GLANCE     8u

/* Values of the journal's ret_entry that are no places. A place is a word reference: ref << 5 | byte in the unit. */
#define BCRI_RETURN_UNSENT UINT64_C(0)
#define BCRI_RETURN_DONE   UINT64_C(1) /* enl: repaired */

enum bcri_return_kind { BCRI_RETURN_UNUSED = 0, BCRI_RETURN_QUEUE_CELL, BCRI_RETURN_BLOCK_CELL };

/* NEW -> LISTED (freer, before it pushes) -> DRAINED (owner: the freer is dead and repaired, everything is read). */
enum bcri_return_state { BCRI_RETURN_NEW = 0, BCRI_RETURN_LISTED, BCRI_RETURN_DRAINED };

struct bcri_return_queue_shm {
    _Atomic uint64_t next;  /* freer, before the push: the queue that was newest */
    _Atomic uint64_t first; /* freer, before the push: the chain's first block */
    uint64_t freer_id;      /* which use of the records is meant: bytes 4..11 of the identities */
    uint64_t owner_id;
    uint32_t freer; /* indexes of the records */
    uint32_t owner;
    _Atomic uint32_t state;
    uint32_t spare[5];
};
static_assert(sizeof(struct bcri_return_queue_shm) == 64, "docs/layout/returns.md");

struct bcri_return_cell_shm {
    _Atomic uint32_t kind;
    _Atomic uint32_t lap;
    _Atomic uint32_t consumed;
    uint32_t spare[13];
    union {
        _Atomic uint64_t entry[BCRI_RETURN_ENTRIES + 1];
        struct bcri_return_queue_shm queue[BCRI_RETURN_QUEUES];
    };
};
static_assert(offsetof(struct bcri_return_cell_shm, entry) == 64, "docs/layout/returns.md");
static_assert(sizeof(struct bcri_return_cell_shm) == BCRI_RETURN_CELL_BYTES, "docs/layout/returns.md");

/* Sends block `ref` (count 0) home to CCE `home`. Called from bcri_region_drop with the count journal in state
 * BCRI_CW_LAST and ret_entry BCRI_RETURN_UNSENT. If the home has ended, the segment's `frees` counts up instead.
 * If memory for a queue is refused, the block stays where it is, marked, and the owner is told to look for it.
 * May ask the daemon for a segment, the first time and when the queue grows. */
void bcri_returns_send(struct bcri_ctx *ctx, uint32_t home, bcri_ref ref);

/* enl: the other half of bcri_returns_free_alone (returns_fast.h), for CCE `index`, which died with the journal at SEND and the ID still naming `ref`. */
void bcri_returns_repair_alone(struct bcri_ctx *enl, uint32_t index, bcri_ref ref);

/* Owner: takes what has come home and hands it to `take` in batches, headers being prefetched. `most` 0: all there is;
 * else stops when that many have come, and looks at BCRI_RETURN_POLLS queues at most. Returns how many came. */
uint32_t bcri_returns_collect(struct bcri_ctx *ctx, uint32_t most,
                              void (*take)(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count));

/* Owner, in passing: at most a line of references from one queue that is known already, those in turn. Asks the daemon
 * nothing. */
void bcri_returns_glance(struct bcri_ctx *ctx,
                         void (*take)(struct bcri_ctx *ctx, const bcri_ref *refs, uint32_t count));

/* enl: finishes the send that CCE `index` had open when it died. bcri_count_repair calls it; a second call does
 * nothing. */
void bcri_returns_repair(struct bcri_ctx *enl, uint32_t index);

/* enl: how many queues in a segment of a freer that is dead and repaired living owners have not read to the end yet; these are
 * told, and rung if they were not. Each that they read to the end counts the segment's `frees` up. 0 in all RETURNS segments of
 * that freer: they may be dropped. */
uint32_t bcri_returns_undrained(struct bcri_ctx *enl, uint32_t seg);

void bcri_returns_fini(struct bcri_ctx *ctx);

#endif

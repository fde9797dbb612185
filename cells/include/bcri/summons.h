/* SPDX-License-Identifier: MIT */
/* Summonses: requests of a CCE's handlers, in a queue in its record (struct bcri_summons_shm), oldest first.
 *
 *   line 0     lock · asleep · written · limit · chain: whoever summons, under the lock
 *   line 1, 2  ring of 14 entries: 63 lap · 62..32 cell number · 31..24 the summoner's CPU · 23..0 generation of the mark;
 *              and in each line a region that was put with one of them, to be fetched early
 *   line 3     the owner's: how many it has taken from the ring, and the chain that it is taking from
 *
 * Ring. Entry t lies at t % 14, and is full once its lap bit is that of t: the owner watches that one word and needs neither
 * lock nor line 0. Written by the holder of the lock while t < limit, where limit = taken + 13 is a cached bound.
 *
 * Chain. When 13 are in the ring, the 14th entry says so (cell number BCRI_SUMMONS_CHAIN), and that one and all later
 * ones go into blocks that the summoners take from their own heaps, until the owner has come to that entry: under the lock
 * it makes the chain its own (taken_first), and the next goes through the ring again. A block is a region held by the queue
 * (count 1); the owner drops it when it has read it, and it goes home as any other. So the order of the lock is the order
 * of arrival, and only memory bounds the queue.
 *
 * The owner's own. What the owner does at its own cells summons itself, and if it dies nobody is left to be summoned: so such a
 * summons needs neither queue nor journal, and goes up at once (upward.h), if nobody else's can be older: nobody holds the
 * queue's lock, and then there is nothing in the queue. Both are looked at under the cell's lock, in that order. Whoever has
 * summoned at this cell before has let go of the queue's lock before the cell's; and who has done anything else of which the
 * owner can know holds the queue's lock since before it was done, or has written its summons.
 *
 * Order of locks: an area's `lock`, H, T of the cell, this one, the area's `leaf`, count words. Whoever holds it has named
 * the owner in its journal (aux SUMMONS). Room is made sure of before anything is done.
 *
 * Sleeping. The owner that is about to sleep stores asleep = 1 under the lock, if its next entry is empty; who summons then
 * clears it and rings.
 *
 * Deaths. Of a summoner that holds the lock: by a transaction, all or nothing (tx.h); by a fast put, its phase says that the
 * entry in the cell is the point of no return, and repair writes the summons if `written` stands where the journal says
 * (put_tail.h). Of the owner: the cells are closed first, then the blocks of both chains are dropped. A block that was
 * taken from the heap and not linked counts nobody and is free. */
#ifndef BCRI_SUMMONS_H
#define BCRI_SUMMONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/flow.h"
#include "bcri/mark.h"
#include "bcri/upward.h"

/* A block of the chain: a region's data. */
#define BCRI_SUMMONS_BLOCK 126u
struct bcri_summons_block_shm {
    _Atomic uint64_t next; /* the next block's region; under the lock */
    uint64_t pad;
    _Atomic uint64_t entry[BCRI_SUMMONS_BLOCK]; /* as in the ring, lap 1 */
};
static_assert(sizeof(struct bcri_summons_block_shm) == 1024, "docs/layout/record.md");

static inline uint64_t bcri_summons_entry(uint64_t lap, uint32_t number, uint32_t cpu, uint32_t gen)
{
    return lap << 63 | (uint64_t)number << 32 | (cpu & 0xffu) << 24 | gen;
}

#define BCRI_SUMMONS_CHAIN 0x7fffffffu /* no cell has this number */

/* ---- the owner */

/* Whether somebody has summoned since the last bcri_summons_take said no: one load of a word that only a summons changes. */
static inline bool bcri_summons_any(const struct bcri_ctx *ctx)
{
    return bcri_load_acquire(ctx->summons_at) >> 63 == ctx->summons_lap;
}

/* An address in the caller's stack. A frame's would make a frame of routines that need none. */
static inline uintptr_t bcri_stack_here(void)
{
#if defined(__x86_64__)
    uintptr_t here;
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    return here;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}
/* Whether the caller runs on the stack on which this CCE executes. If not, a handler was left by longjmp. */
static inline bool bcri_in_place(const struct bcri_ctx *ctx)
{
    return bcri_stack_here() - ctx->stack_low < ctx->stack_bytes;
}

/* The beginning of a public routine: lets handlers run that somebody has summoned and the caller's priority lets in. With the
 * journal closed and no lock held; a place that was looked up before is out of date. 0, or the code to fail with:
 * bcrE_LONGJMP. */
static inline bool bcri_enters(const struct bcri_ctx *ctx)
{
#ifdef BCRI_NO_ENTRY /* test/bench/bench_entry.c: what this look costs */
    (void)ctx;
    return false;
#endif
    if (bcri_likely(ctx->upward == NULL))
        return false;
    return bcri_unlikely(!bcri_in_place(ctx) || ctx->handlers_due || bcri_summons_any(ctx));
}
static inline int bcri_enter(struct bcri_ctx *ctx)
{
    return bcri_enters(ctx) ? ctx->upward->run(ctx) : 0;
}

/* Takes the oldest: which cell's handler, by which installation of it (the mark may have been set anew, or be gone). False:
 * there is none. Not within an operation. */
bool bcri_summons_take(struct bcri_ctx *ctx, uint32_t *number_out, uint32_t *gen_out);

/* About to sleep: whoever summons from now on rings. False: somebody has summoned. */
bool bcri_summons_mark(struct bcri_ctx *ctx);

/* Waits until one of `count` requests is ready (returns its index, the lowest), somebody has summoned, or the deadline is
 * there. All three are looked at in this order, also if the deadline has passed. What the upward table's `wait` is made of;
 * `count` may be 0. */
enum { BCRI_WAIT_PASSED = -1, BCRI_WAIT_SUMMONED = -2 };
int bcri_wait_any(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);

/* ---- whoever summons: under the locks of the cell */

/* Room for one summons, or that none is due. */
struct bcri_summoning {
    bool due;
    bcri_ref block; /* a new one for the chain, or none */
    void *own;      /* of bcri_summons_own: nothing is held then */
};

/* Whether an addition is due to summon, that leaves `queued` regions in the cell. Under the tail lock at least. */
static inline bool bcri_addition_summons(const struct bcri_place *place, uint64_t queued)
{
    return (bcri_load(&place->cell->t.state) & BCRI_CELL_HIGH) != 0 && queued != 0 &&
           queued >= (uint64_t)(int64_t)bcri_mark_of(bcri_load(&place->cell->t.mark));
}
/* Whether a get is, that finds `queued` and takes or reads. Under the head lock at least. */
static inline bool bcri_get_summons(const struct bcri_place *place, uint64_t queued, bool takes)
{
    if ((bcri_load(&place->cell->h.state) & BCRI_CELL_LOW) == 0)
        return false;
    int64_t mark = bcri_mark_of(bcri_load(&place->cell->t.mark));
    return mark == 0 ? queued == 0 : takes && queued <= (uint64_t)-mark;
}

/* If the caller is the owner: what to give to upward->summon once the operation is done; NULL: through the queue. */
static inline void *bcri_summons_own(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    if (!place->own || ctx->upward == NULL || bcri_load_acquire(&ctx->record->summons.lock) != 0 ||
        bcri_summons_any(ctx))
        return NULL;
    return ctx->upward->summons_room(ctx, (uint32_t)place->number);
}

/* If one is due: takes the lock of the owner's queue and makes room. 0, or bcrE_NOMEM: nothing is held. With 0 bcri_summons_end
 * follows, in between, if what summons is done, bcri_tx_summon in its transaction. */
int bcri_summons_begin(struct bcri_ctx *ctx, const struct bcri_place *place, bool due,
                       struct bcri_summoning *summoning_out);
void bcri_tx_summon(struct bcri_ctx *ctx, const struct bcri_place *place,
                    const struct bcri_summoning *summoning);
/* Lets go, and rings the owner if it sleeps. */
void bcri_summons_end(struct bcri_ctx *ctx, const struct bcri_place *place,
                      const struct bcri_summoning *summoning, bool done);

/* The same for a put that does it under the tail lock alone (put_attempt.c), or a get under the head lock (get_attempt.c): try takes the lock of the owner's queue, if there is
 * room in its ring; note_written tells repair where the queue stands; write is the summons. */
bool bcri_summons_try(struct bcri_ctx *ctx, const struct bcri_place *place);
void bcri_summons_leave(struct bcri_ctx *ctx, const struct bcri_place *place);
/* The same after bcri_summons_write, if `done`, with the owner rung if it sleeps. */
void bcri_summons_let_go(struct bcri_ctx *ctx, const struct bcri_place *place, bool done);
static inline void bcri_summons_note_written(struct bcri_ctx *ctx, const struct bcri_place *place)
{
    uint64_t written = bcri_load(&place->record->summons.written);
    bcri_store(&ctx->journal->aux[BCRI_AUX_SUMMONS], written << 32 | (place->owner + 1));
}
static inline void bcri_summons_write(struct bcri_summons_shm *queue, const struct bcri_place *place,
                                      uint32_t cpu, bcri_ref hint)
{
    uint64_t t = bcri_load(&queue->written);
    bcri_store(&bcri_summons_line(queue, t)->hint, hint);
    bcri_store_release(bcri_summons_word(queue, t),
                       bcri_summons_entry(bcri_summons_lap(t), (uint32_t)place->number, cpu,
                                          bcri_mark_gen(bcri_load(&place->cell->t.mark))));
    bcri_step();
    bcri_store(&queue->written, t + 1);
}

/* ---- after a death: enl */

/* A put that died under the tail lock of `place` is done: it has summoned, or does so now. */
void bcri_summons_finish(struct bcri_ctx *enl, uint32_t index, const struct bcri_place *place);

/* The summoner has died, and its operation is done or undone: lets go of the queue whose lock it may hold, and rings. */
void bcri_summons_repair(struct bcri_ctx *enl, uint32_t index);
/* The owner has, and its cells are closed: drops what its queue holds. */
void bcri_summons_farewell(struct bcri_ctx *enl, uint32_t index);

#endif

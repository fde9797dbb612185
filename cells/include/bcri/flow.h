/* SPDX-License-Identifier: MIT */
/* What moves regions through cells, below the public routines. All of them leave the journal closed, return 0 or a
 * bcrE_ code, and change nothing when they fail unless said otherwise. */
#ifndef BCRI_FLOW_H
#define BCRI_FLOW_H

#include "bcri/cell.h"
#include "bcri/region.h"

/* Inner results, above every bcrE_ code. */
enum { BCRI_STALE = 1000, BCRI_NO_ROOM, BCRI_WAITS };

/* Journal fields of flow operations. */
enum { BCRI_AUX_RING = 0, BCRI_AUX_HELD, BCRI_AUX_EPOCH = 3 };
/* aux HELD: whether the cell's own hold on a region that the putter keeps is counted. While it is being taken back, the
 * count journal decides. */
enum { BCRI_HELD_NOT = 0, BCRI_HELD, BCRI_HELD_DROPPING, BCRI_HELD_DROPPED };

/* Flags beside a phase. */
#define BCRI_PHASE_GIVES \
    0x100u /* PUT: the ID's hold goes to the cell; no hold of the cell's own is counted */
#define BCRI_PHASE_RINGS    0x200u  /* PUT: `old` is the mark of a sleeper */
#define BCRI_PHASE_LOCKS    0x400u  /* TAKE: a write lock */
#define BCRI_PHASE_SOLE     0x800u  /* READ: the cell was the only holder */
#define BCRI_PHASE_REQUESTS 0x1000u /* PUT, TAKE, READ: the owner's handler; `old` is how many did before */
#define BCRI_PHASE(word)    ((word)&0xffu)

/* Operation and phase in one store. */
static inline uint64_t bcri_doing(enum bcri_op op, uint32_t phase)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint64_t)op << 32 | phase;
#else
    return (uint64_t)phase << 32 | op;
#endif
}

static inline void bcri_journal_open(struct bcri_ctx *ctx, enum bcri_op op, bcri_ref cell, bcri_ref region,
                                     bcri_ref slot)
{
    struct bcri_journal_shm *j = ctx->journal;
    bcri_store(&j->cell, cell);
    bcri_store(&j->region, region);
    bcri_store(&j->slot, slot);
    bcri_store(&j->aux[BCRI_AUX_HELD], BCRI_HELD_NOT);
    bcri_step();
    bcri_store(&j->doing, bcri_doing(op, 0));
    bcri_step();
}
static inline void bcri_journal_phase(struct bcri_ctx *ctx, uint32_t phase)
{
    bcri_step();
    bcri_store(&ctx->journal->phase, phase);
    bcri_step();
}
static inline void bcri_journal_close(struct bcri_ctx *ctx)
{
    bcri_step();
    bcri_store(&ctx->journal->op, BCRI_OP_NONE);
    bcri_step();
}

/* In a put whose journal is open: counts the cell's own hold on a region that the putter keeps, or takes it back, with
 * aux HELD telling repair at every point which of the two is done. hold: 0 or bcrE_NOMEM. */
int bcri_cell_hold(struct bcri_ctx *ctx, bcri_ref region);
void bcri_cell_unhold(struct bcri_ctx *ctx, bcri_ref region);

enum bcri_want { BCRI_WANT_TAKE, BCRI_WANT_READ, BCRI_WANT_LOCK };

/* The kind word of a request: what it wants, and whose it is. */
static inline uint32_t bcri_request_kind(const struct bcri_ctx *ctx, enum bcri_want want)
{
    return ctx->index << 8 | (uint32_t)want;
}
static inline enum bcri_want bcri_request_want(const struct bcri_slot_shm *slot)
{
    return (enum bcri_want)(bcri_load(&slot->kind) & 0xffu);
}
static inline uint32_t bcri_request_owner(const struct bcri_slot_shm *slot)
{
    return bcri_load(&slot->kind) >> 8;
}
/* Where a region's data lies in this process. Its segment is mapped. */
static inline uintptr_t bcri_header_data(const struct bcri_ctx *ctx, bcri_ref region,
                                         const struct bcri_region_shm *header)
{
    return (uintptr_t)ctx->map[bcri_ref_seg(region)].base + (uintptr_t)((uint64_t)header->data_16 * 16);
}
static inline uintptr_t bcri_region_data(struct bcri_ctx *ctx, bcri_ref region)
{
    return bcri_header_data(ctx, region, bcri_at(ctx, region));
}
/* Remembers that this CCE takes write locks. Stored once: the line is in everybody's cache. */
static inline void bcri_note_locks(struct bcri_ctx *ctx)
{
    if (bcri_unlikely(bcri_load(&ctx->record->id.uses_locks) == 0))
        bcri_store(&ctx->record->id.uses_locks, 1);
}

/* Writes the mark by which others learn that the protected region died with its taker, `tag`: it holds until the cell's
 * epoch is past `epoch`, the one in which the region was put or taken. Under the head lock. */
void bcri_mark_taker(struct bcri_place *place, uint32_t tag, uint32_t epoch);
/* Whether this process can map the region and, for a write lock, has memory for a private copy. Under the head lock. */
bool bcri_take_allowed(struct bcri_ctx *ctx, enum bcri_want want, bcri_ref region);

/* slow.c: both locks, transactions. Journal opened and closed by them. Where somebody who is stopped holds the first lock when
 * time is up: bcrE_FULL, bcrE_TIMEOUT. */
int bcri_put_slow(struct bcri_ctx *ctx, struct bcri_place *place, bool write, bcri_ref region,
                  struct bcri_slot_shm *slot, bool nofree, uint64_t deadline_ns);
int bcri_get_slow(struct bcri_ctx *ctx, struct bcri_place *place, enum bcri_want want, int msec,
                  struct bcri_slot_shm *slot);

/* request.c: what happens to a get that waits. `slot->cell` names the cell, so the place is found again from there.
 * settle: 0: the slot is LIVE now; BCRI_WAITS: not served yet; else the error, the slot is free again. bcrE_RGID: it was
 * already.
 * gone: the program has withdrawn a request of its own: other invocations that wait for it look again.
 * withdraw: 0: withdrawn, the slot is free again; BCRI_WAITS: it was served after all, settle it; bcrE_INTERNAL: the cell is
 * damaged, and the request stays what it is. */
int bcri_request_settle(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
int bcri_request_withdraw(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
void bcri_request_gone(const struct bcri_ctx *ctx);
/* True once settle will not say BCRI_WAITS; loads only. */
bool bcri_request_ready(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same for who looks often: what to look at, found out once. After a hit bcri_request_ready decides; if it says no, the watch
 * is to be made anew. */
struct bcri_watch {
    const _Atomic uint64_t *entry;
    uint64_t lap;
    const _Atomic uint64_t *word;
    uint64_t was;
};
void bcri_request_watch(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, struct bcri_watch *watch_out);
static inline bool bcri_watch_hit(const struct bcri_watch *watch)
{
    return bcri_entry_lap(bcri_load_acquire(watch->entry)) == watch->lap ||
           bcri_load_acquire(watch->word) != watch->was;
}
/* Writes the SLEEP mark of a waiting ticket. False: it is served meanwhile (or moved to the list: then true). */
bool bcri_request_mark(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* Hands the region of a LIVE slot, just taken from its cell, back to the head of that cell before anybody else is
 * served; the slot is free again. */
void bcri_request_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* What a write lock adds to a region that was taken: a private copy if others hold it, or it goes back to the head of its cell, and
 * the slot is free: bcrE_NOMEM. */
int bcri_request_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* request.c: for a get that has just begun to wait by ticket at `place`: spins as long as an answer is likely and
 * no handler is requested, yields where nobody can, and takes it. 0: the slot is LIVE; BCRI_WAITS; bcrE_NOMEM. */
int bcri_ticket_spin(struct bcri_ctx *ctx, struct bcri_place *place, struct bcri_slot_shm *slot,
                     uint64_t deadline_ns);
/* wait.c: how many turns a wait should spin, and how often it should yield after that. */
enum { BCRI_YIELDS = 200 };
int bcri_spin_turns(const struct bcri_ctx *ctx);
/* wait.c: waits until one of `count` requests is ready or the deadline is there. Returns its index, or -1. Where there are
 * handlers they run meanwhile: what was looked up before must be looked up again. */
int bcri_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);
/* The same for a request that somebody is just about to answer, whom nothing can hold up: no handlers run. */
void bcri_wait_settled(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same for whoever has spun and yielded already; where there are no handlers. */
int bcri_wait_asleep(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns);

/* putwait.c */
/* The two halves of a put that waits, for putting into many cells at once. begin: BCRI_WAITS and the request's slot; bcrE_FULL: time
 * is up, and somebody who is stopped holds the area's lock.
 * end: 0, bcrE_FULL (time is up), or why it failed. The region's hold of the caller is untouched by both. */
int bcri_putwait_begin(struct bcri_ctx *ctx, bool write, bcri_ref region, struct bcri_place *place,
                       struct bcri_slot_shm **request_out, uint64_t deadline_ns);
int bcri_putwait_end(struct bcri_ctx *ctx, struct bcri_slot_shm *request, uint64_t deadline_ns);
/* Whether an ID is still what it was before others ran: another invocation may have freed it, and it may be another one's by now. */
static inline bool bcri_slot_holds(const struct bcri_slot_shm *slot, bcri_ref region)
{
    uint64_t word = bcri_load_acquire(&slot->word);
    return bcri_slot_state(word) == BCRI_SLOT_LIVE && bcri_slot_region(word) == region;
}
/* Drops the region of a LIVE slot of this CCE; the slot is free then. Opens and closes the journal. */
void bcri_slot_drop(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* bcr_fd.c: closes the descriptors of an area's cells, or of all (BCRI_REF_NONE, when the context ends). */
void bcri_cell_fds_close(struct bcri_ctx *ctx, bcri_ref area);

/* access.c: 0 or bcrE_ACCESS. */
enum bcri_use { BCRI_USE_ADD, BCRI_USE_TAKE, BCRI_USE_LOCK };
int bcri_access(const struct bcri_place *place, enum bcri_use use);

/* area.c */
int bcri_area_grow(struct bcri_ctx *ctx, int base, const uint32_t kinds[4], uint32_t nrgns, uint64_t nbytes,
                   int *base_out);
int bcri_area_free(struct bcri_ctx *ctx, int base);

#endif

/* SPDX-License-Identifier: MIT */
/* A get that waits: what its slot says, and what becomes of it. Whoever serves it: queue.h. */
#ifndef BCRI_REQUEST_H
#define BCRI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/resolved.h"

enum bcri_want { BCRI_WANT_TAKE, BCRI_WANT_READ, BCRI_WANT_LOCK };
#define BCRI_REQUEST_WRITE 0x80u /* beside it, of a put that waits: it replaces */

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

/* `slot->cell` names the cell, so the cell is resolved again from there. settle: 0: the slot is
 * LIVE now; BCRI_WAITS: not served yet; else the error, the slot is free again. bcrE_RGID: it was
 * already. gone: the program has withdrawn a request of its own: other invocations that wait for it
 * look again. withdraw: whether it is, and the slot is free again; else it was served after all:
 * settle it. */
int bcri_request_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
bool bcri_request_withdraw(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
void bcri_request_gone(const struct bcri_ctx *ctx);
/* True once settle will not say BCRI_WAITS; loads only. */
bool bcri_request_ready(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same for who looks often: what to look at, found out once. After a hit bcri_request_ready
 * decides; if it says no, the watch is to be made anew. */
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
/* Writes the SLEEP mark of a waiting ticket. False: it is served meanwhile (or moved to the list:
 * then true). */
bool bcri_request_sleep_flag(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* Hands the region of a LIVE slot, just taken from its cell, back to the head of that cell before
 * anybody else is served; the slot is free again. */
void bcri_request_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* What a write lock adds to a region that was taken: a private copy if others hold it, or it goes
 * back to the head of its cell, and the slot is free: bcrE_NOMEM. */
int bcri_request_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* For a get that has just begun to wait by ticket at `resolved`: spins as long as an answer is
 * likely and no handler is requested, yields where nobody can, and takes it. 0: the slot is LIVE;
 * BCRI_WAITS; bcrE_NOMEM. */
int bcri_ticket_spin(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                     uint64_t deadline_ns);

#endif

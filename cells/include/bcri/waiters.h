/* SPDX-License-Identifier: MIT */
/* A get that waits, as its getter sees it: what its slot says, noticing the answer, collecting it,
 * cancelling, giving back. get_service.h serves it. */
#ifndef BCRI_WAITERS_H
#define BCRI_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/lookup.h"

enum bcri_want { BCRI_WANT_TAKE, BCRI_WANT_READ, BCRI_WANT_LOCK };
#define BCRI_REQUEST_WRITE 0x80u /* beside it, for a put that waits: it replaces */

/* The kind word of a request: what it wants, and the index of the CCE that made it. */
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

/* What has become of a request. */
struct bcri_answer {
    bool came; /* else the request still waits */
    int error; /* 0: the slot is LIVE; else why the get has failed, and the slot is free again */
};

/* `slot->cell` names the cell of a request; these routines resolve the cell again from there.
 *
 * Collects the answer. bcrE_RGID: the slot was free already. */
struct bcri_answer bcri_request_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* True: the request is cancelled and the slot is free again. False: the request was served after
 * all, and the caller must complete it. */
bool bcri_request_cancel(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The program has cancelled one of its own requests: its other invocations that wait for that
 * request look again. */
void bcri_request_gone(const struct bcri_ctx *ctx);
/* Whether bcri_request_complete would find an answer. It only loads. */
bool bcri_request_ready(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same for a waiter that looks often: which words to look at, found out once. After a hit
 * bcri_request_ready decides; if it says no, the waiter makes the watch anew. */
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
/* Writes the sleep flag of a waiting ticket. False: the request is served meanwhile. True also if
 * it was moved to the list, where it needs no flag. */
bool bcri_request_sleep_flag(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* Hands the region of a LIVE slot, just taken from its cell, back to the head of that cell before
 * any other request is served there; the slot is free again. */
void bcri_request_give_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The same without a region that cannot go back being dropped: 0, or why, and the slot is LIVE as
 * before; bcrE_TIMEOUT: the context parks. The agent has taken regions for many CCEs: its tag at the
 * cell is that of this take only if the epoch in `prev` is. */
int bcri_request_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The agent's, of several slots of one cell at once: no request is served there before all are back.
 * Each names the next older one (`next`). 0, or why none went back. The slot of each that did is FREE,
 * and the caller's still. */
int bcri_requests_put_back(struct bcri_ctx *ctx, struct bcri_slot_shm *youngest);
static inline struct bcri_slot_shm *bcri_request_older(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    const bcri_ref older = bcri_load(&slot->next);
    return older != BCRI_REF_NONE ? bcri_at_held(ctx, older) : NULL;
}

/* Finishes a write lock on a region that was taken: makes a private copy if others hold the region,
 * too. bcrE_NBYTES: no room for it; the region went back to the head of its cell, the slot is
 * free. */
int bcri_request_own(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* For a getter that has just begun to wait by ticket at `resolved`: spins as long as an answer is
 * likely and no handler is requested, yields if spinning is pointless, and collects the answer. */
struct bcri_answer bcri_ticket_spin(struct bcri_ctx *ctx, struct bcri_resolved *resolved,
                                    struct bcri_slot_shm *slot, uint64_t deadline_ns);

/* For a request that still waits at a cell which was found closed, or whose memory is another
 * cell's: whether it stays so, and no CCE will ever answer the request. Then the cell is corrupt: a
 * living owner that closes its cells either ends their requests or opens the cells again. */
bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                    const struct bcri_slot_shm *slot);

#endif

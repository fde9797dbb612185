/* SPDX-License-Identifier: MIT */
/* A get that waits, as its getter sees it: what its slot says, noticing the answer, collecting it,
 * cancelling. get_service.h serves it; give_back.h undoes it. */
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

/* Whether it is an order to another host, which has no cell here. */
static inline bool bcri_request_is_elsewhere(const struct bcri_slot_shm *slot)
{
    return bcri_load(&slot->cell) == BCRI_REF_NONE;
}

/* What has become of a request. */
struct bcri_answer {
    bool came; /* else the request still waits */
    int error; /* 0: the slot is LIVE; else why the get has failed, and the slot is free again */
};

/* Waits until a request that has just begun to wait is served, or time is up. `resolved` is its cell, unless
 * it waits at one of another host. 0: the slot is LIVE; else a code, and the slot is free again. */
int bcri_request_await(struct bcri_ctx *ctx, struct bcri_resolved *resolved, struct bcri_slot_shm *slot,
                       uint64_t deadline_ns);
/* `slot->cell` names the cell of a request; these routines resolve the cell again from there.
 *
 * Collects the answer. bcrE_RGID: the slot was free already. */
struct bcri_answer bcri_request_complete(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* True: the request is cancelled and the slot is free again. False: the request was served after
 * all, and the caller must complete it. */
bool bcri_request_cancel(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
/* The wake that is due for one of `count` requests that wait at own cells, or NULL. */
struct bcri_wake *bcri_wake_due(struct bcri_ctx *ctx, struct bcri_slot_shm *const *slots, int count);
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
/* For a request that still waits at a cell which was found closed, or whose memory is another
 * cell's: whether it stays so, and no CCE will ever answer the request. Then the cell is corrupt: a
 * living owner that closes its cells either ends their requests or opens the cells again. */
bool bcri_cell_lost(struct bcri_ctx *ctx, const struct bcri_resolved *resolved,
                    const struct bcri_slot_shm *slot);

#endif

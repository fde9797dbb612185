/* SPDX-License-Identifier: MIT */
/* Operations on cells of another host, as the CCE that wants them sees them: orders to the agent of
 * its host, by its outbox.
 *
 * An order is an ID of the CCE in state ORDERED, which says what is wanted, and an entry of the outbox
 * that names the ID:
 *
 *   word   ORDERED, and the region of a put until the agent has taken that
 *   cell   none: by this an order is told from a request at a cell of this host
 *   next, prev   the identity of the cell's owner
 *   sub    the cell's number
 *   kind   the CCE's index, and enum bcri_order_op
 *   key    low half: msec, as in the public calls; above it BCRI_ORDER_... flags. SYNC: how many of
 *          the CCE's puts must be completed
 *
 * A put under bcr_putwait(bcr_BLOCK) ends for the CCE when the agent has taken the region: the ID is FREE
 * then, and the CCE finds out when it next looks at its outbox. If it fails later, the agent says so in the outbox, the
 * CCE reads that with its next put, and the next put there (there: to that cell; if the CCE has ended, to any of its
 * cells) fails with the same code. All other orders are answered by one store of the ID's word:
 * ANSWERED, with the region that the ID holds from then on (none: zap, length, SYNC; `key` is the
 * length), or FAILED; `given` has the code, 0 with success, and above it the processor on which the agent was. The cell decides about time: a get or a put that has a time
 * waits for the answer beyond it. A get that is cancelled is answered, too.
 *
 * All routines here are reached from the resume tiers only, after a look-up has said BCRI_ELSEWHERE.
 * docs/states/order.md tells the whole story. */
#ifndef BCRI_ORDER_H
#define BCRI_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

struct bcri_put;
struct bcri_get;

enum bcri_order_op {
    BCRI_ORDER_TAKE = BCRI_WANT_TAKE,
    BCRI_ORDER_READ = BCRI_WANT_READ,
    BCRI_ORDER_LOCK = BCRI_WANT_LOCK,
    BCRI_ORDER_PUT,
    BCRI_ORDER_WRITE,
    BCRI_ORDER_RETURN, /* a put to the head of the cell */
    BCRI_ORDER_ZAP,
    BCRI_ORDER_LENGTH,
    BCRI_ORDER_SYNC, /* answered when all earlier entries are taken, and `key` puts completed */
    BCRI_ORDER_OPS
};
#define BCRI_ORDER_LOCKS    (UINT64_C(1) << 32) /* a get by the access right of locks */
#define BCRI_ORDER_ERRORS   (UINT64_C(1) << 33) /* the CCE wants error regions */
#define BCRI_ORDER_PUTM     (UINT64_C(1) << 34) /* a put of bcr_putm */
#define BCRI_ORDER_SHARES   (UINT64_C(1) << 35) /* of those, one whose region goes to its host once */
#define BCRI_ORDER_ANSWERED (UINT64_C(1) << 36) /* a put whose CCE waits for the answer */
/* Regions that are shorter go to each cell: that costs less than to name them. */
#define BCRI_ORDER_SHARED_MIN 256u

/* What an answer says in `given`: a code, here also with BCRI_ORDER_HOST_LOST beside bcrE_DEAD: not the CCE alone has
 * ended, but its host. */
#define BCRI_ORDER_HOST_LOST (UINT32_C(1) << 31)
static inline uint64_t bcri_order_given(uint32_t code, uint32_t cpu)
{
    return (uint64_t)cpu << 32 | code;
}
static inline int bcri_order_code(uint64_t given)
{
    return (int)((uint32_t)given & ~BCRI_ORDER_HOST_LOST);
}
static inline uint32_t bcri_order_cpu(uint64_t given)
{
    return (uint32_t)(given >> 32);
}

static inline bool bcri_order_is_get(uint32_t op)
{
    return op <= BCRI_ORDER_LOCK;
}
static inline bool bcri_order_is_put(uint32_t op)
{
    return op >= BCRI_ORDER_PUT && op <= BCRI_ORDER_RETURN;
}

/* Orders a put of the call `op`. 0, and put->answer, if bcr_putwait has set a time: bcri_order_put_end tells what becomes
 * of it; else 0: it will be carried out, and the ID ends with it unless nofree. bcrE_FULL: the agent has
 * not taken or not completed enough before the deadline; bcrE_NOMEM; bcrE_NOCCE: this host has no agent; bcrE_RGID: a
 * handler has freed the ID meanwhile; any other: an earlier put has failed so, as was not known then. */
int bcri_order_put(struct bcri_ctx *ctx, struct bcri_put *put, int op, uint64_t deadline_ns);
/* Waits for the answer. 0: it was put; else why not. put->slot is as it was. */
int bcri_order_put_end(struct bcri_ctx *ctx, const struct bcri_put *put);
/* A bcr_putm has ordered all its puts: what the agents keep of its region for further ones goes. */
void bcri_order_putm_over(struct bcri_ctx *ctx);
/* Orders a get: 0, and get->waits; bcrE_NOMEM; bcrE_NOCCE. */
int bcri_order_get(struct bcri_ctx *ctx, struct bcri_get *get);
/* The answer is waited for. 0 or a code. */
int bcri_order_zap(struct bcri_ctx *ctx, uint64_t key);
int bcri_order_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out);
/* Waits until all puts that this CCE has ordered are completed: 1; 0: time is up; -1: no memory. */
int bcri_order_done(struct bcri_ctx *ctx, uint64_t deadline_ns);

/* For bcri_request_cancel, _complete and _give_back, of a request without a cell here. */
bool bcri_order_cancel(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
struct bcri_answer bcri_order_collect(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);
void bcri_order_return(struct bcri_ctx *ctx, struct bcri_slot_shm *slot);

/* Collects the IDs of puts that the agent has taken, and frees the private part of the outbox. */
void bcri_order_fini(struct bcri_ctx *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Orders to the agent, as their CCE sees them: order.h, outbox.h.
 *
 * What a death leaves, store by store. No journal is needed, since each step is one store of a word
 * that only one side may change at that moment:
 *   the fields of the ID      The ID is LIVE (a put: the hold is dropped by the walk over the IDs) or
 *                             FREE (nothing).
 *   word = ORDERED            No entry names the ID, so the agent does not know of it; the walk ends
 *                             it, and drops the hold of a put.
 *   entry                     The agent carries the order out. A put: it takes the hold over, also one
 *                             whose answer its CCE waits for. A get: it is cancelled by the agent when the
 *                             CCE is forgotten, before the walk.
 *   word = ANSWERED | FAILED  The agent does not touch the ID any more. The walk drops the region's hold:
 *                             it is the CCE's that has ended, as after any get that was done.
 *   word = LIVE               As any ID.
 * A put with nofree, or whose answer is waited for, has an ID of its own, with a counted hold (bcri_slot_hold): so
 * the caller's ID is the caller's whatever comes of the put.
 *
 * The outbox has room for two entries more than orders may use: those of `room`, two IDs that are used
 * for nothing else, by which the CCE waits until the agent has taken entries, and until it has completed
 * puts. They are never given back, so that several invocations can wait for them. There are two since
 * puts may be completed only after a get that needs an entry. */
#include "bcri/order.h"

#include <string.h>

#include <bcr.h>

#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/drop.h"
#include "bcri/get.h"
#include "bcri/lookup.h"
#include "bcri/outbox.h"
#include "bcri/private.h"
#include "bcri/put.h"
#include "bcri/region.h"
#include "bcri/segment.h"
#include "bcri/wait.h"

/* The CCE's own side of its outbox. */
struct bcri_outbox {
    struct bcri_outbox_shm *shm;
    uint32_t ring;      /* what its rings name */
    uint64_t stored;    /* entries */
    uint64_t collected; /* entries whose IDs have been looked at since the agent took them */
    uint64_t woken_for; /* the agent was woken when so many were stored */
    uint64_t puts;
    bool shares;                                    /* the agent expects further puts of a bcr_putm */
    uint64_t putm_over;                             /* entries up to the end of the last bcr_putm */
    uint64_t failures;                              /* of which it has read */
    struct bcri_slot_shm *room[2];                  /* to wait for entries; for puts */
    struct bcri_slot_shm *put[BCRI_OUTBOX_ENTRIES]; /* by entry: the ID of a put, or NULL */
};

/* This host's agent, or 0: it has none, and no cell elsewhere can be reached. */
static uint32_t agent_of(const struct bcri_ctx *ctx)
{
    return ctx->daemon.parks ? 0 : bcri_load_acquire(&ctx->host->agent);
}

/* The outbox, made with the first order. The daemon tells the agent of it when it registers the
 * segment. 0, bcrE_NOCCE, or a code of bcri_segment_new. */
static int outbox_of(struct bcri_ctx *ctx, struct bcri_outbox **outbox_out)
{
    *outbox_out = ctx->outbox;
    if (bcri_likely(ctx->outbox != NULL))
        return 0;
    if (agent_of(ctx) == 0)
        return bcrE_NOCCE;
    struct bcri_outbox *outbox = bcri_private_zeroed(1, sizeof *outbox);
    if (outbox == NULL)
        return bcrE_NOMEM;
    uint32_t seg;
    int error = bcrE_NOMEM;
    if ((outbox->room[0] = bcri_slot_take(ctx)) != NULL && (outbox->room[1] = bcri_slot_take(ctx)) != NULL &&
        (error = bcri_segment_new(ctx, BCRI_SEG_OUTBOX, BCRI_OUTBOX_BYTES, BCRI_OUTBOX_BYTES, &seg)) == 0) {
        outbox->shm = (struct bcri_outbox_shm *)(void *)ctx->map[seg].base;
        outbox->ring = bcri_outbox_ring(bcri_ref_make(seg, 0));
        *outbox_out = ctx->outbox = outbox;
        return 0;
    }
    for (int i = 0; i < 2; i++)
        if (outbox->room[i] != NULL)
            bcri_slot_give(ctx, outbox->room[i]);
    bcri_private_free(outbox);
    return error;
}

/* ---- what answers and failures teach ---- */

/* An order for `cell` of the CCE `identity` has failed. False: no memory to remember it. */
static bool learn(struct bcri_ctx *ctx, const uint64_t identity[2], int cell, uint32_t told)
{
    uint8_t owner[BCRI_IDENTITY_BYTES];
    int cce;
    memcpy(owner, identity, sizeof owner);
    if ((told & BCRI_ORDER_HOST_LOST) != 0)
        bcri_cces_host_lost(ctx, bcri_identity_host(owner));
    if (bcri_cce_decode(ctx, owner, &cce) != 0)
        return false;
    struct bcri_cce *const of = bcri_cce_lookup(ctx, cce);
    return of == NULL || bcri_cce_failed(of, cell, bcri_order_code(told));
}

/* The answer of an ID, which still says for which cell it was. That its CCE has ended is remembered; any other code is
 * the caller's. */
static int code_of(struct bcri_ctx *ctx, const struct bcri_slot_shm *slot)
{
    const uint64_t given = bcri_load(&slot->given);
    const int code = bcri_order_code(given);
    const uint64_t identity[2] = {bcri_load(&slot->next), bcri_load(&slot->prev)};
    if (code == bcrE_DEAD) /* without memory the next order learns it */
        (void)learn(ctx, identity, (int)bcri_load(&slot->sub), (uint32_t)given);
    ctx->last_cpu = bcri_order_cpu(given);
    return code;
}

/* Reads what the agent has told of puts. False: no memory to remember it. */
static bool read_failures(struct bcri_ctx *ctx, struct bcri_outbox *outbox)
{
    const uint64_t failed = bcri_load_acquire(&outbox->shm->failed);
    if (failed - outbox->failures > BCRI_OUTBOX_WINDOW)
        bcri_corrupt_at(ctx, "the count of an outbox's failures", &outbox->shm->failed);
    for (; outbox->failures != failed; outbox->failures++) {
        const struct bcri_failure_shm *const failure =
            &outbox->shm->failure[outbox->failures % BCRI_OUTBOX_WINDOW];
        const uint64_t identity[2] = {bcri_load(&failure->owner[0]), bcri_load(&failure->owner[1])};
        if (!learn(ctx, identity, (int)bcri_load(&failure->cell), bcri_load(&failure->code)))
            return false;
    }
    return true;
}

/* ---- the outbox ---- */

/* Gives back the IDs of puts that the agent has taken. */
static void collect(struct bcri_ctx *ctx, struct bcri_outbox *outbox)
{
    const uint64_t taken = bcri_load_acquire(&outbox->shm->taken);
    for (; outbox->collected < taken && outbox->collected < outbox->stored; outbox->collected++) {
        struct bcri_slot_shm **put = &outbox->put[outbox->collected % BCRI_OUTBOX_ENTRIES];
        if (*put != NULL && bcri_load(&(*put)->word) == 0) /* or KEPT */
            bcri_slot_give(ctx, *put);
        *put = NULL;
    }
}

/* Stores an entry, for which there is room, and tells the agent. One that the CCE has woken up, and that has
 * not taken the entry for which it did, need not be woken again: it takes all entries before it sleeps.
 * Model: outbox.pml, wake.pml */
static void store_entry(struct bcri_ctx *ctx, struct bcri_outbox *outbox, enum bcri_outbox_kind kind,
                        struct bcri_slot_shm *slot, bool is_put)
{
    const uint64_t number = outbox->stored++;
    outbox->put[number % BCRI_OUTBOX_ENTRIES] = is_put ? slot : NULL;
    bcri_step();
    bcri_store_release(&outbox->shm->entry[number % BCRI_OUTBOX_ENTRIES],
                       bcri_outbox_entry(number, kind, bcri_slot_ref(ctx, slot)));
    bcri_step();
    struct bcri_record_shm *agent = bcri_record(ctx, agent_of(ctx));
    if (agent == NULL)
        return;
    const uint32_t sleeping = bcri_bell_count(agent, outbox->ring);
    if (sleeping == BCRI_AWAKE || bcri_load_acquire(&outbox->shm->taken) < outbox->woken_for)
        return;
    outbox->woken_for = number + 1;
    bcri_bell_wake(ctx, agent, sleeping);
}

/* Makes an ID the order of `op`; `region` is what the ID holds. */
static void write_down(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, enum bcri_order_op op, uint64_t key,
                       bcri_ref region)
{
    bcri_store(&slot->data, 0);
    bcri_store(&slot->cell, BCRI_REF_NONE);
    bcri_store(&slot->kind, bcri_request_kind(ctx, (enum bcri_want)op));
    bcri_store(&slot->key, key);
    bcri_step();
    bcri_store_release(&slot->word, bcri_slot_word(BCRI_SLOT_ORDERED, 0, region));
    bcri_step();
}

/* Where the order goes. */
static void address(struct bcri_ctx *ctx, struct bcri_slot_shm *slot, uint64_t cell_key)
{
    const struct bcri_elsewhere found = bcri_elsewhere(ctx, cell_key);
    uint64_t identity[2];
    memcpy(identity, found.identity, sizeof identity);
    bcri_store(&slot->next, identity[0]);
    bcri_store(&slot->prev, identity[1]);
    bcri_store(&slot->sub, (uint32_t)found.number);
}

static bool has_entry(const struct bcri_outbox *outbox)
{
    return outbox->stored - outbox->collected < BCRI_OUTBOX_ENTRIES - 2;
}

static bool may_put(const struct bcri_outbox *outbox)
{
    return outbox->puts - bcri_load_acquire(&outbox->shm->completed) < BCRI_OUTBOX_WINDOW;
}

static int wait_quietly(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    (void)count, (void)deadline_ns;
    bcri_wait_complete(ctx, *slots);
    return 0;
}

/* Waits until one entry more fits, in the way of `wait`. False: time is up. */
static bool wait_for_room(struct bcri_ctx *ctx, struct bcri_outbox *outbox, bool for_put,
                          int (*wait)(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count,
                                      uint64_t deadline_ns),
                          uint64_t deadline_ns)
{
    for (;;) {
        collect(ctx, outbox);
        const bool waits_for_puts = for_put && !may_put(outbox);
        if (bcri_likely(!waits_for_puts && has_entry(outbox)))
            return true;
        if (deadline_ns == BCRI_DEADLINE_PASSED)
            return false;
        if (waits_for_puts) /* others' regions might find no room elsewhere for as long as that takes */
            bcri_order_putm_over(ctx);
        struct bcri_slot_shm **room = &outbox->room[waits_for_puts];
        if (bcri_slot_state(bcri_load_acquire(&(*room)->word)) != BCRI_SLOT_ORDERED) {
            write_down(ctx, *room, BCRI_ORDER_SYNC,
                       waits_for_puts ? outbox->puts - BCRI_OUTBOX_WINDOW / 2 : 0, BCRI_REF_NONE);
            store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, *room, false);
        }
        if (wait(ctx, room, 1, deadline_ns) < 0)
            return false;
    }
}

/* Why a put to the cell of that key fails without being ordered; 0: it is to be ordered. */
static int failed_before(struct bcri_ctx *ctx, struct bcri_outbox *outbox, uint64_t key)
{
    if (!read_failures(ctx, outbox))
        return bcrE_NOMEM;
    struct bcri_cce *const cce = bcri_cce_lookup(ctx, bcri_key_cce(key));
    return cce != NULL ? bcri_cce_tell_failure(cce, bcri_key_number(key)) : bcrE_NOCCE;
}

/* ---- puts ---- */

static int order_put(struct bcri_ctx *ctx, struct bcri_outbox *outbox, struct bcri_put *put, int op)
{
    const bool answered = put->msec >= 0;
    struct bcri_slot_shm *slot = put->slot;
    if (put->nofree || answered) {
        slot = bcri_slot_take(ctx);
        const int error = slot != NULL ? bcri_slot_hold(ctx, put->region, slot) : bcrE_NOMEM;
        if (error != 0 && slot != NULL)
            bcri_slot_give(ctx, slot);
        if (error != 0)
            return error;
    }
    const struct bcri_region_shm *const region = bcri_at_held(ctx, put->region);
    const bool shares = put->shares && region->length >= BCRI_ORDER_SHARED_MIN;
    const uint64_t flags = ((ctx->flags & bcr_errors) != 0 ? BCRI_ORDER_ERRORS : 0) |
                           (op == bcr_op_putm ? BCRI_ORDER_PUTM : 0) | (shares ? BCRI_ORDER_SHARES : 0) |
                           (answered ? BCRI_ORDER_ANSWERED : 0);
    address(ctx, slot, put->key);
    write_down(ctx, slot, put->write ? BCRI_ORDER_WRITE : BCRI_ORDER_PUT, flags | (uint32_t)put->msec,
               put->region);
    outbox->puts++;
    outbox->shares |= shares;
    store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, slot, !answered);
    if (answered)
        put->answer = slot;
    return 0;
}

/* Only puts that nobody waits for have to find room in the window; those that are waited for count in it. */
int bcri_order_put(struct bcri_ctx *ctx, struct bcri_put *put, int op, uint64_t deadline_ns)
{
    struct bcri_outbox *outbox;
    int error = outbox_of(ctx, &outbox);
    if (error == 0)
        error = failed_before(ctx, outbox, put->key);
    if (error != 0)
        return error;
    if (!wait_for_room(ctx, outbox, put->msec < 0, bcri_wait_ready,
                       put->msec < 0 ? deadline_ns : BCRI_DEADLINE_NEVER))
        return bcrE_FULL;
    if (!bcri_slot_holds(put->slot, put->region))
        return bcrE_RGID;
    error = failed_before(ctx, outbox, put->key);
    return error == 0 ? order_put(ctx, outbox, put, op) : error;
}

/* A handler's bcr_putm within another ends what both share; what the other orders then goes once more. */
void bcri_order_putm_over(struct bcri_ctx *ctx)
{
    struct bcri_outbox *outbox = ctx->outbox;
    if (outbox == NULL || !outbox->shares)
        return;
    outbox->shares = false;
    (void)wait_for_room(ctx, outbox, false, wait_quietly, BCRI_DEADLINE_NEVER);
    store_entry(ctx, outbox, BCRI_OUTBOX_PUTM_OVER, outbox->room[0], false);
    outbox->putm_over = outbox->stored;
}

void bcri_order_return(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const bcri_ref region = bcri_slot_region(bcri_load(&slot->word));
    struct bcri_outbox *outbox = ctx->outbox; /* there is one, since there was a get */
    (void)wait_for_room(ctx, outbox, true, wait_quietly, BCRI_DEADLINE_NEVER);
    write_down(ctx, slot, BCRI_ORDER_RETURN, 0, region);
    outbox->puts++;
    store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, slot, true);
}

/* ---- gets ---- */

int bcri_order_get(struct bcri_ctx *ctx, struct bcri_get *get)
{
    struct bcri_outbox *outbox;
    const int error = outbox_of(ctx, &outbox);
    if (error != 0)
        return error;
    (void)wait_for_room(ctx, outbox, false, bcri_wait_ready, BCRI_DEADLINE_NEVER);
    address(ctx, get->slot, get->key);
    write_down(ctx, get->slot, (enum bcri_order_op)get->want,
               (get->lock ? BCRI_ORDER_LOCKS : 0) | (uint32_t)get->msec, BCRI_REF_NONE);
    store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, get->slot, false);
    get->waits = true;
    return 0;
}

/* An answered get becomes LIVE by one store, like one that was served from a cell's list. */
struct bcri_answer bcri_order_collect(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const uint64_t word = bcri_load_acquire(&slot->word);
    const bcri_ref region = bcri_slot_region(word);
    if (bcri_slot_state(word) == BCRI_SLOT_ORDERED)
        return (struct bcri_answer){.came = false};
    const int code = code_of(ctx, slot);
    if (bcri_slot_state(word) == BCRI_SLOT_FAILED) {
        bcri_store(&slot->word, 0);
        bcri_slot_give(ctx, slot);
        return (struct bcri_answer){.came = true, .error = code};
    }
    const bool mapped = bcri_at(ctx, region) != NULL;
    bcri_slot_name(slot, region, mapped ? bcri_region_data(ctx, region) : 0);
    if (bcri_likely(mapped))
        return (struct bcri_answer){.came = true};
    if (bcri_request_want(slot) == BCRI_WANT_READ)
        bcri_slot_drop(ctx, slot);
    else
        bcri_order_return(ctx, slot);
    return (struct bcri_answer){.came = true, .error = bcrE_NOMEM};
}

/* The answer decides: a get that was served before it could be cancelled is ANSWERED.
 * Model: outbox.pml */
bool bcri_order_cancel(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const uint32_t state = bcri_slot_state(bcri_load_acquire(&slot->word));
    if (state == BCRI_SLOT_TICKET || state == BCRI_SLOT_LISTED)
        bcri_corrupt(ctx, "a request that waits at no cell", bcri_slot_ref(ctx, slot));
    if (state != BCRI_SLOT_ORDERED)
        return false;
    (void)wait_for_room(ctx, ctx->outbox, false, wait_quietly, BCRI_DEADLINE_NEVER);
    store_entry(ctx, ctx->outbox, BCRI_OUTBOX_CANCEL, slot, false);
    bcri_wait_complete(ctx, slot);
    if (bcri_slot_state(bcri_load_acquire(&slot->word)) != BCRI_SLOT_FAILED ||
        bcri_order_code(bcri_load(&slot->given)) != bcrE_TIMEOUT)
        return false;
    (void)bcri_order_collect(ctx, slot);
    return true;
}

/* ---- orders without a region, whose answer is waited for ---- */

/* Ends an ID that is answered. It holds a region if the agent could not take that. */
static int end_answered(struct bcri_ctx *ctx, struct bcri_slot_shm *slot)
{
    const bcri_ref left = bcri_slot_region(bcri_load_acquire(&slot->word));
    const int code = code_of(ctx, slot);
    bcri_store(&slot->word, left != BCRI_REF_NONE ? bcri_slot_live(left) : 0);
    if (left != BCRI_REF_NONE)
        bcri_slot_drop(ctx, slot);
    else
        bcri_slot_give(ctx, slot);
    return code;
}

int bcri_order_put_end(struct bcri_ctx *ctx, const struct bcri_put *put)
{
    struct bcri_slot_shm *slot = put->answer;
    (void)bcri_wait_ready(ctx, &slot, 1, BCRI_DEADLINE_NEVER);
    return end_answered(ctx, slot);
}

static int ask(struct bcri_ctx *ctx, enum bcri_order_op op, uint64_t cell_key, uint64_t *value_out)
{
    struct bcri_outbox *outbox;
    const int error = outbox_of(ctx, &outbox);
    struct bcri_slot_shm *slot = error == 0 ? bcri_slot_take(ctx) : NULL;
    if (slot == NULL)
        return error != 0 ? error : bcrE_NOMEM;
    (void)wait_for_room(ctx, outbox, false, bcri_wait_ready, BCRI_DEADLINE_NEVER);
    address(ctx, slot, cell_key);
    write_down(ctx, slot, op, 0, BCRI_REF_NONE);
    store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, slot, false);
    (void)bcri_wait_ready(ctx, &slot, 1, BCRI_DEADLINE_NEVER);
    *value_out = bcri_load(&slot->key);
    return end_answered(ctx, slot);
}

int bcri_order_zap(struct bcri_ctx *ctx, uint64_t key)
{
    uint64_t none;
    return ask(ctx, BCRI_ORDER_ZAP, key, &none);
}

int bcri_order_length(struct bcri_ctx *ctx, uint64_t key, uint64_t *length_out)
{
    return ask(ctx, BCRI_ORDER_LENGTH, key, length_out);
}

int bcri_order_done(struct bcri_ctx *ctx, uint64_t deadline_ns)
{
    struct bcri_outbox *outbox = ctx->outbox;
    if (outbox == NULL)
        return 1;
    collect(ctx, outbox);
    /* Before it has read that a bcr_putm is over, the agent may hold the region. */
    if (bcri_load_acquire(&outbox->shm->completed) == outbox->puts && outbox->collected >= outbox->putm_over)
        return 1;
    if (deadline_ns == BCRI_DEADLINE_PASSED)
        return 0;
    struct bcri_slot_shm *slot = bcri_slot_take(ctx);
    if (slot == NULL)
        return -1;
    (void)wait_for_room(ctx, outbox, false, bcri_wait_ready, BCRI_DEADLINE_NEVER);
    write_down(ctx, slot, BCRI_ORDER_SYNC, outbox->puts, BCRI_REF_NONE);
    store_entry(ctx, outbox, BCRI_OUTBOX_ORDER, slot, false);
    if (bcri_wait_ready(ctx, &slot, 1, deadline_ns) < 0 && bcri_order_cancel(ctx, slot))
        return 0;
    return end_answered(ctx, slot) == 0;
}

void bcri_order_fini(struct bcri_ctx *ctx)
{
    if (ctx->outbox == NULL)
        return;
    collect(ctx, ctx->outbox);
    for (int i = 0; i < 2; i++) {
        struct bcri_slot_shm *const room = ctx->outbox->room[i];
        if (bcri_slot_state(bcri_load_acquire(&room->word)) != BCRI_SLOT_ORDERED) {
            bcri_store(&room->word, 0);
            bcri_slot_give(ctx, room);
        }
    }
    bcri_private_free(ctx->outbox);
    ctx->outbox = NULL;
}

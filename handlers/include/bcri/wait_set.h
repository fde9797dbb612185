/* SPDX-License-Identifier: MIT */
/* What blocked invocations wait for: requests at cells, other events, deadlines.
 *
 * There may be very many waits, and most turns bring nothing for most of them. So the waits that
 * blocked last are *polled*: looked at in every turn, as any waiting get looks at its ticket. All
 * others are *armed*: their requests carry a sleep flag, so that the server of such a request rings
 * the bell. After a ring, the armed waits at the cells that the ringers have named (bell.h) are
 * looked at; they are found in a table by cell, which has the waits for a single request. All armed
 * waits are looked at if a ringer has named no cell, or if an armed wait is not in the table.
 *
 * Those that wait for room in the comm heap (bcr_rgalloc_within) are armed, too. Since other invocations of this CCE
 * can make room for them, and what they take back of what others have freed is rung for no more, each turn looks
 * at them.
 *
 * Deadlines are in a heap. One thread at a time calls. */
#ifndef BCRI_WAIT_SET_H
#define BCRI_WAIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/hooks.h"
#include "bcri/slot.h"
#include "bcri/waiters.h"

struct bcri_wait {
    struct bcri_wait *prev, *next;
    struct bcri_slot_shm **slots; /* the wait ends with the lowest one that is ready */
    int count;
    struct bcri_event *event; /* or NULL */
    uint64_t deadline_ns;
    size_t heap_idx; /* SIZE_MAX: no deadline */
    bool polled;
    struct bcri_watch watch;                     /* of a single request without an event */
    struct bcri_wait *bucket_prev, *bucket_next; /* neighbours in the table by cell; oldest first */
    uint32_t cell;                               /* half of its reference; 0: not in the table */
    int result; /* index of the request that is ready, 0 for the event, -1: time is up, or BCRI_WOKEN */
};

struct bcri_wait_list {
    struct bcri_wait *first, *last;
    size_t count;
};

struct bcri_wait_set {
    struct bcri_ctx *ctx;
    struct bcri_wait_list polled, armed;
    struct bcri_wait_bucket {
        struct bcri_wait *first, *last;
    } * buckets; /* bucket_room of them, a power of two; all waits at one cell are in one */
    size_t bucket_room;
    size_t rooms;       /* waits for room: each turn looks at them */
    size_t untold;      /* armed waits that are not in the table */
    uint32_t bell_seen; /* the bell's value before all were looked at last */
    struct bcri_wait **deadlines;
    size_t deadline_count, deadline_room;
};

void bcri_waits_init(struct bcri_wait_set *waits, struct bcri_ctx *ctx);
void bcri_waits_fini(struct bcri_wait_set *waits);
/* Room for the deadlines of so many waits. False: no memory. */
bool bcri_waits_reserve(struct bcri_wait_set *waits, size_t count);

/* Adds a wait. Its slots, count, event and deadline_ns are the caller's until it is over. */
void bcri_waits_add(struct bcri_wait_set *waits, struct bcri_wait *wait);
/* Whether a look would find nothing. */
static inline bool bcri_waits_quiet(const struct bcri_wait_set *waits)
{
    return waits->polled.first == NULL && waits->deadline_count == 0 && waits->rooms == 0 &&
           (waits->armed.first == NULL || bcri_load_acquire(&waits->ctx->bell->bell) == waits->bell_seen);
}
/* Takes out each wait that is over and calls `over` for it. `exact`: deadlines by the exact clock.
 * `over` adds none. */
void bcri_waits_look(struct bcri_wait_set *waits, bool exact, void (*over)(struct bcri_wait *wait));

/* Waits until a look may find something or a handler is requested, but not beyond `latest_ns`:
 * spins, yields, sleeps. Returns whether it has slept. */
bool bcri_waits_idle(struct bcri_wait_set *waits, uint64_t latest_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* What blocked invocations wait for (bcri/wait_set.h).
 *
 * bell_seen is read before anything is looked at. What happens after that look rings the bell, if
 * the wait is armed, and then the bell differs from bell_seen. */
#include "bcri/wait_set.h"

#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/handler_request.h"
#include "bcri/heap.h"
#include "bcri/private.h"
#include "bcri/wait.h"
#include "bcri/wait_loop.h"
#include "bcri/waiters.h"
#include "bcri/wakefd.h"
#include "bcri/wakes.h"

#define NO_DEADLINE SIZE_MAX

enum { WATCHED_MOST = 8, WATCHED_SLOTS = 8 };

void bcri_waits_init(struct bcri_wait_set *waits, struct bcri_ctx *ctx)
{
    *waits = (struct bcri_wait_set){.ctx = ctx, .bell_seen = bcri_load_acquire(&ctx->bell->bell)};
}

void bcri_waits_fini(struct bcri_wait_set *waits)
{
    bcri_private_free(waits->deadlines);
    bcri_private_free(waits->buckets);
    *waits = (struct bcri_wait_set){0};
}

/* ---- the table by cell ---- */

static struct bcri_wait_bucket *bucket_of(const struct bcri_wait_set *waits, uint32_t cell)
{
    return &waits->buckets[(cell * UINT32_C(2654435769) >> 7) & (waits->bucket_room - 1)];
}

static void enter(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    struct bcri_wait_bucket *bucket = bucket_of(waits, wait->cell);
    wait->bucket_prev = bucket->last;
    wait->bucket_next = NULL;
    if (bucket->last != NULL)
        bucket->last->bucket_next = wait;
    else
        bucket->first = wait;
    bucket->last = wait;
}

static void leave(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    struct bcri_wait_bucket *bucket = bucket_of(waits, wait->cell);
    if (wait->bucket_prev != NULL)
        wait->bucket_prev->bucket_next = wait->bucket_next;
    else
        bucket->first = wait->bucket_next;
    if (wait->bucket_next != NULL)
        wait->bucket_next->bucket_prev = wait->bucket_prev;
    else
        bucket->last = wait->bucket_prev;
}

static bool grow_table(struct bcri_wait_set *waits, size_t wanted)
{
    size_t room = waits->bucket_room != 0 ? waits->bucket_room : 16;
    while (room < wanted)
        room *= 2;
    if (room == waits->bucket_room)
        return true;
    struct bcri_wait_bucket *buckets = bcri_private_zeroed(room, sizeof *buckets);
    if (buckets == NULL)
        return false;
    bcri_private_free(waits->buckets);
    waits->buckets = buckets;
    waits->bucket_room = room;
    for (struct bcri_wait *wait = waits->armed.first; wait != NULL; wait = wait->next)
        if (wait->cell != 0)
            enter(waits, wait);
    return true;
}

bool bcri_waits_reserve(struct bcri_wait_set *waits, size_t count)
{
    if (count <= waits->deadline_room)
        return true;
    size_t room = count + waits->deadline_room;
    struct bcri_wait **deadlines = bcri_private_resize(waits->deadlines, room * sizeof(void *));
    if (deadlines == NULL)
        return false;
    waits->deadlines = deadlines;
    waits->deadline_room = room;
    return grow_table(waits, room);
}

/* ---- deadlines, the next one first ---- */

static void place_at(struct bcri_wait_set *waits, struct bcri_wait *wait, size_t at)
{
    waits->deadlines[at] = wait;
    wait->heap_idx = at;
}

static void rise(struct bcri_wait_set *waits, struct bcri_wait *wait, size_t at)
{
    for (; at != 0 && waits->deadlines[(at - 1) / 2]->deadline_ns > wait->deadline_ns; at = (at - 1) / 2)
        place_at(waits, waits->deadlines[(at - 1) / 2], at);
    place_at(waits, wait, at);
}

static void sink(struct bcri_wait_set *waits, struct bcri_wait *wait, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < waits->deadline_count &&
            waits->deadlines[child + 1]->deadline_ns < waits->deadlines[child]->deadline_ns)
            child++;
        if (child >= waits->deadline_count || waits->deadlines[child]->deadline_ns >= wait->deadline_ns)
            break;
        place_at(waits, waits->deadlines[child], at);
        at = child;
    }
    place_at(waits, wait, at);
}

static void forget_deadline(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    if (wait->heap_idx == NO_DEADLINE)
        return;
    struct bcri_wait *last = waits->deadlines[--waits->deadline_count];
    size_t at = wait->heap_idx;
    wait->heap_idx = NO_DEADLINE;
    if (last == wait)
        return;
    rise(waits, last, at);
    sink(waits, last, last->heap_idx);
}

/* ---- the two lists ---- */

static void append(struct bcri_wait_list *list, struct bcri_wait *wait)
{
    wait->prev = list->last;
    wait->next = NULL;
    if (list->last != NULL)
        list->last->next = wait;
    else
        list->first = wait;
    list->last = wait;
    list->count++;
}

static void unlink_from(struct bcri_wait_list *list, struct bcri_wait *wait)
{
    if (wait->prev != NULL)
        wait->prev->next = wait->next;
    else
        list->first = wait->next;
    if (wait->next != NULL)
        wait->next->prev = wait->prev;
    else
        list->last = wait->prev;
    list->count--;
}

static struct bcri_wait_list *list_of(struct bcri_wait_set *waits, const struct bcri_wait *wait)
{
    return wait->polled ? &waits->polled : &waits->armed;
}

/* Arms a wait: from now on the bell tells of it. A request that was served before needs another
 * look, so `bell_seen` is made to differ from the bell by more rings than the ringers' hints can
 * name. */
static void bell(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    for (int i = 0; i < wait->count; i++)
        if (!bcri_request_sleep_flag(waits->ctx, wait->slots[i]))
            waits->bell_seen = bcri_load(&waits->ctx->bell->bell) - 2 * BCRI_RUNG_FOR;
    wait->polled = false;
    append(&waits->armed, wait);
    wait->cell = wait->count == 1 ? (uint32_t)bcri_load(&wait->slots[0]->cell) : 0;
    if (wait->cell != 0)
        enter(waits, wait);
    else
        waits->untold++;
}

static void bell_oldest(struct bcri_wait_set *waits)
{
    struct bcri_wait *oldest = waits->polled.first;
    unlink_from(&waits->polled, oldest);
    bell(waits, oldest);
}

void bcri_waits_add(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    wait->heap_idx = NO_DEADLINE;
    if (wait->deadline_ns != BCRI_DEADLINE_NEVER)
        rise(waits, wait, waits->deadline_count++);
    waits->rooms += wait->event != NULL && wait->event->note == BCRI_NOTE_ROOM;
    if (bcri_unlikely(bcri_wakefd_exists(waits->ctx)) && waits->deadline_count != 0 &&
        waits->deadlines[0] == wait)
        bcri_wakefd_deadline(waits->ctx, wait->deadline_ns);
    if (wait->count > WATCHED_SLOTS || wait->event != NULL) {
        bell(waits, wait);
        return;
    }
    wait->polled = true;
    if (wait->count == 1)
        bcri_request_watch(waits->ctx, wait->slots[0], &wait->watch);
    append(&waits->polled, wait);
    if (waits->polled.count > WATCHED_MOST)
        bell_oldest(waits);
}

/* ---- looking ---- */

/* The result if the wait is over, else BCRI_NOT_YET. */
static int ready(struct bcri_wait_set *waits, const struct bcri_wait *wait)
{
    for (int i = 0; i < wait->count; i++)
        if (bcri_request_ready(waits->ctx, wait->slots[i]))
            return i;
    if (bcri_unlikely(bcri_wakes_any(waits->ctx)) &&
        bcri_wake_due(waits->ctx, wait->slots, wait->count) != NULL)
        return BCRI_WOKEN;
    return wait->event != NULL && wait->event->happened(wait->event) ? 0 : BCRI_NOT_YET;
}

/* The same, with three loads in most cases. */
static int looks_ready(struct bcri_wait_set *waits, struct bcri_wait *wait)
{
    if (wait->count != 1 || wait->event != NULL)
        return ready(waits, wait);
    if (!bcri_watch_hit(&wait->watch) && bcri_likely(!bcri_wakes_any(waits->ctx)))
        return BCRI_NOT_YET;
    int result = ready(waits, wait);
    if (result == BCRI_NOT_YET) /* the request was moved to the cell's list */
        bcri_request_watch(waits->ctx, wait->slots[0], &wait->watch);
    return result;
}

static void end(struct bcri_wait_set *waits, struct bcri_wait *wait, int result,
                void (*over)(struct bcri_wait *wait))
{
    unlink_from(list_of(waits, wait), wait);
    if (!wait->polled && wait->cell != 0)
        leave(waits, wait);
    else if (!wait->polled)
        waits->untold--;
    waits->rooms -= wait->event != NULL && wait->event->note == BCRI_NOTE_ROOM;
    forget_deadline(waits, wait);
    wait->result = result;
    over(wait);
}

static void look_at(struct bcri_wait_set *waits, const struct bcri_wait_list *list,
                    void (*over)(struct bcri_wait *wait))
{
    struct bcri_wait *next;
    for (struct bcri_wait *wait = list->first; wait != NULL; wait = next) {
        next = wait->next;
        int result = looks_ready(waits, wait);
        if (result != BCRI_NOT_YET)
            end(waits, wait, result, over);
    }
}

static void look_at_cell(struct bcri_wait_set *waits, uint32_t cell, void (*over)(struct bcri_wait *wait))
{
    struct bcri_wait *next;
    for (struct bcri_wait *wait = bucket_of(waits, cell)->first; wait != NULL; wait = next) {
        next = wait->bucket_next;
        int result = wait->cell == cell ? looks_ready(waits, wait) : BCRI_NOT_YET;
        if (result != BCRI_NOT_YET)
            end(waits, wait, result, over);
    }
}

/* Looks at the cells that rings [from, to) have named. False: not all of them have named one. */
static bool look_where_told(struct bcri_wait_set *waits, uint32_t from, uint32_t to,
                            void (*over)(struct bcri_wait *wait))
{
    uint32_t cells[BCRI_RUNG_FOR] = {0};
    if (to - from > BCRI_RUNG_FOR || waits->untold != 0)
        return false;
    for (uint32_t number = from; number != to; number++) {
        uint64_t told = bcri_load_acquire(&waits->ctx->bell->rung_for[number % BCRI_RUNG_FOR]);
        cells[number - from] = (uint32_t)told;
        if ((uint32_t)(told >> 32) != number || cells[number - from] == 0)
            return false;
    }
    for (uint32_t i = 0; i < to - from; i++)
        look_at_cell(waits, cells[i], over);
    return true;
}

void bcri_waits_look(struct bcri_wait_set *waits, bool exact, void (*over)(struct bcri_wait *wait))
{
    uint32_t seen = waits->bell_seen, rung = bcri_load_acquire(&waits->ctx->bell->bell);
    waits->bell_seen = rung;
    /* Armed waits have blocked before those that are polled, so they come first. */
    if ((rung != seen || waits->rooms != 0) && waits->armed.count != 0 &&
        !look_where_told(waits, seen, rung, over))
        look_at(waits, &waits->armed, over);
    look_at(waits, &waits->polled, over);
    if (waits->deadline_count == 0)
        return;
    uint64_t now_ns = exact ? bcri_clock_ns() : bcri_clock_coarse_ns();
    while (waits->deadline_count != 0 && waits->deadlines[0]->deadline_ns <= now_ns) {
        struct bcri_wait *wait = waits->deadlines[0];
        end(waits, wait, ready(waits, wait), over);
    }
}

/* ---- idling ---- */

struct idle {
    struct bcri_wait_set *waits;
    uint64_t latest_ns;
};
enum { SOMETHING, HAS_SLEPT };

static int look_for_something(void *arg)
{
    struct bcri_wait_set *const waits = ((struct idle *)arg)->waits;
    if (bcri_requests_any(waits->ctx) || bcri_load_acquire(&waits->ctx->bell->bell) != waits->bell_seen)
        return SOMETHING;
    for (struct bcri_wait *wait = waits->polled.first; wait != NULL; wait = wait->next)
        if (looks_ready(waits, wait) != BCRI_NOT_YET)
            return SOMETHING;
    return BCRI_NOT_YET;
}

static int sleep_until_rung(void *arg, uint64_t deadline_ns)
{
    const struct idle *const idle = arg;
    struct bcri_wait_set *const waits = idle->waits;
    struct bcri_bell_shm *own = waits->ctx->bell;
    while (waits->polled.first != NULL)
        bell_oldest(waits);
    if (!bcri_requests_sleep(waits->ctx))
        return HAS_SLEPT;
    /* Of several invocations that wait, tools are told of the one that has waited longest. */
    const struct bcri_wait *const oldest = waits->armed.first;
    const int count = oldest == NULL ? 0 : oldest->event != NULL ? oldest->event->note : oldest->count;
    bcri_sleep_note(waits->ctx, count > 0 ? oldest->slots[0] : NULL, count, deadline_ns);
    const uint32_t before = bcri_load(&own->sleeping);
    atomic_store_explicit(&own->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    if (bcri_load_acquire(&own->bell) == waits->bell_seen) {
        bcri_sleep_rests(waits->ctx, waits->bell_seen);
        bcri_futex_wait(&own->bell, waits->bell_seen,
                        deadline_ns < idle->latest_ns ? deadline_ns : idle->latest_ns);
    }
    bcri_bell_awake(waits->ctx, before);
    return HAS_SLEPT;
}

bool bcri_waits_idle(struct bcri_wait_set *waits, uint64_t latest_ns)
{
    struct idle idle = {.waits = waits, .latest_ns = latest_ns};
    if (waits->armed.first ==
        NULL) /* then no look has read the bell, and what has rung so far is seen without it */
        waits->bell_seen = bcri_load_acquire(&waits->ctx->bell->bell);
    if (look_for_something(&idle) == SOMETHING)
        return false;
    bcri_heap_look_waiting(waits->ctx);
    const struct bcri_wait_loop loop = {
        .spins = bcri_spin_turns(waits->ctx),
        .yields = bcri_yield_turns(waits->ctx, bcri_spin_turns(waits->ctx)),
        .deadline_ns = waits->deadline_count != 0 ? waits->deadlines[0]->deadline_ns : BCRI_DEADLINE_NEVER,
        .look = look_for_something,
        .sleep = sleep_until_rung};
    return bcri_wait_loop(loop, &idle) == HAS_SLEPT;
}

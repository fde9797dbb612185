/* SPDX-License-Identifier: MIT */
/* Priority, then arrival (bcri/agenda.h). */
#include "bcri/agenda.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY SIZE_MAX

/* So many lanes are kept for when their priorities come again, with nobody who holds them. */
enum { LANES_KEPT = 256, RING_LEAST = 16 };

void bcri_agenda_init(struct bcri_agenda *agenda, void (*dropped)(struct bcri_summoned *summoned))
{
    *agenda = (struct bcri_agenda){.dropped = dropped};
}

static struct bcri_summoned *take_summons(struct bcri_lane *lane)
{
    struct bcri_summoned *summoned = lane->ring[lane->first].summoned;
    lane->first = (lane->first + 1) & (lane->ring_room - 1);
    lane->count--;
    summoned->queued--;
    return summoned;
}

void bcri_agenda_fini(struct bcri_agenda *agenda)
{
    for (size_t i = 0; i < agenda->lane_count; i++) {
        struct bcri_lane *lane = agenda->lanes[i];
        while (lane->count != 0) {
            struct bcri_summoned *summoned = take_summons(lane);
            if (summoned->removed && summoned->queued == 0)
                agenda->dropped(summoned);
        }
        free(agenda->lanes[i]->ring);
        free(agenda->lanes[i]);
    }
    free(agenda->lanes);
    free(agenda->heap);
    *agenda = (struct bcri_agenda){0};
}

/* ---- the heap of lanes that hold something ---- */

static void place(struct bcri_agenda *agenda, struct bcri_lane *lane, size_t at)
{
    agenda->heap[at] = lane;
    lane->heap_idx = at;
}

static void rise(struct bcri_agenda *agenda, struct bcri_lane *lane, size_t at)
{
    while (at != 0 && agenda->heap[(at - 1) / 2]->priority < lane->priority) {
        place(agenda, agenda->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    place(agenda, lane, at);
}

static void sink(struct bcri_agenda *agenda, struct bcri_lane *lane, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < agenda->heap_count &&
            agenda->heap[child + 1]->priority > agenda->heap[child]->priority)
            child++;
        if (child >= agenda->heap_count || agenda->heap[child]->priority <= lane->priority)
            break;
        place(agenda, agenda->heap[child], at);
        at = child;
    }
    place(agenda, lane, at);
}

void bcri_agenda_fill(struct bcri_agenda *agenda, struct bcri_lane *lane)
{
    if (lane->heap_idx == EMPTY)
        rise(agenda, lane, agenda->heap_count++);
}

void bcri_agenda_take_out(struct bcri_agenda *agenda, struct bcri_lane *lane)
{
    struct bcri_lane *last = agenda->heap[--agenda->heap_count];
    size_t at = lane->heap_idx;
    lane->heap_idx = EMPTY;
    if (last == lane)
        return;
    rise(agenda, last, at);
    sink(agenda, last, last->heap_idx);
}

static void take_out_if_empty(struct bcri_agenda *agenda, struct bcri_lane *lane)
{
    if (lane->count == 0 && lane->head == NULL && lane->stopped == NULL && lane->heap_idx != EMPTY)
        bcri_agenda_take_out(agenda, lane);
}

/* ---- lanes by priority ---- */

/* Where a priority stands, or would. */
static size_t find(const struct bcri_agenda *agenda, int priority)
{
    size_t low = 0, high = agenda->lane_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (agenda->lanes[middle]->priority < priority)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct bcri_agenda *agenda)
{
    if (agenda->lane_count < agenda->lane_room)
        return true;
    size_t room = agenda->lane_room != 0 ? 2 * agenda->lane_room : 8;
    struct bcri_lane **lanes = realloc(agenda->lanes, room * sizeof(void *));
    if (lanes == NULL)
        return false;
    agenda->lanes = lanes;
    struct bcri_lane **heap = realloc(agenda->heap, room * sizeof(void *));
    if (heap == NULL)
        return false;
    agenda->heap = heap;
    agenda->lane_room = room;
    return true;
}

static struct bcri_lane *take_unused(struct bcri_agenda *agenda)
{
    for (size_t i = 0; agenda->lane_count >= LANES_KEPT && i < agenda->lane_count; i++) {
        struct bcri_lane *lane = agenda->lanes[i];
        if (lane->users == 0 && lane->heap_idx == EMPTY) {
            memmove(&agenda->lanes[i], &agenda->lanes[i + 1], (--agenda->lane_count - i) * sizeof(void *));
            return lane;
        }
    }
    return NULL;
}

struct bcri_lane *bcri_lane_enter(struct bcri_agenda *agenda, int priority)
{
    size_t at = find(agenda, priority);
    if (at < agenda->lane_count && agenda->lanes[at]->priority == priority) {
        agenda->lanes[at]->users++;
        return agenda->lanes[at];
    }
    struct bcri_lane *lane = take_unused(agenda);
    if (lane == NULL) {
        if (!make_room(agenda) || (lane = calloc(1, sizeof *lane)) == NULL)
            return NULL;
        lane->heap_idx = EMPTY;
    }
    lane->priority = priority;
    lane->users = 1;
    at = find(agenda, priority);
    memmove(&agenda->lanes[at + 1], &agenda->lanes[at], (agenda->lane_count++ - at) * sizeof(void *));
    agenda->lanes[at] = lane;
    return lane;
}

/* ---- adding ---- */

static struct bcri_agenda_entry *entry(const struct bcri_lane *lane, size_t i)
{
    return &lane->ring[(lane->first + i) & (lane->ring_room - 1)];
}

static bool ring_room(struct bcri_lane *lane, size_t wanted)
{
    if (wanted <= lane->ring_room)
        return true;
    size_t room = lane->ring_room != 0 ? lane->ring_room : RING_LEAST;
    while (room < wanted)
        room *= 2;
    struct bcri_agenda_entry *ring = malloc(room * sizeof *ring);
    if (ring == NULL)
        return false;
    for (size_t i = 0; i < lane->count; i++)
        ring[i] = *entry(lane, i);
    free(lane->ring);
    lane->ring = ring;
    lane->ring_room = room;
    lane->first = 0;
    return true;
}

bool bcri_agenda_grow(struct bcri_lane *lane)
{
    return ring_room(lane, lane->count + 1);
}

void bcri_agenda_go_on(struct bcri_agenda *agenda, struct bcri_going_on *invocation)
{
    struct bcri_lane *lane = invocation->lane;
    invocation->stamp = ++agenda->stamp;
    invocation->idle = false;
    invocation->next = NULL;
    if (lane->head == NULL)
        lane->head = invocation;
    else
        lane->tail->next = invocation;
    lane->tail = invocation;
    bcri_agenda_fill(agenda, lane);
}

void bcri_agenda_stop(struct bcri_agenda *agenda, struct bcri_going_on *invocation, struct bcri_lane *lane,
                      bool idle)
{
    invocation->stamp = ++agenda->stamp;
    invocation->idle = idle;
    invocation->next = lane->stopped;
    lane->stopped = invocation;
    bcri_agenda_fill(agenda, lane);
}

/* ---- a handler whose priority changes ---- */

bool bcri_agenda_move_room(struct bcri_agenda *agenda, const struct bcri_summoned *summoned,
                           struct bcri_lane *to)
{
    (void)agenda;
    return ring_room(to, to->count + summoned->queued);
}

void bcri_agenda_move(struct bcri_agenda *agenda, struct bcri_summoned *summoned, struct bcri_lane *to)
{
    struct bcri_lane *from = summoned->lane;
    /* Both are in order: merged from their ends. */
    size_t old = to->count, into = to->count + summoned->queued;
    for (size_t i = from->count; i-- > 0;) {
        struct bcri_agenda_entry one = *entry(from, i);
        if (one.summoned != summoned)
            continue;
        while (old != 0 && entry(to, old - 1)->stamp > one.stamp)
            *entry(to, --into) = *entry(to, --old);
        *entry(to, --into) = one;
    }
    to->count += summoned->queued;
    size_t left = 0;
    for (size_t i = 0; i < from->count; i++)
        if (entry(from, i)->summoned != summoned)
            *entry(from, left++) = *entry(from, i);
    from->count = left;
    summoned->lane = to;
    if (to->count != 0)
        bcri_agenda_fill(agenda, to);
    take_out_if_empty(agenda, from);
}

/* ---- taking ---- */

/* Drops what stands at the head of a lane and belongs to removed handlers. */
static void sweep(struct bcri_agenda *agenda, struct bcri_lane *lane)
{
    while (lane->count != 0 && lane->ring[lane->first].summoned->removed) {
        struct bcri_summoned *summoned = take_summons(lane);
        if (summoned->queued == 0)
            agenda->dropped(summoned);
    }
    take_out_if_empty(agenda, lane);
}

struct bcri_lane *bcri_agenda_sweep(struct bcri_agenda *agenda)
{
    while (agenda->heap_count != 0) {
        struct bcri_lane *lane = agenda->heap[0];
        if (lane->count == 0 || !lane->ring[lane->first].summoned->removed)
            return lane;
        sweep(agenda, lane);
    }
    return NULL;
}

/* The best lane that has an invocation; when no handler can be started. */
static struct bcri_lane *top_going_on(struct bcri_agenda *agenda)
{
    struct bcri_lane *best = NULL;
    for (size_t i = 0; i < agenda->heap_count; i++) {
        struct bcri_lane *lane = agenda->heap[i];
        if ((lane->head != NULL || lane->stopped != NULL) &&
            (best == NULL || lane->priority > best->priority))
            best = lane;
    }
    return best;
}

/* When the first of a lane's list or stack came; never: later than all summonses. */
static uint64_t came(const struct bcri_going_on *invocation)
{
    return invocation != NULL && !invocation->idle ? invocation->stamp : UINT64_MAX;
}

static void take_from(struct bcri_lane *lane, bool may_start, struct bcri_turn *turn_out)
{
    uint64_t summoned = may_start && lane->count != 0 ? lane->ring[lane->first].stamp : UINT64_MAX;
    uint64_t ready = came(lane->head), stopped = came(lane->stopped);
    *turn_out = (struct bcri_turn){NULL, NULL};
    if (summoned < ready && summoned < stopped) {
        turn_out->summoned = take_summons(lane);
    } else if (ready < stopped) {
        turn_out->invocation = lane->head;
        lane->head = lane->head->next;
    } else {
        turn_out->invocation = lane->stopped;
        lane->stopped = lane->stopped->next;
    }
}

bool bcri_agenda_next(struct bcri_agenda *agenda, int least, bool may_start, struct bcri_turn *turn_out)
{
    struct bcri_lane *lane = may_start ? bcri_agenda_top(agenda) : top_going_on(agenda);
    if (lane == NULL || lane->priority < least)
        return false;
    take_from(lane, may_start, turn_out);
    take_out_if_empty(agenda, lane);
    return true;
}

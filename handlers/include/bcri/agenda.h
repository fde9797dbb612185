/* SPDX-License-Identifier: MIT */
/* What may run next in a CCE: summonses of its handlers, and stopped invocations that can go on, by priority, then by arrival.
 *
 * A *lane* holds what has one priority: summonses in a ring, invocations in a list, each stamped when it came. Lanes that hold
 * anything are in a heap. So a program with a few priorities pays the same for each, however many are queued.
 *
 * Invocations that were interrupted, or wait in bcr_allow until nothing else of that priority can run (`idle`), lie on a stack
 * of their lane; only the topmost counts. An interrupted one is where its stamp says, an idle one comes after all others.
 *
 * Adding an invocation cannot fail: whoever may be added holds its lane. Adding a summons can, for want of memory.
 * Pure: knows neither cells nor stacks. */
#ifndef BCRI_AGENDA_H
#define BCRI_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_lane;

/* What of a handler the agenda needs; the first member of it. */
struct bcri_summoned {
    struct bcri_lane *lane;
    size_t queued; /* how many summonses of it are here */
    bool removed;  /* those are to be dropped; when the last is, `dropped` is called */
};

/* What of an invocation; the first member of it. */
struct bcri_going_on {
    struct bcri_lane *lane; /* of its priority while it executes */
    struct bcri_going_on *next;
    uint64_t stamp;
    bool idle;
};

struct bcri_lane {
    int priority;
    uint32_t users;
    size_t heap_idx; /* SIZE_MAX: empty */
    struct bcri_agenda_entry {
        struct bcri_summoned *summoned;
        uint64_t stamp;
    } * ring;
    size_t ring_room, first, count;    /* room is a power of two, or 0 */
    struct bcri_going_on *head, *tail; /* were blocked, and no longer are */
    struct bcri_going_on *stopped;
};

struct bcri_agenda {
    struct bcri_lane **heap; /* of those that hold something; room for all */
    size_t heap_count;
    struct bcri_lane **lanes; /* by priority, ascending */
    size_t lane_count, lane_room;
    uint64_t stamp;
    void (*dropped)(struct bcri_summoned *summoned); /* the last of a removed handler's summonses is gone */
};

void bcri_agenda_init(struct bcri_agenda *agenda, void (*dropped)(struct bcri_summoned *summoned));
void bcri_agenda_fini(struct bcri_agenda *agenda);

/* The lane of a priority, to be given back by bcri_lane_leave. NULL: no memory. */
struct bcri_lane *bcri_lane_enter(struct bcri_agenda *agenda, int priority);
static inline void bcri_lane_leave(struct bcri_lane *lane)
{
    lane->users--;
}

/* Room for one more summons of a handler. False: no memory. */
bool bcri_agenda_grow(struct bcri_lane *lane);
static inline bool bcri_agenda_room(const struct bcri_summoned *summoned)
{
    struct bcri_lane *lane = summoned->lane;
    return __builtin_expect(lane->count < lane->ring_room, 1) || bcri_agenda_grow(lane);
}
/* Adds a summons to the lane of its handler, where there is room. */
void bcri_agenda_fill(struct bcri_agenda *agenda, struct bcri_lane *lane);
static inline void bcri_agenda_summon(struct bcri_agenda *agenda, struct bcri_summoned *summoned)
{
    struct bcri_lane *lane = summoned->lane;
    lane->ring[(lane->first + lane->count++) & (lane->ring_room - 1)] =
        (struct bcri_agenda_entry){summoned, ++agenda->stamp};
    summoned->queued++;
    if (lane->heap_idx == SIZE_MAX)
        bcri_agenda_fill(agenda, lane);
}
/* Adds an invocation that was blocked to its lane; puts one that stops without that onto the stack of a lane that it holds. */
void bcri_agenda_go_on(struct bcri_agenda *agenda, struct bcri_going_on *invocation);
void bcri_agenda_stop(struct bcri_agenda *agenda, struct bcri_going_on *invocation, struct bcri_lane *lane,
                      bool idle);

/* Makes room for what a handler has queued in another lane. False: no memory. Then moves it there: it keeps its stamps, and so
 * its place among those of its new priority. */
bool bcri_agenda_move_room(struct bcri_agenda *agenda, const struct bcri_summoned *summoned,
                           struct bcri_lane *to);
void bcri_agenda_move(struct bcri_agenda *agenda, struct bcri_summoned *summoned, struct bcri_lane *to);

/* The lane of the highest priority at which something can run, or NULL. */
struct bcri_lane *bcri_agenda_sweep(struct bcri_agenda *agenda);
static inline struct bcri_lane *bcri_agenda_top(struct bcri_agenda *agenda)
{
    if (agenda->heap_count == 0)
        return NULL;
    struct bcri_lane *lane = agenda->heap[0];
    return lane->count == 0 || !lane->ring[lane->first].summoned->removed ? lane : bcri_agenda_sweep(agenda);
}

/* What is next, taken out: one of the two is set. With `may_start` false only invocations are. False: nothing of priority
 * `least` or more. */
struct bcri_turn {
    struct bcri_summoned *summoned;
    struct bcri_going_on *invocation;
};
bool bcri_agenda_next(struct bcri_agenda *agenda, int least, bool may_start, struct bcri_turn *turn_out);

/* The same where it is a summons, which is what it mostly is. NULL: it may be something else, or nothing. */
void bcri_agenda_take_out(struct bcri_agenda *agenda, struct bcri_lane *lane);
static inline struct bcri_summoned *bcri_agenda_next_summons(struct bcri_agenda *agenda, int least)
{
    if (agenda->heap_count == 0)
        return NULL;
    struct bcri_lane *lane = agenda->heap[0];
    const struct bcri_going_on *stopped = lane->stopped;
    if (lane->priority < least || lane->count == 0 || lane->head != NULL)
        return NULL;
    const struct bcri_agenda_entry *first = &lane->ring[lane->first];
    if (first->summoned->removed || (stopped != NULL && !stopped->idle && stopped->stamp < first->stamp))
        return NULL;
    lane->first = (lane->first + 1) & (lane->ring_room - 1);
    first->summoned->queued--;
    if (--lane->count == 0 && stopped == NULL)
        bcri_agenda_take_out(agenda, lane);
    return first->summoned;
}

#endif

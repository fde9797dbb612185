/* SPDX-License-Identifier: MIT */
/* What may run next in a CCE: requests of its handlers, and stopped invocations that can go on.
 *
 * A *level* holds what has one priority. The levels that hold anything are in a heap, so a program
 * with a few priorities pays the same for each turn, however much is queued. The order within a
 * level is:
 * 1. invocations that were blocked and no longer are, and interrupted ones, in the order in which
 *    they came; of the interrupted ones only the one that stopped last;
 * 2. requested handlers: the one whose turn has waited longest has one invocation, and then waits
 *    anew;
 * 3. invocations in bcr_allow, the last caller first.
 *
 * An interrupted invocation may have to let some turns pass first (`after_turns`). That is the main
 * program, which is interrupted by requests of its own priority.
 *
 * Only levels are allocated. What is added holds its level, and is itself a link of a list. The
 * queue knows neither cells nor stacks. */
#ifndef BCRI_RUN_QUEUE_H
#define BCRI_RUN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_level;

/* The queue's part of a handler; its first member. */
struct bcri_requested {
    struct bcri_level *level;
    struct bcri_requested *prev, *next; /* among the handlers of its level that have requests */
    uint64_t waiting;                   /* requests that have not had their turn */
    uint64_t stamp;                     /* when its turn began to wait */
};

/* The queue's part of an invocation. */
struct bcri_resumable {
    struct bcri_level *level; /* of its priority while it executes */
    struct bcri_resumable *next;
    uint64_t stamp;
    uint64_t after_turns; /* lets these turns of its level pass, while requests are there */
};
#define BCRI_ALLOWS UINT64_MAX

struct bcri_level {
    int priority;
    uint32_t users;
    size_t heap_idx;                       /* SIZE_MAX: empty */
    struct bcri_requested *first, *last;   /* longest wait for a turn first */
    uint64_t waiting;                      /* requests of all of them */
    uint64_t turns;                        /* given so far */
    struct bcri_resumable *ready, *newest; /* were blocked, and no longer are */
    struct bcri_resumable *stopped;
};

struct bcri_run_queue {
    struct bcri_level **heap; /* of the levels that hold something; has room for all */
    size_t heap_count;
    struct bcri_level **levels; /* by priority, ascending */
    size_t level_count, level_room;
    uint64_t stamp;
};

static inline void bcri_run_queue_init(struct bcri_run_queue *queue)
{
    *queue = (struct bcri_run_queue){0};
}
void bcri_run_queue_fini(struct bcri_run_queue *queue);

/* The level of a priority; the caller gives it back by bcri_level_leave. NULL: no memory. */
struct bcri_level *bcri_level_enter(struct bcri_run_queue *queue, int priority);
static inline void bcri_level_leave(struct bcri_level *level)
{
    level->users--;
}

/* Puts a level that has begun to hold something into the heap; takes one that is empty out of
 * it. */
void bcri_run_queue_fill(struct bcri_run_queue *queue, struct bcri_level *level);
void bcri_run_queue_take_out(struct bcri_run_queue *queue, struct bcri_level *level);

static inline void bcri_requested_append(struct bcri_run_queue *queue, struct bcri_requested *requested)
{
    struct bcri_level *level = requested->level;
    requested->stamp = ++queue->stamp;
    requested->prev = level->last;
    requested->next = NULL;
    if (level->last != NULL)
        level->last->next = requested;
    else
        level->first = requested;
    level->last = requested;
}
static inline void bcri_requested_unlink(struct bcri_requested *requested)
{
    struct bcri_level *level = requested->level;
    if (requested->prev != NULL)
        requested->prev->next = requested->next;
    else
        level->first = requested->next;
    if (requested->next != NULL)
        requested->next->prev = requested->prev;
    else
        level->last = requested->prev;
}

/* `count` more requests of a handler. */
static inline void bcri_run_queue_request(struct bcri_run_queue *queue, struct bcri_requested *requested,
                                          uint64_t count)
{
    struct bcri_level *level = requested->level;
    if (requested->waiting == 0)
        bcri_requested_append(queue, requested);
    requested->waiting += count;
    level->waiting += count;
    if (level->heap_idx == SIZE_MAX)
        bcri_run_queue_fill(queue, level);
}
/* _move gives a handler another priority; its turn keeps the time that it has waited. _drop drops
 * all its requests. */
void bcri_run_queue_move(struct bcri_run_queue *queue, struct bcri_requested *requested,
                         struct bcri_level *to);
void bcri_run_queue_drop(struct bcri_run_queue *queue, struct bcri_requested *requested);

/* _resume adds an invocation that was blocked to its level. _stop puts one that stops without being
 * blocked onto the stack of `level`, which it holds. */
void bcri_run_queue_resume(struct bcri_run_queue *queue, struct bcri_resumable *invocation);
void bcri_run_queue_stop(struct bcri_run_queue *queue, struct bcri_resumable *invocation,
                         struct bcri_level *level, uint64_t after_turns);

/* The level of the highest priority at which something can run, or NULL. */
static inline struct bcri_level *bcri_run_queue_top(const struct bcri_run_queue *queue)
{
    return queue->heap_count != 0 ? queue->heap[0] : NULL;
}

/* Takes out what is next: one of the two members is set. With `may_start` false only invocations
 * are considered. False: there is nothing of priority `least` or more. */
struct bcri_turn {
    struct bcri_requested *requested;
    struct bcri_resumable *invocation;
};
bool bcri_run_queue_next(struct bcri_run_queue *queue, int least, bool may_start, struct bcri_turn *turn_out);

/* The level's next turn. If the handler has more requests, it goes behind the others. */
static inline struct bcri_requested *bcri_level_turn(struct bcri_run_queue *queue, struct bcri_level *level)
{
    struct bcri_requested *requested = level->first;
    const bool alone = requested == level->last;
    level->turns++;
    level->waiting--;
    if (--requested->waiting == 0 || !alone)
        bcri_requested_unlink(requested);
    if (requested->waiting != 0 && !alone)
        bcri_requested_append(queue, requested);
    else
        requested->stamp = ++queue->stamp;
    return requested;
}

/* bcri_run_queue_next for the usual case, in which a request is next. NULL: something else is next,
 * or nothing. */
static inline struct bcri_requested *bcri_run_queue_next_request(struct bcri_run_queue *queue, int least)
{
    struct bcri_level *level = bcri_run_queue_top(queue);
    if (level == NULL || level->priority < least || level->first == NULL || level->ready != NULL ||
        (level->stopped != NULL && level->stopped->after_turns <= level->turns))
        return NULL;
    struct bcri_requested *requested = bcri_level_turn(queue, level);
    if (level->first == NULL && level->stopped == NULL)
        bcri_run_queue_take_out(queue, level);
    return requested;
}

#endif

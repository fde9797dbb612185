/* SPDX-License-Identifier: MIT */
/* What may run next in a CCE: requests of its handlers, and stopped invocations that can go on.
 *
 * A *level* holds what has one priority. Levels that hold anything are in a heap, so a program with
 * a few priorities pays the same for each turn, however much is queued. Within a level come
 *   1. invocations that were blocked and no longer are, and those that were interrupted: which came first, but of the interrupted
 *      only the one that stopped last;
 *   2. handlers that are requested: whose turn has waited longest, one invocation each turn; then it waits anew;
 *   3. one in bcr_allow, the last caller first.
 * An interrupted one may be told to let some turns pass first (`after_turns`): the main program,
 * whom requests of its own priority interrupt.
 *
 * Nothing is allocated but levels: whatever may be added holds its level, and is a link of a list.
 * Pure: knows neither cells nor stacks. */
#ifndef BCRI_RUN_QUEUE_H
#define BCRI_RUN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_level;

/* What of a handler the queue needs; the first member of it. */
struct bcri_requested {
    struct bcri_level *level;
    struct bcri_requested *prev, *next; /* among those of its level that have requests */
    uint64_t waiting;                   /* requests that have not had their turn */
    uint64_t stamp;                     /* since when its turn has waited */
};

/* What of an invocation; the first member of it. */
struct bcri_resumable {
    struct bcri_level *level; /* of its priority while it executes */
    struct bcri_resumable *next;
    uint64_t stamp;
    uint64_t
        after_turns; /* of its level, if any handler is requested there; of an interrupted one, or BCRI_ALLOWS */
};
#define BCRI_ALLOWS UINT64_MAX

struct bcri_level {
    int priority;
    uint32_t users;
    size_t heap_idx;                       /* SIZE_MAX: empty */
    struct bcri_requested *first, *last;   /* the one whose turn has waited longest first */
    uint64_t waiting;                      /* requests of all of them */
    uint64_t turns;                        /* that have ever been given */
    struct bcri_resumable *ready, *newest; /* were blocked, and no longer are */
    struct bcri_resumable *stopped;
};

struct bcri_run_queue {
    struct bcri_level **heap; /* of those that hold something; room for all */
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

/* The level of a priority, to be given back by bcri_level_leave. NULL: no memory. */
struct bcri_level *bcri_level_enter(struct bcri_run_queue *queue, int priority);
static inline void bcri_level_leave(struct bcri_level *level)
{
    level->users--;
}

/* Puts a level that holds something into the heap; takes out one that no longer does. */
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
/* A handler gets another priority: its turn has waited there as long as here. Or all its requests
 * are dropped. */
void bcri_run_queue_move(struct bcri_run_queue *queue, struct bcri_requested *requested,
                         struct bcri_level *to);
void bcri_run_queue_drop(struct bcri_run_queue *queue, struct bcri_requested *requested);

/* Adds an invocation that was blocked to its level; puts one that stops without that onto the stack
 * of a level that it holds. */
void bcri_run_queue_resume(struct bcri_run_queue *queue, struct bcri_resumable *invocation);
void bcri_run_queue_stop(struct bcri_run_queue *queue, struct bcri_resumable *invocation,
                         struct bcri_level *level, uint64_t after_turns);

/* The level of the highest priority at which something can run, or NULL. */
static inline struct bcri_level *bcri_run_queue_top(const struct bcri_run_queue *queue)
{
    return queue->heap_count != 0 ? queue->heap[0] : NULL;
}

/* What is next, taken out: one of the two is set. With `may_start` false only invocations are.
 * False: nothing of priority `least` or more. */
struct bcri_turn {
    struct bcri_requested *requested;
    struct bcri_resumable *invocation;
};
bool bcri_run_queue_next(struct bcri_run_queue *queue, int least, bool may_start, struct bcri_turn *turn_out);

/* The level's next turn; its handler goes behind the others if it has more requests. */
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

/* The same where it is a request, which is what it mostly is. NULL: it may be something else, or
 * nothing. */
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

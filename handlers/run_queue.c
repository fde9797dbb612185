/* SPDX-License-Identifier: MIT */
/* See bcri/run_queue.h: by priority, then by turns. */
#include "bcri/run_queue.h"

#include <string.h>

#include "bcri/private.h"

#define EMPTY SIZE_MAX

/* With this many levels or more, an unused one is taken for a new priority before another is
 * allocated. */
enum { LEVELS_KEPT = 256 };

void bcri_run_queue_fini(struct bcri_run_queue *queue)
{
    for (size_t i = 0; i < queue->level_count; i++)
        bcri_private_free(queue->levels[i]);
    bcri_private_free(queue->levels);
    bcri_private_free(queue->heap);
    *queue = (struct bcri_run_queue){0};
}

/* ---- the heap of levels that hold something ---- */

static void place_at(struct bcri_run_queue *queue, struct bcri_level *level, size_t at)
{
    queue->heap[at] = level;
    level->heap_idx = at;
}

static void rise(struct bcri_run_queue *queue, struct bcri_level *level, size_t at)
{
    while (at != 0 && queue->heap[(at - 1) / 2]->priority < level->priority) {
        place_at(queue, queue->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    place_at(queue, level, at);
}

static void sink(struct bcri_run_queue *queue, struct bcri_level *level, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < queue->heap_count && queue->heap[child + 1]->priority > queue->heap[child]->priority)
            child++;
        if (child >= queue->heap_count || queue->heap[child]->priority <= level->priority)
            break;
        place_at(queue, queue->heap[child], at);
        at = child;
    }
    place_at(queue, level, at);
}

void bcri_run_queue_fill(struct bcri_run_queue *queue, struct bcri_level *level)
{
    if (level->heap_idx == EMPTY)
        rise(queue, level, queue->heap_count++);
}

void bcri_run_queue_take_out(struct bcri_run_queue *queue, struct bcri_level *level)
{
    struct bcri_level *last = queue->heap[--queue->heap_count];
    size_t at = level->heap_idx;
    level->heap_idx = EMPTY;
    if (last == level)
        return;
    rise(queue, last, at);
    sink(queue, last, last->heap_idx);
}

static void take_out_if_empty(struct bcri_run_queue *queue, struct bcri_level *level)
{
    if (level->first == NULL && level->ready == NULL && level->stopped == NULL && level->heap_idx != EMPTY)
        bcri_run_queue_take_out(queue, level);
}

/* ---- levels by priority ---- */

/* The index of this priority in `levels`, or where it would be inserted. */
static size_t find(const struct bcri_run_queue *queue, int priority)
{
    size_t low = 0, high = queue->level_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (queue->levels[middle]->priority < priority)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct bcri_run_queue *queue)
{
    if (queue->level_count < queue->level_room)
        return true;
    size_t room = queue->level_room != 0 ? 2 * queue->level_room : 8;
    struct bcri_level **levels = bcri_private_resize(queue->levels, room * sizeof(void *));
    if (levels == NULL)
        return false;
    queue->levels = levels;
    struct bcri_level **heap = bcri_private_resize(queue->heap, room * sizeof(void *));
    if (heap == NULL)
        return false;
    queue->heap = heap;
    queue->level_room = room;
    return true;
}

static struct bcri_level *take_unused(struct bcri_run_queue *queue)
{
    for (size_t i = 0; queue->level_count >= LEVELS_KEPT && i < queue->level_count; i++) {
        struct bcri_level *level = queue->levels[i];
        if (level->users == 0 && level->heap_idx == EMPTY) {
            memmove(&queue->levels[i], &queue->levels[i + 1], (--queue->level_count - i) * sizeof(void *));
            return level;
        }
    }
    return NULL;
}

struct bcri_level *bcri_level_enter(struct bcri_run_queue *queue, int priority)
{
    size_t at = find(queue, priority);
    if (at < queue->level_count && queue->levels[at]->priority == priority) {
        queue->levels[at]->users++;
        return queue->levels[at];
    }
    struct bcri_level *level = take_unused(queue);
    if (level == NULL) {
        if (!make_room(queue) || (level = bcri_private_zeroed(1, sizeof *level)) == NULL)
            return NULL;
        level->heap_idx = EMPTY;
    }
    level->priority = priority;
    level->users = 1;
    at = find(queue, priority);
    memmove(&queue->levels[at + 1], &queue->levels[at], (queue->level_count++ - at) * sizeof(void *));
    queue->levels[at] = level;
    return level;
}

/* ---- handlers ---- */

void bcri_run_queue_drop(struct bcri_run_queue *queue, struct bcri_requested *requested)
{
    struct bcri_level *level = requested->level;
    if (requested->waiting == 0)
        return;
    bcri_requested_unlink(requested);
    level->waiting -= requested->waiting;
    requested->waiting = 0;
    take_out_if_empty(queue, level);
}

static void insert_by_stamp(struct bcri_level *level, struct bcri_requested *requested)
{
    struct bcri_requested *before = level->last;
    while (before != NULL && before->stamp > requested->stamp)
        before = before->prev;
    requested->prev = before;
    requested->next = before != NULL ? before->next : level->first;
    *(before != NULL ? &before->next : &level->first) = requested;
    *(requested->next != NULL ? &requested->next->prev : &level->last) = requested;
}

void bcri_run_queue_move(struct bcri_run_queue *queue, struct bcri_requested *requested,
                         struct bcri_level *to)
{
    const uint64_t waiting = requested->waiting;
    bcri_run_queue_drop(queue, requested);
    requested->level = to;
    if (waiting == 0)
        return;
    requested->waiting = waiting;
    to->waiting += waiting;
    insert_by_stamp(to, requested);
    bcri_run_queue_fill(queue, to);
}

/* ---- invocations ---- */

void bcri_run_queue_resume(struct bcri_run_queue *queue, struct bcri_resumable *invocation)
{
    struct bcri_level *level = invocation->level;
    invocation->stamp = ++queue->stamp;
    invocation->next = NULL;
    if (level->ready == NULL)
        level->ready = invocation;
    else
        level->newest->next = invocation;
    level->newest = invocation;
    bcri_run_queue_fill(queue, level);
}

void bcri_run_queue_stop(struct bcri_run_queue *queue, struct bcri_resumable *invocation,
                         struct bcri_level *level, uint64_t after_turns)
{
    invocation->stamp = ++queue->stamp;
    invocation->after_turns = after_turns;
    invocation->next = level->stopped;
    level->stopped = invocation;
    bcri_run_queue_fill(queue, level);
}

/* ---- taking ---- */

/* The highest level that has an invocation; for when no handler can be started. */
static struct bcri_level *top_resumable(const struct bcri_run_queue *queue)
{
    struct bcri_level *best = NULL;
    for (size_t i = 0; i < queue->heap_count; i++) {
        struct bcri_level *level = queue->heap[i];
        if ((level->ready != NULL || level->stopped != NULL) &&
            (best == NULL || level->priority > best->priority))
            best = level;
    }
    return best;
}

static struct bcri_turn take_from(struct bcri_run_queue *queue, struct bcri_level *level, bool may_start)
{
    struct bcri_resumable *ready = level->ready, *stopped = level->stopped;
    const bool requests = may_start && level->first != NULL;
    if (stopped != NULL && stopped->after_turns > level->turns &&
        (requests || (ready != NULL && stopped->after_turns == BCRI_ALLOWS)))
        stopped = NULL; /* its turn comes later */
    if (ready != NULL && (stopped == NULL || ready->stamp < stopped->stamp)) {
        level->ready = ready->next;
        return (struct bcri_turn){.invocation = ready};
    }
    if (stopped != NULL) {
        level->stopped = stopped->next;
        return (struct bcri_turn){.invocation = stopped};
    }
    if (level->first == NULL)
        __builtin_unreachable(); /* a level in the heap has something */
    return (struct bcri_turn){.requested = bcri_level_turn(queue, level)};
}

bool bcri_run_queue_next(struct bcri_run_queue *queue, int least, bool may_start, struct bcri_turn *turn_out)
{
    struct bcri_level *level = may_start ? bcri_run_queue_top(queue) : top_resumable(queue);
    if (level == NULL || level->priority < least)
        return false;
    *turn_out = take_from(queue, level, may_start);
    take_out_if_empty(queue, level);
    return true;
}

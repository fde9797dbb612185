/* SPDX-License-Identifier: MIT */
/* What an event costs does not grow with what else there is: lists, and a heap of what waits until a time.
 *
 * Lists whose links lie in the records themselves, so that a record leaves its list wherever it stands. A list of zeros
 * is empty, and a record of zeros is in none. */
#ifndef BCRI_AGENT_LIST_H
#define BCRI_AGENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/grow.h"

/* A record's place in a list. */
struct item {
    struct item *next, *before;
};
struct list {
    struct item head; /* zero until the first record comes */
};

static inline bool list_is_empty(const struct list *list)
{
    return list->head.next == NULL || list->head.next == &list->head;
}

static inline bool is_listed(const struct item *item)
{
    return item->next != NULL;
}

static inline struct item *list_first(const struct list *list)
{
    return list_is_empty(list) ? NULL : list->head.next;
}

static inline struct item *list_next(const struct list *list, const struct item *item)
{
    return item->next != &list->head ? item->next : NULL;
}

static inline void list_insert(struct item *before, struct item *item, struct item *after)
{
    *item = (struct item){.next = after, .before = before};
    before->next = after->before = item;
}

static inline struct item *list_head(struct list *list)
{
    if (list->head.next == NULL)
        list->head.next = list->head.before = &list->head;
    return &list->head;
}

static inline void list_append(struct list *list, struct item *item)
{
    struct item *head = list_head(list);
    list_insert(head->before, item, head);
}

static inline void list_prepend(struct list *list, struct item *item)
{
    struct item *head = list_head(list);
    list_insert(head, item, head->next);
}

/* Nothing happens if it is in none. */
static inline void list_remove(struct item *item)
{
    if (!is_listed(item))
        return;
    item->before->next = item->next;
    item->next->before = item->before;
    item->next = item->before = NULL;
}

/* Takes the first out; NULL: there is none. */
static inline struct item *list_take(struct list *list)
{
    struct item *item = list_first(list);
    if (item != NULL)
        list_remove(item);
    return item;
}

/* Moves all of `from` behind those of `to`. */
static inline void list_move(struct list *from, struct list *to)
{
    if (list_is_empty(from))
        return;
    struct item *head = list_head(to);
    head->before->next = from->head.next;
    from->head.next->before = head->before;
    from->head.before->next = head;
    head->before = from->head.before;
    from->head = (struct item){0};
}

static inline void *record_or_null(const struct item *item, size_t offset)
{
    return item != NULL ? (char *)item - offset : NULL;
}

#define RECORD_OF(item, type, member) ((type *)(void *)((char *)(item)-offsetof(type, member)))
/* The first record of a list, which TAKE_FIRST takes out, and the last one; NULL: it is empty. */
#define FIRST_OF(list, type, member)   ((type *)record_or_null(list_first(list), offsetof(type, member)))
#define TAKE_FIRST(list, type, member) ((type *)record_or_null(list_take(list), offsetof(type, member)))
#define LAST_OF(list, type, member) \
    (list_is_empty(list) ? NULL : RECORD_OF((list)->head.before, type, member))
/* Each record of a list. The body may take out the one it has, but not the next. */
#define EACH_OF(record, list, type, member)                                                            \
    for (struct item *at_ = list_first(list), *next_;                                                  \
         at_ != NULL && ((record) = RECORD_OF(at_, type, member), next_ = list_next(list, at_), true); \
         at_ = next_)

/* Frees a record that has been taken out of its lists. clang's analyzer does not follow that, and would find what
 * it sees freed in them. */
#ifdef __clang_analyzer__
void record_free(void *record);
#else
static inline void record_free(void *record)
{
    free(record);
}
#endif

/* ---- deadlines: a heap, the next first ---- */

/* In the record of what waits. */
struct deadline {
    uint64_t at_ns;
    uint32_t place; /* in the heap, from 1; 0: it is not there */
};

struct deadlines {
    struct deadline **heap; /* from 1 */
    uint32_t count;
    size_t room;
};

static inline struct deadline *deadlines_next(const struct deadlines *deadlines)
{
    return deadlines->count != 0 ? deadlines->heap[1] : NULL;
}

/* False: no memory for one more. */
static inline bool deadlines_reserve(struct deadlines *deadlines)
{
    return enl_grow(&deadlines->heap, &deadlines->room, deadlines->count + 2ul, sizeof(struct deadline *));
}

/* Puts it at `place`, which is free, or higher or lower. */
static inline void deadlines_place(struct deadlines *deadlines, uint32_t place, struct deadline *deadline)
{
    struct deadline **const heap = deadlines->heap;
    for (; place > 1 && heap[place / 2]->at_ns > deadline->at_ns; place /= 2)
        (heap[place] = heap[place / 2])->place = place;
    for (uint32_t child; (child = 2 * place) <= deadlines->count; place = child) {
        if (child < deadlines->count && heap[child + 1]->at_ns < heap[child]->at_ns)
            child++;
        if (heap[child]->at_ns >= deadline->at_ns)
            break;
        (heap[place] = heap[child])->place = place;
    }
    (heap[place] = deadline)->place = place;
}

/* There is room, and the deadline is not there. */
static inline void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns)
{
    deadline->at_ns = at_ns;
    deadlines->heap[++deadlines->count] = deadline;
    deadlines_place(deadlines, deadlines->count, deadline);
}

/* Nothing happens if it is not there. */
static inline void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    const uint32_t place = deadline->place;
    if (place == 0)
        return;
    struct deadline *last = deadlines->heap[deadlines->count--];
    deadline->place = 0;
    if (last != deadline)
        deadlines_place(deadlines, place, last);
}

#endif

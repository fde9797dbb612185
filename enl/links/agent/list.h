/* SPDX-License-Identifier: MIT */
/* Lists whose links lie in the records themselves, so that a record leaves its list wherever it stands. */
#ifndef BCRI_AGENT_LIST_H
#define BCRI_AGENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A record's place in a list; zero: it is in none. */
struct item {
    struct item *next, *before;
};
struct list {
    struct item head;
};

#define RECORD_OF(item, type, member) ((type *)(void *)((char *)(item)-offsetof(type, member)))
/* The first and the last record of a list; NULL: it is empty. */
#define FIRST_OF(list, type, member) (list_is_empty(list) ? NULL : RECORD_OF((list)->head.next, type, member))
#define LAST_OF(list, type, member) \
    (list_is_empty(list) ? NULL : RECORD_OF((list)->head.before, type, member))

static inline void list_init(struct list *list)
{
    list->head.next = list->head.before = &list->head;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->head.next == &list->head;
}

static inline bool is_listed(const struct item *item)
{
    return item->next != NULL;
}

static inline void list_append(struct list *list, struct item *item)
{
    item->next = &list->head;
    item->before = list->head.before;
    item->before->next = item;
    list->head.before = item;
}

static inline void list_prepend(struct list *list, struct item *item)
{
    item->before = &list->head;
    item->next = list->head.next;
    item->next->before = item;
    list->head.next = item;
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

/* Moves all of `from` behind those of `to`. */
static inline void list_move(struct list *from, struct list *to)
{
    if (list_is_empty(from))
        return;
    from->head.next->before = to->head.before;
    to->head.before->next = from->head.next;
    from->head.before->next = &to->head;
    to->head.before = from->head.before;
    list_init(from);
}

#endif

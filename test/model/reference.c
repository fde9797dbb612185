/* SPDX-License-Identifier: MIT */
/* See reference.h. */
#include "reference.h"

#include <string.h>

static void list_remove(struct ref_list *list, int id)
{
    for (int i = 0; i < list->count; i++)
        if (list->id[i] == id)
            memmove(&list->id[i], &list->id[i + 1], (size_t)(--list->count - i) * sizeof(int));
}

static int shift(struct reference *ref, int cell)
{
    int first = ref->cell[cell].queue[0];
    memmove(ref->cell[cell].queue, ref->cell[cell].queue + 1,
            (size_t)(--ref->cell[cell].length) * sizeof(int));
    return first;
}

static bool a_take_waits(const struct reference *ref, int cell)
{
    for (int i = 0; i < ref->cell[cell].gets.count; i++)
        if (!ref->request[ref->cell[cell].gets.id[i]].read)
            return true;
    return false;
}

static bool has_room(const struct reference *ref, int area)
{
    int held = 0;
    for (int cell = 0; cell < REF_CELLS; cell++)
        held += ref->cell[cell].area == area ? ref->cell[cell].length : 0;
    return held < ref->area[area].nrgns;
}

/* The reads ahead of the first take, then that take; whether it was taken. */
static bool serve_gets(struct reference *ref, int cell, int value)
{
    struct ref_list *gets = &ref->cell[cell].gets;
    while (gets->count != 0) {
        int id = gets->id[0];
        ref->request[id].value = value;
        ref->request[id].served = ++ref->clock;
        ref->request[id].done = true;
        list_remove(gets, id);
        if (!ref->request[id].read)
            return true;
    }
    return false;
}

static bool try_put(struct reference *ref, int cell, int value, bool write)
{
    bool replaces = write && ref->cell[cell].length != 0;
    if (!replaces && !a_take_waits(ref, cell) && !has_room(ref, ref->cell[cell].area))
        return false;
    if (replaces)
        ref->cell[cell].length = 0;
    if (!serve_gets(ref, cell, value))
        ref->cell[cell].queue[ref->cell[cell].length++] = value;
    return true;
}

static void serve_puts(struct reference *ref, int area)
{
    struct ref_list *puts = &ref->area[area].puts;
    for (int id; puts->count != 0; list_remove(puts, id)) {
        id = puts->id[0];
        if (!try_put(ref, ref->request[id].cell, ref->request[id].value, ref->request[id].write))
            return;
        ref->request[id].done = true;
    }
}

enum ref_answer ref_put(struct reference *ref, int id, int cell, int value, bool write, bool may_wait)
{
    struct ref_list *puts = &ref->area[ref->cell[cell].area].puts;
    ref->request[id].cell = cell;
    ref->request[id].value = value;
    ref->request[id].write = write;
    ref->request[id].done = try_put(ref, cell, value, write);
    if (ref->request[id].done)
        serve_puts(ref, ref->cell[cell].area);
    else if (may_wait)
        puts->id[puts->count++] = id;
    if (!ref->request[id].done && may_wait)
        serve_gets(ref, cell, value); /* reads share what waits */
    return ref->request[id].done ? REF_DONE : may_wait ? REF_WAITING : REF_FULL;
}

enum ref_answer ref_get(struct reference *ref, int id, int cell, bool read, bool may_wait)
{
    struct ref_list *puts = &ref->area[ref->cell[cell].area].puts;
    int put = 0;
    while (put < puts->count && ref->request[puts->id[put]].cell != cell)
        put++;
    ref->request[id].cell = cell;
    ref->request[id].read = read;
    ref->request[id].done = ref->cell[cell].length != 0 || put < puts->count;
    if (ref->cell[cell].length != 0) {
        ref->request[id].value = read ? ref->cell[cell].queue[0] : shift(ref, cell);
    } else if (put < puts->count) {
        ref->request[id].value = ref->request[puts->id[put]].value;
        ref->request[puts->id[put]].done = !read;
        if (!read)
            list_remove(puts, puts->id[put]);
    } else if (may_wait) {
        ref->cell[cell].gets.id[ref->cell[cell].gets.count++] = id;
    }
    if (ref->request[id].done)
        serve_puts(ref, ref->cell[cell].area);
    return ref->request[id].done ? REF_DONE : may_wait ? REF_WAITING : REF_TIMEOUT;
}

void ref_cancel(struct reference *ref, int id)
{
    list_remove(&ref->cell[ref->request[id].cell].gets, id);
}

void ref_zap(struct reference *ref, int cell)
{
    ref->cell[cell].length = 0;
    serve_puts(ref, ref->cell[cell].area);
}

void ref_give_back(struct reference *ref, int id)
{
    int cell = ref->request[id].cell, *queue = ref->cell[cell].queue;
    memmove(queue + 1, queue, (size_t)ref->cell[cell].length++ * sizeof(int));
    queue[0] = ref->request[id].value;
}

void ref_service(struct reference *ref, int cell)
{
    while (ref->cell[cell].length != 0 && ref->cell[cell].gets.count != 0)
        if (serve_gets(ref, cell, ref->cell[cell].queue[0]))
            (void)shift(ref, cell);
}

/* SPDX-License-Identifier: MIT */
/* The pretended time of tree_sim.h: what is to happen, in a heap. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "tree_sim.h"

static struct event *heap;
static size_t heap_count, heap_room;
static uint64_t order;

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void clock_push(struct event event)
{
    if (event.order == 0) {
        order++;
        event.order = order;
    }
    if (heap_count == heap_room) {
        heap_room = 2 * heap_room + 64;
        struct event *more = realloc(heap, heap_room * sizeof *heap);
        CHECK(more != NULL);
        heap = more;
    }
    size_t at = heap_count++;
    for (; at > 0 && is_before(&event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

bool clock_pop(uint64_t end_ms, struct event *out)
{
    if (heap_count == 0 || heap[0].at > end_ms)
        return false;
    *out = heap[0];
    const struct event last = heap[--heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap_count; at = child) {
        if (child + 1 < heap_count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return true;
}

void clock_later(enum kind kind, uint32_t host, uint64_t after_ms)
{
    clock_push((struct event){.at = sim.now_ms + after_ms, .kind = kind, .host = host});
}

void sim_trace(const char *format, ...)
{
    static int wanted = -1;
    va_list list;
    if (wanted < 0)
        wanted = getenv("BCR_TREE_TRACE") != NULL;
    if (!wanted)
        return;
    printf("%8llu ms: ", (unsigned long long)sim.now_ms);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}

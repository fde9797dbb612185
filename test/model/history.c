/* SPDX-License-Identifier: MIT */
/* See history.h. */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    int count, value[HISTORY_QUEUE + HISTORY_OPS];
};

/* States from which no order leads to the end: which operations were done, and what was in the
 * queue. */
struct failed {
    uint64_t done, queue;
    struct failed *next;
};
enum { BUCKETS = 1024 };
struct search {
    const struct history *history;
    struct failed *failed[BUCKETS];
};

static uint64_t hash_of(const struct queue *queue)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < queue->count; i++)
        hash = (hash ^ (uint64_t)(uint32_t)queue->value[i]) * UINT64_C(0x100000001b3);
    return hash * 31 + (uint64_t)queue->count;
}

static bool apply(const struct history_op *op, struct queue *queue, int nrgns)
{
    bool first = queue->count != 0 && queue->value[0] == op->value;
    switch (op->what) {
    case HISTORY_PUT:
        if (queue->count >= nrgns)
            return false;
        queue->value[queue->count++] = op->value;
        return true;
    case HISTORY_WRITE:
        if (queue->count == 0 && nrgns == 0)
            return false;
        queue->value[0] = op->value;
        queue->count = 1;
        return true;
    case HISTORY_FULL: return queue->count >= nrgns;
    case HISTORY_TAKE:
        if (first)
            memmove(queue->value, queue->value + 1, (size_t)--queue->count * sizeof(int));
        return first;
    case HISTORY_READ: return first;
    case HISTORY_EMPTY: return queue->count == 0;
    case HISTORY_ZAP: queue->count = 0; return true;
    case HISTORY_LENGTH: return queue->count == op->value;
    }
    return false;
}

static bool has_failed(const struct search *search, uint64_t done, uint64_t queue)
{
    for (struct failed *at = search->failed[(done ^ queue) % BUCKETS]; at != NULL; at = at->next)
        if (at->done == done && at->queue == queue)
            return true;
    return false;
}

static bool note_failed(struct search *search, uint64_t done, uint64_t queue)
{
    struct failed **bucket = &search->failed[(done ^ queue) % BUCKETS];
    struct failed *failed = malloc(sizeof *failed);
    if (failed == NULL)
        abort();
    *failed = (struct failed){done, queue, *bucket};
    *bucket = failed;
    return false;
}

static bool find_order(struct search *search, uint64_t done, const struct queue *queue)
{
    const struct history *history = search->history;
    if (done == (UINT64_C(1) << history->count) - 1)
        return true;
    uint64_t hash = hash_of(queue);
    if (has_failed(search, done, hash))
        return false;
    /* The next operation was called before any other that is left returned. */
    uint64_t first_return = UINT64_MAX;
    for (int i = 0; i < history->count; i++)
        if ((done >> i & 1) == 0 && history->op[i].returned < first_return)
            first_return = history->op[i].returned;
    for (int i = 0; i < history->count; i++) {
        struct queue after = *queue;
        if ((done >> i & 1) == 0 && history->op[i].called < first_return &&
            apply(&history->op[i], &after, history->nrgns) &&
            find_order(search, done | UINT64_C(1) << i, &after))
            return true;
    }
    return note_failed(search, done, hash);
}

bool history_is_linearizable(const struct history *history)
{
    struct search search = {.history = history};
    struct queue queue = {.count = history->start_count};
    memcpy(queue.value, history->start, (size_t)history->start_count * sizeof(int));
    bool found = find_order(&search, 0, &queue);
    for (int i = 0; i < BUCKETS; i++)
        while (search.failed[i] != NULL) {
            struct failed *next = search.failed[i]->next;
            free(search.failed[i]);
            search.failed[i] = next;
        }
    return found;
}

void history_print(const struct history *history)
{
    static const char *const names[] = {"put", "write", "full", "take", "read", "empty", "zap", "length"};
    printf("nrgns %d, at the start:", history->nrgns);
    for (int i = 0; i < history->start_count; i++)
        printf(" %d", history->start[i]);
    printf("\n");
    for (int i = 0; i < history->count; i++)
        printf("%6llu to %6llu: %s %d\n", (unsigned long long)history->op[i].called,
               (unsigned long long)history->op[i].returned, names[history->op[i].what], history->op[i].value);
}

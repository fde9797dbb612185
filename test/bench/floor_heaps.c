/* SPDX-License-Identifier: MIT */
/*
 * floor_heaps.c -- what good private allocators take: in one thread, and freed by another.
 *
 * They are loaded with dlopen and called through pointers, which costs what a call through the PLT
 * costs and leaves the program's own malloc alone. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "floors.h"

/* A sanitizer that replaces malloc does not tolerate a second allocator. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZER_OWNS_MALLOC = 1 };
#elif defined(__has_feature)
enum { SANITIZER_OWNS_MALLOC = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZER_OWNS_MALLOC = 0 };
#endif

static const struct {
    const char *name, *library, *allocate, *release;
} heaps[] = {
    {"tcmalloc", "libtcmalloc_minimal.so.4", "tc_malloc", "tc_free"},
    {"mimalloc", "libmimalloc.so.2", "mi_malloc", "mi_free"},
};

bool floor_heap_open(struct floor_heap *heap_out, const char *name)
{
    for (size_t i = 0; i < sizeof heaps / sizeof heaps[0] && !SANITIZER_OWNS_MALLOC; i++) {
        if (strcmp(heaps[i].name, name) != 0)
            continue;
        void *library = dlopen(heaps[i].library, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            return false;
        struct floor_heap heap = {.name = heaps[i].name};
        /* The way that POSIX names for a function's address. */
        *(void **)&heap.allocate = dlsym(library, heaps[i].allocate);
        *(void **)&heap.release = dlsym(library, heaps[i].release);
        if (heap.allocate == NULL || heap.release == NULL)
            return false;
        *heap_out = heap;
        return true;
    }
    return false;
}

static inline void *allocate(const struct floor_heap *heap, size_t size_bytes)
{
    uint64_t *item = heap->allocate(size_bytes);
    if (item == NULL)
        bench_fail("%s is out of memory", heap->name);
    *item = size_bytes;
    return item;
}

void floor_heap_pair(struct bench_pair *pair, struct bench_turn *turn)
{
    const struct floor_heap *heap = turn->context;
    if (pair->side != 0)
        return;
    for (long i = 0; i < turn->count; i++)
        heap->release(allocate(heap, turn->size_bytes));
    turn->op_count = turn->count;
}

struct freer {
    const struct floor_heap *heap;
    struct floor_ring_shm *full, *empty;
    long count;
    int core;
    int64_t freeing_ns;
};

static void *free_each(void *argument)
{
    struct freer *freer = argument;
    bench_pin(freer->core, freer->core);
    for (long i = 0; i < freer->count; i++)
        freer->heap->release((void *)(uintptr_t)floor_ring_pop(freer->full));
    return NULL;
}

/* Starts the freeing thread of this process on the partner's core; the partner sleeps meanwhile. */
static pthread_t start_freer(const struct bench_pair *pair, struct freer *freer, void *(*body)(void *))
{
    pthread_t thread;
    freer->full = &floor_area(pair)->full;
    freer->empty = &floor_area(pair)->empty;
    freer->core = pair->core[1];
    if (pthread_create(&thread, NULL, body, freer) != 0)
        bench_fail("cannot start a thread");
    return thread;
}

void floor_heap_cross(struct bench_pair *pair, struct bench_turn *turn)
{
    struct freer freer = {.heap = turn->context, .count = turn->count};
    if (pair->side != 0)
        return;
    pthread_t thread = start_freer(pair, &freer, free_each);
    for (long i = 0; i < turn->count; i++)
        floor_ring_push(freer.full, (uintptr_t)allocate(freer.heap, turn->size_bytes));
    pthread_join(thread, NULL);
    turn->op_count = turn->count;
}

static void *free_batches(void *argument)
{
    struct freer *freer = argument;
    bench_pin(freer->core, freer->core);
    for (long i = 0; i < freer->count; i++) {
        void **item = (void **)(uintptr_t)floor_ring_pop(freer->full);
        int64_t start_ns = bench_now_ns();
        for (int k = 0; k < FLOOR_BATCH_COUNT; k++)
            freer->heap->release(item[k]);
        freer->freeing_ns += bench_now_ns() - start_ns;
        floor_ring_push(freer->empty, (uint64_t)i);
    }
    return NULL;
}

void floor_heap_cross_batch(struct bench_pair *pair, struct bench_turn *turn)
{
    static void *item[FLOOR_BATCH_COUNT];
    struct freer freer = {.heap = turn->context, .count = turn->count};
    int64_t allocating_ns = 0;
    if (pair->side != 0)
        return;
    pthread_t thread = start_freer(pair, &freer, free_batches);
    for (long i = 0; i < turn->count; i++) {
        int64_t start_ns = bench_now_ns();
        for (int k = 0; k < FLOOR_BATCH_COUNT; k++)
            item[k] = allocate(freer.heap, turn->size_bytes);
        allocating_ns += bench_now_ns() - start_ns;
        floor_ring_push(freer.full, (uintptr_t)item);
        floor_ring_pop(freer.empty);
    }
    pthread_join(thread, NULL);
    turn->op_count = turn->count * FLOOR_BATCH_COUNT;
    turn->timed_ns = (double)(allocating_ns + freer.freeing_ns);
}

/* SPDX-License-Identifier: MIT */
/*
 * floor_streams.c -- streaming over bare shared memory: a ring with one producer and one consumer
 * (L. Lamport, "Specifying Concurrent Program Modules", 1983, with remembered indices), and large
 * buffers that travel through two such rings, full ones one way and empty ones back. */
#include <string.h>

#include "floors.h"

void floor_consume(uint64_t value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

/* Inlined into the loops of this file; others call floor_ring_push. */
static inline void push(struct floor_ring_shm *ring, uint64_t item)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail - ring->seen_head >= FLOOR_RING_SLOTS)
        ring->seen_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    ring->slot[tail % FLOOR_RING_SLOTS] = item;
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

static inline uint64_t pop(struct floor_ring_shm *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    while (ring->seen_tail == head)
        ring->seen_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t item = ring->slot[head % FLOOR_RING_SLOTS];
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return item;
}

void floor_ring_push(struct floor_ring_shm *ring, uint64_t item)
{
    push(ring, item);
}

uint64_t floor_ring_pop(struct floor_ring_shm *ring)
{
    return pop(ring);
}

void floor_stream_items(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_ring_shm *ring = &floor_area(pair)->full;
    uint64_t sum = 0;
    if (pair->side == 0) {
        for (long i = 0; i < turn->count; i++)
            push(ring, (uint64_t)i);
        turn->op_count = turn->count;
    } else {
        for (long i = 0; i < turn->count; i++)
            sum += pop(ring);
        floor_consume(sum);
    }
}

void floor_bulk_write(void *buffer, size_t size_bytes, uint64_t seed)
{
    memset(buffer, (int)(seed & 0xff), size_bytes);
}

uint64_t floor_bulk_read(const void *buffer, size_t size_bytes)
{
    const uint64_t *item = buffer;
    uint64_t sum = 0;
    for (size_t i = 0; i < size_bytes / sizeof *item; i++)
        sum += item[i];
    return sum;
}

long floor_bulk_lead(long count)
{
    return count < FLOOR_BULK_COUNT - 2 ? count : FLOOR_BULK_COUNT - 2;
}

void floor_stream_bulk(struct bench_pair *pair, struct bench_turn *turn)
{
    struct floor_area_shm *area = floor_area(pair);
    char *buffers = (char *)pair->area + FLOOR_BULK_OFFSET;
    long lead = floor_bulk_lead(turn->count);
    uint64_t sum = 0;

    if (pair->side == 0) {
        for (long i = 0; i < turn->count; i++) {
            uint64_t idx = i < FLOOR_BULK_COUNT ? (uint64_t)i : pop(&area->empty);
            floor_bulk_write(buffers + idx * FLOOR_BULK_BYTES, turn->size_bytes, (uint64_t)i);
            push(&area->full, idx);
            if (i + 1 == lead)
                bench_pair_align(pair);
        }
        turn->op_count = turn->count;
    } else {
        bench_pair_align(pair);
        for (long i = 0; i < turn->count; i++) {
            uint64_t idx = pop(&area->full);
            sum += floor_bulk_read(buffers + idx * FLOOR_BULK_BYTES, turn->size_bytes);
            push(&area->empty, idx);
        }
        floor_consume(sum);
    }
}

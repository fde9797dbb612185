/* SPDX-License-Identifier: MIT */
/*
 * floors.h -- what the machine itself takes, as steps of a pair: cache lines, futexes, locks,
 * rings, heaps,
 * processes.  Each is the least that any library doing the same job through shared memory would spend.
 */
#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include "pair.h"

#define FLOOR_RING_SLOTS  1024
#define FLOOR_BULK_BYTES  (1024 * 1024)
#define FLOOR_BULK_COUNT  8       /* buffers of the bulk stream, in use and free */
#define FLOOR_SLEEP_NS    1000000 /* longer than any waiter should spin */
#define FLOOR_SPAWN_COUNT 128

struct floor_word_shm {
    alignas(BENCH_LINE) _Atomic uint64_t value;
};

struct floor_futex_shm {
    alignas(BENCH_LINE) _Atomic uint32_t value;
    int64_t sent_ns; /* written before value */
};

/*
 * One producer, one consumer, 8-byte items.  head and tail only grow; each side keeps the last value it saw of
 * the other's, so that it fetches the other's line once per lap and not once per item. */
struct floor_ring_shm {
    alignas(BENCH_LINE) _Atomic uint64_t tail; /* producer writes */
    uint64_t seen_head;                        /* producer only */
    alignas(BENCH_LINE) _Atomic uint64_t head; /* consumer writes */
    uint64_t seen_tail;                        /* consumer only */
    alignas(BENCH_LINE) uint64_t slot[FLOOR_RING_SLOTS];
};

/* Zeroed before each turn. */
struct floor_area_shm {
    struct floor_word_shm word[2];
    struct floor_futex_shm futex[2];
    struct floor_word_shm lock, stop;
    struct floor_ring_shm full, empty;
};

/* Area of a pair that runs the bulk stream; without it sizeof(struct floor_area_shm) is enough. */
#define FLOOR_BULK_OFFSET (((sizeof(struct floor_area_shm)) + 4095) / 4096 * 4096)
#define FLOOR_AREA_BYTES  (FLOOR_BULK_OFFSET + (size_t)FLOOR_BULK_COUNT * FLOOR_BULK_BYTES)

/* floor_lines.c: one way, one core to the other */
bench_step floor_two_lines;      /* F2: each side writes its own line, spins bare on the other's */
bench_step floor_one_line;       /* both write one line */
bench_step floor_one_line_pause; /* the same, one pause per look: the line migrates whole */
bench_step floor_yield;          /* F2 with sched_yield after each vain look: meant for one core */
bench_step floor_futex;          /* no spinning at all */
bench_step floor_futex_slept;    /* the waiter has slept for FLOOR_SLEEP_NS; only the way counts */

/* floor_locks.c */
bench_step floor_lock_own;        /* side 0 takes and releases a test-and-set lock, C11's default order */
bench_step floor_lock_own_acqrel; /* the same with acquire and release */
bench_step floor_lock_contended;  /* both do */

/* floor_streams.c */
void floor_ring_push(struct floor_ring_shm *ring, uint64_t item);
uint64_t floor_ring_pop(struct floor_ring_shm *ring);
bench_step floor_stream_items; /* 8-byte items through a ring */
bench_step floor_stream_bulk;  /* FLOOR_BULK_COUNT buffers, each written whole and read whole */
void floor_bulk_write(void *buffer, size_t size_bytes, uint64_t seed);
uint64_t floor_bulk_read(const void *buffer, size_t size_bytes);
/*
 * Bare buffers were seen to stream at 28 and at 57 GB/s on one machine with the same F2; a reader
 * on the heels of
 * its writer fetches from the other core's cache, one that is behind does not.  So that floor and subject begin in
 * the same state, the writer of either begins alone and the reader follows after so many
 * buffers. */
long floor_bulk_lead(long count);
/* Keeps a value that nobody else uses from being optimized away. */
void floor_consume(uint64_t value);

/* floor_heaps.c: a heap is loaded by name and called through pointers, so it replaces nobody's
 * malloc */
struct floor_heap {
    const char *name;
    void *(*allocate)(size_t);
    void (*release)(void *);
};
/* false: not installed, or this build's sanitizer has its own malloc */
bool floor_heap_open(struct floor_heap *heap_out, const char *name);
/* Steps whose context is a struct floor_heap. Side 0 works, side 1 waits. */
bench_step floor_heap_pair;        /* malloc, write 8 bytes, free */
bench_step floor_heap_cross;       /* one thread allocates, one on the other core frees; through a ring */
bench_step floor_heap_cross_batch; /* FLOOR_BATCH_COUNT at a time; only malloc and free count */
#define FLOOR_BATCH_COUNT 1000

/* floor_spawn.c: fork and exec of /bin/true, FLOOR_SPAWN_COUNT (4 in a tiny run) at a time, all
 * waited for */
bench_step floor_spawn;
/* How many processes one count of floor_spawn means; set once, before measuring. */
extern int floor_spawn_count;

static inline struct floor_area_shm *floor_area(const struct bench_pair *pair)
{
    return pair->area;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * bench_floors.c -- the floors of this machine, for themselves: two forked processes, no library of
 * ours. bench_cells measures the same floors again, each beside the figure that is compared with
 * it. */
#include <string.h>

#include "count.h"
#include "floors.h"

static struct floor_heap tcmalloc, mimalloc;

#define FLOOR(figure, its_unit, its_place, step)                                      \
    {                                                                                 \
        .name = (figure), .unit = (its_unit), .place = (its_place), .subject = (step) \
    }
#define HEAP(figure, heap, step, bytes)                                                                 \
    {                                                                                                   \
        .name = (figure), .unit = BENCH_NS, .subject = (step), .context = (heap), .size_bytes = (bytes) \
    }

static const struct bench_case cases[] = {
    FLOOR("line.two", BENCH_NS, BENCH_TWO_CORES, floor_two_lines),
    FLOOR("line.one", BENCH_NS, BENCH_TWO_CORES, floor_one_line),
    FLOOR("line.one_pause", BENCH_NS, BENCH_TWO_CORES, floor_one_line_pause),
    FLOOR("futex.two_cores", BENCH_NS, BENCH_TWO_CORES, floor_futex),
    FLOOR("futex.slept", BENCH_NS, BENCH_TWO_CORES, floor_futex_slept),
    FLOOR("futex.one_core", BENCH_NS, BENCH_ONE_CORE, floor_futex),
    FLOOR("yield.one_core", BENCH_NS, BENCH_ONE_CORE, floor_yield),
    FLOOR("lock.own", BENCH_NS, BENCH_TWO_CORES, floor_lock_own),
    FLOOR("lock.own_acqrel", BENCH_NS, BENCH_TWO_CORES, floor_lock_own_acqrel),
    FLOOR("lock.contended", BENCH_NS, BENCH_TWO_CORES, floor_lock_contended),
    FLOOR("stream.8B", BENCH_M_PER_S, BENCH_TWO_CORES, floor_stream_items),
    {.name = "stream.1M",
     .unit = BENCH_GB_PER_S,
     .subject = floor_stream_bulk,
     .size_bytes = FLOOR_BULK_BYTES},
    HEAP("heap.tcmalloc.64B", &tcmalloc, floor_heap_pair, 64),
    HEAP("heap.tcmalloc.256B", &tcmalloc, floor_heap_pair, 256),
    HEAP("heap.tcmalloc.1K", &tcmalloc, floor_heap_pair, 1024),
    HEAP("heap.tcmalloc.4K", &tcmalloc, floor_heap_pair, 4096),
    HEAP("heap.tcmalloc.16K", &tcmalloc, floor_heap_pair, 16384),
    HEAP("heap.tcmalloc.64K", &tcmalloc, floor_heap_pair, 65536),
    HEAP("heap.tcmalloc.cross", &tcmalloc, floor_heap_cross, 64),
    HEAP("heap.tcmalloc.cross_batch", &tcmalloc, floor_heap_cross_batch, 64),
    HEAP("heap.mimalloc.64B", &mimalloc, floor_heap_pair, 64),
    HEAP("heap.mimalloc.cross", &mimalloc, floor_heap_cross, 64),
    HEAP("heap.mimalloc.cross_batch", &mimalloc, floor_heap_cross_batch, 64),
    FLOOR("spawn", BENCH_MS, BENCH_ANY_CORE, floor_spawn),
};

#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

/* Without an allocator its figures are left out, and the reader is told. */
static void open_heap(struct floor_heap *heap, const char *name, struct bench_case *table)
{
    if (floor_heap_open(heap, name))
        return;
    for (int i = 0; i < CASE_COUNT; i++)
        if (table[i].context == heap)
            table[i].left_out = "no such allocator here, or this build's sanitizer has its own";
}

struct heap_loop {
    const struct floor_heap *heap;
    size_t size_bytes;
};

static void run_heap_loop(void *argument, long n)
{
    const struct heap_loop *loop = argument;
    for (long i = 0; i < n; i++) {
        uint64_t *item = loop->heap->allocate(loop->size_bytes);
        *item = 0;
        loop->heap->release(item);
    }
}

static void count_heaps(const struct bench_case *table, const struct bench_options *options,
                        struct bench_report *report)
{
    for (int i = 0; i < CASE_COUNT; i++) {
        char name[64];
        struct heap_loop loop = {.heap = table[i].context, .size_bytes = table[i].size_bytes};
        if (table[i].subject != floor_heap_pair || table[i].left_out != NULL)
            continue;
        snprintf(name, sizeof name, "%s.count", table[i].name);
        if (!bench_wanted(options, name))
            continue;
        double counted = bench_count_instructions(run_heap_loop, &loop, options->tiny ? 10 : 1000);
        if (counted < 0) {
            bench_report_note("instructions cannot be counted here; see callgrind in test/bench/README.md");
            return;
        }
        struct bench_figure figure = {
            .name = name, .unit = BENCH_INSTRUCTIONS, .value = {counted, counted, counted}};
        bench_report_add(report, &figure);
    }
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_report report;
    struct bench_case table[CASE_COUNT];
    /* Case 0 is F2. */
    struct bench_pair pair = {.cases = table, .case_count = CASE_COUNT, .probe_idx = 0};

    bench_options_parse(&options, argc, argv);
    memcpy(table, cases, sizeof cases);
    if (options.list) {
        bench_pair_list(&pair, &options);
        return 0;
    }
    if (options.tiny)
        floor_spawn_count = 4;
    open_heap(&tcmalloc, "tcmalloc", table);
    open_heap(&mimalloc, "mimalloc", table);
    pair.core[0] = options.core[0];
    pair.core[1] = options.core[1];
    bench_pair_create(&pair, FLOOR_AREA_BYTES, sizeof(struct floor_area_shm));
    bench_pair_fork(&pair);
    bench_report_begin(&report, &options, "Floors");
    bench_pair_measure(&pair, &options, &report);
    count_heaps(table, &options, &report);
    bench_pair_end(&pair);
    bench_report_end(&report);
    return 0;
}

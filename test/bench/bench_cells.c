/* SPDX-License-Identifier: MIT */
/*
 * bench_cells.c -- the figures of the library, each beside its floor:  enl bench_cells [options]
 *
 * One executable in three roles, told apart by the ordinal: the root (side 0), its partner (side 1,
 * told in its birth region where the shared page of the floors is), and the children of the figure
 * about enlisting. */
#include "bench_cells.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "count.h"

#define HEAP_AREA       1
#define MIB             (1024 * 1024)
#define HEAP_BYTES      (3 * 64 * MIB + 2 * FLOOR_BULK_COUNT * MIB + 16 * MIB)
#define HEAP_BYTES_TINY (2 * FLOOR_BULK_COUNT * MIB + 4 * MIB)

static struct floor_heap tcmalloc, foreign_heap;

#define HANDOVER(figure, bytes, limit_)                                                           \
    {                                                                                             \
        .name = (figure), .unit = BENCH_NS, .subject = cells_handover, .floor = floor_two_lines,  \
        .floor_name = "two lines (F2)", .size_bytes = (bytes), .limit_kind = BENCH_RATIO_AT_MOST, \
        .limit = (limit_)                                                                         \
    }
#define HEAP(figure, bytes)                                                                      \
    {                                                                                            \
        .name = (figure), .unit = BENCH_NS, .subject = cells_heap_own, .floor = floor_heap_pair, \
        .floor_name = "tcmalloc", .context = &tcmalloc, .size_bytes = (bytes),                   \
        .limit_kind = BENCH_RATIO_AT_MOST, .limit = 3                                            \
    }
#define FOREIGN(figure, bytes, step, floor_step)                                                       \
    {                                                                                                  \
        .name = (figure), .unit = BENCH_NS, .subject = (step), .floor = (floor_step),                  \
        .context = &foreign_heap, .size_bytes = (bytes), .limit_kind = BENCH_RATIO_AT_MOST, .limit = 1 \
    }
#define POLL(figure, step)                                                               \
    {                                                                                    \
        .name = (figure), .unit = BENCH_US, .place = BENCH_TWO_CORES, .subject = (step), \
        .floor = floor_eventfd, .floor_name = "eventfd and poll", .size_bytes = 8,       \
        .limit_kind = BENCH_RATIO_AT_MOST, .limit = 1.3                                  \
    }
#define LOCK(figure, step, floor_step, its_floor, limit_)                               \
    {                                                                                   \
        .name = (figure), .unit = BENCH_NS, .subject = (step), .floor = (floor_step),   \
        .floor_name = (its_floor), .limit_kind = BENCH_RATIO_AT_MOST, .limit = (limit_) \
    }

static const struct bench_case cases[] = {
    HANDOVER("handover.8B", 8, 1.5),
    HANDOVER("handover.1K", 1024, 2),
    HANDOVER("handover.64K", 64 * 1024, 2),
    HANDOVER("handover.1M", MIB, 2),
    HANDOVER("handover.64M", 64 * MIB, 2),
    {.name = "handover.slept",
     .unit = BENCH_US,
     .subject = cells_handover_slept,
     .floor = floor_futex_slept,
     .floor_name = "futex, slept",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 1.3},
    {.name = "handover.one_core",
     .unit = BENCH_NS,
     .place = BENCH_ONE_CORE,
     .subject = cells_handover,
     .floor = floor_yield,
     .floor_name = "sched_yield",
     .size_bytes = 8,
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 1.2},
    POLL("poll.cell", cells_poll),
    POLL("poll.own", cells_poll_own),
    {.name = "stream.8B",
     .unit = BENCH_M_PER_S,
     .subject = cells_stream_items,
     .floor = floor_stream_items,
     .floor_name = "bare ring",
     .size_bytes = 8,
     .limit_kind = BENCH_VALUE_AT_LEAST,
     .limit = 27},
    {.name = "stream.1M",
     .unit = BENCH_GB_PER_S,
     .subject = cells_stream_bulk,
     .floor = floor_stream_bulk,
     .floor_name = "bare buffers",
     .size_bytes = FLOOR_BULK_BYTES,
     .limit_kind = BENCH_RATIO_AT_LEAST,
     .limit = 0.95},
    HEAP("heap.own.64B", 64),
    HEAP("heap.own.256B", 256),
    HEAP("heap.own.1K", 1024),
    HEAP("heap.own.4K", 4096),
    HEAP("heap.own.16K", 16384),
    HEAP("heap.own.64K", 65536),
    FOREIGN("heap.foreign_batch", 64, cells_heap_foreign_batch, floor_heap_cross_batch),
    FOREIGN("heap.foreign_stream", 64, cells_stream_items, floor_heap_cross),
    LOCK("lock.write", cells_lock_write, floor_lock_own, "test-and-set", 6),
    LOCK("lock.write.acqrel", cells_lock_write, floor_lock_own_acqrel, "test-and-set acqrel", 6),
    LOCK("lock.read", cells_lock_read, floor_lock_own, "test-and-set", 6),
    LOCK("lock.read.acqrel", cells_lock_read, floor_lock_own_acqrel, "test-and-set acqrel", 6),
    LOCK("lock.contended", cells_lock_contended, floor_lock_contended, "test-and-set", 4),
    {.name = "enlist",
     .unit = BENCH_MS,
     .place = BENCH_ANY_CORE,
     .subject = cells_enlist,
     .floor = floor_spawn,
     .floor_name = "fork and exec",
     .limit_kind = BENCH_RATIO_AT_MOST,
     .limit = 3},
};

#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

static void grow_heap(bool tiny)
{
    cells_check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 0, tiny ? HEAP_BYTES_TINY : HEAP_BYTES) == HEAP_AREA,
                "bcr_cagrow");
    cells_grow(CELL_HAND, 64, 0);
}

/* Side 1, until the root has had enough. */
static void be_partner(struct bench_pair *pair)
{
    static struct cells_user user;
    grow_heap(cells_be_partner(pair, &user));
    cells_grow(CELL_ITEMS, ITEMS_IN_CELL_MAX, 0);
    cells_grow(CELL_BULK, BULK_IN_CELL_MAX, 0);
    cells_grow(CELL_BATCH, FLOOR_BATCH_COUNT, 0);
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bench_pair_serve(pair);
}

/* Allocators that are missing, and sizes that a tiny run does not need. */
static void adapt_cases(struct bench_case *table, const struct bench_options *options)
{
    bool have_tcmalloc = floor_heap_open(&tcmalloc, "tcmalloc");
    bool have_foreign =
        floor_heap_open(&foreign_heap, "mimalloc") || floor_heap_open(&foreign_heap, "tcmalloc");

    for (int i = 0; i < CASE_COUNT; i++) {
        if (table[i].context == &foreign_heap)
            table[i].floor_name = have_foreign ? foreign_heap.name : NULL;
        if ((table[i].context == &tcmalloc && !have_tcmalloc) ||
            (table[i].context == &foreign_heap && !have_foreign)) {
            /* Still worth running; there is only nothing to compare with. */
            table[i].floor = NULL;
            table[i].limit_kind = BENCH_NO_LIMIT;
        }
        if (options->tiny && table[i].size_bytes > FLOOR_BULK_BYTES)
            table[i].left_out = "a tiny run has no room for it";
    }
}

static void floor_heap_loop(void *size_bytes, long n)
{
    for (long i = 0; i < n; i++) {
        uint64_t *item = tcmalloc.allocate(*(const size_t *)size_bytes);
        *item = 0;
        tcmalloc.release(item);
    }
}

/* floor may be NULL. */
static void report_count(struct bench_report *report, const struct bench_options *options, const char *name,
                         void (*subject)(void *, long), void (*floor)(void *, long), void *argument)
{
    long n = options->tiny ? 10 : 1000;
    struct bench_figure figure = {.name = name, .unit = BENCH_INSTRUCTIONS};

    if (!bench_wanted(options, name))
        return;
    double counted = bench_count_instructions(subject, argument, n);
    double below = floor != NULL ? bench_count_instructions(floor, argument, n) : -1;
    if (counted < 0) {
        bench_report_note("%s left out: instructions cannot be counted here (test/bench/README.md)", name);
        return;
    }
    figure.value = (struct bench_spread){counted, counted, counted};
    if (below > 0) {
        double ratio = counted / below;
        figure.floor_name = tcmalloc.name;
        figure.floor = (struct bench_spread){below, below, below};
        figure.ratio = (struct bench_spread){ratio, ratio, ratio};
        figure.limit_kind = BENCH_RATIO_AT_MOST;
        figure.limit = 3;
    }
    bench_report_add(report, &figure);
}

static void count_instructions(const struct bench_case *table, const struct bench_options *options,
                               struct bench_report *report, struct cells_user *user)
{
    for (int i = 0; i < CASE_COUNT; i++) {
        char name[64];
        size_t size_bytes = table[i].size_bytes;
        if (table[i].subject != cells_heap_own)
            continue;
        snprintf(name, sizeof name, "%s.count", table[i].name);
        report_count(report, options, name, cells_heap_own_loop,
                     tcmalloc.allocate != NULL ? floor_heap_loop : NULL, &size_bytes);
    }
    report_count(report, options, "lock.write.count", cells_lock_write_loop, NULL, user);
    report_count(report, options, "lock.read.count", cells_lock_read_loop, NULL, user);
}

static void be_root(struct bench_pair *pair, struct bench_case *table, const struct bench_options *options)
{
    static char executable[PATH_MAX];
    struct bench_report report;
    struct cells_user user = {.executable = executable};
    long waits, sleeps;

    if (readlink("/proc/self/exe", executable, sizeof executable - 1) <= 0)
        bench_fail("cannot read /proc/self/exe");
    if (options->tiny)
        floor_spawn_count = 4;
    adapt_cases(table, options);
    grow_heap(options->tiny);
    cells_grow(CELL_LOCK, 1, 0);
    cells_grow(CELL_CRY, FLOOR_SPAWN_COUNT, 0);
    cells_check(bcr_enq(cells_new(64, 0), bcr_cce, CELL_LOCK, bcr_FREE) == 0, "bcr_enq");
    cells_enlist_partner(pair, options, &user);
    bench_report_begin(&report, options, "BCR on one host, each figure beside its floor");
    bench_pair_measure(pair, options, &report);
    count_instructions(table, options, &report, &user);
    bench_pair_end(pair);
    cells_slept(&waits, &sleeps);
    if (waits > 0)
        bench_report_note("handover.slept: %ld sleeps in %ld waits of the root", sleeps, waits);
    bench_report_end(&report);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_case table[CASE_COUNT];
    /* Case 0 stands beside F2. */
    struct bench_pair pair = {
        .cases = table, .case_count = CASE_COUNT, .probe_idx = 0, .probe_is_floor = true};

    memcpy(table, cases, sizeof cases);
    bench_options_parse(&options, argc, argv);
    if (options.list) {
        bench_pair_list(&pair, &options);
        return 0;
    }
    cells_check(bcr_init(bcr_inorder | bcr_user_ca, argv[0]) == 0, "bcr_init");
    if (bcr_cceord == 0)
        be_root(&pair, table, &options);
    else if (bcr_cceord == ORDINAL_PARTNER)
        be_partner(&pair);
    else
        cells_child();
    return 0;
}

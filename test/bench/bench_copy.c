/* SPDX-License-Identifier: MIT */
/*
 * bench_copy.c -- copies by descriptor beside loops written by hand:  enl bench_copy [options]
 *
 * One process. Floor and subject take turns of the same length on the same memory, the floor first;
 * a round's ratio is its subject over the floor just before it. What both have written is compared
 * before anything is measured. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "copy.h"

enum { HEAP_AREA = 1, HEAP_BYTES = 66 * 1024 * 1024, SWAPPED_ORDER = 1 << 24 };

struct bed {
    const struct copy_case *copy;
    uint8_t *user;
    bcr_region region;
};

static void check(bool good, const char *what)
{
    if (good)
        return;
    errno = 0;
    bench_fail("%s: %s", what, bcr_strerror(bcr_errno));
}

static void copy_by_descriptor(const struct bed *bed, long n)
{
    const struct copy_case *copy = bed->copy;
    const int *const desc[2] = {copy->desc, copy->in_turn != NULL ? copy->in_turn : copy->desc};
    for (long i = 0; i < n; i++)
        if (bcr_copyto(desc[i & 1], copy->repl, bed->region, 0, bed->user, copy->user_bytes) < 2)
            check(false, copy->name);
}

static void copy_by_hand(const struct bed *bed, long n)
{
    bed->copy->floor(bed->copy, *bed->region, bed->user, n);
}

static double time_of(void (*copies)(const struct bed *, long), const struct bed *bed, long n)
{
    int64_t begin_ns = bench_now_ns();
    copies(bed, n);
    return (double)(bench_now_ns() - begin_ns) / (double)n;
}

/* How many copies fill a turn. */
static long calibrate(void (*copies)(const struct bed *, long), const struct bed *bed, double turn_ns)
{
    long n = 1;
    for (double each_ns = 0; n < 1 << 30; n *= 2) {
        each_ns = time_of(copies, bed, n);
        if (each_ns * (double)n >= turn_ns / 4) {
            double wanted = turn_ns / each_ns;
            return wanted < 1 ? 1 : (long)wanted;
        }
    }
    return n;
}

static void compare(const struct bed *bed)
{
    const struct copy_case *copy = bed->copy;
    if (copy->unit != BENCH_GB_PER_S)
        return;
    uint8_t *by_hand = malloc((size_t)copy->region_bytes);
    if (by_hand == NULL)
        bench_fail("no memory");
    memset(*bed->region, 0, (size_t)copy->region_bytes);
    copy_by_hand(bed, 1);
    memcpy(by_hand, *bed->region, (size_t)copy->region_bytes);
    memset(*bed->region, 0, (size_t)copy->region_bytes);
    copy_by_descriptor(bed, 1);
    if (memcmp(by_hand, *bed->region, (size_t)copy->region_bytes) != 0)
        bench_fail("%s: the two copies differ", copy->name);
    free(by_hand);
}

static void measure(const struct copy_case *copy, const struct bench_options *options,
                    struct bench_report *report)
{
    struct bed bed = {.copy = copy, .user = aligned_alloc(64, ((size_t)copy->user_bytes + 63) / 64 * 64)};
    if (bed.user == NULL)
        bench_fail("no memory");
    for (int i = 0; i < copy->user_bytes; i++)
        bed.user[i] = (uint8_t)(i * 7 % 251);
    bed.region = bcr_rgalloc(copy->region_bytes, copy->swapped ? bcr_archtype ^ SWAPPED_ORDER : 0);
    check(bed.region != NULL, "bcr_rgalloc");
    compare(&bed);

    long subject_count = calibrate(copy_by_descriptor, &bed, options->turn_ns);
    long floor_count = calibrate(copy_by_hand, &bed, options->turn_ns);
    size_t rounds = (size_t)options->round_count;
    double *values = calloc(3 * rounds, sizeof *values);
    if (values == NULL)
        bench_fail("no memory");
    double *floors = values + rounds, *ratios = floors + rounds;
    for (size_t i = 0; i < rounds; i++) {
        floors[i] =
            bench_convert(copy->unit, time_of(copy_by_hand, &bed, floor_count), (size_t)copy->user_bytes);
        values[i] = bench_convert(copy->unit, time_of(copy_by_descriptor, &bed, subject_count),
                                  (size_t)copy->user_bytes);
        ratios[i] = values[i] / floors[i];
    }
    const struct bench_figure figure = {.name = copy->name,
                                        .unit = copy->unit,
                                        .floor_name = copy->floor_name,
                                        .value = bench_spread_of(values, options->round_count),
                                        .floor = bench_spread_of(floors, options->round_count),
                                        .ratio = bench_spread_of(ratios, options->round_count),
                                        .limit_kind = copy->limit_kind,
                                        .limit = copy->limit};
    bench_report_add(report, &figure);
    free(values);
    check(bcr_rgfree(bed.region) == 0, "bcr_rgfree");
    free(bed.user);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_report report;
    bench_options_parse(&options, argc, argv);
    for (int i = 0; options.list && i < copy_case_count; i++)
        if (bench_wanted(&options, copy_cases[i].name))
            printf("%s\n", copy_cases[i].name);
    if (options.list)
        return 0;
    if (options.tiny)
        options.turn_ns = 1;
    check(bcr_init(bcr_inorder, argv[0]) == 0, "bcr_init");
    check(bcr_cagrow(HEAP_AREA, 0, 0, 0, 0, 0, HEAP_BYTES) == HEAP_AREA, "bcr_cagrow");
    bench_pin(options.core[0], options.core[0]);
    bench_report_begin(&report, &options, "Copies by descriptor, each beside a loop written by hand");
    for (int i = 0; i < copy_case_count; i++)
        if (bench_wanted(&options, copy_cases[i].name) &&
            (!options.tiny || copy_cases[i].user_bytes <= 16 * 1024 * 1024))
            measure(&copy_cases[i], &options, &report);
    bench_report_end(&report);
    return 0;
}

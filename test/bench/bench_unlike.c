/* SPDX-License-Identifier: MIT */
/*
 * bench_unlike.c -- regions that go to a CCE on another kind of machine and come back:
 *
 *     enl --hosts FILE bench_unlike
 *
 * The partner, unlike_far (../foreign), runs on the first machine of FILE, whose enl and path are another architecture's. Structs are copied into a
 * region in the partner's representation; it changes them there; and they are copied out of what comes back. Each
 * is beside the same copy with a region that stays here, which bench_copy has beside a loop written by hand. Only copies
 * on this side are timed: the partner may be emulated. All that comes back is looked at. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "copy.h"

enum {
    RECORDS = 100000,
    TINY_RECORDS = 100,
    HEAP_BYTES = 64 << 20,
    WORK = 1,
    CRY = 2,
    MACHINE_CHARS = 256,
    PATIENCE_MSEC = 60000
}; /* cells: unlike_far.c */

static const int record_desc[] = {
    bcrD_STRUCT(struct record, (CHAR, tag), (INT, id), (DOUBLE, at), (SHORT, rest))};

static void check(bool good, const char *what)
{
    if (good)
        return;
    errno = 0;
    bench_fail("%s: %s", what, bcr_strerror(bcr_errno));
}

static struct record record_of(int i, int round, bool back)
{
    struct record record;
    memset(&record, 0, sizeof record);
    record.tag = (char)(i & 127);
    record.id = (i ^ round) + back;
    record.at = (i * 1000.0 + round) / 8 * (back ? -1 : 1);
    for (int k = 0; k < 3; k++)
        record.rest[k] = (short)(i * 7 + k - round);
    return record;
}

struct bed {
    int count, bytes, archtype, region_bytes;
    bcr_cce_id partner;
    struct record *records, *back;
    bcr_region standing; /* in the partner's representation, and always here */
};

static double time_to(const struct bed *bed, bcr_region region, int times)
{
    const int64_t begin_ns = bench_now_ns();
    for (int i = 0; i < times; i++)
        check(bcr_copyto(record_desc, bed->count, region, 0, bed->records, bed->bytes) >= 2, "bcr_copyto");
    return (double)(bench_now_ns() - begin_ns) / times;
}

static double time_fm(const struct bed *bed, bcr_region region, int times)
{
    const int64_t begin_ns = bench_now_ns();
    for (int i = 0; i < times; i++)
        check(bcr_copyfm(record_desc, bed->count, region, 0, bed->back, bed->bytes) >= 2, "bcr_copyfm");
    return (double)(bench_now_ns() - begin_ns) / times;
}

static bcr_region there_and_back(const struct bed *bed, bcr_region region)
{
    check(bcr_enq(region, bed->partner, WORK, bcr_FREE) == 0, "bcr_enq");
    region = bcr_deq(bcr_cce, WORK, bcr_BLOCK);
    check(region != NULL, "bcr_deq");
    return region;
}

static void look_at(const struct bed *bed, int round)
{
    for (int i = 0; i < bed->count; i++) {
        const struct record want = record_of(i, round, true);
        if (memcmp(&bed->back[i], &want, sizeof want) != 0)
            bench_fail("record %d of round %d did not come back right", i, round);
    }
}

static void add(struct bench_report *report, const char *name, double (*times)[2], int rounds, int bytes)
{
    double *values = calloc(3 * (size_t)rounds, sizeof *values);
    if (values == NULL)
        bench_fail("no memory");
    double *floors = values + rounds, *ratios = floors + rounds;
    for (int i = 0; i < rounds; i++) {
        values[i] = bench_convert(BENCH_GB_PER_S, times[i][0], (size_t)bytes);
        floors[i] = bench_convert(BENCH_GB_PER_S, times[i][1], (size_t)bytes);
        ratios[i] = values[i] / floors[i];
    }
    const struct bench_figure figure = {.name = name,
                                        .unit = BENCH_GB_PER_S,
                                        .floor_name = "a region that stays",
                                        .value = bench_spread_of(values, rounds),
                                        .floor = bench_spread_of(floors, rounds),
                                        .ratio = bench_spread_of(ratios, rounds),
                                        .limit_kind = BENCH_RATIO_AT_LEAST,
                                        .limit = 0.9};
    bench_report_add(report, &figure);
    free(values);
}

static void measure(struct bed *bed, const struct bench_options *options, struct bench_report *report)
{
    enum { TIMES = 10 };
    const int rounds = options->round_count;
    double(*to)[2] = calloc((size_t)rounds, sizeof *to), (*fm)[2] = calloc((size_t)rounds, sizeof *fm);
    if (to == NULL || fm == NULL)
        bench_fail("no memory");
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < bed->count; i++)
            bed->records[i] = record_of(i, round, false);
        memset(bed->back, 0, (size_t)bed->bytes);
        bcr_region region = bcr_rgalloc(bed->region_bytes, bed->archtype);
        check(region != NULL, "bcr_rgalloc");
        time_to(bed, region, 1); /* its pages are there, as those of the other */
        to[round][1] = time_to(bed, bed->standing, TIMES);
        to[round][0] = time_to(bed, region, TIMES);
        region = there_and_back(bed, region);
        time_fm(bed, region, 1);
        fm[round][1] = time_fm(bed, bed->standing, TIMES);
        fm[round][0] = time_fm(bed, region, TIMES);
        look_at(bed, round);
        check(bcr_rgfree(region) == 0, "bcr_rgfree");
    }
    add(report, "unlike.there", to, rounds, bed->bytes);
    add(report, "unlike.back", fm, rounds, bed->bytes);
    free(to);
    free(fm);
}

static void lead(const struct bench_options *options)
{
    char machine[MACHINE_CHARS];
    struct bench_report report;
    struct bed bed = {.count = options->tiny ? TINY_RECORDS : RECORDS};
    check(bcr_host(0, machine, sizeof machine) > 0, "bcr_host");
    check(bcr_enlist(machine, -1, 1, BENCH_UNLIKE_FAR, NULL, bcr_FREE) == 0, "bcr_enlist");
    check(bcr_recv(&bed.partner, sizeof bed.partner, bcrT_1CCE, 1, bcr_cce, CRY, 1, PATIENCE_MSEC) == 2,
          "the partner does not come");
    check(bcr_send(&bed.count, sizeof bed.count, bcrT_1INT, 1, bed.partner, CRY, 1, 0) == 2, "bcr_send");
    bed.archtype = bcr_arch(bed.partner);
    check(bed.archtype > 0, "bcr_arch");
    bed.bytes = bed.count * (int)sizeof(struct record);
    bed.region_bytes = bcr_copytosz(record_desc, bed.count, bed.archtype, 0, NULL, bed.bytes) - 2;
    bed.records = calloc((size_t)bed.count, sizeof *bed.records);
    bed.back = calloc((size_t)bed.count, sizeof *bed.back);
    bed.standing = bcr_rgalloc(bed.region_bytes, bed.archtype);
    check(bed.standing != NULL && bed.records != NULL && bed.back != NULL, "bcr_rgalloc");
    bench_pin(options->core[0], options->core[0]);
    bench_report_begin(&report, options, "Structs to another kind of machine and back");
    bench_report_note("archtype 0x%08x here, 0x%08x there; %d records", (unsigned)bcr_archtype,
                      (unsigned)bed.archtype, bed.count);
    measure(&bed, options, &report);
    bench_report_end(&report);
    check(bcr_send(NULL, 0, bcrT_1CHAR, 0, bed.partner, WORK, 1, 0) >= 1, "bcr_send");
    free(bed.records);
    free(bed.back);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    bench_options_parse(&options, argc, argv);
    if (options.list) {
        printf("unlike.there\nunlike.back\n");
        return 0;
    }
    check(bcr_init(bcr_inorder, argv[0]) == 0, "bcr_init");
    check(bcr_cagrow(WORK, 0, 2, 0, 0, 4, HEAP_BYTES) == WORK, "bcr_cagrow");
    lead(&options);
    return 0;
}

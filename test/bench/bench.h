/* SPDX-License-Identifier: MIT */
/*
 * bench.h -- options, statistics and the report of the benchmark programs.
 *
 * A figure is a median with its quartiles, and where it has a floor, the ratio to that floor.  The ratio is the
 * median of the ratios of neighbouring rounds, not the quotient of two medians: on a shared virtual
 * machine both
 * move together, and only neighbours are comparable.  A verdict is information for the reader; no program here
 * fails because something was slow. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum bench_unit { BENCH_NS, BENCH_US, BENCH_MS, BENCH_M_PER_S, BENCH_GB_PER_S, BENCH_INSTRUCTIONS };

enum bench_limit {
    BENCH_NO_LIMIT,
    BENCH_RATIO_AT_MOST,
    BENCH_RATIO_AT_LEAST,
    BENCH_VALUE_AT_LEAST,
    BENCH_VALUE_AT_MOST,
    BENCH_MORE_AT_MOST /* than the floor, in the figure's unit */
};

struct bench_options {
    int round_count;        /* undisturbed rounds wanted per figure */
    double turn_ns;         /* how long one turn of floor or subject should last */
    bool tiny;              /* smallest sizes and counts: shows that everything runs, measures nothing */
    bool list;              /* print the names and leave */
    const char *only;       /* measure figures whose name contains this; NULL: all */
    const char *lines_path; /* machine-readable lines go here; NULL: nowhere; "-": stdout */
    int core[2];            /* where the two processes are pinned; equal if only one core is allowed */
};

/* Median and quartiles. */
struct bench_spread {
    double median, low, high;
};

struct bench_figure {
    const char *name;
    enum bench_unit unit;
    const char *floor_name; /* NULL: the figure is itself a floor, the two spreads below are unused */
    struct bench_spread value, floor, ratio;
    enum bench_limit limit_kind;
    double limit;
    double probe_ns[2];  /* F2 before and after the rounds: which state the machine was in; 0 unknown */
    int disturbed_count; /* rounds among those shown in which another process was given one of our cores */
};

struct bench_report {
    FILE *lines;
    bool silent; /* a tiny run: no verdicts */
    long figure_count, beyond_count, disturbed_count;
};

/* Fills options from the command line; prints usage and exits on an unknown argument. */
void bench_options_parse(struct bench_options *options_out, int argc, char **argv);
bool bench_wanted(const struct bench_options *options, const char *name);

int64_t bench_now_ns(void);
/* Keeps the calling thread busy, so that its core does not go idle while the partner sleeps. */
void bench_busy_ns(int64_t duration_ns);
/* The calling thread may run on these two cores only, which may be the same one. */
void bench_pin(int core, int other_core);

/* Sorts values. count > 0. */
struct bench_spread bench_spread_of(double *values, int count);
/* What a unit shows for one operation of size_bytes that took time_ns. */
double bench_convert(enum bench_unit unit, double time_ns, size_t size_bytes);

void bench_report_begin(struct bench_report *report_out, const struct bench_options *options,
                        const char *title);
void bench_report_add(struct bench_report *report, const struct bench_figure *figure);
/* A line that explains; reaches people, not programs. */
void bench_report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_report_end(struct bench_report *report);

/* Says what failed, with errno's text if errno is set, and exits with status 1. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

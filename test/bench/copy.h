/* SPDX-License-Identifier: MIT */
/*
 * copy.h -- what bench_copy measures: copies by descriptor, each beside a loop written by hand for
 * the same layout.
 *
 * Both sides of a case work on the same user buffer and the same region. A step does the whole copy
 * `n` times. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "bench.h"

struct copy_case {
    const char *name;
    enum bench_unit unit;
    const char *floor_name;
    const int *desc;
    const int *in_turn; /* another one, of the same size, used every other time; NULL: none */
    int repl;
    int user_bytes;
    int region_bytes;
    bool swapped; /* the region is in the other byte order */
    void (*floor)(const struct copy_case *copy, void *region, const void *user, long n);
    enum bench_limit limit_kind;
    double limit;
};

/* What the figures in GB/s count: the user side's bytes. */
extern const struct copy_case copy_cases[];
extern const int copy_case_count;

/* Written by hand (copy_floors.c). */
struct record {
    char tag;
    int id;
    double at;
    short rest[3];
};
struct inner {
    short kind;
    double x, y;
};
struct outer {
    int id;
    struct inner in[3];
    char name[5];
};
void floor_memcpy(const struct copy_case *copy, void *region, const void *user, long n);
void floor_lookup(const struct copy_case *copy, void *region, const void *user, long n);
void floor_reverse_2(const struct copy_case *copy, void *region, const void *user, long n);
void floor_reverse_4(const struct copy_case *copy, void *region, const void *user, long n);
void floor_reverse_8(const struct copy_case *copy, void *region, const void *user, long n);
void floor_record(const struct copy_case *copy, void *region, const void *user, long n);
void floor_record_swapped(const struct copy_case *copy, void *region, const void *user, long n);
void floor_other_double(const struct copy_case *copy, void *region, const void *user, long n);
void floor_other_double_swapped(const struct copy_case *copy, void *region, const void *user, long n);
void floor_nested(const struct copy_case *copy, void *region, const void *user, long n);
void floor_nested_swapped(const struct copy_case *copy, void *region, const void *user, long n);

#endif

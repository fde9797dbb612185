/* SPDX-License-Identifier: MIT */
/* copy_cases.c -- the table of what bench_copy measures, with the descriptors. */
#include <bcr.h>

#include "copy.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* Eight triples that do not join: eight bytes of each pair of sixteen. */
static const int eight_triples[] = {0,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG,
                                    1,
                                    8,
                                    bcrT_LONGLONG | bcrT_END,
                                    1};

/* As many that are nested: two chars, and three pairs of which no two follow each other. */
static const int nested_triples[] = {0,
                                     bcrT_CHAR,
                                     2,
                                     6,
                                     bcrT_NEST + 3,
                                     3,
                                     0,
                                     bcrT_NEST + 4,
                                     1,
                                     0,
                                     bcrT_CHAR | bcrT_END,
                                     1,
                                     0,
                                     bcrT_LONGLONG,
                                     1,
                                     8,
                                     bcrT_LONGLONG | bcrT_END,
                                     1,
                                     4,
                                     bcrT_INT,
                                     1,
                                     4,
                                     bcrT_INT | bcrT_END,
                                     1};

static const int record_desc[] = {
    bcrD_STRUCT(struct record, (CHAR, tag), (INT, id), (DOUBLE, at), (SHORT, rest))};

static const int other_double_desc[] = {0, bcrT_DOUBLE, 1, 8, bcrT_CHAR | bcrT_END, 0};

static const int nested_desc[] = {
    bcrD_STRUCT(struct outer, (INT, id), (NEST, in, struct inner, 0), (CHAR, name)),
    bcrD_STRUCT(struct inner, (SHORT, kind), (DOUBLE, x), (DOUBLE, y))};

#define CONTIGUOUS(figure, bytes, limit_)                                                           \
    {                                                                                               \
        .name = (figure), .unit = BENCH_GB_PER_S, .floor_name = "memcpy", .desc = bcrT_1DOUBLE,     \
        .repl = (bytes) / 8, .user_bytes = (bytes), .region_bytes = (bytes), .floor = floor_memcpy, \
        .limit_kind = BENCH_RATIO_AT_LEAST, .limit = (limit_)                                       \
    }
#define SWAPPED(figure, type, size, bytes, floor_)                                                 \
    {                                                                                              \
        .name = (figure), .unit = BENCH_GB_PER_S, .floor_name = "vectorised loop", .desc = (type), \
        .repl = (bytes) / (size), .user_bytes = (bytes), .region_bytes = (bytes), .swapped = true, \
        .floor = (floor_), .limit_kind = BENCH_RATIO_AT_LEAST, .limit = 0.9                        \
    }
#define STRUCTS(figure, desc_, count, user_size, region_size, swapped_, floor_, limit_)                      \
    {                                                                                                        \
        .name = (figure), .unit = BENCH_GB_PER_S, .floor_name = "by hand", .desc = (desc_), .repl = (count), \
        .user_bytes = (count) * (int)(user_size), .region_bytes = (count) * (region_size),                   \
        .swapped = (swapped_), .floor = (floor_), .limit_kind = BENCH_RATIO_AT_LEAST, .limit = (limit_)      \
    }
#define CALL(figure, desc_, in_turn_, bytes)                                                     \
    {                                                                                            \
        .name = (figure), .unit = BENCH_NS, .floor_name = "lookup and 8 bytes", .desc = (desc_), \
        .in_turn = (in_turn_), .repl = 1, .user_bytes = (bytes), .region_bytes = (bytes),        \
        .floor = floor_lookup, .limit_kind = BENCH_RATIO_AT_MOST, .limit = 10                    \
    }

const struct copy_case copy_cases[] = {
    CALL("call.8B", bcrT_1DOUBLE, NULL, 8),
    CALL("call.8triples", eight_triples, NULL, 128),
    CALL("call.nested", nested_triples, NULL, 128),
    CALL("call.in_turn", eight_triples, nested_triples, 128),
    CONTIGUOUS("same.4K", 4 * KIB, 0.5),
    CONTIGUOUS("same.64K", 64 * KIB, 0.9),
    CONTIGUOUS("same.1M", MIB, 0.95),
    CONTIGUOUS("same.64M", 64 * MIB, 0.95),
    SWAPPED("swap2.64K", bcrT_1SHORT, 2, 64 * KIB, floor_reverse_2),
    SWAPPED("swap4.64K", bcrT_1INT, 4, 64 * KIB, floor_reverse_4),
    SWAPPED("swap8.64K", bcrT_1DOUBLE, 8, 64 * KIB, floor_reverse_8),
    SWAPPED("swap2.64M", bcrT_1SHORT, 2, 64 * MIB, floor_reverse_2),
    SWAPPED("swap4.64M", bcrT_1INT, 4, 64 * MIB, floor_reverse_4),
    SWAPPED("swap8.64M", bcrT_1DOUBLE, 8, 64 * MIB, floor_reverse_8),
    STRUCTS("struct.same", record_desc, 100000, sizeof(struct record), 24, false, floor_record, 0.4),
    STRUCTS("struct.swapped", record_desc, 100000, sizeof(struct record), 24, true, floor_record_swapped,
            0.4),
    STRUCTS("stride.same", other_double_desc, 1000000, 16, 8, false, floor_other_double, 0.9),
    STRUCTS("stride.swapped", other_double_desc, 1000000, 16, 8, true, floor_other_double_swapped, 0.9),
    STRUCTS("nested.same", nested_desc, 50000, sizeof(struct outer), 80, false, floor_nested, 0.3),
    STRUCTS("nested.swapped", nested_desc, 50000, sizeof(struct outer), 80, true, floor_nested_swapped, 0.3),
};
const int copy_case_count = sizeof copy_cases / sizeof copy_cases[0];

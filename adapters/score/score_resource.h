/* SPDX-License-Identifier: MIT */
/* score_resource.h -- what a program says of the nodes that it can run on. Each macro stands in a declaration's place, at file
 * scope or in a function, and makes a record in the section "score_rsrc" of the program's file, where score_initialize reads it,
 * and a launcher can before the program runs.
 *
 *     SCORE_RSRC_NUM_NODES(MIN, MAX);   MIN to MAX nodes
 *     SCORE_RSRC_NUM_PROCS(N);          N nodes on each host
 *     SCORE_RSRC_NUM_NETS(N);           N network sets in score_pmnet
 *     SCORE_RSRC_ZEROCOPY;              they must have one-sided operations, which all here do
 *     SCORE_RSRC_HETERO_NODES;          the nodes may be machines of different architecture
 *     SCORE_RSRC_NOCKPT;                no checkpoints; there are none anyway
 *
 * Two records of one kind must agree. The library has one, too, by which a launcher knows a program of SCore. */
#ifndef SCORE_RESOURCE_H
#define SCORE_RESOURCE_H

#include <stdint.h>

/* In the byte order of the machine for which the file is. */
struct score_rsrc_record {
    uint32_t magic; /* SCORE_RSRC_MAGIC: another value is of other software, or padding of the linker */
    uint32_t kind;  /* enum score_rsrc_kind */
    int32_t low, high;
};

#define SCORE_RSRC_MAGIC UINT32_C(0x53435273)

enum score_rsrc_kind {
    SCORE_RSRC_KIND_NUM_NODES = 1, /* low, high: least and most */
    SCORE_RSRC_KIND_NUM_PROCS,     /* low: the number */
    SCORE_RSRC_KIND_NUM_NETS,      /* likewise */
    SCORE_RSRC_KIND_ZEROCOPY,
    SCORE_RSRC_KIND_HETERO_NODES,
    SCORE_RSRC_KIND_NOCKPT,
    SCORE_RSRC_KIND_PROGRAM /* the library's own */
};

#define SCORE_RSRC_NUM_NODES(min, max) SCORE_RSRC_RECORD(SCORE_RSRC_KIND_NUM_NODES, (min), (max), __COUNTER__)
#define SCORE_RSRC_NUM_PROCS(number)   SCORE_RSRC_RECORD(SCORE_RSRC_KIND_NUM_PROCS, (number), 0, __COUNTER__)
#define SCORE_RSRC_NUM_NETS(number)    SCORE_RSRC_RECORD(SCORE_RSRC_KIND_NUM_NETS, (number), 0, __COUNTER__)
#define SCORE_RSRC_ZEROCOPY            SCORE_RSRC_RECORD(SCORE_RSRC_KIND_ZEROCOPY, 0, 0, __COUNTER__)
#define SCORE_RSRC_HETERO_NODES        SCORE_RSRC_RECORD(SCORE_RSRC_KIND_HETERO_NODES, 0, 0, __COUNTER__)
#define SCORE_RSRC_NOCKPT              SCORE_RSRC_RECORD(SCORE_RSRC_KIND_NOCKPT, 0, 0, __COUNTER__)

/* A linker that drops what nothing refers to must keep the record. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define SCORE_RSRC_KEEP __attribute__((used, retain, section("score_rsrc")))
#endif
#endif
#ifndef SCORE_RSRC_KEEP
#define SCORE_RSRC_KEEP __attribute__((used, section("score_rsrc")))
#endif
#define SCORE_RSRC_RECORD(kind, low, high, number) SCORE_RSRC_RECORD_(kind, low, high, number)
#define SCORE_RSRC_RECORD_(kind, low, high, number)                                      \
    static const struct score_rsrc_record score_rsrc_record_##number SCORE_RSRC_KEEP = { \
        SCORE_RSRC_MAGIC, (uint32_t)(kind), (low), (high)}

#endif

/* SPDX-License-Identifier: MIT */
/* What a program of SCore says of the nodes that it can run on: records in its file, which the macros of score_resource.h make
 * (adapters/score). The program holds the nodes against them as well, when it starts. */
#ifndef ENL_SCORE_NEEDS_H
#define ENL_SCORE_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of records, by their numbers there. */
enum enl_score_kind {
    ENL_SCORE_NODES = 1, /* low to high of them */
    ENL_SCORE_PROCS,     /* low: nodes on each host */
    ENL_SCORE_NETS,      /* low: network sets */
    ENL_SCORE_ZEROCOPY,
    ENL_SCORE_MIXED, /* they may be machines of different architecture */
    ENL_SCORE_NOCKPT,
    ENL_SCORE_PROGRAM, /* in each program of SCore */
    ENL_SCORE_KINDS
};
enum { ENL_SCORE_NETS_MAX = 64 };

struct enl_score_needs {
    bool is_score; /* a record is there, of whatever kind */
    struct enl_score_need {
        bool is_there;
        bool is_twice; /* and the two differ */
        int32_t low, high;
    } of[ENL_SCORE_KINDS];
};

/* The name of such a macro. */
const char *enl_score_macro(enum enl_score_kind kind);
/* What records say, in whatever bytes. */
void enl_score_needs_of(const void *bytes, size_t length, struct enl_score_needs *needs_out);
/* The same of a file. A program for another architecture than enl's own, and a script, have none that can be read. */
void enl_score_needs_read(const char *path, struct enl_score_needs *needs_out);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of generic_members and generic_part share. */
#ifndef GENERIC_MEMBERS_H
#define GENERIC_MEMBERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <earl_exec.h>
#include <earl_generic.h>

/* A failure ends all processes, also those that wait for others. */
#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "%s: line %d, node %ld: not %s\n", __FILE__, __LINE__, Generic_mynode(), \
                    #condition);                                                                     \
            earl_finish(3);                                                                          \
        }                                                                                            \
    } while (0)

#define MUST_BE(call, value)                                                                   \
    do {                                                                                       \
        const long got_ = (long)(call), wanted_ = (long)(value);                               \
        if (got_ != wanted_) {                                                                 \
            fprintf(stderr, "%s: line %d, node %ld: %s is %ld, not %ld\n", __FILE__, __LINE__, \
                    Generic_mynode(), #call, got_, wanted_);                                   \
            earl_finish(3);                                                                    \
        }                                                                                      \
    } while (0)

#define SEND(type, node) MUST_BE(Generic_BBsend(NULL, NULL, 0, type, 0, 0, node), 0)

/* ---- generic_members.c: a team ---- */
void modes(void);
void requests(void);
void probes(void);
void built(void);
void places(void);
void orders(void);
void team_errors(void);
void fails(const char *routine);

/* ---- generic_parts.c: components ---- */
enum {
    ECHO = 1,
    NODE,
    FLOOD,
    LOAD,
    QUIT,
    ANSWER = 100
}; /* what generic_part does with a message of that type */
void parts(void);
void ends(void);
void part_errors(void);

/* ---- generic_cubes.c: a host, whose nodes are generic_node ---- */
enum { COMPLETE = 1, EXIT, TELL }; /* types of messages to a node */
void cubes(void);
void cube_errors(void);

#endif

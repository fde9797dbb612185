/* SPDX-License-Identifier: MIT */
/* What is to be launched: command lines, how many processes of each, and where these run. Front ends make it of what a user
 * says (enl/fronts/), and job/ carries it out. */
#ifndef ENL_ROSTER_H
#define ENL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum enl_front {
    ENL_FRONT_TEAM, /* enl -n: member 0 is the root, and runs here; ends mean what onfail says */
    ENL_FRONT_YOD /* a job: it has no root, its members may be any programs, and no end of one ends others */
};

struct enl_roster_line {
    uint32_t members;
    char **argv;
    /* Of a job: the nodes of its members, in their order, counted from 0 over the slots of all hosts; NULL: the next ones that no
     * line names. */
    uint32_t *nodes;
};

struct enl_roster {
    enum enl_front front;
    uint32_t members; /* of all lines */
    /* ENL_FRONT_TEAM */
    uint32_t per_host; /* 0: as many as a host has slots */
    bool is_cyclic;
    const char *await; /* the key under which the members come by themselves; NULL: they are started */
    /* A job. */
    bool is_quiet;    /* no line for each rank at the end */
    bool tells_times; /* of each step */

    size_t count;
    struct enl_roster_line *lines;
    struct enl_roster_words *words; /* that the lines refer to, and that are freed with them */
};

struct enl_roster_words {
    struct enl_roster_words *next;
    char *words[];
};

#endif

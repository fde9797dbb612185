/* SPDX-License-Identifier: MIT */
/* What is to be launched: teams of command lines, how many processes of each, and where these run. Front ends make it of what a
 * user says (enl/fronts/), and job/ carries it out. */
#ifndef ENL_ROSTER_H
#define ENL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum enl_front {
    ENL_FRONT_TEAM, /* enl -n: member 0 is the root, and runs here; ends mean what onfail says */
    ENL_FRONT_YOD, /* a job: it has no root, its members may be any programs, and no end of one ends others */
    ENL_FRONT_SCRUN /* a job, too: a signal that kills a member ends it, and its status is that of rank 0 of the last team */
};

struct enl_roster_line {
    uint32_t members; /* 0: one on each node */
    char **argv;
    /* Of a job: the nodes of its members, in their order, counted from 0 over the slots of all hosts; NULL: the next ones that no
     * line names. */
    uint32_t *nodes;
};

/* What all processes of a job may use of processors, and those of each host of memory and of the job's directory; 0: there is no limit. */
struct enl_roster_limits {
    uint32_t cpu_s, memory_mb, disk_mb;
};

/* Members with ranks from 0. */
struct enl_roster_team {
    size_t first, count; /* its lines */
    uint32_t members;
    uint32_t stage;  /* teams of a stage run together; the next stage begins when all of them have ended */
    bool reads_pipe; /* what the member of the same rank of the team before prints is a member's input */
    const char *in;  /* a file: its members' input; NULL: nothing */
    const char *out; /* a file: what they print; NULL: it goes to the user */
    bool appends;    /* to that file */
};

/* Which hosts of their list a job has, and how these send data to each other. NULL: whichever. */
struct enl_roster_choice {
    const char *group, *abi, *cpugen, *speed; /* what their lines in the hosts file say */
    const char *networks; /* NAME[+NAME]...: data go by the first that both hosts have, else as without */
};

struct enl_roster {
    enum enl_front front;
    uint32_t members;  /* of all teams */
    uint32_t per_host; /* 0: as many as a host has slots */
    /* ENL_FRONT_SCRUN */
    uint32_t hosts; /* with per_host: the first so many; 0: all */
    struct enl_roster_choice choice;
    bool is_heterogeneous; /* hosts may be of several ABIs */
    /* ENL_FRONT_TEAM */
    bool is_cyclic;
    const char *await; /* the key under which the members come by themselves; NULL: they are started */
    /* A job. */
    bool is_quiet;                /* no line for each rank at the end */
    bool tells_times;             /* of each step */
    bool tells_usage, tells_each; /* what all have used at the end, and each of them */
    struct enl_roster_limits limits;

    size_t count;
    struct enl_roster_line *lines;
    size_t team_count;
    struct enl_roster_team *teams;
    char **environment; /* variables for all members, as NAME=value, with NULL behind them; NULL: none */
    struct enl_roster_words *words; /* that the lines refer to, and that are freed with them */
};

/* Whether it is a job; NULL: nothing is launched but a root. */
static inline bool enl_roster_is_job(const struct enl_roster *roster)
{
    return roster != NULL && roster->front != ENL_FRONT_TEAM;
}

struct enl_roster_words {
    struct enl_roster_words *next;
    char *words[];
};

#endif

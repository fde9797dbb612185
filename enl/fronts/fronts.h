/* SPDX-License-Identifier: MIT */
/* fronts.h -- the interface of enl/fronts: command lines in the manner of one launcher or another, read into rosters. Nothing here
 * starts anything, or waits. */
#ifndef ENL_FRONTS_H
#define ENL_FRONTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/roster.h"

/* roster.c -- Rosters. */

/* An empty one; NULL: no memory. */
struct enl_roster *enl_roster_new(enum enl_front front);
void enl_roster_free(struct enl_roster *roster);
/* A team of that stage, to which the lines belong that are added next; NULL: no memory. */
struct enl_roster_team *enl_roster_begin(struct enl_roster *roster, uint32_t stage);
/* Room for one more line, whose members are still to be counted (enl_roster_count); NULL: no memory. Without a team, the first one
 * begins. */
struct enl_roster_line *enl_roster_add(struct enl_roster *roster);
/* Room for `count` words and a NULL behind them, and for `bytes` of their text behind that, freed with the roster. NULL: no memory. */
char **enl_roster_words(struct enl_roster *roster, size_t count, size_t bytes);
/* All lines are there: counts their members. Returns 0; -1: they are too many, or a program's name is empty or longer than a path, as
 * a sentence says. */
int enl_roster_count(struct enl_roster *roster, char *error, size_t error_size);

/* team.c -- enl -n N PROGRAM [arguments] [: -n N PROGRAM [arguments]]... */

/* What options say of the first line, and of all. */
struct enl_team_options {
    uint32_t members;
    uint32_t per_host; /* 0: not given */
    bool is_cyclic;
    const char *await;
};
/* Reads the lines, and puts NULL in place of each separator. The caller frees the result. NULL: a sentence says what is wrong. */
struct enl_roster *enl_team_lines(const struct enl_team_options *options, char **argv, char *error,
                                  size_t error_size);

/* node_list.c -- How many nodes, and lists of them, such as 4,7..12. */

/* Takes a number, up to `most`, off *at_io. False: there is none, or a larger one, and *at_io is as it was. */
bool enl_take_number(const char **at_io, uint32_t most, uint32_t *number_out);
/* Takes a number of processes, from 1 to those that a program may have, off *at_io. False: there is none. */
bool enl_take_count(const char **at_io, uint32_t *count_out);

#define ENL_NODE_MAX 4294967294u

/* Nodes in the order of the list; count 0: none. */
struct enl_nodes {
    uint32_t *nodes;
    uint32_t count;
};
/* The caller frees nodes_out->nodes. Returns 0, or -1 with a sentence, in which `option` is the list's. A list that names a node
 * twice, or more nodes than a program may have processes, is refused. */
int enl_node_list(const char *option, const char *list, struct enl_nodes *nodes_out, char *error,
                  size_t error_size);

/* yod.c -- bcr-yod, in the manner of Cplant's yod. */

struct enl_yod {
    uint32_t size; /* -sz; 0: not given */
    const char *list;
    bool shows_stacks, is_quiet, tells_times, wants_help;
    const char *strace_folder, *strace_options, *strace_nodes; /* NULL: not given */
    int first;                                                 /* index in argv of the program or load file */
};
/* Reads the options. Returns 0, or -1 with a sentence. */
int enl_yod_options(int argc, char **argv, struct enl_yod *yod_out, char *error, size_t error_size);
/* The roster of a command line whose last words are a program and its arguments, or one word, a load file. It reads that file,
 * or the program's head. The caller frees the result. NULL: a sentence says what is wrong. */
struct enl_roster *enl_yod_roster(const struct enl_yod *yod, char **argv, char *error, size_t error_size);
void enl_yod_help(FILE *out);

/* scrun_options.c, scrun_hosts.c, scrun.c -- bcr-scrun, in the manner of SCore's scrun. */

struct enl_scrun {
    uint32_t nodes;           /* so many, which fill hosts; 0: not said so */
    uint32_t hosts, per_host; /* so many on each of so many hosts; 0: of all */
    struct enl_roster_choice choice;
    bool is_heterogeneous;
    const char *file; /* a hosts file; NULL: not given */
    bool is_quiet, is_never_idle, wants_help;
    bool tells_usage, tells_each;
    struct enl_roster_limits limits;
    bool shows_resource; /* options, and what programs need, in place of running them */
    int first;           /* index in argv of the first program */
    char *variable;      /* SCORE_OPTIONS=..., for the programs */
};
/* Reads the options, and those of `given`, the value of SCORE_OPTIONS (NULL: there is none). Returns 0, and enl_scrun_free is due;
 * or -1 with a sentence. */
int enl_scrun_options(int argc, char **argv, const char *given, struct enl_scrun *scrun_out, char *error,
                      size_t error_size);
void enl_scrun_free(struct enl_scrun *scrun);
/* The roster of programs joined by operators, in whose places NULL is put; it refers to argv and scrun->variable. The caller frees the
 * result. NULL: a sentence says what is wrong. */
struct enl_roster *enl_scrun_roster(const struct enl_scrun *scrun, char **argv, char *error,
                                    size_t error_size);
void enl_scrun_help(FILE *out);

/* scrun_resource.c -- The option resource. */

/* Prints the options, and of each program its file and what it needs. Returns 0, or the exit status that a shell would use, if one is
 * not found on this machine. */
int enl_scrun_resource(const struct enl_scrun *scrun, const struct enl_roster *roster, FILE *out);

/* load_file.c -- A load file: a line is [-sz N] [-l LIST] PROGRAM [arguments], or a comment behind #. */

/* Adds a line for each of the text, which `file` is the name of. `list`: the command's, of which lines without a list of their
 * own take nodes; without nodes: there is none. Returns 0, or -1 with a sentence that begins with file:line. */
int enl_load_file(struct enl_roster *roster, const char *file, const char *text, size_t length,
                  const struct enl_nodes *list, char *error, size_t error_size);

/* strace.c -- Members under strace. */

/* Puts strace before the programs of the ranks in `ranks` (NULL: of all): each becomes a line of its own, whose strace writes into
 * FOLDER/strace.RANK. `options` (NULL: none) are words for strace. Returns 0, or -1 with a sentence. */
int enl_strace(struct enl_roster *roster, const char *folder, const char *options, const char *ranks,
               char *error, size_t error_size);

#endif

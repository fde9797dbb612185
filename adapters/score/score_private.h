/* SPDX-License-Identifier: MIT */
/* What the files of this adapter share. */
#ifndef SCORE_PRIVATE_H
#define SCORE_PRIVATE_H

#include <stdbool.h>

struct score {
    bool is_begun;
    bool is_alone; /* no CCE: no routine of BCR is called */
    bool has_team;
};
extern struct score score_self;

/* ---- initialize.c ---- */

/* One sentence on stderr, and the program ends with status 1, all nodes of it. */
_Noreturn void score_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One sentence on stderr. */
void score_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- inspect.c ---- */

/* Looks at the option debug; ends the program if it makes no sense. */
void score_inspect_begin(void);

/* ---- options.c ---- */

/* Reads SCORE_OPTIONS; ends the program if that is malformed. */
void score_options_begin(void);
/* The value of a key of `length` bytes, NULL: it is not there. Safe in signal handlers after score_options_begin. */
const char *score_option(const char *keyword);
/* ---- resources.c ---- */

/* How many network sets the program asks for: 1 unless it says otherwise. */
int score_resources_nets(void);
/* Holds the nodes against what the program asks for; ends the program if they do not fit. procs: nodes of each of `hosts`
 * hosts. `mixed`: they differ in architecture. */
void score_resources_check(int nodes, const int *procs, int hosts, bool mixed);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs of sys_start.c, and what its CCEs tell. */
#ifndef SYS_START_RUN_H
#define SYS_START_RUN_H

#include <stdbool.h>

#include "run.h"

/* Who starts CCEs, "": the root; and where: on the starter's machine, on another host, or on the root's. `deep`: the
 * daemon of local2 is started by that of local1, and reached through it. */
struct start_place {
    const char *by, *at;
    bool deep;
};
enum { START_HERE, START_THERE, START_BETWEEN, START_AT_ROOT, START_DEEP, START_UP, PLACES };
extern const struct start_place places[PLACES];

extern struct run run;

enum { LINES = 64 };
extern char lines[LINES][2048]; /* that were told, in their order */
extern int count;

const char *start_program(void);
void start_run_with(const char *onfail, const char *word, int place, const char *value, const char *more);
void start_run(const char *word, int place, const char *value, const char *more);

/* The next `more` lines that are told, in any order. */
void hear(int more);
/* One of them is that, or begins with it if it ends with "*". */
void has(const char *line);
void ends_well(void);

#endif

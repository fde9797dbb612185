/* SPDX-License-Identifier: MIT */
/* EXEC's directory: which processes there are, and on which hosts; and what EXEC alone does with them. */
#ifndef EARL_DIRECTORY_H
#define EARL_DIRECTORY_H

#include <stdbool.h>

#include "earl_exec.h"

#define EARL_GUARD "guard"

/* A process. 0 is EXEC itself. Numbers are given one after the other and never again. */
struct earl_resident {
    int parent;    /* -1: EXEC has not started it */
    int host;      /* of the directory's hosts */
    bool has_come; /* it has begun, as a process of Earl */
    bool has_ended;
    bool is_tied;    /* it ends with its parent */
    bool is_guard;   /* it is none that others may know of */
    int how, status; /* then: of enum earl_how */
    const char *program;
};

/* How many numbers are given. */
int earl_directory_count(void);
const struct earl_resident *earl_directory_get(int process);
/* Starts what *start says, for `parent`; numbers go to processes, the lowest first. Returns how many, or a code. */
int earl_directory_start(const struct earl_exec_start *start, int parent, int *processes);
int earl_directory_signal(int process, int signal);
/* Starts `program` on a host as a guard, with that argument: a process that is EXEC's own, and whose end tells of the host's; waits until it has begun. Returns its number, or a code. */
int earl_directory_guard(int host, const char *program);
/* guard.c: what a guard does. Returns its exit status. */
int earl_guard(void);

/* Of who uses the directory: a process has a number from now on. */
void earl_directory_came(int process);

#endif

/* SPDX-License-Identifier: MIT */
/* The targets that there are. */
#ifndef EARL_TARGETS_H
#define EARL_TARGETS_H

#include "target.h"

extern const struct earl_target earl_target_bcr; /* bcr.c; a process has one. Its `self` is one of these: */
struct earl_who;
extern const struct earl_who earl_who_team, earl_who_world, earl_who_directory;
/* world.c: which process has started this one; EARL_ANY: none. */
int earl_world_parent(void);
/* How many members the process's team has, and its rank there; 0: it is in none. */
int earl_world_team(int *rank);
/* changes.c: adds a host to the program, by a line as bcr_hostadd has it; takes one away. Returns EARL_OK or a code. */
int earl_world_host_add(const char *line);
int earl_world_host_del(const char *name);
/* The next begin enters a program of that name, in a process that is in none: EARL_E_NONE, if there is no such one. */
void earl_target_bcr_enter(const char *program);
/* Ends the program. */
_Noreturn void earl_target_bcr_finish(int status);

#endif

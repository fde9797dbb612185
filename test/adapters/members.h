/* SPDX-License-Identifier: MIT */
/* Programs of an interface in tests of it: the one whose first argument is a scenario that all its processes perform, and
 * those that print their result. Each must end with status 0, and say nothing on stderr. */
#ifndef BCR_TEST_MEMBERS_H
#define BCR_TEST_MEMBERS_H

#include "run.h"

extern struct run run;
/* The variable with the path of the program of scenarios. The test says which it is. */
extern const char members_variable[];
const char *members(void);

/* run_end of what `count` processes did. */
void ends_well(const char *what, const char *count);

/* `count` processes perform `scenario`: on this host, on three of this machine, and both. */
void runs_here(const char *count, const char *scenario, const char *number);
void runs_on_hosts(const char *count, const char *scenario, const char *number);
void runs(const char *count, const char *scenario, const char *number);

/* `count` processes of another program print `wanted`, on this host and on two. The words may be NULL. */
void prints(const char *count, const char *path, const char *first, const char *second, const char *wanted);

#endif

/* SPDX-License-Identifier: MIT */
/* verbs.h -- what enl does besides running a program: a function for each command. */
#ifndef ENL_VERBS_H
#define ENL_VERBS_H

#include "verbs/options.h"

struct enl_options;

/* command.c -- What enl does besides running a program. Each returns the exit status. */

int enl_command_ps(void);
int enl_command_kill(const char *name);
int enl_command_kill_all(void);
/* `name` NULL: the only program that runs. Status 0: all is well; 1: there are findings; 2: nothing could be looked at. */
int enl_command_audit(const char *name);
/* Connects to program options->join and becomes argv[0]; returns only if that failed. */
int enl_command_join(const struct enl_options *options, char **argv);
int enl_command_show_config(const struct enl_options *options);
/* With -d and -D. */
int enl_command_attach(const struct enl_options *options, char **argv);

/* look.c -- enl ps, cells, regions, waits, stats and why of one program. */

/* `name` may be NULL: the only program. Returns the exit status. */
int enl_command_look(const struct enl_options *options, const char *name);

/* logs.c -- enl logs: the logs of all hosts of a program as one. */

/* `words`: files and directories, up to NULL; none: logdir, or tempdir. Returns the exit status. */
int enl_command_logs(const struct enl_options *options, char **words);

/* hosts/hosts_command.c -- enl hosts [FILE] */

/* Asks the machines of `file`, or if that is NULL those that a program would have, and shows what they are.
 * Returns the exit status: 0, 1 if one cannot be used, 2 if there is no list. */
int enl_command_hosts(const struct enl_options *options, const char *file);

#endif

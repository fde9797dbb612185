/* SPDX-License-Identifier: MIT */
/* What enl does besides running a program. Each returns the exit status. */
#ifndef ENL_COMMAND_H
#define ENL_COMMAND_H

#include "verbs/options.h"

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

#endif

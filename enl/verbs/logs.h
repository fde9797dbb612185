/* SPDX-License-Identifier: MIT */
/* enl logs: the logs of all hosts of a program as one. */
#ifndef ENL_LOGS_COMMAND_H
#define ENL_LOGS_COMMAND_H

struct enl_options;

/* `words`: files and directories, up to NULL; none: logdir, or tempdir. Returns the exit status. */
int enl_command_logs(const struct enl_options *options, char **words);

#endif

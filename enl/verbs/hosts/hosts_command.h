/* SPDX-License-Identifier: MIT */
/* enl hosts [FILE] */
#ifndef ENL_HOSTS_COMMAND_H
#define ENL_HOSTS_COMMAND_H

struct enl_options;

/* Asks the machines of `file`, or if that is NULL those that a program would have, and shows what they are.
 * Returns the exit status: 0, 1 if one cannot be used, 2 if there is no list. */
int enl_command_hosts(const struct enl_options *options, const char *file);

#endif

/* SPDX-License-Identifier: MIT */
/* enl stacks [NAME [CCE ...]], and the helper that each host's daemon starts for it. */
#ifndef ENL_STACKS_H
#define ENL_STACKS_H

/* The words behind enl stacks, ended by NULL. Returns the exit status. */
int enl_command_stacks(char **words);
/* enl --stacks-host 0 LIST: writes the stacks of those CCEs here whose ordinals are in the list; "": of all. */
int enl_stacks_host(int count, char **words);

#endif

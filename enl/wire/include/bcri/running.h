/* SPDX-License-Identifier: MIT */
/* Which programs run on this machine, by the addresses at which their daemons listen. */
#ifndef BCRI_RUNNING_H
#define BCRI_RUNNING_H

#include <stdbool.h>

/* Whether that may be the name of a daemon: NAME, as programs are called, or NAME:K. Any process may bind another
 * address there, and that is not shown to a terminal. */
bool bcri_running_is_name(const char *text);

/* Calls `visit` for each daemon of this user's programs in the kernel's list of sockets, until it returns false. */
void bcri_running_each(bool (*visit)(void *data, const char *daemon), void *data);

/* bcri_channel_connect to the daemon that program `name` has on this machine: the root's, or if that is on another
 * machine, the first NAME:K that takes the connection. */
int bcri_running_connect(const char *name, unsigned patience_ms);

#endif

/* SPDX-License-Identifier: MIT */
/* A program's hosts as its root's daemon knows them, also those that cannot be looked at. */
#ifndef ENL_LOOK_HOSTS_H
#define ENL_LOOK_HOSTS_H

#include "inspect/look/view.h"

/* Asks a daemon, at that socket, for its first host with at least that number. False: there is none,
 * or no answer. */
bool look_host_next(int daemon, uint64_t number, struct look_daemon *host_out);
/* Adds to `view` what the daemon of program `name` says of its hosts. */
void look_hosts_add(struct look_view *view, const char *name);

#endif

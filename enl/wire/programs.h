/* SPDX-License-Identifier: MIT */
/* Which programs of this user run on this machine. */
#ifndef ENL_PROGRAMS_H
#define ENL_PROGRAMS_H

#include <stdbool.h>

#include "bcri/channel.h"
#include "bcri/host.h"

/* Calls `visit` for each daemon of this user's programs in the kernel's list of sockets, until it
 * returns false. */
void enl_each_program(bool (*visit)(void *data, const char *program), void *data);

#define ENL_DAEMON_NAME_MAX (BCRI_PROGRAM_NAME_MAX + 16) /* NAME, or NAME:K */

/* The names of all programs; where the root of one is on another machine, that of a daemon of it here.
 * Returns how many there are in `*names_out`, which the caller frees. */
size_t enl_programs(char (**names_out)[ENL_DAEMON_NAME_MAX]);
/* The name of the only program; where its root is on another machine, that of a daemon of it here.
 * False: there is none, or more than one, which was said. */
bool enl_only_program(char name_out[ENL_DAEMON_NAME_MAX]);

/* The daemon that program `name` has on this machine: itself, or NAME:K where its root's is not here,
 * which is said. Returns `name` or `out`. */
const char *enl_daemon_named(const char *name, char out[ENL_DAEMON_NAME_MAX]);

/* Connects to program `*name`; NULL: to the only one. `*name` becomes the name of its daemon here, which may be kept in
 * `only`. Returns the socket, or -1 after saying why not. */
int enl_program_connect(const char **name, char only[ENL_DAEMON_NAME_MAX]);
/* Why bcri_channel_connect has returned `error`, as the end of a sentence. */
const char *enl_why_unreached(int error);

/* Whether the daemon at the other end of that socket lives in another pid namespace, a container's mostly: the
 * process IDs that it tells are no process's here, or another's. */
bool enl_pids_are_foreign(int daemon);

/* Asks a daemon for its first CCE with at least that index. Returns 1 with its answer in `in`, which
 * is a row, or a reply if there is none; else what bcri_channel_recv returns, or -EPROTO. */
int enl_ask_row(int daemon, uint32_t index, struct bcri_incoming *in);

#endif

/* SPDX-License-Identifier: MIT */
/* The daemon that has started this one (enl --child), and the two pipes to it: this daemon's stdin
 * and stdout. A child daemon has no root CCE. It learns from its parent which program it belongs
 * to, starts CCEs for enlistors elsewhere, and stays, with or without CCEs, until the pipe from the
 * parent ends: then the CCEs that are left are killed.
 *
 *   parent         child
 *   start    -->                 which program; the child's number in it, and on its machine
 *            <--   reply         it is ready, or why it is not
 *   enlist   -->                 as a CCE asks for it (control.h), in the name of `enlistor`
 *            <--   reply
 *            <--   unstarted     a CCE that was to be there did not start after all
 *   ps, kill -->                 as a command asks for it
 *            <--   row, reply
 *
 * The connection is one like all others (conn.h), of kind ENL_PARENT. */
#ifndef ENL_PARENT_H
#define ENL_PARENT_H

#include <stddef.h>

#include "bcri/control.h"

struct enl_conn;
struct enl_program;

/* Takes stdin and stdout for the pipes, waits for `start`, and fills in what it says. Returns 0, or
 * -1 with a sentence. */
int enl_parent_await(struct enl_program *program, char *error, size_t error_size);
/* Answers `start`, and reads from then on. False: it cannot be answered; a sentence was
 * reported. */
bool enl_parent_open(struct enl_program *program);
/* For conn.c: sends; what happens when something can be read; gives up the pipes. */
void enl_parent_send(struct enl_conn *conn, const struct bcri_control *message);
void enl_parent_readable(void *data);
void enl_parent_close(struct enl_program *program);

#endif

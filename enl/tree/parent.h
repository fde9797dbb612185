/* SPDX-License-Identifier: MIT */
/* The daemon that has started this one (enl --child), and the two pipes to it: this daemon's stdin
 * and stdout. A child daemon has no root CCE. It says what machine it is, learns from its parent
 * which program it belongs to, starts CCEs for enlistors elsewhere, and stays, with or without CCEs,
 * until its parent lets it end. When the pipe from the parent ends, or no heartbeat has been
 * answered for hosttimeout, the CCEs that are left are killed.
 *
 * What goes to the user goes to the parent: reports, and with --output what CCEs print, within a
 * window. docs/protocol.md has the messages.
 *
 * The connection is one like all others (conn.h), of kind ENL_PARENT. */
#ifndef ENL_PARENT_H
#define ENL_PARENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"

struct enl_conn;
struct enl_program;

/* Takes stdin and stdout for the pipes, waits for `start`, and does what it says. Returns 0, or -1
 * with a sentence. */
int enl_parent_await(struct enl_program *program, char *error, size_t error_size);
/* Answers `start`, and reads from then on. False: it cannot be answered; a sentence was
 * reported. */
bool enl_parent_open(struct enl_program *program);
/* Passes a request of a CCE's up. False: the parent is gone, or there is no memory. */
bool enl_parent_ask(struct enl_conn *conn, const struct bcri_control *request);
/* Sends what other messages may overtake, if there still is a parent. */
void enl_parent_send_output(struct enl_program *program, const struct bcri_control *message);
/* The asker's connection is gone. */
void enl_parent_forget(const struct enl_conn *conn);
/* A message of the root's has come in the tree's lane: see reserve.h. */
void enl_parent_lane_came(struct enl_program *program, const uint8_t *content, uint32_t bytes);
/* The loop ends. */
void enl_parent_close(struct enl_program *program);

#endif

/* SPDX-License-Identifier: MIT */
/* What a visitor is told of a program's hosts: which there are, how they are called, and whether each
 * is starting, up, about to end, lost, or could not be started. The root's daemon knows all of them,
 * another one itself. */
#ifndef ENL_STATES_H
#define ENL_STATES_H

struct bcri_control;
struct enl_child;
struct enl_conn;

/* host_next, of a visitor: answers with the first host that has at least that number. */
const char *enl_states_ask(struct enl_conn *conn, const struct bcri_control *message);
/* A host is gone: `sentence` says why, "" if it was told to end. The last such of each entry of the
 * list of hosts is remembered. */
void enl_states_gone(const struct enl_child *child, const char *sentence);

#endif

/* SPDX-License-Identifier: MIT */
/* tree.h -- what others than the tree ask of it, and are told by it. */
#ifndef ENL_TREE_H
#define ENL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/control.h"
#include "program.h"

struct bcri_control;
struct enl_child;
struct enl_conn;
struct enl_program;

/* tree.c -- The tree of daemons, seen from the root's, which has all others as its children (child.h), whoever has started
 * them (plan.h), and gives out the hosts' numbers, each of them once. A child knows its parent (parent.c), and those
 * that it starts for the root (branch.h).
 *
 * All of this is the loop's. */

/* For the root's daemon: what the list of hosts says of its own machine holds for it, too. */
void enl_tree_take_own(struct enl_program *program);

/* `request` has an enlistor. */
enum enl_way enl_tree_enlist(struct enl_conn *conn, const struct bcri_control *request, int *code_out,
                             char *reason, size_t reason_size);

/* Starts the daemons of all hosts, if `starthosts` says so. */
void enl_tree_start_all(struct enl_program *program);

/* Sends a message to the daemon of host `number`, from a child by way of its parent; to nobody if
 * that host is gone. */
void enl_tree_send(struct enl_program *program, uint32_t number, const struct bcri_control *message);

/* How CCEs of host `number` represent data: its archtype, also when it is gone. 0: this daemon does not
 * know; one that is not the root's knows its own host alone. */
uint32_t enl_tree_arch(const struct enl_program *program, uint32_t number);

/* A child of this process has ended. False: it was none of the tree's. */
bool enl_tree_reaped(struct enl_program *program, pid_t pid, int wait_status);
/* The requester's connection is gone. */
void enl_tree_forget(struct enl_program *program, const struct enl_conn *conn);

/* For the root's daemon, when it has nothing of its own left: whether the others have nothing
 * either, and have ended. They are told to end if they have not been. */
bool enl_tree_over(struct enl_program *program);
/* Kills all CCEs of other hosts, whose daemons end then. Those that do not are given up in the end, with a sentence. */
void enl_tree_kill(struct enl_program *program);
/* Gives up those that have not ended: their daemons end by themselves, but nobody waits for them. */
void enl_tree_cut(struct enl_program *program);
/* Passes a signal on to them; they have killafter to heed it. */
void enl_tree_signal(struct enl_program *program, int signal);
/* Stops all CCEs of other hosts, and then calls `done`: at once if there are none, else when all
 * have said so, or a second is over; hosttimeout if one may be about to change its way. */
void enl_tree_stop(struct enl_program *program, void (*done)(struct enl_program *program));
void enl_tree_go_on(struct enl_program *program);
/* stdout or stderr has room again. */
void enl_tree_resume(struct enl_program *program);
/* The loop ends. */
void enl_tree_close(struct enl_program *program);

/* states.c -- What a client is told of a program's hosts: which there are, how they are called, and whether each
 * is starting, up, about to end, lost, or could not be started. The root's daemon knows all of them, another one
 * itself. */

/* host_next, of a client: answers with the first host that has at least that number. */
const char *enl_states_ask(struct enl_conn *conn, const struct bcri_control *message);
/* A host is gone: `sentence` says why, "" if it was told to end. The last such of each entry of the
 * list of hosts is remembered. */
void enl_states_gone(const struct enl_child *child, const char *sentence);

/* parent.c -- The daemon that has started this one (enl --child), and the two pipes to it: this daemon's stdin
 * and stdout. A child daemon has no root CCE. It says what machine it is, learns from its parent
 * which program it belongs to, starts CCEs for enlistors elsewhere, and stays, with or without CCEs,
 * until its parent lets it end. When the pipe from the parent ends, or no heartbeat has been
 * answered for hosttimeout, the CCEs that are left are killed.
 *
 * What goes to the user goes to the parent: reports, and with --output what CCEs print, within a
 * window. docs/protocol.md has the messages.
 *
 * The connection is one like all others (conn.c), of kind ENL_PARENT. */

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
/* The requester's connection is gone. */
void enl_parent_forget(const struct enl_conn *conn);
/* A message of the root's has come in the control link: see backup.h. */
void enl_parent_control_link_came(struct enl_program *program, const uint8_t *content, uint32_t bytes);
/* The loop ends. */
void enl_parent_close(struct enl_program *program);

/* tunnelled.c -- Packets of links whose UDP path is silent, on their way over the tree of daemons: from this host's
 * link thread to the next daemon, and from a daemon to the next or to this host's link thread.
 *
 * They are what a network carries: nothing in them is trusted, what is in the way of others is
 * dropped, and the links send it again. All other messages between daemons overtake them. */

/* A packet of this host's for `host`. */
void enl_tunnelled_send(struct enl_program *program, uint32_t host, const void *packet, uint32_t bytes);
/* carry has come from a child, or from the parent. Returns NULL, or what is wrong with it. */
const char *enl_tunnelled_of_child(struct enl_child *child, const struct bcri_control *message);
const char *enl_tunnelled_of_parent(struct enl_program *program, const struct bcri_control *message);

#endif

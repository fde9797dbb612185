/* SPDX-License-Identifier: MIT */
/* The tree of daemons, seen from the root's, which has all others as its children (child.h), whoever has started
 * them (plan.h), and gives out the hosts' numbers, each of them once. A child knows its parent (parent.h), and those
 * that it starts for the root (branch.h).
 *
 * All of this is the loop's. */
#ifndef ENL_TREE_H
#define ENL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bcri/control.h"
#include "program.h"

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
/* The asker's connection is gone. */
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

#endif

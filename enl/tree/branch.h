/* SPDX-License-Identifier: MIT */
/* The daemons that this one, itself a child, has begun for the root: their processes and pipes, and which of them
 * leads to which host.
 *
 *      root ======== this daemon ======== a branch ======== hosts below it
 *             begin, cut -->
 *             <-- said, closed, ended
 *             to ------------------------->------------------->
 *             <------------------------- from <-----------------
 *
 * Here nothing is known of what they say: a frame that goes down is passed on to the branch that leads to its
 * host, one that comes up to the parent. What is decided about them the root decides (child.h).
 *
 * All of this is the loop's. docs/protocol.md, "Routing", has the rules. */
#ifndef ENL_BRANCH_H
#define ENL_BRANCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "bcri/control.h"

struct enl_program;

/* begin and cut, of the parent. Returns NULL, or what is wrong with it. */
const char *enl_branch_of_parent(struct enl_program *program, const struct bcri_control *message);
/* A message for another host has just come from the parent. */
void enl_branch_pass_down(struct enl_program *program, const struct bcri_control *message);

/* A child of this process has ended. False: it was no branch. */
bool enl_branch_reaped(struct enl_program *program, pid_t pid, int wait_status);
/* This daemon has nothing of its own left: whether all branches have ended. If the root does not end them in a
 * while they are left to themselves. */
bool enl_branches_over(struct enl_program *program);
/* There is no parent any more: they find that out by themselves. */
void enl_branches_leave(struct enl_program *program);
/* Whether there are such daemons; whether that process is one, or the way to it. */
bool enl_branches_are_left(const struct enl_program *program);
bool enl_branch_is_left(const struct enl_program *program, pid_t pid);
/* The loop ends. */
void enl_branches_close(struct enl_program *program);

#endif

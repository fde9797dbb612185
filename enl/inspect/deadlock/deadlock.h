/* SPDX-License-Identifier: MIT */
/* The daemon's part of deadlock detection: it looks at its host once a second, tells its parent what has
 * changed, and on the root's host has a judge (judge.h), and does what `ondeadlock` says.
 *
 * All of this is the loop's. */
#ifndef ENL_DEADLOCK_H
#define ENL_DEADLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/control.h"

struct enl_child;
struct enl_program;

/* Begins to look, unless `ondeadlock` is ignore. Without memory nobody looks. */
void enl_deadlock_start(struct enl_program *program);
/* The loop ends. */
void enl_deadlock_stop(struct enl_program *program);

/* The link thread has answered enl_links_ask_quiet. */
void enl_deadlock_quiet(struct enl_program *program, uint32_t question, bool quiet, uint64_t messages);
/* still: a child tells of its host. */
const char *enl_deadlock_of_child(struct enl_child *child, const struct bcri_control *message);
/* look: the parent wants to know once more. deadlock: it has told of one. */
const char *enl_deadlock_of_parent(struct enl_program *program, const struct bcri_control *message);

#endif

/* SPDX-License-Identifier: MIT */
/* deadlock_private.h -- what the files of enl/inspect/deadlock have of each other. */
#ifndef ENL_DEADLOCK_PRIVATE_H
#define ENL_DEADLOCK_PRIVATE_H

#include "inspect/deadlock/deadlock.h"

/* explain.c */

/* Starts a process that looks, and says why the CCEs wait: `count` of them in a deadlock, or 0 in a circle of write locks or
 * notes. Returns whether it runs. */
bool enl_deadlock_explain(struct enl_deadlock *deadlock, uint32_t count);
/* Shows what there is of the text; a deadlock is acted upon. */
void enl_deadlock_explained(struct enl_deadlock *deadlock);
/* At each look: a process that is stopped, or stuck, is waited for no longer. */
void enl_deadlock_bound_text(struct enl_deadlock *deadlock);
/* Without showing it. */
void enl_explanation_drop(struct enl_explanation *text);
/* To all CCEs here. */
void enl_deadlock_send_hup(const struct enl_here *here);

#endif

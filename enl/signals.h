/* SPDX-License-Identifier: MIT */
/* Signals of the daemon: children that end, the terminal's keys, and being told to end. */
#ifndef ENL_SIGNALS_H
#define ENL_SIGNALS_H

#include "program.h"

/* Blocks them, before any thread is made, and reads them on the loop from then on. Returns 0 or
 * -errno. */
int enl_signals_start(struct enl_program *program);
void enl_signals_stop(struct enl_program *program);

/* Kills every process that the daemon is the parent of, CCEs or not. False: this kernel does not
 * say which they are. */
bool enl_signals_kill_children(void);
/* Waits for all children that have ended. True if none is left. */
bool enl_signals_reap(struct enl_program *program);

#endif

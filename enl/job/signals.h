/* SPDX-License-Identifier: MIT */
/* Signals that the daemon handles: ends of children, the terminal's keys, and requests to end. */
#ifndef ENL_SIGNALS_H
#define ENL_SIGNALS_H

#include "job/job.h"

/* Ignores what may stray here, and forgets what waits of that. Comes first of all. */
void enl_signals_quieten(void);
/* Blocks these signals before any thread is made; from then on the loop reads them. Returns 0 or
 * -errno. */
int enl_signals_start(struct enl_jobs *jobs);
void enl_signals_stop(struct enl_jobs *jobs);

/* What a daemon's parent says: ends the program here by that signal; stops and continues all
 * CCEs. */
void enl_signals_end(struct enl_jobs *jobs, int signal);
void enl_signals_stop_cces(struct enl_jobs *jobs);
void enl_signals_continue_cces(struct enl_jobs *jobs);

/* All other hosts' CCEs are stopped: stops this daemon. */
void enl_signals_stopped(struct enl_jobs *jobs);

/* Starts the time, killafter, after which processes that have not heeded a signal get SIGKILL. */
void enl_signals_start_grace(struct enl_jobs *jobs);
/* Kills every child of the daemon, CCE or not, but for branches that are left to themselves (branch.h). Returns
 * how many there were; -1: this kernel does not tell which processes those are. */
int enl_signals_kill_children(const struct enl_jobs *jobs);
/* Reaps all children that have ended. True if none is left. */
bool enl_signals_reap(struct enl_jobs *jobs);

#endif

/* SPDX-License-Identifier: MIT */
/* What the daemon does for a bcr_enlist: a job that starts one CCE per turn of the loop, so that
 * the first ones are welcomed while the others are still being started. */
#ifndef ENL_ENLIST_H
#define ENL_ENLIST_H

#include "bcri/control.h"
#include "job/job.h"

struct enl_conn;

/* Answers at once if no CCE can be started; else when all have been started. Returns NULL, or what
 * is malformed. */
const char *enl_enlist(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request);
/* The same for a request that has an enlistor and is for this host. */
void enl_enlist_here(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request);
/* Answers that nothing was started, and reports why. */
void enl_enlist_refuse(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                       const char *host, int code, const char *reason);
/* The asker's connection is gone: its jobs go on, but answer nobody. */
void enl_enlist_forget(struct enl_jobs *jobs, const struct enl_conn *conn);
/* How many CCEs of jobs are still to be started. */
uint32_t enl_enlist_left(const struct enl_jobs *jobs);
/* The program is ending: drops all jobs. */
void enl_enlist_drop(struct enl_jobs *jobs);

#endif

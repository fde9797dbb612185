/* SPDX-License-Identifier: MIT */
/* startscript and endscript of bcrrc. */
#ifndef ENL_SCRIPTS_H
#define ENL_SCRIPTS_H

#include "job/job.h"

/* Runs `script` (as configured; NULL: none) with the guide's four arguments, of which the first is
 * `when` (0 start, 1 end). Calls `done` with the owner, on the loop when the script has ended, or at once if there
 * is nothing to run. */
void enl_script_run(struct enl_jobs *jobs, const char *script, int when, void (*done)(void *owner));

#endif

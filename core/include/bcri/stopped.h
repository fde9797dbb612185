/* SPDX-License-Identifier: MIT */
/* Whether a process is stopped: by SIGSTOP, by a terminal, by a debugger. Such a one is not dead,
 * and what it holds is not taken away from it; it is reported. Source: proc(5), /proc/PID/stat,
 * states T and t. */
#ifndef BCRI_STOPPED_H
#define BCRI_STOPPED_H

#include <stdbool.h>
#include <stdint.h>

/* False also if it has ended, or cannot be looked at. Leaves errno undefined. */
bool bcri_process_stopped(uint32_t pid);

#endif

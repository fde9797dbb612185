/* SPDX-License-Identifier: MIT */
/* Whether a process is stopped: by SIGSTOP, by a terminal, by a debugger. A stopped process is not
 * dead, and nobody takes away what it holds; it is only reported. Source: proc(5), /proc/PID/stat,
 * states T and t. */
#ifndef BCRI_STOPPED_H
#define BCRI_STOPPED_H

#include <stdbool.h>
#include <stdint.h>

/* False also if the process has ended or cannot be looked at. Leaves errno undefined. */
bool bcri_process_stopped(uint32_t pid);

#endif

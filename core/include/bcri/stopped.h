/* SPDX-License-Identifier: MIT */
/* The state of a process, and whether it is stopped: by SIGSTOP, by a terminal, by a debugger. A stopped process is not
 * dead, and nobody takes away what it holds; it is only reported. Source: proc(5), /proc/PID/stat,
 * states T and t. */
#ifndef BCRI_STOPPED_H
#define BCRI_STOPPED_H

#include <stdbool.h>
#include <stdint.h>

/* The letter of its state; 0: it has ended, or cannot be looked at. Of a process whose first thread has ended, which
 * the kernel calls a zombie, that of another thread counts. */
char bcri_process_state(uint32_t pid);
/* A thread of it that has not ended, by which /proc and ptrace(2) know the process; `pid` itself, as a rule. */
uint32_t bcri_process_thread(uint32_t pid);
/* False also if the process has ended or cannot be looked at. Leaves errno undefined. */
bool bcri_process_stopped(uint32_t pid);

#endif

/* SPDX-License-Identifier: MIT */
/* What the kernel says of a process. */
#ifndef ENL_PROCESS_STATUS_H
#define ENL_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct enl_process_status {
    char state;  /* of proc(5): 'S' sleeps, 'T' is stopped, and so on; 0: not known */
    long tracer; /* the process that traces it; 0: none does, or it is not known */
};

/* False: the process has gone, or its status cannot be read. */
bool enl_process_status(pid_t pid, struct enl_process_status *out);

/* Field `number` of /proc/PID/stat, as proc(5) counts them; 0: it cannot be read. */
enum { ENL_STAT_FLAGS = 9, ENL_STAT_START_TIME = 22, ENL_STAT_CORE = 39 };
uint64_t enl_process_stat(pid_t pid, int number);

#endif

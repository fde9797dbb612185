/* SPDX-License-Identifier: MIT */
/* group.h -- the control group (cgroup v2) of a job's processes on this host, and of all that they start. */
#ifndef ENL_GROUP_H
#define ENL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct enl_here;

/* A directory below the control group of this daemon, if the system lets it make one there. The daemon itself stays outside. The keeper
 * of the program's directory (tempdir.h) kills what is in the group when the daemon has ended, in whatever way, and removes it. */
struct enl_group {
    bool is_tried;
    char *path, *procs;  /* the group, and its cgroup.procs; NULL: there is none */
    bool has_memory_max; /* the kernel kills what needs more memory than the limit */
};

/* Makes it, unless that was tried before; why there is none the log says once. */
void enl_group_open(struct enl_here *here);
/* A process could not enter it: no other one is to. */
void enl_group_give_up(struct enl_here *here, int error);
void enl_group_forget(struct enl_here *here);

/* What its processes have used of processors, also those that have ended; 0: that cannot be read. */
uint64_t enl_group_cpu_us(const struct enl_here *here);
/* Whether a process in it was killed since there was no memory below the limit. */
bool enl_group_lacked_memory(const struct enl_here *here);
/* Calls `each` with the processes in it. */
void enl_group_walk(const struct enl_here *here, void (*each)(pid_t pid, void *data), void *data);

#endif

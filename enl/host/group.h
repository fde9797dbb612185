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
/* At the end of the daemon: what it has made for itself is to go too. */
void enl_group_close(void);

/* What its processes have used of processors, also those that have ended; 0: that cannot be read. */
uint64_t enl_group_cpu_us(const struct enl_here *here);
/* Whether the kernel limits its memory. Who has the groups above, as systemd, may take the controller away. */
bool enl_group_limits_memory(const struct enl_here *here);
/* Whether a process in it was killed since there was no memory below the limit. */
bool enl_group_lacked_memory(const struct enl_here *here);
/* Calls `each` with the processes in it. */
void enl_group_walk(const struct enl_here *here, void (*each)(pid_t pid, void *data), void *data);

/* group_memory.c */
/* Sets the kernel's limit, if the job has one and the group above gives it the memory controller. */
void enl_group_limit_memory(struct enl_here *here, const char *parent);
/* Whether that is the path of the group into which the daemons have gone for that. */
bool enl_group_is_of_daemons(const char *own);
/* This process leaves that group, which is beside `beside`, and removes it, unless others are in it, or a job has a group beside it: those
 * will. But when `starter`, the parent that this process had, has ended, they may have been killed: then it waits for them. */
void enl_group_leave(const char *beside, pid_t starter);
/* Writes to a file of a group. False, with errno: that does not take it. */
bool enl_group_write(const char *folder, const char *name, const char *text);

#endif

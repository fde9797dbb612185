/* SPDX-License-Identifier: MIT */
/* group.h -- the control group (cgroup v2) of a job's processes on this host, and of all that they start. */
#ifndef ENL_GROUP_H
#define ENL_GROUP_H

#include <stdbool.h>

struct enl_here;

/* A directory below the control group of this daemon, if the system lets it make one there. The daemon itself stays outside. The keeper
 * of the program's directory (tempdir.h) kills what is in the group when the daemon has ended, in whatever way, and removes it. */
struct enl_group {
    bool is_tried;
    char *path, *procs; /* the group, and its cgroup.procs; NULL: there is none */
};

/* Makes it, unless that was tried before; why there is none the log says once. */
void enl_group_open(struct enl_here *here);
/* A process could not enter it: no other one is to. */
void enl_group_give_up(struct enl_here *here, int error);
void enl_group_forget(struct enl_here *here);

#endif

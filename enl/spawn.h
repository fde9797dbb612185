/* SPDX-License-Identifier: MIT */
/* Starting a process quickly and with everything as its user expects it. */
#ifndef ENL_SPAWN_H
#define ENL_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What the daemon has changed for itself and gives back to each child. Taken once, before it
 * changes anything. */
struct enl_inherited {
    sigset_t mask;
    struct sigaction pipe, file_size, child;
    struct rlimit files;
};

void enl_inherited_take(struct enl_inherited *inherited_out);

struct enl_spawn {
    const char *path;
    char *const *argv;
    char *const *environment;
    const char *folder;   /* NULL: the daemon's own */
    int in, out, err;     /* become 0, 1, 2; -1: inherited */
    int keep;             /* a close-on-exec descriptor that the child keeps, or -1 */
    int core;             /* the only core it may run on, or -1 */
    bool core_is_wanted;  /* it must not start if it cannot run there */
    bool own_group;       /* leads a process group of its own */
    bool die_with_parent; /* SIGKILL when the daemon ends */
    const struct enl_inherited *inherited;
};

/* Starts the process; it has begun to run the program when this returns. Returns its pid, or -errno
 * with `*step_out` naming what failed. */
pid_t enl_spawn(const struct enl_spawn *spawn, const char **step_out);

/* A NULL-terminated copy of the environment without the variable `name`, and with `name`=`value`
 * unless that is NULL. One block, to be freed. NULL: no memory. */
char **enl_environment_with(char *const *environment, const char *name, const char *value);

#endif

/* SPDX-License-Identifier: MIT */
/* Starting a process quickly, with everything as its user expects it. */
#ifndef ENL_SPAWN_H
#define ENL_SPAWN_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What the daemon changes for itself and restores in each child. Taken once, before the daemon
 * changes anything. */
struct enl_inherited {
    struct rlimit files;
};

void enl_inherited_take(struct enl_inherited *inherited_out);

struct enl_spawn {
    const char *path;
    char *const *argv;
    char *const *environment;
    const char *folder;   /* NULL: the daemon's own */
    int in, out, err;     /* the child's 0, 1, 2; -1: the daemon's */
    int keep;             /* a close-on-exec descriptor that the child keeps, or -1 */
    int core;             /* the only core that the child may run on, or -1 */
    bool core_is_wanted;  /* fail if the child cannot run on `core` */
    bool own_group;       /* the child leads a process group of its own */
    bool own_session;     /* the child leads a session of its own, without a terminal */
    bool own_terminal;    /* and its stdin becomes that session's terminal */
    bool die_with_parent; /* the child gets SIGKILL when the daemon ends */
    bool no_core_file;    /* the child leaves none: secrets go through its memory */
    const struct enl_inherited *inherited;
};

/* Starts the process, without blocked or ignored signals but for an ignored SIGHUP. When this returns, exec is done. Returns the pid, or -errno with `*step_out`
 * naming the step that failed. */
pid_t enl_spawn(const struct enl_spawn *spawn, const char **step_out);

/* A NULL-terminated copy of the environment without the variable `name`, and with `name`=`value`
 * unless `value` is NULL. One block, which the caller frees. NULL: no memory. */
char **enl_environment_with(char *const *environment, const char *name, const char *value);
/* Gives the variables of such a copy that bcr_init has kept from enl their own names again: for a CCE. */
void enl_environment_give_back(char **environment);

#endif

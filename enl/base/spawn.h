/* SPDX-License-Identifier: MIT */
/* Starting a process quickly, with everything as its user expects it. */
#ifndef ENL_SPAWN_H
#define ENL_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct enl_self;

/* What the daemon changes for itself and restores in each child. Taken once, before the daemon
 * changes anything. */
struct enl_inherited {
    struct rlimit files; /* RLIMIT_NOFILE */
};

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
    const char
        *group; /* a cgroup.procs: the child enters that control group; NULL: it stays in the daemon's */
    const struct enl_inherited *inherited;
};

/* The step of a child that cannot enter `group`. */
#define ENL_SPAWN_ENTERS "enter the control group of its job"

/* Starts the process, without blocked or ignored signals but for an ignored SIGHUP. When this returns, exec is done. Returns the pid, or -errno with `*step_out`
 * naming the step that failed. */
pid_t enl_spawn(const struct enl_spawn *spawn, const char **step_out);
/* Closes its standard files, those that are not the daemon's. */
void enl_spawn_close_files(const struct enl_spawn *spawn);

/* A NULL-terminated copy of the environment without the variable `name`, and with `name`=`value`
 * unless `value` is NULL. One block, which the caller frees. NULL: no memory. */
char **enl_environment_with(char *const *environment, const char *name, const char *value);
/* Gives the variables of such a copy that bcr_init has kept from enl their own names again: for a CCE. */
void enl_environment_give_back(char **environment);
/* A NULL-terminated copy for a CCE, as by the two above, in which the variables of `added`, which NULL ends too, take
 * the places of those that have their names. One block, which the caller frees; the variables stay where they are.
 * NULL: no memory. */
char **enl_environment_joined(char *const *environment, char *const *added);

/* Starting enl itself as another process, for work that the daemon leaves to one: a proxied stream's helper, a tracer,
 * what opens windows. */
struct enl_own_start {
    const char *const *words; /* its command line, which NULL ends */
    int in, out;              /* its 0 and 1, borrowed; -1: /dev/null */
    int keep;                 /* its socket to the daemon (BCRI_SOCKET), or -1 */
    /* It stays in the daemon's process group, may write to the daemon's stderr, and ends by itself when the daemon
     * has. Otherwise it leads a group, its 2 is /dev/null, and it is killed when the daemon ends. */
    bool outlives;
};

/* Such a process leaves no core file. Returns its pid, or -1 with a sentence in `reason`. */
pid_t enl_own_start(struct enl_self *self, const struct enl_own_start *start, char *reason,
                    size_t reason_size);

#endif

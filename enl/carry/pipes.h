/* SPDX-License-Identifier: MIT */
/* The command of remote.h as a process with three pipes. */
#ifndef ENL_PIPES_H
#define ENL_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct enl_host;
struct enl_inherited;
struct enl_remote;

struct enl_pipes {
    pid_t process;    /* leads a session, and so a process group, of its own */
    int in, out, err; /* its stdout, stdin and stderr */
};

/* Starts it. False: a sentence says why there is no process. */
bool enl_pipes_begin(struct enl_pipes *pipes_out, const struct enl_remote *remote,
                     const struct enl_host *host, char *const *environment,
                     const struct enl_inherited *inherited, char *error, size_t error_size);

#endif

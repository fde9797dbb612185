/* SPDX-License-Identifier: MIT */
/* How a daemon starts another: the command (remote.h), as a process with three pipes (pipes.h). */
#ifndef ENL_LAUNCH_H
#define ENL_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "carry/carry.h"

struct enl_carry;
struct enl_host;

struct enl_launch {
    pid_t process;
    int in, out, err;   /* its stdout, stdin and stderr */
    char command[1024]; /* as a person may type it */
    bool is_ssh;
};

/* `address` NULL: the host's own. `pushes`: the command waits for what carry->push sends (push.h). False: a
 * sentence says why there is no process. */
bool enl_launch(struct enl_launch *launch_out, struct enl_carry *carry, const struct enl_host *host,
                const char *address, bool pushes, char *error, size_t error_size);

#endif

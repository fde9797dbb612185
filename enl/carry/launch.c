/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <stdlib.h>

#include "hosts/hosts.h"

static void warn_of_rsh(struct enl_carry *carry, const struct enl_remote *remote)
{
    static bool warned;
    if (warned || !enl_remote_is_open(remote))
        return;
    warned = true;
    enl_report(carry->self, BCRI_LOG_WARN,
               "%s sends the program's key over the network in the clear; rshpath /usr/bin/ssh does not",
               enl_remote_name(remote));
}

bool enl_launch(struct enl_launch *launch_out, struct enl_carry *carry, const struct enl_host *host,
                const char *address, bool pushes, char *error, size_t error_size)
{
    struct enl_remote remote;
    struct enl_pipes pipes;
    if (!enl_remote_command(&remote, &carry->self->config, host, address, "--child", error, error_size))
        return false;
    if (!host->local)
        warn_of_rsh(carry, &remote);
    if (pushes) {
        char command[1024];
        enl_push_command(carry->push, command, sizeof command);
        enl_remote_run(&remote, command);
    }
    char **outside = host->local ? NULL : enl_pushed_outside(carry);
    const bool good =
        enl_pipes_begin(&pipes, &remote, host, outside != NULL ? outside : carry->self->environment,
                        &carry->self->inherited, error, error_size);
    free(outside);
    if (good) {
        *launch_out = (struct enl_launch){.process = pipes.process,
                                          .in = pipes.in,
                                          .out = pipes.out,
                                          .err = pipes.err,
                                          .is_ssh = !host->local && enl_remote_is_ssh(&remote)};
        enl_remote_text(&remote, launch_out->command, sizeof launch_out->command);
    }
    enl_remote_free(&remote);
    return good;
}

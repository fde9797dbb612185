/* SPDX-License-Identifier: MIT */
/* See launch.h. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/refuse.h"
#include "push.h"
#include "remote.h"

static void close_pair(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static bool open_pipes(int down[2], int up[2], int err[2])
{
    if (pipe2(down, O_CLOEXEC) != 0)
        return false;
    if (pipe2(up, O_CLOEXEC) != 0)
        goto close_down;
    if (pipe2(err, O_CLOEXEC) != 0)
        goto close_up;
    return true;

close_up:
    close_pair(up);
close_down:
    close_pair(down);
    return false;
}

static void warn_of_rsh(struct enl_program *program, const struct enl_remote *remote)
{
    static bool warned;
    if (warned || !enl_remote_is_open(remote))
        return;
    warned = true;
    enl_report(program, BCRI_LOG_WARN,
               "%s sends the program's key over the network in the clear; rshpath /usr/bin/ssh does not",
               enl_remote_name(remote));
}

bool enl_launch(struct enl_launch *launch_out, struct enl_program *program, const struct enl_host *host,
                const char *address, bool pushes, char *error, size_t error_size)
{
    struct enl_remote remote;
    int down[2], up[2], err[2];
    if (!enl_remote_command(&remote, &program->config, host, address, "--child", error, error_size))
        return false;
    if (!host->local)
        warn_of_rsh(program, &remote);
    if (pushes) {
        char command[1024];
        enl_push_command(program->push, command, sizeof command);
        enl_remote_run(&remote, command);
    }
    if (!open_pipes(down, up, err)) {
        enl_remote_free(&remote);
        return bcri_refuse(error, error_size, false, "host %s cannot be used: enl has no descriptors left",
                           host->name);
    }
    char **outside = host->local ? NULL : enl_pushed_outside(program);
    const struct enl_spawn spawn = {.path = remote.path,
                                    .argv = remote.argv,
                                    .environment = outside != NULL ? outside : program->environment,
                                    .in = down[0],
                                    .out = up[1],
                                    .err = err[1],
                                    .keep = -1,
                                    .core = -1,
                                    .own_session = true,
                                    .die_with_parent = !host->local,
                                    .no_core_file = !host->local,
                                    .inherited = &program->inherited};
    const char *step = "";
    const pid_t pid = enl_spawn(&spawn, &step);
    free(outside);
    *launch_out = (struct enl_launch){.process = pid,
                                      .in = up[0],
                                      .out = down[1],
                                      .err = err[0],
                                      .is_ssh = !host->local && enl_remote_is_ssh(&remote)};
    enl_remote_text(&remote, launch_out->command, sizeof launch_out->command);
    enl_remote_free(&remote);
    close(down[0]);
    close(up[1]);
    close(err[1]);
    if (pid >= 0)
        return true;
    close(down[1]);
    close(up[0]);
    close(err[0]);
    return bcri_refuse(error, error_size, false, "host %s cannot be used: %s could not %s: %s%s", host->name,
                       launch_out->command, step, strerror(-pid),
                       host->local ? "" : "; rshpath in bcrrc names the program that reaches other machines");
}

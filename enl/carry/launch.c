/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"

enum { DOWN, UP, ERR, PIPES };

static bool open_pipes(int pairs[PIPES][2])
{
    for (int i = 0; i < PIPES; i++)
        if (pipe2(pairs[i], O_CLOEXEC) != 0)
            return false;
    return true;
}

static void close_pipes(int pairs[PIPES][2])
{
    for (int i = 0; i < 2 * PIPES; i++)
        if (pairs[i / 2][i % 2] >= 0)
            close(pairs[i / 2][i % 2]);
}

/* The end that stays here is not closed with the others. */
static int keep_from_child(int *fd)
{
    const int kept = *fd;
    *fd = -1;
    return kept;
}

static const char *remedy(const struct enl_host *host, const char *step, int error)
{
    if (error == EMFILE)
        return "; enl has no descriptors left: raise the limit of open files (ulimit -n)";
    if (strcmp(step, "be executed") != 0)
        return bcri_fork_remedy(error);
    return host->local ? "; enl= in the hosts file, or enlistpath in bcrrc, must name enl itself"
                       : "; rshpath in bcrrc names the program that reaches other machines";
}

bool enl_launch_command(struct enl_launch *launch_out, const struct enl_remote *remote,
                        const struct enl_host *host, char *const *environment,
                        const struct enl_inherited *inherited, char *error, size_t error_size)
{
    int pairs[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    const char *step = "get its pipes";
    pid_t pid;
    if (open_pipes(pairs)) {
        const struct enl_spawn spawn = {.path = remote->path,
                                        .argv = remote->argv,
                                        .environment = environment,
                                        .in = pairs[DOWN][0],
                                        .out = pairs[UP][1],
                                        .err = pairs[ERR][1],
                                        .keep = -1,
                                        .core = -1,
                                        .own_session = true,
                                        .die_with_parent = !host->local,
                                        .no_core_file = !host->local,
                                        .inherited = inherited};
        pid = enl_spawn(&spawn, &step);
    } else {
        pid = -errno;
    }
    *launch_out = (struct enl_launch){.process = pid, .is_ssh = !host->local && enl_remote_is_ssh(remote)};
    enl_remote_text(remote, launch_out->command, sizeof launch_out->command);
    if (pid > 0) {
        launch_out->in = keep_from_child(&pairs[UP][0]);
        launch_out->out = keep_from_child(&pairs[DOWN][1]);
        launch_out->err = keep_from_child(&pairs[ERR][0]);
    }
    close_pipes(pairs);
    return pid > 0 ||
           bcri_refuse(error, error_size, false, "host %s cannot be used: %s could not %s: %s%s", host->name,
                       launch_out->command, step, strerror(-pid), remedy(host, step, -pid));
}

/* rsh sends all that the pipes carry in the clear, the program's key too. */
static void warn_of_rsh(struct enl_carry *carry, const struct enl_remote *remote)
{
    static bool warned;
    const char *name = enl_remote_name(remote);
    if (warned || (strcmp(name, "rsh") != 0 && strcmp(name, "remsh") != 0))
        return;
    warned = true;
    enl_report(carry->self, BCRI_LOG_WARN,
               "%s sends the program's key over the network in the clear; rshpath /usr/bin/ssh does not",
               name);
}

bool enl_launch(struct enl_launch *launch_out, struct enl_carry *carry, const struct enl_host *host,
                const char *address, bool pushes, char *error, size_t error_size)
{
    struct enl_remote remote;
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
        enl_launch_command(launch_out, &remote, host, outside != NULL ? outside : carry->self->environment,
                           &carry->self->inherited, error, error_size);
    free(outside);
    enl_remote_free(&remote);
    return good;
}

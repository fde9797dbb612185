/* SPDX-License-Identifier: MIT */
/* How a child is started: its command, its pipes, its process. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/refuse.h"
#include "child.h"
#include "conn.h"
#include "peer.h"
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

static const char *on_message(void *owner, const struct bcri_control *message)
{
    return enl_child_take(owner, message);
}

static void on_ended(void *owner, const char *why)
{
    enl_child_pipe_ended(owner, why);
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

struct enl_child *enl_child_start(struct enl_program *program, const struct enl_host *host,
                                  const char *address, uint32_t number, const struct enl_child_ops *ops,
                                  char *error, size_t error_size)
{
    static const struct enl_peer_ops peer_ops = {on_message, on_ended};
    struct enl_remote remote;
    int down[2], up[2], err[2];
    if (!enl_remote_command(&remote, &program->config, host, address, "--child", error, error_size))
        return NULL;
    if (!host->local)
        warn_of_rsh(program, &remote);
    struct enl_child *child = calloc(1, sizeof *child);
    if (child == NULL || !open_pipes(down, up, err)) {
        bcri_refuse(error, error_size, 0, "host %s cannot be used: %s", host->name,
                    child == NULL ? "no memory" : "enl has no descriptors left");
        enl_remote_free(&remote);
        free(child);
        return NULL;
    }
    const struct enl_spawn spawn = {.path = remote.path,
                                    .argv = remote.argv,
                                    .environment = program->environment,
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
    enl_remote_text(&remote, child->command, sizeof child->command);
    snprintf(child->by, sizeof child->by, "%s", enl_remote_name(&remote));
    child->is_ssh = !host->local && enl_remote_is_ssh(&remote);
    enl_remote_free(&remote);
    close(down[0]);
    close(up[1]);
    close(err[1]);
    if (pid < 0) {
        bcri_refuse(error, error_size, 0, "host %s cannot be used: %s could not %s: %s%s", host->name,
                    child->command, step, strerror(-pid),
                    host->local ? "" : "; rshpath in bcrrc names the program that reaches other machines");
        close(down[1]);
        close(up[0]);
        close(err[0]);
        free(child);
        return NULL;
    }
    child->program = program;
    child->host = host;
    child->number = number;
    child->ops = ops;
    child->process = pid;
    uv_timer_init(&program->loop, &child->timer);
    child->timer.data = child;
    const bool listens = enl_said_begin(&child->said, program, host->name, err[0]);
    struct enl_peer *peer = enl_peer_new(program, up[0], down[1], NULL, &peer_ops, child);
    child->conn = peer != NULL ? enl_conn_of_peer(program, ENL_CHILD, peer) : NULL;
    if (child->conn == NULL || !listens)
        enl_child_cut(child, "no memory");
    else
        enl_child_await(child);
    return child;
}

/* SPDX-License-Identifier: MIT */
/* How a child is begun, by a process here or by way of another child, its starter; and its control link. */
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "conductor/child.h"
#include "wire/wire.h"

static const char *on_child_message(void *owner, const struct bcri_control *message)
{
    struct enl_child *child = owner;
    return (message->present & BCRI_HAS(from)) != 0 ? enl_tree_passes(child, message)
                                                    : enl_child_take(child, message);
}

static void on_child_ended(void *owner, const char *why)
{
    enl_child_pipe_ended(owner, why);
}

static void on_write_failed(void *owner)
{
    enl_child_pipe_ended(owner, "nothing can be sent to it");
}

const struct enl_peer_ops enl_child_peer_ops = {on_child_message, on_child_ended, on_write_failed};

struct enl_child *enl_child_new(struct enl_program *program, const struct enl_host *host, const char *address,
                                uint32_t number)
{
    struct enl_child *child = calloc(1, sizeof *child);
    const bool has_own = address != NULL && address[0] != '\0';
    char *copy = has_own ? strdup(address) : NULL;
    if (child == NULL || (has_own && copy == NULL)) {
        free(child);
        free(copy);
        return NULL;
    }
    *child = (struct enl_child){.life = {.number = number, .until_ms = UINT64_MAX},
                                .program = program,
                                .host = host,
                                .address = copy};
    STAILQ_INIT(&child->forwards.all);
    uv_timer_init(&program->self.loop, &child->timer);
    child->timer.data = child;
    return child;
}

static bool begin_here(struct enl_child *child, char *error, size_t error_size)
{
    struct enl_program *program = child->program;
    struct enl_launch launch;
    const bool pushes = enl_push_is_for(&program->carry, child->host);
    if (!enl_launch(&launch, &program->carry, child->host, child->address, pushes, error, error_size))
        return false;
    memcpy(child->command, launch.command, sizeof child->command);
    child->is_ssh = launch.is_ssh;
    child->process = launch.process;
    enl_child_happens(child, ENL_LIFE_BEGIN);
    const bool listens = enl_said_begin(&child->said, &program->self, child->host->name, launch.err);
    struct enl_peer *peer =
        enl_peer_new(&program->carry, launch.in, launch.out, NULL, &enl_child_peer_ops, child);
    child->conn = peer != NULL ? enl_conn_of_peer(&program->conns, ENL_CHILD, peer) : NULL;
    const bool has_all = child->conn != NULL && listens;
    if (!has_all || (pushes && !enl_push_send(program->carry.push, peer, enl_child_gets_more, child)))
        enl_child_cut(child, "no memory");
    return true;
}

static void add_field(struct bcri_control *begin, uint64_t key, struct bcri_view *field, const char *value)
{
    if (value == NULL)
        return;
    *field = bcri_view_of(value);
    begin->present |= key;
}

static bool begin_by(struct enl_child *child, struct enl_child *starter, char *error, size_t error_size)
{
    struct enl_program *program = child->program;
    const struct enl_host *host = child->host;
    struct enl_peer *pipes = enl_tree_pipes(program, starter->life.number);
    struct enl_peer *peer =
        pipes != NULL ? enl_peer_new_by(&program->carry, pipes, child->life.number) : NULL;
    child->conn = peer != NULL ? enl_conn_of_peer(&program->conns, ENL_CHILD, peer) : NULL;
    if (child->conn == NULL)
        return bcri_refuse(error, error_size, false, "host %s cannot be used: no memory", host->name);
    struct bcri_control begin = {.type = BCRI_MSG_begin,
                                 .present = BCRI_HAS(host) | BCRI_HAS(machine) | BCRI_HAS(flags),
                                 .host = child->life.number,
                                 .machine = bcri_view_of(host->name),
                                 .flags = (host->local ? BCRI_BEGIN_LOCAL : 0u) |
                                          (enl_push_is_for(&program->carry, host) ? BCRI_BEGIN_PUSH : 0u)};
    add_field(&begin, BCRI_HAS(text), &begin.text, child->address != NULL ? child->address : host->address);
    add_field(&begin, BCRI_HAS(ccename), &begin.ccename, host->login);
    add_field(&begin, BCRI_HAS(object), &begin.object, host->enl);
    child->life.starter = starter->life.number;
    struct enl_numbered *numbered = program->tree->numbered;
    numbered[child->life.number].first = numbered[starter->life.number].first;
    child->by = starter->host;
    (void)enl_said_begin(&child->said, &program->self, host->name, -1);
    enl_child_happens(child, ENL_LIFE_BEGIN);
    enl_child_send(starter, &begin);
    return true;
}

bool enl_child_begin(struct enl_child *child, struct enl_child *starter, char *error, size_t error_size)
{
    return starter == NULL ? begin_here(child, error, error_size)
                           : begin_by(child, starter, error, error_size);
}

/* ---- the control link of a child that another has begun (introductions.h) ---- */

void enl_child_listen(struct enl_child *child)
{
    struct enl_program *program = child->program;
    struct enl_peer *pipes = child->conn->peer;
    const char *wrong =
        enl_control_link_listen(&child->control_link, program->introductions, child->life.number);
    struct enl_peer *peer = wrong == NULL ? enl_peer_new_by_control_link(&program->carry, child->life.number,
                                                                         &enl_child_peer_ops, child)
                                          : NULL;
    if (peer == NULL) {
        enl_child_cut(child, wrong != NULL ? wrong : "no memory");
        return;
    }
    child->conn->peer = peer;
    enl_peer_close(pipes);
}

void enl_child_control_link_came(struct enl_child *child, const uint8_t *content, uint32_t bytes)
{
    if (child->conn == NULL || child->life.starter == 0 || child->life.state < ENL_LIFE_ANNOUNCED)
        return;
    if (child->life.state ==
        ENL_LIFE_ANNOUNCED) /* output may overtake the reply, before which nothing is said */
        enl_child_happens(child, ENL_LIFE_STARTS);
    enl_peer_came(child->conn->peer, content, bytes);
}

/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "conductor/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "tree/routes.h"
#include "wire/wire.h"

/* How long branches that the root has not ended keep this daemon, which has nothing else left. */
enum { OVER_MSEC = 2000 };

struct branch {
    LIST_ENTRY(branch) entry;
    struct enl_program *program;
    uint32_t host;
    struct enl_launch launch; /* its process 0: reaped */
    struct enl_peer *peer;    /* NULL: the pipe has ended */
    struct enl_said said;
};

static struct {
    LIST_HEAD(, branch) all;
    struct enl_routes routes;
    uv_timer_t timer; /* OVER_MSEC */
    bool has_timer;
    bool left; /* they are waited for no longer */
} branches;

static struct branch *find_branch(uint32_t host)
{
    struct branch *branch;
    LIST_FOREACH (branch, &branches.all, entry)
        if (branch->host == host)
            break;
    return branch;
}

static struct branch *find_process(pid_t pid)
{
    struct branch *branch;
    LIST_FOREACH (branch, &branches.all, entry)
        if (branch->launch.process == pid)
            break;
    return branch;
}

static void send_to_parent(struct enl_program *program, const struct bcri_control *message)
{
    if (program->parent != NULL)
        enl_peer_send(program->parent->peer, message);
}

/* ---- what is told of a branch ---- */

static void tell_ended(struct enl_program *program, uint32_t host, const struct enl_launch *launch, int code,
                       const char *why)
{
    struct bcri_control ended = {.type = BCRI_MSG_ended,
                                 .present =
                                     BCRI_HAS(host) | BCRI_HAS(code) | BCRI_HAS(flags) | BCRI_HAS(text),
                                 .host = host,
                                 .code = code,
                                 .flags = launch != NULL && launch->is_ssh ? BCRI_ENDED_SSH : 0,
                                 .text = bcri_view_of(launch != NULL ? launch->command : "")};
    if (why != NULL) {
        ended.present |= BCRI_HAS(object);
        ended.object = bcri_view_of(why);
    }
    send_to_parent(program, &ended);
}

static void tell_said(void *owner, const char *bytes, size_t length)
{
    const struct branch *branch = owner;
    const struct bcri_control said = {.type = BCRI_MSG_said,
                                      .present = BCRI_HAS(host) | BCRI_HAS(bytes),
                                      .host = branch->host,
                                      .bytes = {bytes, (uint32_t)length}};
    send_to_parent(branch->program, &said);
}

/* So that the root does not lose patience with it. */
static void tell_more_is_pushed(void *owner)
{
    tell_said(owner, "", 0);
}

/* ---- its end ---- */

static void look_whether_gone(struct branch *branch)
{
    struct enl_program *program = branch->program;
    if (branch->peer != NULL || branch->launch.process != 0)
        return;
    LIST_REMOVE(branch, entry);
    enl_said_end(&branch->said);
    free(branch);
    enl_program_check_end(program);
}

static void close_pipes(struct branch *branch)
{
    struct enl_peer *peer = branch->peer;
    branch->peer = NULL;
    if (peer == NULL)
        return;
    enl_routes_drop(&branches.routes, branch->host);
    enl_peer_close(peer);
}

static void tell_closed(const struct branch *branch, const char *why, uint32_t flags)
{
    const struct bcri_control closed = {.type = BCRI_MSG_closed,
                                        .present = BCRI_HAS(host) | BCRI_HAS(text) | BCRI_HAS(flags),
                                        .host = branch->host,
                                        .text = bcri_view_of(why),
                                        .flags = flags};
    send_to_parent(branch->program, &closed);
}

/* What it says is passed on still. */
static void on_write_failed(void *owner)
{
    struct branch *branch = owner;
    tell_closed(branch, "nothing can be sent to it", BCRI_CLOSED_WRITE_FAILED);
}

static void on_branch_ended(void *owner, const char *why)
{
    struct branch *branch = owner;
    char line[ENL_PRINTED_MAX];
    (void)enl_said_all(&branch->said);    /* which may be why */
    enl_peer_printed(branch->peer, line); /* a login may refuse where a daemon would speak: on its stdout */
    if (line[0] != '\0')
        tell_said(branch, line, strlen(line));
    tell_closed(branch, why, 0);
    close_pipes(branch);
    look_whether_gone(branch);
}

bool enl_branch_reaped(struct enl_program *program, pid_t pid, int wait_status)
{
    struct branch *branch = find_process(pid);
    if (branch == NULL)
        return false;
    branch->launch.process = 0;
    (void)enl_said_all(&branch->said);
    tell_ended(program, branch->host, &branch->launch, wait_status, NULL);
    look_whether_gone(branch);
    return true;
}

/* Killed first: a daemon that finds its pipes closed while it lives says so on stderr, which would pass for
 * the reason of its end. */
static void cut(struct branch *branch)
{
    if (branch->launch.process != 0) {
        kill(-branch->launch.process, SIGKILL);
        kill(branch->launch.process, SIGKILL);
    }
    close_pipes(branch);
    look_whether_gone(branch);
}

/* ---- what passes ---- */

static const char *on_branch_message(void *owner, const struct bcri_control *message)
{
    struct branch *branch = owner;
    struct enl_peer *pipes = branch->program->pipes;
    const bool is_own = (message->present & BCRI_HAS(from)) == 0;
    const uint32_t leads_by = is_own ? branch->host : enl_routes_find(&branches.routes, message->from);
    /* A host speaks first by saying what it is: so the way to it becomes known here. Whether it is below that branch the root knows. */
    const bool is_first = leads_by == 0 && message->type == BCRI_MSG_present && message->from != 0;
    if (is_first && !enl_routes_add(&branches.routes, message->from, branch->host))
        return NULL;
    if (leads_by != branch->host && !is_first)
        return "it speaks for a host that is not below it";
    if (is_own && pipes != NULL) {
        struct bcri_control own = *message;
        own.present |= BCRI_HAS(from);
        own.from = branch->host;
        enl_peer_send(pipes, &own);
    } else if (pipes != NULL) {
        enl_peer_pass(pipes, branch->peer, message->type);
    }
    return NULL;
}

void enl_branch_pass_down(struct enl_program *program, const struct bcri_control *message)
{
    const uint32_t neighbour = enl_routes_find(&branches.routes, message->to);
    const struct branch *branch = neighbour != 0 ? find_branch(neighbour) : NULL;
    if (branch == NULL || branch->peer == NULL) {
        bcri_log_write(&program->self.log, BCRI_LOG_DEBUG, "%s for host %u is dropped: there is no way to it",
                       bcri_control_name(message->type), message->to);
        return;
    }
    if (program->pipes != NULL)
        enl_peer_pass(branch->peer, program->pipes, message->type);
}

/* ---- its beginning ---- */

/* Returns NULL, or why there is no process. */
static const char *begin_branch(struct enl_program *program, uint32_t number, const struct enl_host *host,
                                bool pushes, char *error, size_t error_size)
{
    static const struct enl_peer_ops ops = {on_branch_message, on_branch_ended, on_write_failed};
    struct branch *branch = calloc(1, sizeof *branch);
    if (branch == NULL || !enl_routes_add(&branches.routes, number, number)) {
        free(branch);
        return "no memory";
    }
    struct enl_launch *launch = &branch->launch;
    if (!enl_launch(launch, &program->carry, host, NULL, pushes, error, error_size)) {
        free(branch);
        const char *colon = strstr(error, "cannot be used: "); /* the root says that again */
        return colon != NULL ? colon + strlen("cannot be used: ") : error;
    }
    branch->program = program;
    branch->host = number;
    LIST_INSERT_HEAD(&branches.all, branch, entry);
    const bool listens = enl_said_begin(&branch->said, &program->self, NULL, launch->err);
    branch->said.pass = tell_said;
    branch->said.owner = branch;
    branch->peer = enl_peer_new(&program->carry, launch->in, launch->out, NULL, &ops, branch);
    if (branch->peer == NULL || !listens ||
        (pushes && !enl_push_send(program->carry.push, branch->peer, tell_more_is_pushed, branch)))
        cut(branch);
    return NULL;
}

static char *text_of_view(struct bcri_view view, char *out, size_t size)
{
    return view.length != 0 && bcri_view_copy(view, out, size) ? out : NULL;
}

static const char *take_begin(struct enl_program *program, const struct bcri_control *message)
{
    char name[256], address[1024], login[256], enl[4096], error[2048];
    if (message->host == program->self.host_number || find_branch(message->host) != NULL)
        return "it begins a host twice";
    if (message->machine.length == 0 || message->machine.bytes[0] == '-' ||
        (message->text.length != 0 && message->text.bytes[0] == '-') ||
        (message->ccename.length != 0 && message->ccename.bytes[0] == '-'))
        return "it begins a host that has no name";
    const struct enl_host host = {.name = text_of_view(message->machine, name, sizeof name),
                                  .local = (message->flags & BCRI_BEGIN_LOCAL) != 0,
                                  .address = text_of_view(message->text, address, sizeof address),
                                  .login = text_of_view(message->ccename, login, sizeof login),
                                  .enl = text_of_view(message->object, enl, sizeof enl)};
    const char *why =
        program->self.phase != ENL_RUNNING
            ? "the daemon that is to start it is ending"
            : begin_branch(program, message->host, &host,
                           (message->flags & BCRI_BEGIN_PUSH) != 0 && program->carry.push != NULL, error,
                           sizeof error);
    if (why != NULL)
        tell_ended(program, message->host, NULL, 0, why);
    return NULL;
}

const char *enl_branch_of_parent(struct enl_program *program, const struct bcri_control *message)
{
    if (message->type == BCRI_MSG_begin)
        return take_begin(program, message);
    struct branch *branch = find_branch(message->host);
    if (branch != NULL) /* or it has ended, and the parent does not know yet */
        cut(branch);
    return NULL;
}

/* ---- the end of all ---- */

void enl_branches_warn(void)
{
    const struct bcri_control lost = {.type = BCRI_MSG_lost, .present = BCRI_HAS(host)};
    const struct branch *branch;
    LIST_FOREACH (branch, &branches.all, entry)
        if (branch->peer != NULL)
            enl_peer_send(branch->peer, &lost);
}

void enl_branches_leave(void)
{
    if (branches.left)
        return;
    branches.left = !LIST_EMPTY(&branches.all);
    for (struct branch *branch = LIST_FIRST(&branches.all), *next; branch != NULL; branch = next) {
        next = LIST_NEXT(branch, entry);
        close_pipes(branch);
    }
}

bool enl_branches_are_left(void)
{
    return branches.left && !LIST_EMPTY(&branches.all);
}

bool enl_branch_is_left(pid_t pid)
{
    return branches.left && find_process(pid) != NULL;
}

static void on_branch_timer(uv_timer_t *timer)
{
    enl_branches_leave();
    enl_program_check_end(timer->data);
}

bool enl_branches_over(struct enl_program *program)
{
    if (LIST_EMPTY(&branches.all) || branches.left)
        return true;
    if (!branches.has_timer)
        uv_timer_init(&program->self.loop, &branches.timer);
    branches.has_timer = true;
    branches.timer.data = program;
    if (!program->all_end && uv_is_active((uv_handle_t *)&branches.timer) == 0)
        uv_timer_start(&branches.timer, on_branch_timer, OVER_MSEC, 0);
    return false;
}

void enl_branches_close(void)
{
    for (struct branch *branch; (branch = LIST_FIRST(&branches.all)) != NULL;) {
        LIST_REMOVE(branch, entry);
        close_pipes(branch);
        enl_said_end(&branch->said);
        free(branch);
    }
    enl_routes_free(&branches.routes);
    if (branches.has_timer)
        uv_close((uv_handle_t *)&branches.timer, NULL);
    branches.has_timer = false;
}

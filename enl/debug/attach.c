/* SPDX-License-Identifier: MIT */
/* attach.c -- the debuggers that the daemon holds, and what panes and commands ask of them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/object.h"
#include "base/status.h"
#include "bcri/cces.h"
#include "bcri/failure.h"
#include "bcri/stopped.h"
#include "debug/debug_private.h"
#include "host/host.h"
#include "wire/wire.h"

/* ---- debuggers that the daemon holds, and the ptys by which it does ---- */

struct enl_pane *enl_pane_new(struct enl_session *session, uint32_t index, uint32_t ordinal, int fd)
{
    struct enl_pane *pane = calloc(1, sizeof *pane);
    if (pane == NULL)
        return NULL;
    pane->session = session;
    pane->index = index;
    pane->ordinal = ordinal;
    pane->fd = fd;
    LIST_INSERT_HEAD(&session->panes, pane, entry);
    return pane;
}

void enl_pane_free(struct enl_pane *pane)
{
    LIST_REMOVE(pane, entry);
    if (pane->fd >= 0)
        close(pane->fd);
    if (pane->viewer != NULL)
        pane->viewer->pane = NULL;
    free(pane);
}

struct enl_pane *enl_pane_of(const struct enl_session *session, uint32_t host, uint32_t index)
{
    struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (pane->host == host && pane->index == index && !pane->attached)
            return pane;
    return NULL;
}

/* Opens a pty. Returns the daemon's end and the debugger's in `slave_out`, or -errno, which is noted. */
static int open_pty(int *slave_out)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    const char *call = "posix_openpt";
    int slave = -1, fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (call = "grantpt", grantpt(fd) == 0) && (call = "unlockpt", unlockpt(fd) == 0)) {
        call = "ioctl (TIOCGPTPEER)";
        slave = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (slave < 0) {
        const int error = errno;
        bcri_failure_note(call);
        if (fd >= 0)
            close(fd);
        return -error;
    }
    ioctl(fd, TIOCSWINSZ, &size);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    *slave_out = slave;
    return fd;
}

static void take_files(struct enl_spawn *spawn, int fd, bool err_too)
{
    int *const places[] = {&spawn->in, &spawn->out, &spawn->err};
    for (int i = 0; i < (err_too ? 3 : 2); i++) {
        if (*places[i] >= 0)
            close(*places[i]);
        *places[i] = i == 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
}

int enl_pane_files(struct enl_spawn *spawn, bool serves)
{
    int pair[2] = {-1, -1};
    if (serves) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            bcri_failure_note("socketpair");
            return -errno;
        }
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        take_files(spawn, pair[1], false);
        return pair[0];
    }
    const int fd = open_pty(&pair[1]);
    if (fd < 0)
        return fd;
    take_files(spawn, pair[1], true);
    spawn->own_group = false; /* it leads a session, and so a group */
    spawn->own_session = true;
    spawn->own_terminal = true;
    return fd;
}

/* ---- what is asked of them ---- */

static const char *give_pane(struct enl_conn *conn, struct enl_pane *pane, uint32_t id)
{
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = id};
    if (pane->viewer != NULL || pane->fd < 0) {
        enl_conn_reply(conn, id, bcrE_BUSY, "its debugger is shown elsewhere");
        return NULL;
    }
    pane->viewer = conn;
    pane->seen = true;
    if (pane->notice[0] != '\0') {
        reply.present |= BCRI_HAS(text);
        reply.text = bcri_view_of(pane->notice);
    }
    if (conn->kind == ENL_HELPER) /* it stays one */
        conn->pane = pane;
    else
        enl_conn_becomes_pane(conn, pane);
    enl_conn_send(conn, &reply, &pane->fd, 1);
    return NULL;
}

const char *enl_session_pane(struct enl_session *session, struct enl_conn *conn,
                             const struct bcri_control *message)
{
    struct enl_pane *pane = enl_pane_of(session, 0, message->index);
    if (pane != NULL)
        return give_pane(conn, pane, message->id);
    enl_conn_reply(conn, message->id, bcrE_NOCCE, "it has no debugger");
    return NULL;
}

pid_t enl_attachable(const struct enl_cce *cce)
{
    if (cce->life == ENL_ALIVE)
        return cce->pid;
    return cce->life == ENL_STARTED && bcri_cce_seen_state(cce->record) == BCRI_CCE_ALIVE ? cce->process : 0;
}

/* The CCE of that ordinal, or of that process if there is a pid. NULL: a sentence says why, and it is bcrE_NOCCE if
 * there is none here. */
static struct enl_cce *find_cce(const struct enl_session *session, const struct bcri_control *message,
                                int *code_out, char *reason, size_t size)
{
    struct enl_cce *found = NULL;
    const bool by_pid = (message->present & BCRI_HAS(pid)) != 0;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &session->here->all, entry) {
        const pid_t pid = enl_attachable(cce);
        if (pid == 0 || (by_pid ? (uint32_t)pid != message->pid : cce->ordinal != message->ordinal))
            continue;
        if (found != NULL) {
            snprintf(reason, size,
                     "several CCEs have the ordinal %u; enl ps has their processes: pid:%ld is one",
                     message->ordinal, (long)pid);
            *code_out = bcrE_BUSY;
            return NULL;
        }
        found = cce;
    }
    *code_out = bcrE_NOCCE;
    if (found == NULL)
        snprintf(reason, size,
                 "it has ended, or has not come out of bcr_init yet; enl ps lists what there is");
    return found;
}

/* `debugger` NULL: gdbserver, whose file `server` is. */
static struct enl_pane *start_debugger_at(struct enl_session *session, const struct enl_cce *cce,
                                          const struct enl_debugger *debugger, const char *server,
                                          char *reason, size_t size)
{
    char pid[16], program_link[ENL_PROGRAM_LINK_MAX];
    const pid_t thread = (pid_t)bcri_process_thread((uint32_t)enl_attachable(cce));
    const bool replaced = enl_debugger_program(thread, program_link);
    struct enl_spawn spawn = {.path = debugger != NULL ? debugger->path : server,
                              .environment = session->self->environment,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .own_group = debugger == NULL,
                              .die_with_parent = true,
                              .inherited = &session->self->inherited};
    const char *step = "get a terminal";
    snprintf(pid, sizeof pid, "%ld", (long)thread);
    char *serving[] = {ENL_GDBSERVER, "--once", "--attach", "-", pid, NULL};
    char **words =
        debugger != NULL ? enl_debugger_attaches(debugger, pid, replaced ? program_link : NULL) : NULL;
    spawn.argv = debugger != NULL ? words : serving;
    const int fd = spawn.argv != NULL ? enl_pane_files(&spawn, debugger == NULL) : -ENOMEM;
    const pid_t started = fd >= 0 ? enl_spawn(&spawn, &step) : fd;
    struct enl_pane *pane = started > 0 ? enl_pane_new(session, cce->index, cce->ordinal, fd) : NULL;
    free(words);
    enl_spawn_close_files(&spawn);
    if (pane == NULL) {
        if (started > 0)
            kill(started, SIGKILL);
        if (fd >= 0)
            close(fd);
        snprintf(reason, size, "%s could not %s: %s", spawn.path, step,
                 strerror(started < 0 ? -started : ENOMEM));
        return NULL;
    }
    pane->pid = started;
    pane->attached = true;
    pane->serves = debugger == NULL;
    if (replaced && pane->serves)
        snprintf(pane->notice, sizeof pane->notice,
                 "its program's file was replaced, or removed, since it was started: in gdb, file target:%s "
                 "reads what "
                 "runs",
                 program_link);
    return pane;
}

/* The debugger that `message` names, or gdbserver (`*serves_out`). Returns 0, or -1 with a sentence. */
static int named_debugger(const struct bcri_control *message, struct enl_debugger *debugger,
                          char server[PATH_MAX], char *reason, size_t size)
{
    char command[BCRI_CONTROL_BYTES_MAX];
    bcri_view_copy(message->object, command, sizeof command);
    if (command[0] != '\0')
        return enl_debugger_find(debugger, command, reason, size);
    if (enl_object_find(ENL_GDBSERVER, server, reason, size) == 0)
        return 0;
    const size_t used = strlen(reason);
    snprintf(reason + used, size - used, "; install gdbserver");
    return -1;
}

/* Unless another process traces it already, or none may. NULL: a sentence says why. */
static struct enl_pane *attach_to(struct enl_session *session, const struct enl_cce *cce,
                                  const struct bcri_control *message, char *reason, size_t size)
{
    char server[PATH_MAX];
    struct enl_debugger debugger = {.words = NULL};
    struct enl_pane *pane = NULL;
    struct enl_process_status status;
    const pid_t pid = enl_attachable(cce);
    (void)enl_process_status(pid, &status);
    const char *forbidden =
        status.tracer == 0 ? enl_debugger_refused((pid_t)bcri_process_thread((uint32_t)pid)) : NULL;
    if (status.tracer != 0)
        snprintf(reason, size, "process %ld traces it already", status.tracer);
    else if (forbidden != NULL)
        snprintf(reason, size, "%s", forbidden);
    else if (named_debugger(message, &debugger, server, reason, size) == 0)
        pane = start_debugger_at(session, cce, message->object.length != 0 ? &debugger : NULL, server, reason,
                                 size);
    if (pane != NULL)
        pane->found_stopped = status.state == 'T';
    enl_debugger_free(&debugger);
    return pane;
}

const char *enl_session_attach(struct enl_session *session, struct enl_conn *conn,
                               const struct bcri_control *message)
{
    char reason[1024];
    const bool serves = message->object.length == 0;
    /* A gdbserver that has started a CCE waits for its first client. */
    struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (serves && pane->serves && pane->ordinal == message->ordinal && !pane->seen &&
            (message->present & BCRI_HAS(pid)) == 0)
            return give_pane(conn, pane, message->id);
    int code;
    struct enl_cce *cce = find_cce(session, message, &code, reason, sizeof reason);
    pane = cce != NULL ? attach_to(session, cce, message, reason, sizeof reason) : NULL;
    if (pane != NULL)
        return give_pane(conn, pane, message->id);
    const size_t used = strlen(reason);
    if (session->self->is_child && used < sizeof reason)
        snprintf(reason + used, sizeof reason - used, " (on host %s)", session->self->hostname);
    enl_conn_reply(conn, message->id, cce != NULL ? bcrE_BUSY : code, reason);
    return NULL;
}

void enl_session_unseen(struct enl_conn *conn)
{
    struct enl_pane *pane = conn->pane;
    conn->pane = NULL;
    if (pane == NULL)
        return;
    pane->viewer = NULL;
    if (pane->fd >= 0)
        close(pane->fd); /* a terminal that hangs up, or the end of gdbserver's stdin */
    pane->fd = -1;
    if (pane->attached)
        return; /* it detaches, and ends by itself or with the program */
    struct enl_cce *cce = enl_cce_at(pane->session->here, pane->index);
    if (cce != NULL && !pane->serves && cce->process == pane->pid && pane->pid != 0)
        enl_cce_signal(cce, SIGKILL, true);
}

/* SPDX-License-Identifier: MIT */
/* session.c -- how a CCE starts under a debugger, and the end of a session: see debug.h. */
#include "debug/debug.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "debug/debug_private.h"
#include "host/host.h"
#include "wire/wire.h"

void enl_session_init(struct enl_session *session, struct enl_self *self, struct enl_here *here,
                      const struct enl_debug_wish *wish, void (*freeze)(struct enl_program *program))
{
    *session = (struct enl_session){.self = self, .here = here, .wish = wish, .freeze = freeze};
}

int enl_session_wrap(struct enl_session *session, struct enl_cce *cce, struct enl_spawn *spawn,
                     char ***words_out, char *error, size_t error_size)
{
    if (session->missing[0] != '\0')
        return bcri_refuse(error, error_size, bcrE_NOPROG, "%s", session->missing);
    const bool serves = session->where == ENL_WHERE_SERVER;
    const char *batch = session->where == ENL_WHERE_BATCH ? session->value : NULL;
    char **words = serves ? enl_debugger_serves(spawn->path, spawn->argv)
                          : enl_debugger_starts(&session->debugger, batch, spawn->path, spawn->argv);
    char failure[BCRI_FAILURE_TEXT_MAX];
    bcri_failure_forget();
    const int fd = batch != NULL ? -1 : enl_pane_files(spawn, serves);
    struct enl_pane *pane = words != NULL && (fd >= 0 || batch != NULL)
                                ? enl_pane_new(session, cce->index, cce->ordinal, fd)
                                : NULL;
    if (pane == NULL) {
        free(words);
        if (fd >= 0)
            close(fd);
        return bcri_refuse(error, error_size, bcrE_NOMEM, "its debugger cannot have what it needs: %s",
                           bcri_failure_text("no memory", failure));
    }
    pane->serves = serves;
    spawn->argv = *words_out = words;
    spawn->path = serves ? session->server : session->debugger.path;
    if (session->debugger.kind == ENL_LLDB)
        spawn->path = session->debugger.own;
    cce->debugged = true;
    return 0;
}

/* Tells a person of a debugger that has started a CCE. */
static void show_debugger(struct enl_session *session, const struct enl_pane *pane, const char *object)
{
    if (session->where == ENL_WHERE_SERVER)
        enl_serving_tell(session->self, pane->ordinal, object);
    else
        enl_opener_tell(session, pane, object);
}

void enl_session_started(struct enl_session *session, struct enl_cce *cce, pid_t pid)
{
    struct enl_pane *pane = enl_pane_of(session, 0, cce->index);
    if (pid <= 0) {
        enl_pane_free(pane);
        return;
    }
    pane->pid = pid;
    const struct bcri_control message = {.type = BCRI_MSG_debugged,
                                         .present = BCRI_HAS(index) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                         .index = cce->index,
                                         .ordinal = cce->ordinal,
                                         .object = bcri_view_of(cce->object)};
    if (session->self->upward != NULL)
        session->self->upward->send(session->self->program, &message);
    else
        show_debugger(session, pane, cce->object);
}

void enl_session_far_started(struct enl_session *session, uint32_t host, const struct bcri_control *message)
{
    char object[PATH_MAX];
    struct enl_pane *pane = enl_pane_of(session, host, message->index);
    if (pane == NULL)
        pane = enl_pane_new(session, message->index, message->ordinal, -1);
    if (pane == NULL || !bcri_view_copy(message->object, object, sizeof object))
        return;
    pane->host = host;
    pane->ordinal = message->ordinal; /* the index may have been another CCE's */
    pane->seen = false;
    show_debugger(session, pane, object);
}

void enl_session_far_seen(struct enl_session *session, uint32_t host, uint32_t index)
{
    struct enl_pane *pane = enl_pane_of(session, host, index);
    if (pane != NULL)
        pane->seen = true;
}

int enl_session_start(struct enl_session *session, const char *root_path, char *error, size_t error_size)
{
    int failed;
    if (session->self->is_child) /* windows are the root's */
        return 0;
    switch (session->where) {
    case ENL_WHERE_SERVER:
        failed = enl_serving_start(session->self, enl_session_wants(session, 0), error, error_size);
        if (failed == 0 && session->wish->vscode)
            failed = enl_serving_vscode(session->self, root_path, error, error_size);
        return failed;
    case ENL_WHERE_TMUX:
    case ENL_WHERE_DISPLAY: return enl_opener_start(session, error, error_size);
    default: return 0;
    }
}

/* The end */

/* A debugger that is killed, or hung up, while it attaches has stopped its CCE and may not let it on. */
static void let_on(const struct enl_pane *pane)
{
    const struct enl_cce *cce = pane->attached ? enl_cce_at(pane->session->here, pane->index) : NULL;
    const pid_t pid = cce != NULL ? enl_attachable(cce) : 0;
    if (pid != 0 && !pane->found_stopped)
        kill(pid, pane->session->here->is_frozen && !cce->asks_debugger ? SIGSTOP : SIGCONT);
}

bool enl_session_reaped(struct enl_session *session, pid_t pid, int wait_status)
{
    if (pid == session->windows_pid) {
        enl_opener_reaped(session, wait_status);
        return true;
    }
    if (enl_inspection_reaped(session, pid))
        return true;
    struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (pane->pid == pid)
            break;
    if (pane == NULL)
        return false;
    const bool attached = pane->attached;
    let_on(pane);
    enl_pane_free(pane);
    if (attached)
        session->self->ops->something_ended(session->self->program);
    return attached;
}

bool enl_session_busy(const struct enl_session *session)
{
    const struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (pane->attached && pane->viewer != NULL)
            return true;
    return false;
}

void enl_session_kill(struct enl_session *session)
{
    const struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (pane->attached && pane->pid != 0)
            kill(pane->pid, SIGKILL);
}

bool enl_session_over(struct enl_session *session)
{
    enl_session_kill(session);
    return enl_opener_over(session);
}

void enl_session_free(struct enl_session *session)
{
    while (!LIST_EMPTY(&session->panes))
        enl_pane_free(LIST_FIRST(&session->panes));
    enl_inspections_free(session);
    if (!session->self->is_child) {
        enl_serving_end(session->self);
        if (session->where == ENL_WHERE_TMUX)
            enl_windows_forget(session->self->name);
    }
    enl_debugger_free(&session->debugger);
}

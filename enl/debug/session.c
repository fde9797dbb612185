/* SPDX-License-Identifier: MIT */
/* session.c -- how a CCE starts under a debugger, and the end of a session: see session.h. */
#include "debug/session.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "debug/serving.h"
#include "debug/session_part.h"
#include "debug/windows.h"
#include "wire/conn.h"

int enl_session_dress(struct enl_cce *cce, struct enl_spawn *spawn, char ***words_out, char *error,
                      size_t error_size)
{
    struct enl_session *session = enl_program_of_cce(cce)->session;
    if (session->missing[0] != '\0')
        return bcri_refuse(error, error_size, bcrE_NOPROG, "%s", session->missing);
    const bool serves = session->where == ENL_WHERE_SERVER;
    const char *batch = session->where == ENL_WHERE_BATCH ? session->value : NULL;
    char **words = serves ? enl_serving_words(spawn->path, spawn->argv)
                          : enl_debugger_starts(&session->debugger, batch, spawn->path, spawn->argv);
    char failure[BCRI_FAILURE_TEXT_MAX];
    bcri_failure_forget();
    const int fd = batch != NULL ? -1 : enl_pane_files(spawn, serves);
    struct enl_pane *pane = words != NULL && (fd >= 0 || batch != NULL)
                                ? enl_pane_new(enl_program_of_cce(cce), cce->index, cce->ordinal, fd)
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
static void show(struct enl_program *program, const struct enl_pane *pane, const char *object)
{
    if (program->session->where == ENL_WHERE_SERVER)
        enl_serving_tell(program, pane->ordinal, object);
    else
        enl_opener_tell(program, pane, object);
}

void enl_session_started(struct enl_cce *cce, pid_t pid)
{
    struct enl_program *program = enl_program_of_cce(cce);
    struct enl_pane *pane = enl_pane_of(program, 0, cce->index);
    if (pid <= 0) {
        enl_pane_free(pane);
        return;
    }
    pane->pid = pid;
    if (program->parent == NULL) {
        show(program, pane, cce->object);
        return;
    }
    const struct bcri_control message = {.type = BCRI_MSG_debugged,
                                         .present = BCRI_HAS(index) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                         .index = cce->index,
                                         .ordinal = cce->ordinal,
                                         .object = bcri_view_of(cce->object)};
    enl_conn_send(program->parent, &message, NULL, 0);
}

void enl_session_far_started(struct enl_program *program, uint32_t host, const struct bcri_control *message)
{
    char object[PATH_MAX];
    struct enl_pane *pane = enl_pane_of(program, host, message->index);
    if (pane == NULL)
        pane = enl_pane_new(program, message->index, message->ordinal, -1);
    if (pane == NULL || !bcri_view_copy(message->object, object, sizeof object))
        return;
    pane->host = host;
    pane->ordinal = message->ordinal; /* the index may have been another CCE's */
    pane->seen = false;
    show(program, pane, object);
}

void enl_session_far_seen(struct enl_program *program, uint32_t host, uint32_t index)
{
    struct enl_pane *pane = enl_pane_of(program, host, index);
    if (pane != NULL)
        pane->seen = true;
}

int enl_session_start(struct enl_program *program, char *error, size_t error_size)
{
    if (program->self.is_child) /* windows are the root's */
        return 0;
    switch (program->session->where) {
    case ENL_WHERE_SERVER:
        return enl_serving_start(program, enl_session_wants(program, 0), error, error_size);
    case ENL_WHERE_TMUX:
    case ENL_WHERE_DISPLAY: return enl_opener_start(program, error, error_size);
    default: return 0;
    }
}

/* The end */

/* A debugger that is killed, or hung up, while it attaches has stopped its CCE and may not let it on. */
static void let_on(const struct enl_pane *pane)
{
    const struct enl_cce *cce = pane->attached ? enl_cce_at(&pane->program->here, pane->index) : NULL;
    if (cce != NULL && cce->life == ENL_ALIVE && !pane->found_stopped)
        kill(cce->pid, SIGCONT);
}

bool enl_session_reaped(struct enl_program *program, pid_t pid, int wait_status)
{
    struct enl_session *session = program->session;
    if (pid == session->windows_pid) {
        enl_opener_reaped(program, wait_status);
        return true;
    }
    struct enl_pane *pane = session->panes;
    while (pane != NULL && pane->pid != pid)
        pane = pane->next;
    if (pane == NULL)
        return false;
    const bool attached = pane->attached;
    let_on(pane);
    enl_pane_free(pane);
    if (attached)
        enl_program_check_end(program);
    return attached;
}

bool enl_session_busy(const struct enl_program *program)
{
    for (const struct enl_pane *pane = program->session->panes; pane != NULL; pane = pane->next)
        if (pane->attached && pane->viewer != NULL)
            return true;
    return false;
}

void enl_session_kill(struct enl_program *program)
{
    for (struct enl_pane *pane = program->session->panes; pane != NULL; pane = pane->next)
        if (pane->attached && pane->pid != 0)
            kill(pane->pid, SIGKILL);
}

bool enl_session_over(struct enl_program *program)
{
    enl_session_kill(program);
    return enl_opener_over(program);
}

void enl_session_free(struct enl_program *program)
{
    struct enl_session *session = program->session;
    if (session == NULL)
        return;
    while (session->panes != NULL)
        enl_pane_free(session->panes);
    if (!program->self.is_child) {
        enl_serving_end(program);
        if (session->where == ENL_WHERE_TMUX)
            enl_windows_forget(program->self.name);
    }
    enl_debugger_free(&session->debugger);
    free(session);
    program->session = NULL;
}

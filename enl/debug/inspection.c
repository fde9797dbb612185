/* SPDX-License-Identifier: MIT */
/* inspection.c -- bcr_debug: a CCE asks for a debugger at itself.
 *
 *   CCE            its daemon               the root's daemon
 *    | -- debug --> | -- debug, and who asks --> |   most are open already: the program ends
 *    |              |                            |   else all other CCEs are stopped (freeze), and enl attach starts
 *                                                |   the last enl attach has ended: the program ends
 *
 * An inspection is a process, enl attach, which ends when its debugger or window has, or when that cannot be had. So whatever
 * becomes of the CCE or its debugger, the program ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"
#include "base/status.h"
#include "debug/debug_private.h"
#include "wire/wire.h"

enum { END_STATUS = 128 + SIGABRT, SCRIPT_MAX = 900 };

static const char batch[] = "batch", script[] = "batch:";

struct enl_inspection {
    LIST_ENTRY(enl_inspection) entry;
    pid_t pid;
};

/* ---- on the CCE's host ---- */

/* Its path as the debugger's directory, which is the daemon's, needs it; "batch" if the file cannot be read. */
static void find_script(struct enl_session *session, const struct enl_cce *cce, char where[PATH_MAX])
{
    char link[64], folder[PATH_MAX] = "", path[2 * PATH_MAX];
    const char *file = where + sizeof script - 1;
    snprintf(link, sizeof link, "/proc/%ld/cwd", (long)cce->pid);
    if (file[0] != '/' && readlink(link, folder, sizeof folder - 2) > 0)
        strcat(folder, "/");
    const int length = snprintf(path, sizeof path, "%s%s%s", script, folder, file);
    file = path + sizeof script - 1;
    const bool fits = length <= SCRIPT_MAX;
    if (fits && access(file, R_OK) == 0) {
        strcpy(where, path);
        return;
    }
    enl_report(session->self, BCRI_LOG_WARN, "%s asks for a debugger with the script %s: %s",
               enl_cce_text(cce), file, fits ? strerror(errno) : "its path is too long");
    strcpy(where, batch);
}

void enl_inspection_ask(struct enl_session *session, struct enl_cce *cce, const struct bcri_control *message)
{
    struct enl_self *self = session->self;
    struct enl_process_status status;
    struct bcri_control whole = *message;
    char where[PATH_MAX] = "";
    if (cce->asks_debugger || cce->life != ENL_ALIVE)
        return; /* another thread of it has asked */
    cce->asks_debugger = true;
    if (session->here->is_frozen) /* the message was on its way */
        enl_cce_signal(cce, SIGCONT, true);
    (void)enl_process_status(cce->pid, &status);
    if (status.tracer != 0) {
        enl_report(self, BCRI_LOG_INFO,
                   "%s asks for a debugger: it is stopped for process %ld, which traces it",
                   enl_cce_text(cce), status.tracer);
        (void)enl_cce_signal_itself(cce, SIGSTOP);
        return;
    }
    whole.present |= BCRI_HAS(ordinal) | BCRI_HAS(pid);
    whole.ordinal = cce->ordinal;
    whole.pid = (uint32_t)cce->pid;
    bcri_view_copy(message->text, where, sizeof where);
    if (strncmp(where, script, sizeof script - 1) == 0)
        find_script(session, cce, where);
    whole.text = bcri_view_of(where);
    if (self->upward != NULL)
        self->upward->send(self->program, &whole);
    else if (!self->is_child)
        enl_inspection_open(session, self->host_number, &whole);
}

/* ---- at the root ---- */

static uint32_t count_open(const struct enl_session *session)
{
    const struct enl_inspection *inspection;
    uint32_t count = 0;
    LIST_FOREACH (inspection, &session->inspections, entry)
        count++;
    return count;
}

/* What a CCE that names no place gets. */
static void choose_where(const struct enl_session *session, char where[PATH_MAX + 16])
{
    const char *display = getenv("DISPLAY"), *unused;
    char path[PATH_MAX], reason[1024];
    if (session->where != ENL_WHERE_NONE && session->where != ENL_WHERE_SERVER)
        enl_session_options(session, where, &unused);
    else if (display != NULL && display[0] != '\0')
        snprintf(where, PATH_MAX, "%s", display);
    else
        strcpy(where, enl_object_find("tmux", path, reason, sizeof reason) == 0 ? "tmux" : batch);
}

/* The command of gdb that runs a script, or shows where the process is, and ends. */
static void batch_command(const char *file, char command[2 * PATH_MAX])
{
    size_t used = (size_t)sprintf(command, "gdb -batch %s", file[0] == '\0' ? "-ex bt" : "-x ");
    for (; *file != '\0' && used + 3 < 2 * PATH_MAX; file++) {
        if (strchr(" \t\n'\"\\", *file) != NULL)
            command[used++] = '\\';
        command[used++] = *file;
    }
    command[used] = '\0';
}

/* Returns the process, or -1 with a sentence. */
static pid_t start_attach(struct enl_session *session, const char *where, const char *word, char *reason,
                          size_t size)
{
    char command[2 * PATH_MAX];
    const bool is_batch = strncmp(where, batch, sizeof batch - 1) == 0;
    const char *debugger = session->wish->debugger != NULL ? session->wish->debugger : "gdb";
    const char *words[9] = {"enl", "attach", "-d", debugger};
    size_t count = 4;
    if (is_batch) {
        batch_command(where[sizeof batch - 1] == ':' ? where + sizeof script - 1 : "", command);
        words[3] = command;
    } else {
        words[count++] = "-D";
        words[count++] = where;
    }
    words[count++] = session->self->name;
    words[count] = word;
    const struct enl_own_start start = {.words = words, .in = -1, .out = 2, .keep = -1, .outlives = true};
    return enl_own_start(session->self, &start, reason, size);
}

static void end_if_none_is_open(struct enl_session *session)
{
    struct enl_self *self = session->self;
    if (LIST_EMPTY(&session->inspections) && self->phase == ENL_RUNNING)
        self->ops->finish(self->program, END_STATUS, "the end of the last debugger");
}

void enl_inspection_open(struct enl_session *session, uint32_t host, const struct bcri_control *message)
{
    struct enl_self *self = session->self;
    char where[PATH_MAX + 16], word[40], on[24] = "", reason[1024];
    enum enl_where kind;
    const char *value;
    const uint32_t open = count_open(session);
    if (self->phase != ENL_RUNNING)
        return;
    if (host != self->host_number)
        snprintf(on, sizeof on, "@%u", host);
    snprintf(word, sizeof word, "pid:%u%s", message->pid, on);
    if (open >= message->count) {
        enl_report(self, BCRI_LOG_WARN,
                   "CCE %u (%s) asks for a debugger; %u of %u are open, so program %s ends", message->ordinal,
                   word, open, message->count, self->name);
        self->ops->finish(self->program, END_STATUS, "a CCE that may have no debugger");
        return;
    }
    bcri_view_copy(message->text, where, sizeof where);
    if (where[0] == '\0')
        choose_where(session, where);
    if (strcmp(where, batch) != 0 &&
        (enl_where_parse(where, &kind, &value, reason, sizeof reason) != 0 || kind == ENL_WHERE_SERVER)) {
        enl_report(self, BCRI_LOG_WARN,
                   "bcr_debug takes an X display such as :0, tmux, batch, or batch:FILE, not %s", where);
        strcpy(where, batch);
    }
    enl_report(
        self, BCRI_LOG_WARN,
        "CCE %u (%s) asks for a debugger; all others are stopped, and program %s ends with the last one",
        message->ordinal, word, self->name);
    if (!session->here->is_frozen)
        session->freeze(self->program);
    struct enl_inspection *inspection = calloc(1, sizeof *inspection);
    const pid_t pid = inspection != NULL ? start_attach(session, where, word, reason, sizeof reason) : -1;
    if (pid > 0) {
        inspection->pid = pid;
        LIST_INSERT_HEAD(&session->inspections, inspection, entry);
    } else {
        enl_report(self, BCRI_LOG_ERROR, "no debugger: %s", inspection != NULL ? reason : "no memory");
        free(inspection);
    }
    end_if_none_is_open(session);
}

bool enl_inspection_reaped(struct enl_session *session, pid_t pid)
{
    struct enl_inspection *inspection;
    LIST_FOREACH (inspection, &session->inspections, entry)
        if (inspection->pid == pid)
            break;
    if (inspection == NULL)
        return false;
    LIST_REMOVE(inspection, entry);
    free(inspection);
    enl_windows_forget_attached(session->self->name, pid); /* if it was killed */
    end_if_none_is_open(session);
    return true;
}

void enl_inspections_free(struct enl_session *session)
{
    struct enl_inspection *next;
    for (struct enl_inspection *inspection = LIST_FIRST(&session->inspections); inspection != NULL;
         inspection = next) {
        next = LIST_NEXT(inspection, entry);
        enl_windows_forget_attached(session->self->name, inspection->pid);
        free(inspection);
    }
    LIST_INIT(&session->inspections);
}

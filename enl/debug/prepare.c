/* SPDX-License-Identifier: MIT */
/* prepare.c -- a session's options, and what they need here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number_list.h"
#include "base/object.h"
#include "bcri/refuse.h"
#include "debug/debug_private.h"

const char *enl_session_tool(const struct enl_session *session, const char *name, char path[PATH_MAX],
                             char *reason, size_t size)
{
    char *resolved = NULL;
    if (bcri_config_resolve(&session->self->config, name, &resolved) != 0)
        return "there is no home directory";
    const int status = enl_object_find(resolved, path, reason, size);
    free(resolved);
    return status == 0 ? NULL : reason;
}

/* -d alone: the X display that there is, else tmux, else server. */
static void choose_where(struct enl_session *session)
{
    char path[PATH_MAX], reason[1024];
    const char *display = getenv("DISPLAY");
    if (display != NULL && display[0] != '\0') {
        session->where = ENL_WHERE_DISPLAY;
        session->value = display;
    } else if (enl_object_find("tmux", path, reason, sizeof reason) == 0) {
        session->where = ENL_WHERE_TMUX;
    } else {
        session->where = ENL_WHERE_SERVER;
    }
}

/* Whether all that this place needs is there. */
static int check_where(struct enl_session *session, char *error, size_t error_size)
{
    char path[PATH_MAX], reason[1024];
    const char *where = session->value, *tool = NULL, *advice = "";
    switch (session->where) {
    case ENL_WHERE_BATCH:
        if (access(session->value, R_OK) != 0)
            return bcri_refuse(error, error_size, -1, "-D batch:%s: the script cannot be read: %s",
                               session->value, strerror(errno));
        if (session->debugger.kind == ENL_OTHER_DEBUGGER)
            return bcri_refuse(error, error_size, -1, "-D batch:FILE runs scripts of gdb and lldb, not of %s",
                               session->debugger.words[0]);
        return 0;
    case ENL_WHERE_TMUX:
        where = tool = "tmux";
        advice = "install tmux, or use -D server or an X display";
        break;
    case ENL_WHERE_DISPLAY:
        if (session->self->config.xtermpath == NULL)
            return bcri_refuse(error, error_size, -1,
                               "-D %s: xtermpath of bcrrc says that no windows are opened; use -D tmux",
                               session->value);
        tool = session->self->config.xtermpath;
        advice = "install xterm, name another by xtermpath in bcrrc, or use -D tmux";
        break;
    case ENL_WHERE_SERVER:
        if (session->debugger.kind != ENL_GDB)
            return bcri_refuse(error, error_size, -1,
                               "-D server is for gdb, which %s is not; use -D tmux or an X display",
                               session->debugger.words[0]);
        where = "server";
        tool = ENL_GDBSERVER;
        advice = "install gdbserver, or use -D tmux or an X display";
        break;
    case ENL_WHERE_NONE: return 0;
    }
    const char *wrong = enl_session_tool(session, tool, path, reason, sizeof reason);
    if (wrong != NULL)
        return bcri_refuse(error, error_size, -1, "-D %s: %s; %s", where, wrong, advice);
    if (session->where == ENL_WHERE_SERVER)
        strcpy(session->server, path);
    return 0;
}

/* On a child's host: the root has looked at the options, and each host has its own debuggers. */
static void take_session(struct enl_session *session)
{
    const struct enl_debug_wish *wish = session->wish;
    const char *forbidden;
    char *missing = session->missing;
    if (wish->where == NULL || wish->debugger == NULL ||
        enl_where_parse(wish->where, &session->where, &session->value, missing, sizeof session->missing) !=
            0 ||
        enl_debugger_find(&session->debugger, wish->debugger, missing, sizeof session->missing) != 0 ||
        (session->where != ENL_WHERE_TMUX && session->where != ENL_WHERE_DISPLAY &&
         check_where(session, missing, sizeof session->missing) != 0))
        return;
    if ((forbidden = enl_debugger_forbidden()) != NULL)
        snprintf(missing, sizeof session->missing, "%s", forbidden);
}

void enl_session_options(const struct enl_session *session, char where[PATH_MAX + 16],
                         const char **debugger_out)
{
    static const char *const names[] = {[ENL_WHERE_TMUX] = "tmux", [ENL_WHERE_SERVER] = "server"};
    char folder[PATH_MAX] = "";
    *debugger_out = session->wish->debugger != NULL ? session->wish->debugger : "gdb";
    where[0] = '\0';
    switch (session->where) {
    case ENL_WHERE_NONE: break;
    case ENL_WHERE_BATCH:
        if (session->value[0] != '/' && getcwd(folder, sizeof folder) != NULL)
            strcat(folder, "/");
        snprintf(where, PATH_MAX + 16, "batch:%s%s", folder, session->value);
        break;
    case ENL_WHERE_DISPLAY: snprintf(where, PATH_MAX + 16, "%s", session->value); break;
    default: snprintf(where, PATH_MAX + 16, "%s", names[session->where]); break;
    }
}

int enl_session_prepare(struct enl_session *session, char *error, size_t error_size)
{
    const struct enl_debug_wish *wish = session->wish;
    if (wish->debugger == NULL && wish->where == NULL) {
        if (wish->ccs != NULL || wish->vscode)
            return bcri_refuse(error, error_size, -1, "%s needs -d or -D: see enl --help",
                               wish->ccs != NULL ? "--debug-ccs" : "--vscode");
        return 0;
    }
    if (session->self->is_child) {
        take_session(session);
        return 0;
    }
    if (wish->ccs != NULL && !enl_number_list_ok(wish->ccs))
        return bcri_refuse(error, error_size, -1,
                           "--debug-ccs takes ordinals of CCEs and ranges of them, such as 0,3-5, not %s",
                           wish->ccs);
    struct bcri_config_entry wrap;
    bcri_config_at(&session->self->config, BCRI_CONFIG_wrap, &wrap);
    if (session->self->config.wrap != NULL)
        return bcri_refuse(error, error_size, -1,
                           "a CCE runs under a debugger or under a wrapper: leave out -d and -D, or %s (%s)",
                           strcmp(wrap.origin, "--wrap") == 0 ? "--wrap" : "wrap in bcrrc",
                           session->self->config.wrap);
    if (enl_debugger_find(&session->debugger, wish->debugger != NULL ? wish->debugger : "gdb", error,
                          error_size) != 0)
        return -1;
    if (wish->where == NULL)
        choose_where(session);
    else if (enl_where_parse(wish->where, &session->where, &session->value, error, error_size) != 0)
        return -1;
    if (wish->vscode && session->where != ENL_WHERE_SERVER)
        return bcri_refuse(error, error_size, -1, "--vscode goes with -D server");
    if (check_where(session, error, error_size) != 0)
        return -1;
    const char *forbidden = enl_debugger_forbidden();
    if (forbidden != NULL)
        return bcri_refuse(error, error_size, -1, "%s", forbidden);
    if (session->where == ENL_WHERE_BATCH || session->where == ENL_WHERE_SERVER)
        session->self->config.output = BCRI_OUTPUT_LABEL; /* the root's lines, too */
    return 0;
}

bool enl_session_wants(const struct enl_session *session, uint32_t ordinal)
{
    return session->where != ENL_WHERE_NONE && enl_number_list_has(session->wish->ccs, ordinal);
}

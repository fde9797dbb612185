/* SPDX-License-Identifier: MIT */
/* session.c -- the daemon's part of a session: see session.h. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/refuse.h"
#include "cce.h"
#include "conn.h"
#include "debugger.h"
#include "object.h"
#include "serving.h"
#include "windows.h"

enum { WINDOWS_MSEC = 5000 }; /* in which enl --windows ends by itself */

struct enl_session {
    enum enl_where where;
    const char *value;            /* the X display, or the script */
    struct enl_debugger debugger; /* words NULL: none was asked for */
    struct enl_pane *panes;
    struct enl_watch *windows; /* the socket of enl --windows; NULL: there is none, or it is to end */
    pid_t windows_pid;         /* 0: none */
    uv_timer_t closing;        /* from when it is to end */
    char server[PATH_MAX];     /* gdbserver's file */
    bool told_elsewhere;
    char line[256]; /* of enl --windows, its beginning */
    size_t length;
};

static const char *find_tool(const struct enl_program *program, const char *name, char path[PATH_MAX],
                             char *reason, size_t size)
{
    char *resolved = NULL;
    if (bcri_config_resolve(&program->config, name, &resolved) != 0)
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
static int check_where(const struct enl_program *program, struct enl_session *session, char *error,
                       size_t error_size)
{
    char path[PATH_MAX], reason[1024];
    const char *wrong = NULL;
    switch (session->where) {
    case ENL_WHERE_BATCH:
        if (access(session->value, R_OK) != 0)
            return bcri_refuse(error, error_size, -1, "-D batch:%s: the script cannot be read: %s",
                               session->value, strerror(errno));
        if (session->debugger.kind == ENL_OTHER_DEBUGGER)
            return bcri_refuse(error, error_size, -1, "-D batch:FILE runs scripts of gdb and lldb, not of %s",
                               session->debugger.words[0]);
        break;
    case ENL_WHERE_TMUX:
        wrong = find_tool(program, "tmux", path, reason, sizeof reason);
        if (wrong != NULL)
            return bcri_refuse(error, error_size, -1,
                               "-D tmux: %s; install tmux, or use -D server or an X display", wrong);
        break;
    case ENL_WHERE_DISPLAY:
        if (program->config.xtermpath == NULL)
            return bcri_refuse(error, error_size, -1,
                               "-D %s: xtermpath of bcrrc says that no windows are opened; use -D tmux",
                               session->value);
        wrong = find_tool(program, program->config.xtermpath, path, reason, sizeof reason);
        if (wrong != NULL)
            return bcri_refuse(error, error_size, -1,
                               "-D %s: %s; install xterm, name another by xtermpath in bcrrc, or use -D tmux",
                               session->value, wrong);
        break;
    case ENL_WHERE_SERVER:
        if (session->debugger.kind != ENL_GDB)
            return bcri_refuse(error, error_size, -1,
                               "-D server is for gdb, which %s is not; use -D tmux or an X display",
                               session->debugger.words[0]);
        wrong = find_tool(program, ENL_GDBSERVER, session->server, reason, sizeof reason);
        if (wrong != NULL)
            return bcri_refuse(error, error_size, -1,
                               "-D server: %s; install gdbserver, or use -D tmux or an X display", wrong);
        break;
    case ENL_WHERE_NONE: break;
    }
    return 0;
}

int enl_session_prepare(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_options *options = &program->options;
    struct enl_session *session = calloc(1, sizeof *session);
    program->session = session;
    if (session == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    if (options->debugger == NULL && options->where == NULL) {
        if (options->debug_ccs != NULL || options->vscode)
            return bcri_refuse(error, error_size, -1, "%s needs -d or -D: see enl --help",
                               options->debug_ccs != NULL ? "--debug-ccs" : "--vscode");
        return 0;
    }
    if (options->debug_ccs != NULL && !enl_ordinals_ok(options->debug_ccs))
        return bcri_refuse(error, error_size, -1,
                           "--debug-ccs takes ordinals of CCEs and ranges of them, such as 0,3-5, not %s",
                           options->debug_ccs);
    if (program->config.wrap != NULL)
        return bcri_refuse(error, error_size, -1,
                           "a CCE runs under a debugger or under a wrapper: leave out -d and -D, or %s (%s)",
                           options->wrap != NULL ? "--wrap" : "wrap in bcrrc", program->config.wrap);
    if (enl_debugger_find(&session->debugger, options->debugger != NULL ? options->debugger : "gdb", error,
                          error_size) != 0)
        return -1;
    if (options->where == NULL)
        choose_where(session);
    else if (enl_where_parse(options->where, &session->where, &session->value, error, error_size) != 0)
        return -1;
    if (options->vscode && session->where != ENL_WHERE_SERVER)
        return bcri_refuse(error, error_size, -1, "--vscode goes with -D server");
    if (check_where(program, session, error, error_size) != 0)
        return -1;
    const char *forbidden = enl_debugger_forbidden();
    if (forbidden != NULL)
        return bcri_refuse(error, error_size, -1, "%s", forbidden);
    if (session->where == ENL_WHERE_BATCH || session->where == ENL_WHERE_SERVER)
        program->config.output = BCRI_OUTPUT_LABEL; /* the root's lines, too */
    return 0;
}

bool enl_session_wants(const struct enl_program *program, uint32_t ordinal)
{
    return program->session->where != ENL_WHERE_NONE && enl_ordinals_has(program->options.debug_ccs, ordinal);
}

/* Panes */

static struct enl_pane *pane_new(struct enl_cce *cce, int fd)
{
    struct enl_session *session = cce->program->session;
    struct enl_pane *pane = calloc(1, sizeof *pane);
    if (pane == NULL)
        return NULL;
    pane->program = cce->program;
    pane->index = cce->index;
    pane->ordinal = cce->ordinal;
    pane->fd = fd;
    pane->next = session->panes;
    session->panes = pane;
    return pane;
}

static void close_pane(struct enl_pane *pane)
{
    if (pane->fd >= 0)
        close(pane->fd);
    if (pane->viewer != NULL)
        pane->viewer->pane = NULL;
    free(pane);
}

static void pane_free(struct enl_pane *pane)
{
    struct enl_pane **at = &pane->program->session->panes;
    while (*at != pane)
        at = &(*at)->next;
    *at = pane->next;
    close_pane(pane);
}

static struct enl_pane *pane_of(const struct enl_program *program, uint32_t index)
{
    struct enl_pane *pane = program->session->panes;
    while (pane != NULL && (pane->index != index || pane->attached))
        pane = pane->next;
    return pane;
}

/* Opens a pty. Returns the daemon's end and the debugger's in `slave_out`, or -errno. */
static int open_pty(int *slave_out)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    int slave = -1, fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0)
        slave = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) {
        const int error = errno;
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

/* The files of a debugger: the pty three times, or a socket for gdbserver. Returns the daemon's end or -errno. */
static int open_files(struct enl_spawn *spawn, bool serves)
{
    int pair[2] = {-1, -1};
    if (serves) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return -errno;
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

int enl_session_dress(struct enl_cce *cce, struct enl_spawn *spawn, char ***words_out, char *error,
                      size_t error_size)
{
    struct enl_session *session = cce->program->session;
    const bool serves = session->where == ENL_WHERE_SERVER;
    const char *batch = session->where == ENL_WHERE_BATCH ? session->value : NULL;
    char **words = serves ? enl_serving_words(spawn->path, spawn->argv)
                          : enl_debugger_starts(&session->debugger, batch, spawn->path, spawn->argv);
    const int fd = batch != NULL ? -1 : open_files(spawn, serves);
    struct enl_pane *pane = words != NULL && (fd >= 0 || batch != NULL) ? pane_new(cce, fd) : NULL;
    if (pane == NULL) {
        free(words);
        if (fd >= 0)
            close(fd);
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no memory or terminal for its debugger");
    }
    pane->serves = serves;
    spawn->argv = *words_out = words;
    spawn->path = serves ? session->server : session->debugger.path;
    if (session->debugger.kind == ENL_LLDB)
        spawn->path = session->debugger.own;
    cce->debugged = true;
    return 0;
}

static void tell_windows(struct enl_program *program, const struct enl_cce *cce)
{
    char line[PATH_MAX + 64];
    const char *slash = strrchr(cce->object, '/');
    struct enl_session *session = program->session;
    if (session->windows == NULL)
        return;
    const int length = snprintf(line, sizeof line, "%u %u %s\n", cce->index, cce->ordinal,
                                slash != NULL ? slash + 1 : cce->object);
    if (send(session->windows->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) != length)
        enl_report(program, BCRI_LOG_ERROR, "no window could be opened for CCE %u: %s", cce->ordinal,
                   strerror(errno));
}

void enl_session_started(struct enl_cce *cce, pid_t pid)
{
    struct enl_program *program = cce->program;
    struct enl_pane *pane = pane_of(program, cce->index);
    if (pid <= 0) {
        pane_free(pane);
        return;
    }
    pane->pid = pid;
    if (program->session->where == ENL_WHERE_SERVER)
        enl_serving_tell(program, cce);
    else
        tell_windows(program, cce);
}

/* What panes and commands ask */

static const char *give(struct enl_conn *conn, struct enl_pane *pane, uint32_t id)
{
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = id};
    if (pane->viewer != NULL || pane->fd < 0) {
        enl_conn_reply(conn, id, bcrE_BUSY, "its debugger is shown elsewhere");
        return NULL;
    }
    pane->viewer = conn;
    pane->seen = true;
    enl_conn_becomes_pane(conn, pane);
    enl_conn_send(conn, &reply, &pane->fd, 1);
    return NULL;
}

const char *enl_session_pane(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_pane *pane = pane_of(conn->program, message->index);
    if (pane != NULL)
        return give(conn, pane, message->id);
    enl_conn_reply(conn, message->id, bcrE_NOCCE, "it has no debugger");
    return NULL;
}

/* The CCE of that ordinal, or of that process if there is a pid. NULL: a sentence says why. */
static struct enl_cce *find_cce(struct enl_program *program, const struct bcri_control *message, char *reason,
                                size_t size)
{
    struct enl_cce *found = NULL;
    const bool by_pid = (message->present & BCRI_HAS(pid)) != 0;
    for (struct enl_cce *cce = program->first; cce != NULL; cce = cce->next) {
        const bool same = by_pid ? (uint32_t)cce->pid == message->pid : cce->ordinal == message->ordinal;
        if (!same || cce->life != ENL_ALIVE)
            continue;
        if (found != NULL) {
            snprintf(reason, size,
                     "several CCEs have the ordinal %u; enl ps has their processes: pid:%ld is one",
                     message->ordinal, (long)cce->pid);
            return NULL;
        }
        found = cce;
    }
    if (found == NULL)
        snprintf(reason, size,
                 "it has ended, has not come out of bcr_init yet, or is on another host, which this version "
                 "cannot "
                 "reach; enl ps lists what there is");
    return found;
}

/* The process that traces `pid`; 0: none does. */
static long tracer_of(pid_t pid)
{
    char path[64], line[256];
    long tracer = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "TracerPid:", 10) == 0)
            tracer = strtol(line + 10, NULL, 10);
    if (file != NULL)
        fclose(file);
    return tracer;
}

/* `debugger` NULL: gdbserver, whose file `server` is. */
static struct enl_pane *attach(struct enl_cce *cce, const struct enl_debugger *debugger, const char *server,
                               char *reason, size_t size)
{
    struct enl_program *program = cce->program;
    char pid[16];
    struct enl_spawn spawn = {.path = debugger != NULL ? debugger->path : server,
                              .environment = program->environment,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .own_group = debugger == NULL,
                              .die_with_parent = true,
                              .inherited = &program->inherited};
    const char *step = "get a terminal";
    snprintf(pid, sizeof pid, "%ld", (long)cce->pid);
    char *serving[] = {ENL_GDBSERVER, "--once", "--attach", "-", pid, NULL};
    char **words = debugger != NULL ? enl_debugger_attaches(debugger, NULL, pid) : NULL;
    spawn.argv = debugger != NULL ? words : serving;
    const int fd = spawn.argv != NULL ? open_files(&spawn, debugger == NULL) : -ENOMEM;
    const pid_t started = fd >= 0 ? enl_spawn(&spawn, &step) : fd;
    struct enl_pane *pane = started > 0 ? pane_new(cce, fd) : NULL;
    free(words);
    for (int i = 0; i < 3; i++)
        if ((const int[]){spawn.in, spawn.out, spawn.err}[i] >= 0)
            close((const int[]){spawn.in, spawn.out, spawn.err}[i]);
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

const char *enl_session_attach(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = conn->program;
    char reason[1024], server[PATH_MAX];
    struct enl_debugger debugger = {.words = NULL};
    const bool serves = message->object.length == 0;
    /* A gdbserver that has started a CCE waits for its first visitor. */
    for (struct enl_pane *pane = program->session->panes; serves && pane != NULL; pane = pane->next)
        if (pane->serves && pane->ordinal == message->ordinal && !pane->seen &&
            (message->present & BCRI_HAS(pid)) == 0)
            return give(conn, pane, message->id);
    struct enl_cce *cce = find_cce(program, message, reason, sizeof reason);
    struct enl_pane *pane = NULL;
    if (cce != NULL && tracer_of(cce->pid) != 0)
        snprintf(reason, sizeof reason, "process %ld traces it already", tracer_of(cce->pid));
    else if (cce != NULL && named_debugger(message, &debugger, server, reason, sizeof reason) == 0)
        pane = attach(cce, serves ? NULL : &debugger, server, reason, sizeof reason);
    enl_debugger_free(&debugger);
    if (pane != NULL)
        return give(conn, pane, message->id);
    enl_conn_reply(conn, message->id, bcrE_NOCCE, reason);
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
    struct enl_cce *cce = enl_cce_at(pane->program, pane->index);
    if (cce != NULL && !pane->serves && cce->process == pane->pid && pane->pid != 0)
        enl_cce_signal(cce, SIGKILL, true);
}

/* The process that opens windows */

static void windows_say(struct enl_program *program, const char *line)
{
    if (strcmp(line, "held") == 0)
        enl_report_hold(program, true);
    else if (strcmp(line, "free") == 0)
        enl_report_hold(program, false);
    if (strncmp(line, "failed ", 7) != 0)
        return;
    const struct enl_pane *pane = pane_of(program, (uint32_t)strtoul(line + 7, NULL, 10));
    if (pane == NULL || pane->seen || program->phase != ENL_RUNNING)
        return;
    if (program->session->where == ENL_WHERE_DISPLAY)
        enl_report(
            program, BCRI_LOG_ERROR,
            "no window came up for CCE %u on X display %s: is that display there, and may you use it (echo "
            "$DISPLAY, xhost, xauth)? Or use -D tmux",
            pane->ordinal, program->session->value);
    else
        enl_report(program, BCRI_LOG_ERROR,
                   "tmux opened no pane for CCE %u; try tmux by itself, or -D server", pane->ordinal);
    enl_program_abort(program, 1);
}

static void on_windows(void *data)
{
    struct enl_program *program = data;
    struct enl_session *session = program->session;
    char bytes[256];
    const ssize_t got = recv(session->windows->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        enl_watch_stop(session->windows);
        session->windows = NULL;
        return;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n' && session->length < sizeof session->line - 1) {
            session->line[session->length++] = bytes[i];
            continue;
        }
        session->line[session->length] = '\0';
        session->length = 0;
        windows_say(program, session->line);
    }
}

int enl_session_start(struct enl_program *program, char *error, size_t error_size)
{
    struct enl_session *session = program->session;
    int pair[2];
    if (session->where == ENL_WHERE_SERVER)
        return enl_serving_start(program, enl_session_wants(program, 0), error, error_size);
    if (session->where != ENL_WHERE_TMUX && session->where != ENL_WHERE_DISPLAY)
        return 0;
    const char *terminal = isatty(0) && isatty(1) && enl_session_wants(program, 0) ? ttyname(0) : NULL;
    char xterm[PATH_MAX] = "", reason[1024];
    if (session->where == ENL_WHERE_DISPLAY)
        find_tool(program, program->config.xtermpath, xterm, reason, sizeof reason);
    char *argv[] = {session->debugger.own,
                    "--windows",
                    program->name,
                    (char *)(uintptr_t)(session->where == ENL_WHERE_TMUX ? "tmux" : session->value),
                    xterm,
                    (char *)(uintptr_t)(terminal != NULL ? terminal : ""),
                    NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return bcri_refuse(error, error_size, -1, "no socket for enl --windows: %s", strerror(errno));
    struct enl_spawn spawn = {.path = session->debugger.own,
                              .argv = argv,
                              .environment = program->environment,
                              .in = pair[1],
                              .out = fcntl(pair[1], F_DUPFD_CLOEXEC, 3),
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .inherited = &program->inherited};
    const char *step = "";
    const pid_t pid = enl_spawn(&spawn, &step);
    close(pair[1]);
    if (spawn.out >= 0)
        close(spawn.out);
    if (pid < 0) {
        close(pair[0]);
        return bcri_refuse(error, error_size, -1, "enl --windows could not %s: %s", step, strerror(-pid));
    }
    session->windows_pid = pid;
    uv_timer_init(&program->loop, &session->closing);
    session->closing.data = program;
    session->windows = enl_watch_start(program, pair[0], on_windows, program);
    return session->windows != NULL ? 0 : bcri_refuse(error, error_size, -1, "no memory");
}

/* The end */

bool enl_session_reaped(struct enl_program *program, pid_t pid, int wait_status)
{
    struct enl_session *session = program->session;
    if (pid == session->windows_pid) {
        session->windows_pid = 0;
        uv_close((uv_handle_t *)&session->closing, NULL);
        enl_watch_stop(session->windows);
        session->windows = NULL;
        enl_report_hold(program, false);
        if (program->phase == ENL_RUNNING && wait_status != 0 && program->alive != 0) {
            enl_report(program, BCRI_LOG_ERROR, "the process that opens windows has ended");
            enl_program_abort(program, 1);
        }
        enl_program_check_end(program);
        return true;
    }
    struct enl_pane *pane = session->panes;
    while (pane != NULL && pane->pid != pid)
        pane = pane->next;
    if (pane == NULL)
        return false;
    const bool attached = pane->attached;
    pane_free(pane);
    if (attached)
        enl_program_check_end(program);
    return attached;
}

void enl_session_elsewhere(struct enl_program *program, uint32_t ordinal, uint32_t count)
{
    struct enl_session *session = program->session;
    for (uint32_t i = 0; i < count && !session->told_elsewhere; i++) {
        session->told_elsewhere = enl_session_wants(program, ordinal + i);
        if (session->told_elsewhere)
            enl_report(
                program, BCRI_LOG_WARN,
                "CCE %u starts on another host, where this version has no debuggers: it runs without one",
                ordinal + i);
    }
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

void enl_session_cut(struct enl_program *program)
{
    if (program->session->windows_pid != 0)
        kill(program->session->windows_pid, SIGKILL);
}

static void on_closing(uv_timer_t *timer)
{
    enl_session_cut(timer->data);
}

bool enl_session_over(struct enl_program *program)
{
    struct enl_session *session = program->session;
    enl_session_kill(program);
    enl_watch_stop(session->windows); /* by which enl --windows learns that it must end */
    session->windows = NULL;
    if (session->windows_pid == 0)
        return true;
    if (uv_is_active((uv_handle_t *)&session->closing) == 0)
        uv_timer_start(&session->closing, on_closing, WINDOWS_MSEC, 0);
    return false;
}

void enl_session_free(struct enl_program *program)
{
    struct enl_session *session = program->session;
    if (session == NULL)
        return;
    for (struct enl_pane *pane = session->panes, *next; pane != NULL; pane = next) {
        next = pane->next;
        close_pane(pane);
    }
    enl_serving_end(program);
    if (session->where == ENL_WHERE_TMUX)
        enl_windows_forget(program->name);
    enl_debugger_free(&session->debugger);
    free(session);
    program->session = NULL;
}

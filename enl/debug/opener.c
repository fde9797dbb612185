/* SPDX-License-Identifier: MIT */
/* opener.c -- enl --windows, the process that opens windows and panes of tmux (windows.c): what it is told, and what
 * it tells. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/last_part.h"
#include "base/spawn.h"
#include "base/watch.h"
#include "bcri/refuse.h"
#include "debug/debug_private.h"

enum { WINDOWS_MSEC = 5000 }; /* in which enl --windows ends by itself */

void enl_opener_tell(struct enl_session *session, const struct enl_pane *pane, const char *object)
{
    char line[PATH_MAX + 64];
    if (session->windows == NULL)
        return;
    const int length = snprintf(line, sizeof line, "%u %u %u %s", pane->host, pane->index, pane->ordinal,
                                enl_last_part(object));
    if (send(session->windows->fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) != length)
        enl_report(session->self, BCRI_LOG_ERROR, "no window could be opened for CCE %u: %s", pane->ordinal,
                   strerror(errno));
}

static void take_news(struct enl_session *session, const char *line)
{
    if (strcmp(line, "held") == 0)
        enl_report_hold(session->self, true);
    else if (strcmp(line, "free") == 0)
        enl_report_hold(session->self, false);
    if (strncmp(line, "failed ", 7) != 0)
        return;
    char *end;
    const uint32_t host = (uint32_t)strtoul(line + 7, &end, 10);
    const struct enl_pane *pane = enl_pane_of(session, host, (uint32_t)strtoul(end, NULL, 10));
    if (pane == NULL || pane->seen || session->self->phase != ENL_RUNNING)
        return;
    if (session->where == ENL_WHERE_DISPLAY)
        enl_report(
            session->self, BCRI_LOG_ERROR,
            "no window came up for CCE %u on X display %s: is that display there, and may you use it (echo "
            "$DISPLAY, xhost, xauth)? Or use -D tmux",
            pane->ordinal, session->value);
    else
        enl_report(session->self, BCRI_LOG_ERROR,
                   "tmux opened no pane for CCE %u; try tmux by itself, or -D server", pane->ordinal);
    session->self->ops->abort(session->self->program, 1);
}

static void on_windows(void *data)
{
    struct enl_session *session = data;
    char news[256];
    const ssize_t got = recv(session->windows->fd, news, sizeof news - 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        enl_watch_stop(session->windows);
        session->windows = NULL;
        return;
    }
    news[got] = '\0';
    take_news(session, news);
}

int enl_opener_start(struct enl_session *session, char *error, size_t error_size)
{
    const bool tmux = session->where == ENL_WHERE_TMUX;
    const char *terminal = isatty(0) && isatty(1) && enl_session_wants(session, 0) ? ttyname(0) : NULL;
    char xterm[PATH_MAX] = "", reason[1024];
    int pair[2];
    if (!tmux)
        enl_session_tool(session, session->self->config.xtermpath, xterm, reason, sizeof reason);
    const char *const words[] = {"enl",
                                 "--windows",
                                 session->self->name,
                                 tmux ? "tmux" : session->value,
                                 xterm,
                                 terminal != NULL ? terminal : "",
                                 NULL};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return bcri_refuse(error, error_size, -1, "no socket for enl --windows: %s", strerror(errno));
    const struct enl_own_start start = {
        .words = words, .in = pair[1], .out = pair[1], .keep = -1, .outlives = true};
    const pid_t pid = enl_own_start(session->self, &start, reason, sizeof reason);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return bcri_refuse(error, error_size, -1, "%s", reason);
    }
    session->windows_pid = pid;
    uv_timer_init(&session->self->loop, &session->closing);
    session->closing.data = session;
    session->windows = enl_watch_start(session->self, pair[0], on_windows, session);
    return session->windows != NULL ? 0 : bcri_refuse(error, error_size, -1, "no memory");
}

void enl_opener_reaped(struct enl_session *session, int wait_status)
{
    session->windows_pid = 0;
    uv_close((uv_handle_t *)&session->closing, NULL);
    enl_watch_stop(session->windows);
    session->windows = NULL;
    enl_report_hold(session->self, false);
    if (session->self->phase == ENL_RUNNING && wait_status != 0 && session->here->alive != 0) {
        enl_report(session->self, BCRI_LOG_ERROR, "the process that opens windows has ended");
        session->self->ops->abort(session->self->program, 1);
    }
    session->self->ops->something_ended(session->self->program);
}

void enl_session_cut(struct enl_session *session)
{
    if (session->windows_pid != 0)
        kill(session->windows_pid, SIGKILL);
}

static void on_closing(uv_timer_t *timer)
{
    enl_session_cut(timer->data);
}

bool enl_opener_over(struct enl_session *session)
{
    enl_watch_stop(session->windows); /* by which enl --windows learns that it must end */
    session->windows = NULL;
    if (session->windows_pid == 0)
        return true;
    if (uv_is_active((uv_handle_t *)&session->closing) == 0)
        uv_timer_start(&session->closing, on_closing, WINDOWS_MSEC, 0);
    return false;
}

/* SPDX-License-Identifier: MIT */
/* See child.h: what a child's state is, and its end. */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "bcri/refuse.h"
#include "conn.h"
#include "peer.h"
#include "remote.h"

enum { END_MSEC = 2000 };

uint64_t enl_boottime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void enl_child_heard(struct enl_child *child)
{
    child->heard_ms = enl_boottime_ms();
}

/* A local daemon is the process itself. Other commands tell its exit status; ssh has 255 for what is
 * its own trouble. */
uint64_t enl_child_lease_ms(const struct enl_child *child)
{
    const uint64_t most = (uint64_t)child->program->config.hosttimeout;
    if (child->host->local || (WIFEXITED(child->wait_status) && WEXITSTATUS(child->wait_status) != 255))
        return 0;
    return child->heard_ms + most + most / 10;
}

void enl_child_send(struct enl_child *child, const struct bcri_control *message)
{
    if (child->conn != NULL)
        enl_peer_send(child->conn->peer, message);
}

void enl_child_ask(struct enl_child *child)
{
    if (child->state == ENL_CHILD_UP && child->conn != NULL)
        enl_errands_send(&child->errands, child->conn->peer);
}

/* ------------------------------------------------------------------------------ its end --- */

static void end_text(const struct enl_child *child, char *out, size_t size)
{
    if (child->why[0] != '\0')
        snprintf(out, size, "%s", child->why);
    else if (WIFSIGNALED(child->wait_status))
        snprintf(out, size, "it was killed by signal %d (%s)", WTERMSIG(child->wait_status),
                 strsignal(WTERMSIG(child->wait_status)));
    else
        snprintf(out, size, "it ended with status %d", WEXITSTATUS(child->wait_status));
}

/* The last line that it said; "" if none. */
static const char *last_line(struct enl_said *said)
{
    (void)enl_said_all(said);
    while (said->length > 0 && strchr("\r\n ", said->text[said->length - 1]) != NULL)
        said->length--;
    said->text[said->length] = '\0';
    const char *newline = strrchr(said->text, '\n');
    return newline != NULL ? newline + 1 : said->text;
}

/* Why there is no daemon, or no longer: with the command, what that said last, and a remedy. */
static void write_sentence(struct enl_child *child, char *out, size_t size)
{
    char end[600];
    const char *said = last_line(&child->said);
    const int status = WIFEXITED(child->wait_status) ? WEXITSTATUS(child->wait_status) : 0;
    out[0] = '\0';
    if (child->told_to_end)
        return;
    end_text(child, end, sizeof end);
    if (child->was_up)
        bcri_refuse(out, size, 0, "host %s is lost: %s%s%s", child->host->name, end,
                    said[0] != '\0' ? ": " : "", said);
    else
        bcri_refuse(out, size, 0, "host %s cannot be used: %s: %s%s%s%s", child->host->name, child->command,
                    end, said[0] != '\0' ? ": " : "", said,
                    enl_remote_remedy(child->host, end, said, status));
}

static void look_whether_gone(struct enl_child *child)
{
    char sentence[3072];
    if (child->conn != NULL || child->process != 0 || child->gone)
        return;
    child->gone = true;
    uv_timer_stop(&child->timer);
    write_sentence(child, sentence, sizeof sentence);
    enl_said_end(&child->said);
    child->ops->gone(child, sentence);
}

static void on_timer(uv_timer_t *timer);

static void begin_to_end(struct enl_child *child, uint64_t patience_ms)
{
    child->state = ENL_CHILD_ENDING;
    child->patience_ms = patience_ms;
    uv_timer_start(&child->timer, on_timer, patience_ms, 0);
}

static void close_pipes(struct enl_child *child)
{
    struct enl_conn *conn = child->conn;
    child->conn = NULL;
    if (conn != NULL)
        enl_conn_close(conn);
}

void enl_child_cut(struct enl_child *child, const char *why)
{
    if (child->why[0] == '\0')
        snprintf(child->why, sizeof child->why, "%s", why);
    close_pipes(child);
    begin_to_end(child, END_MSEC);
    if (child->process != 0) {
        kill(-child->process, SIGKILL);
        kill(child->process, SIGKILL);
    }
    look_whether_gone(child);
}

void enl_child_end(struct enl_child *child, const struct bcri_control *message, uint64_t patience_ms)
{
    const bool up = child->state == ENL_CHILD_UP || child->state == ENL_CHILD_ENDING;
    child->told_to_end = true;
    if (!up) {
        enl_child_cut(child, "");
        return;
    }
    enl_child_send(child, message);
    begin_to_end(child, patience_ms);
}

void enl_child_says_more(struct enl_child *child)
{
    if (child->state == ENL_CHILD_ENDING)
        uv_timer_start(&child->timer, on_timer, child->patience_ms, 0);
}

void enl_child_reaped(struct enl_child *child, int wait_status)
{
    child->process = 0;
    child->wait_status = wait_status;
    look_whether_gone(child);
}

static void on_timer(uv_timer_t *timer)
{
    struct enl_child *child = timer->data;
    const uint64_t most = (uint64_t)child->program->config.hosttimeout;
    char why[128];
    switch (child->state) {
    case ENL_CHILD_STARTING:
    case ENL_CHILD_STARTED:
        snprintf(why, sizeof why, "nothing came from it for %d ms (connecttimeout)",
                 child->program->config.connecttimeout);
        enl_child_cut(child, why);
        break;
    case ENL_CHILD_UP:
        if (enl_boottime_ms() - child->heard_ms <= most + most / 10)
            break;
        snprintf(why, sizeof why, "nothing came from it for %llu ms (hosttimeout)", (unsigned long long)most);
        enl_child_cut(child, why);
        break;
    case ENL_CHILD_ENDING: enl_child_cut(child, ""); break;
    }
}

void enl_child_await(struct enl_child *child)
{
    uv_timer_start(&child->timer, on_timer, (uint64_t)child->program->config.connecttimeout, 0);
}

void enl_child_is_up(struct enl_child *child)
{
    const uint64_t often = (uint64_t)child->program->config.hosttimeout / 4;
    child->state = ENL_CHILD_UP;
    child->was_up = true;
    enl_said_report(&child->said);
    enl_child_heard(child);
    uv_timer_start(&child->timer, on_timer, often, often);
    bcri_log_write(&child->program->log, BCRI_LOG_INFO, "host %s is number %u: %s", child->host->name,
                   child->number, child->command);
    enl_child_ask(child);
}

void enl_child_pipe_ended(struct enl_child *child, const char *why)
{
    static const char plain[] = "its pipe has ended";
    if (strcmp(why, plain) != 0) { /* it talks nonsense */
        enl_child_cut(child, why);
        return;
    }
    close_pipes(child);
    begin_to_end(child, END_MSEC);
    look_whether_gone(child);
}

static void on_freed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_child_free(struct enl_child *child)
{
    close_pipes(child);
    enl_said_end(&child->said);
    enl_errands_drop(&child->errands);
    uv_close((uv_handle_t *)&child->timer, on_freed);
}

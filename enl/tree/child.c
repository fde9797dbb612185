/* SPDX-License-Identifier: MIT */
/* See child.h: what a child's state is, and its end. */
#include "tree/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "bcri/refuse.h"
#include "host/output.h"
#include "tree/lease.h"
#include "wire/wire.h"

enum { END_MSEC = 2000 };

uint64_t enl_boottime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t patience_with(const struct enl_child *child)
{
    return enl_lease_patience((uint64_t)child->program->self.config.hosttimeout);
}

static void on_child_timer(uv_timer_t *timer);

/* How long nothing may come until something is done about it: the control link is made ready for a host that may try
 * that, or it is lost. */
static uint64_t silence_of(const struct enl_child *child)
{
    const bool may_try = child->backup.is_there && !child->backup.is_made;
    return may_try ? enl_lease_unrest((uint64_t)child->program->self.config.hosttimeout)
                   : patience_with(child);
}

void enl_child_heard(struct enl_child *child)
{
    child->heard_ms = enl_boottime_ms();
    if (child->state == ENL_CHILD_UP)
        uv_timer_start(&child->timer, on_child_timer, silence_of(child) + 1, 0);
}

static void listen_for(struct enl_child *child)
{
    if (child->program->introductions != NULL)
        enl_backup_listen(&child->backup, child->program->introductions, child->number);
}

/* A local daemon is the process itself. ssh tells the exit status of the shell there, which has waited
 * for the daemon (remote.c); it has 255 for its own trouble. What other commands say may be about
 * themselves: rsh ends with 0 when its connection is reset. */
uint64_t enl_child_lease_ms(const struct enl_child *child)
{
    const bool told =
        child->is_ssh && WIFEXITED(child->wait_status) && WEXITSTATUS(child->wait_status) != 255;
    return child->has_said_end || (child->end_is_known && (child->host->local || told))
               ? 0
               : child->heard_ms + patience_with(child);
}

void enl_child_send(struct enl_child *child, const struct bcri_control *message)
{
    if (child->conn != NULL)
        enl_peer_send(child->conn->peer, message);
}

void enl_child_ask(struct enl_child *child)
{
    if (child->state != ENL_CHILD_UP || child->conn == NULL)
        return;
    uint32_t turn = enl_round_robin_next(child->program, child);
    enl_forwards_send(&child->forwards, child->conn->peer, &turn);
}

/* ------------------------------------------------------------------------------ its end --- */

/* Which program has ended: ssh, mostly. */
static void name_program(const struct enl_child *child, char *out, size_t size)
{
    const size_t length = strcspn(child->command, " ");
    size_t name = length;
    while (name > 0 && child->command[name - 1] != '/')
        name--;
    snprintf(out, size, "%.*s", (int)(length - name), child->command + name);
}

static void end_text(const struct enl_child *child, char *out, size_t size)
{
    char program[64];
    name_program(child, program, sizeof program);
    if (child->why[0] != '\0')
        snprintf(out, size, "%s", child->why);
    else if (child->has_said_end)
        snprintf(out, size, "its daemon has ended");
    else if (!child->end_is_known)
        snprintf(out, size, "the daemon that started it is lost, and nothing came from it");
    else if (WIFSIGNALED(child->wait_status))
        snprintf(out, size, "%s was killed by signal %d (%s)", program, WTERMSIG(child->wait_status),
                 strsignal(WTERMSIG(child->wait_status)));
    else
        snprintf(out, size, "%s ended with status %d", program, WEXITSTATUS(child->wait_status));
}

/* The last line of `all` from `begin` on, without what ends it. */
static int last_line(const char *all, size_t end, const char **begin_out)
{
    while (end > 0 && strchr("\r\n .", all[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && all[begin - 1] != '\n')
        begin--;
    *begin_out = all + begin;
    return (int)(end - begin);
}

/* The last that it said; "" if nothing. What it has printed comes behind it, since either may be no more than a
 * greeting. */
static void last_words(const char *all, char *out, size_t size)
{
    const char *printed = strstr(all, ENL_PRINTED), *line, *other = "";
    size_t end = strlen(all);
    int length = last_line(all, end, &line), other_length = 0;
    if (printed != NULL && line == printed)
        length = last_line(all, (size_t)(printed - all), &line);
    if (printed != NULL)
        other_length = last_line(printed, strcspn(printed, "\n"), &other);
    snprintf(out, size, "%s%.*s%s%.*s", length > 0 || other_length > 0 ? ": " : "", length, line,
             length > 0 && other_length > 0 ? "; " : "", other_length, other);
}

/* Why there is no daemon, or no longer: with what the command said last, a remedy, and the command. */
static void write_sentence(struct enl_child *child, char *out, size_t size)
{
    char end[600], line[sizeof child->said.text + 8];
    const char *all = enl_said_all(&child->said);
    out[0] = '\0';
    if (child->told_to_end)
        return;
    end_text(child, end, sizeof end);
    last_words(all, line, sizeof line);
    if (child->was_up)
        bcri_refuse(out, size, 0, "host %s is lost: %s%s", child->host->name, end, line);
    else
        bcri_refuse(
            out, size, 0, "host %s cannot be used: %s%s%s; the command was%s%s: %s", child->host->name, end,
            line, enl_remote_remedy(child->host, child->why, all, child->wait_status),
            child->by != NULL ? ", on host " : "", child->by != NULL ? child->by->name : "", child->command);
}

static void look_whether_gone(struct enl_child *child)
{
    char sentence[3072];
    if (child->conn != NULL || child->runs || child->gone)
        return;
    child->gone = true;
    uv_timer_stop(&child->timer);
    write_sentence(child, sentence, sizeof sentence);
    enl_said_end(&child->said);
    child->ops->gone(child, sentence);
}

void enl_child_not_begun(struct enl_child *child, const char *sentence)
{
    child->gone = true;
    enl_said_end(&child->said);
    child->ops->gone(child, sentence);
}

static void begin_to_end(struct enl_child *child, uint64_t patience_ms)
{
    child->state = ENL_CHILD_ENDING;
    child->patience_ms = patience_ms;
    uv_timer_start(&child->timer, on_child_timer, patience_ms, 0);
}

static void close_pipes(struct enl_child *child)
{
    struct enl_conn *conn = child->conn;
    child->conn = NULL;
    if (conn == NULL)
        return;
    child->ops->pipe_ended(child);
    enl_conn_close(conn);
}

/* Its process is to end, at once. It comes before its pipes are closed: a daemon that finds them closed while it
 * lives says so on stderr, which would pass for the reason. */
static void end_process(struct enl_child *child)
{
    if (child->process != 0) {
        kill(-child->process, SIGKILL);
        kill(child->process, SIGKILL);
    } else if (child->starter != 0 && !child->end_is_known) {
        child->ops->cut(child); /* one that is cut off itself learns of it by another way */
    }
}

void enl_child_cut(struct enl_child *child, const char *why)
{
    if (child->why[0] == '\0')
        snprintf(child->why, sizeof child->why, "%s", why);
    end_process(child);
    close_pipes(child);
    begin_to_end(child, END_MSEC);
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
        uv_timer_start(&child->timer, on_child_timer, child->patience_ms, 0);
}

void enl_child_reaped(struct enl_child *child, int wait_status)
{
    child->process = 0;
    child->runs = false;
    child->end_is_known = true;
    child->wait_status = wait_status;
    look_whether_gone(child);
}

void enl_child_is_cut_off(struct enl_child *child)
{
    child->runs = false;
    if (child->on_control_link) { /* it has another way */
        look_whether_gone(child);
        return;
    }
    child->is_cut_off = true;
    if (child->conn != NULL)
        enl_peer_go_by(child->conn->peer, NULL);
    if (child->state == ENL_CHILD_UP || child->state == ENL_CHILD_ENDING)
        listen_for(child);
    if (child->state == ENL_CHILD_STARTING || child->state == ENL_CHILD_STARTED) {
        enl_child_cut(child, "");
    } else {
        look_whether_gone(child);
    }
}

static void take_ended(struct enl_child *child, const struct bcri_control *message)
{
    bcri_view_copy(message->text, child->command, sizeof child->command);
    child->is_ssh = (message->flags & BCRI_ENDED_SSH) != 0;
    if ((message->present & BCRI_HAS(object)) != 0 && child->why[0] == '\0') { /* it was not begun */
        const size_t most = sizeof child->why - 1, length = message->object.length;
        snprintf(child->why, sizeof child->why, "%.*s", (int)(length < most ? length : most),
                 message->object.bytes);
    }
    if ((message->present & BCRI_HAS(object)) != 0)
        close_pipes(child);
    enl_child_reaped(child, message->code);
    if ((child->on_control_link || child->is_cut_off) && !child->gone && enl_child_lease_ms(child) == 0)
        enl_child_cut(child, "");
}

const char *enl_child_said_end(struct enl_child *child)
{
    if (!child->on_control_link)
        return "it tells of its own end";
    child->has_said_end = true;
    child->runs = false;
    close_pipes(child);
    look_whether_gone(child);
    return NULL;
}

void enl_child_told(struct enl_child *child, const struct bcri_control *message)
{
    char why[128];
    switch (message->type) {
    case BCRI_MSG_said:
        enl_said_take(&child->said, message->bytes.bytes, message->bytes.length);
        if (message->bytes.length == 0)
            enl_child_gets_more(child);
        break;
    case BCRI_MSG_ended: take_ended(child, message); break;
    default:
        if (!bcri_view_copy(message->text, why, sizeof why))
            snprintf(why, sizeof why, "it talks nonsense");
        if (child->conn != NULL && !child->on_control_link)
            enl_child_pipe_ended(child, why);
        break;
    }
}

static void on_child_timer(uv_timer_t *timer)
{
    struct enl_child *child = timer->data;
    const uint64_t age = enl_boottime_ms() - child->heard_ms, patience = patience_with(child);
    char why[128];
    if (child->conn != NULL && enl_peer_has_unread(child->conn->peer)) {
        uv_timer_start(timer, on_child_timer, 1,
                       0); /* this process stood still: what has come is read first */
        return;
    }
    if (child->state == ENL_CHILD_UP && child->program->jobs.stop_signal != 0 && !child->stops) {
        enl_child_heard(child); /* it has stopped, and sends no beats before it goes on */
        return;
    }
    switch (child->state) {
    case ENL_CHILD_WAITING: break;
    case ENL_CHILD_STARTING:
    case ENL_CHILD_STARTED:
        snprintf(why, sizeof why, "nothing came from it for %d ms (connecttimeout)",
                 child->program->self.config.connecttimeout);
        enl_child_cut(child, why);
        break;
    case ENL_CHILD_UP:
        if (age <= patience) { /* or the loop's time was old when the timer was set */
            if (age >= enl_lease_unrest((uint64_t)child->program->self.config.hosttimeout))
                listen_for(child);
            const uint64_t silence = silence_of(child);
            uv_timer_start(timer, on_child_timer, age < silence ? silence - age + 1 : patience - age + 1, 0);
            break;
        }
        snprintf(why, sizeof why, "nothing came from it for %d ms (hosttimeout)",
                 child->program->self.config.hosttimeout);
        enl_child_cut(child, why);
        break;
    case ENL_CHILD_ENDING:
        if (child->conn == NULL && child->process == 0) /* its starter does not tell of its end */
            child->runs = false;
        enl_child_cut(child, "");
        break;
    }
}

void enl_child_await(struct enl_child *child)
{
    uv_timer_start(&child->timer, on_child_timer, (uint64_t)child->program->self.config.connecttimeout, 0);
}

void enl_child_gets_more(void *child)
{
    struct enl_child *one = child;
    if (one->state == ENL_CHILD_STARTING)
        enl_child_await(one);
}

void enl_child_is_up(struct enl_child *child)
{
    child->state = ENL_CHILD_UP;
    child->was_up = true;
    if (child->backup.is_there)
        enl_peer_number(child->conn->peer, &child->numbers);
    enl_said_report(&child->said);
    enl_child_heard(child);
    bcri_log_write(&child->program->self.log, BCRI_LOG_INFO, "host %s is number %u, started by %s%s",
                   child->host->name, child->number, child->by != NULL ? "host " : "this one: ",
                   child->by != NULL ? child->by->name : child->command);
    enl_child_ask(child);
    child->ops->is_up(child);
}

/* A login may refuse where a daemon would speak: on its stdout. */
static void take_printed(struct enl_child *child)
{
    char line[ENL_PRINTED_MAX];
    if (child->was_up || child->conn == NULL || child->conn->peer == NULL)
        return;
    enl_peer_printed(child->conn->peer, line);
    enl_said_take(&child->said, line, strlen(line));
}

void enl_child_pipe_ended(struct enl_child *child, const char *why)
{
    static const char plain[] = "its pipe has ended";
    take_printed(child);
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
    if (child->conn != NULL)
        enl_conn_close(child->conn);
    child->conn = NULL;
    free(child->address);
    enl_said_end(&child->said);
    enl_forwards_drop(&child->forwards);
    enl_sequence_drop(&child->numbers);
    bcri_seal_wipe(&child->backup, sizeof child->backup);
    for (int i = 0; i < 2; i++)
        if (child->sources[i] != NULL)
            enl_source_end(child->sources[i]);
    uv_close((uv_handle_t *)&child->timer, on_freed);
}

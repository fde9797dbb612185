/* SPDX-License-Identifier: MIT */
/* child.c -- see child.h. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/archtype.h"
#include "bcri/escape.h"
#include "bcri/refuse.h"
#include "cce.h"
#include "conn.h"
#include "peer.h"
#include "remote.h"
#include "setup.h"
#include "writer.h"

enum { START_ID = 1, STOP_ID = 2, END_MSEC = 2000 };

/* So much output is let on at a time. */
#define WINDOW_STEP (ENL_WINDOW_BYTES / 4)

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

/* ------------------------------------------------------------------------- what it says --- */

/* Reports whole lines that a child's stderr has brought while it is UP: ssh's, mostly. */
static void report_lines(struct enl_child *child)
{
    char *end;
    while (child->was_up && (end = memchr(child->said, '\n', child->said_length)) != NULL) {
        *end = '\0';
        if (child->said[0] != '\0')
            enl_report(child->program, BCRI_LOG_INFO, "host %s: %s", child->host->name, child->said);
        child->said_length -= (size_t)(end + 1 - child->said);
        memmove(child->said, end + 1, child->said_length);
    }
}

/* Reads what stderr has. False: the end. */
static bool read_said(struct enl_child *child)
{
    char bytes[512];
    for (;;) {
        const ssize_t got = read(child->err->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        const size_t room = sizeof child->said - 1 - child->said_length, more = (size_t)got;
        if (more > room) { /* the end of a long text tells more */
            const size_t drop = more - room;
            memmove(child->said, child->said + drop, child->said_length - drop);
            child->said_length -= drop;
        }
        memcpy(child->said + child->said_length, bytes, more);
        child->said_length += more;
        report_lines(child);
    }
}

static void on_said(void *data)
{
    struct enl_child *child = data;
    if (read_said(child))
        return;
    enl_watch_stop(child->err);
    child->err = NULL;
}

/* The last line that it said; "" if none. */
static const char *last_said(struct enl_child *child)
{
    while (child->said_length > 0 && strchr("\r\n ", child->said[child->said_length - 1]) != NULL)
        child->said_length--;
    child->said[child->said_length] = '\0';
    const char *newline = strrchr(child->said, '\n');
    return newline != NULL ? newline + 1 : child->said;
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

/* Why there is no daemon, or no longer: with the command, what that said last, and a remedy. */
static void write_sentence(struct enl_child *child, char *out, size_t size)
{
    char end[600];
    const char *said = last_said(child);
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
    if (child->err != NULL)
        read_said(child);
    enl_watch_stop(child->err);
    child->err = NULL;
    write_sentence(child, sentence, sizeof sentence);
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

/* ------------------------------------------------------------------------ what it brings --- */

static const char *take_present(struct enl_child *child, const struct bcri_control *message)
{
    char abi[64];
    const struct enl_host *host = child->host;
    if (child->state != ENL_CHILD_STARTING)
        return "it presents itself twice";
    if (!bcri_view_copy(message->text, child->station, sizeof child->station) ||
        !bcri_view_copy(message->object, abi, sizeof abi))
        return "it does not say what it is";
    if (host->abi != NULL && strcmp(host->abi, abi) != 0) {
        snprintf(child->why, sizeof child->why, "the enl there is for %s, and the hosts file says abi=%s",
                 abi, host->abi);
        return child->why;
    }
    if (message->archtype != (uint32_t)bcri_archtype_native()) {
        snprintf(child->why, sizeof child->why,
                 "the enl there is for %s, and this version uses hosts of one architecture (%s) together",
                 abi, enl_abi());
        return child->why;
    }
    if (!child->ops->met(child)) {
        child->told_to_end = true;
        enl_child_cut(child, "");
        return NULL;
    }
    child->state = ENL_CHILD_STARTED;
    enl_setup_send(child->program, child->conn->peer, host->name, child->number, START_ID);
    return NULL;
}

static void is_up(struct enl_child *child)
{
    const uint64_t often = (uint64_t)child->program->config.hosttimeout / 4;
    child->state = ENL_CHILD_UP;
    child->was_up = true;
    child->said_length = 0; /* greetings */
    enl_child_heard(child);
    uv_timer_start(&child->timer, on_timer, often, often);
    bcri_log_write(&child->program->log, BCRI_LOG_INFO, "host %s is number %u: %s", child->host->name,
                   child->number, child->command);
    enl_child_ask(child);
}

static const char *take_reply(struct enl_child *child, const struct bcri_control *message)
{
    if (child->state == ENL_CHILD_STARTED && message->id == START_ID) {
        if (message->status != 0)
            return "it refuses to start";
        if (!child->announced)
            return "it does not say where it can be reached";
        is_up(child);
        return NULL;
    }
    if (child->stops && message->id == STOP_ID) {
        child->stops = false;
        child->ops->stopped(child);
        return NULL;
    }
    enl_errand_answer(&child->errands, message);
    return NULL;
}

static void let_output_come(struct enl_child *child)
{
    const struct enl_program *program = child->program;
    if (child->unread < WINDOW_STEP || enl_writer_full(program->out) || enl_writer_full(program->err))
        return;
    const struct bcri_control message = {
        .type = BCRI_MSG_window, .present = BCRI_HAS(size), .size = child->unread};
    child->unread = 0;
    enl_child_send(child, &message);
}

void enl_child_resume(struct enl_child *child)
{
    let_output_come(child);
}

static void take_output(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_program *program = child->program;
    char line[2048 + 32];
    const int prefix = snprintf(line, sizeof line, "[%u] ", message->ordinal);
    const size_t length = message->bytes.length;
    if (length != 0)
        memcpy(line + prefix, message->bytes.bytes, length);
    line[(size_t)prefix + length] = '\n';
    enl_writer_line(message->kind == 1 ? program->out : program->err, line, (size_t)prefix + length + 1);
    child->unread += (uint32_t)length + ENL_WINDOW_LINE;
    let_output_come(child);
}

/* What the daemon there says to a person. It has escaped it. */
static void take_report(struct enl_child *child, const struct bcri_control *message)
{
    char text[2049];
    size_t length = message->bytes.length;
    for (size_t i = 0; i < length; i++) {
        const char byte = message->bytes.bytes[i];
        text[i] = byte;
        if ((unsigned char)byte < 0x20 && byte != '\n')
            text[i] = '?';
    }
    text[length] = '\0';
    enl_report_shown(child->program, "%s", text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    bcri_log_write(&child->program->log,
                   message->kind <= BCRI_LOG_DEBUG ? (enum bcri_log_level)message->kind : BCRI_LOG_INFO,
                   "host %s: %s", child->host->name, text);
}

static const char *take_unstarted(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_origin origin;
    if (message->enlistor.length != sizeof origin.identity)
        return "a start of nobody's failed";
    memcpy(origin.identity, message->enlistor.bytes, sizeof origin.identity);
    enl_cce_tell_failure(child->program, &origin, message->ordinal, (int)message->status);
    return NULL;
}

static const char *take_request(struct enl_child *child, const struct bcri_control *message)
{
    static struct bcri_incoming in = {.fds = {-1, -1}};
    if (message->type == BCRI_MSG_enlist &&
        (message->enlistor.length != BCRI_IDENTITY_BYTES ||
         bcri_identity_host((const uint8_t *)message->enlistor.bytes) != child->number))
        return "it enlists in the name of a CCE that it has not";
    in.message = *message;
    return enl_request(child->conn, &in);
}

static void take_failed(struct enl_child *child, const struct bcri_control *message)
{
    enl_program_abort(child->program, (int)message->status);
}

static const char *take_up(struct enl_child *child, const struct bcri_control *message)
{
    switch (message->type) {
    case BCRI_MSG_reply: return take_reply(child, message);
    case BCRI_MSG_alive:
        child->alive = message->count;
        enl_program_check_end(child->program);
        return NULL;
    case BCRI_MSG_output: take_output(child, message); return NULL;
    case BCRI_MSG_report: take_report(child, message); return NULL;
    case BCRI_MSG_failed: take_failed(child, message); return NULL;
    case BCRI_MSG_unstarted: return take_unstarted(child, message);
    case BCRI_MSG_enlist:
    case BCRI_MSG_host_name: return take_request(child, message);
    case BCRI_MSG_announce:
    case BCRI_MSG_want:
    case BCRI_MSG_agreed: return child->ops->introduces(child, message);
    case BCRI_MSG_beat:
        enl_child_send(child, message);
        enl_child_heard(child);
        return NULL;
    default: return "it says what no daemon says to its parent";
    }
}

static const char *on_message(void *owner, const struct bcri_control *message)
{
    struct enl_child *child = owner;
    if (child->state == ENL_CHILD_ENDING)
        uv_timer_start(&child->timer, on_timer, child->patience_ms, 0);
    if (message->type == BCRI_MSG_present)
        return take_present(child, message);
    if (child->state == ENL_CHILD_STARTING ||
        (child->state == ENL_CHILD_STARTED && message->type != BCRI_MSG_reply &&
         message->type != BCRI_MSG_report && message->type != BCRI_MSG_announce))
        return "it speaks before it was started";
    return take_up(child, message);
}

/* Its pipe has ended; its process ends too, or is made to. */
static void on_ended(void *owner, const char *why)
{
    struct enl_child *child = owner;
    static const char plain[] = "its pipe has ended";
    if (strcmp(why, plain) != 0) { /* it talks nonsense */
        enl_child_cut(child, why);
        return;
    }
    close_pipes(child);
    begin_to_end(child, END_MSEC);
    look_whether_gone(child);
}

/* ---------------------------------------------------------------------------- its start --- */

static void close_pair(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static bool open_pipes(int down[2], int up[2], int err[2])
{
    if (pipe2(down, O_CLOEXEC) != 0)
        return false;
    if (pipe2(up, O_CLOEXEC) != 0)
        goto close_down;
    if (pipe2(err, O_CLOEXEC) != 0)
        goto close_up;
    return true;

close_up:
    close_pair(up);
close_down:
    close_pair(down);
    return false;
}

static void on_freed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_child_free(struct enl_child *child)
{
    close_pipes(child);
    enl_watch_stop(child->err);
    child->err = NULL;
    enl_errands_drop(&child->errands);
    uv_close((uv_handle_t *)&child->timer, on_freed);
}

struct enl_child *enl_child_start(struct enl_program *program, const struct enl_host *host,
                                  const char *address, uint32_t number, const struct enl_child_ops *ops,
                                  char *error, size_t error_size)
{
    static const struct enl_peer_ops peer_ops = {on_message, on_ended};
    struct enl_remote remote;
    int down[2], up[2], err[2];
    if (!enl_remote_command(&remote, program, host, address, error, error_size))
        return NULL;
    struct enl_child *child = calloc(1, sizeof *child);
    if (child == NULL || !open_pipes(down, up, err)) {
        bcri_refuse(error, error_size, 0, "host %s cannot be used: %s", host->name,
                    child == NULL ? "no memory" : "enl has no descriptors left");
        enl_remote_free(&remote);
        free(child);
        return NULL;
    }
    const struct enl_spawn spawn = {.path = remote.path,
                                    .argv = remote.argv,
                                    .environment = program->environment,
                                    .in = down[0],
                                    .out = up[1],
                                    .err = err[1],
                                    .keep = -1,
                                    .core = -1,
                                    .own_session = true,
                                    .die_with_parent = !host->local,
                                    .inherited = &program->inherited};
    const char *step = "";
    const pid_t pid = enl_spawn(&spawn, &step);
    enl_remote_text(&remote, child->command, sizeof child->command);
    enl_remote_free(&remote);
    close(down[0]);
    close(up[1]);
    close(err[1]);
    if (pid < 0) {
        bcri_refuse(error, error_size, 0, "host %s cannot be used: %s could not %s: %s%s", host->name,
                    child->command, step, strerror(-pid),
                    host->local ? "" : "; rshpath in bcrrc names the program that reaches other machines");
        close(down[1]);
        close(up[0]);
        close(err[0]);
        free(child);
        return NULL;
    }
    child->program = program;
    child->host = host;
    child->number = number;
    child->ops = ops;
    child->process = pid;
    uv_timer_init(&program->loop, &child->timer);
    child->timer.data = child;
    uv_timer_start(&child->timer, on_timer, (uint64_t)program->config.connecttimeout, 0);
    child->err = enl_watch_start(program, err[0], on_said, child);
    struct enl_peer *peer = enl_peer_new(program, up[0], down[1], NULL, &peer_ops, child);
    child->conn = peer != NULL ? enl_conn_of_peer(program, ENL_CHILD, peer) : NULL;
    if (child->conn == NULL || child->err == NULL)
        enl_child_cut(child, "no memory");
    return child;
}

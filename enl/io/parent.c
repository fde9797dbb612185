/* SPDX-License-Identifier: MIT */
/* parent.c -- see parent.h. A write never waits: libuv keeps what the pipe does not take, up to
 * PENDING_MAX; a parent that reads nothing for so long loses the connection, as all peers do. */
#include "parent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/descriptor.h"
#include "bcri/frames.h"
#include "bcri/refuse.h"
#include "conn.h"

#define PENDING_MAX (1u << 20)

static struct {
    int in, out; /* until enl_parent_open */
    uint32_t start_id;
    bool writes;
    uv_pipe_t pipe;
    struct bcri_frames frames;
} parent = {.in = -1, .out = -1};

/* Reads once. Returns 1; 0: the end; -1: an error, with a sentence. */
static int read_some(int fd, const char **wrong_out)
{
    uint8_t *at;
    const size_t room = bcri_frames_room(&parent.frames, &at);
    ssize_t got;
    do
        got = read(fd, at, room);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        bcri_frames_came(&parent.frames, (size_t)got);
    else if (got < 0 && errno != EAGAIN)
        *wrong_out = strerror(errno);
    return got > 0 || (got < 0 && errno == EAGAIN) ? 1 : (int)got;
}

/* Writes all of it, and may wait. */
static bool write_magic(int fd)
{
    const char *at = BCRI_FRAMES_MAGIC;
    for (size_t left = BCRI_FRAMES_MAGIC_BYTES; left > 0;) {
        const ssize_t put = write(fd, at, left);
        if (put < 0 && errno != EINTR)
            return false;
        at += put > 0 ? put : 0;
        left -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Prints to stdout would get among the frames. So stdout becomes what stderr is, and stdin
 * empty. */
static bool move_standard_files(void)
{
    parent.in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    parent.out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool moved =
        parent.in >= 0 && parent.out >= 0 && empty >= 0 && dup2(empty, 0) == 0 && dup2(2, 1) == 1;
    if (empty >= 0)
        close(empty);
    return moved;
}

static int take_start(struct enl_program *program, const struct bcri_control *start, char *error,
                      size_t error_size)
{
    if (start->type != BCRI_MSG_start)
        return bcri_refuse(error, error_size, -1,
                           "the daemon that started this one begins with %s, not start",
                           bcri_control_name(start->type));
    parent.start_id = start->id;
    program->host_number = start->host;
    program->daemon_number = start->daemon;
    if (!bcri_view_copy(start->program, program->name, sizeof program->name) || program->name[0] == '\0' ||
        start->host == 0)
        return bcri_refuse(error, error_size, -1,
                           "the daemon that started this one names no program, or gives its own number");
    return 0;
}

int enl_parent_await(struct enl_program *program, char *error, size_t error_size)
{
    struct bcri_control start;
    const char *wrong =
        "it ended without a word; enl --child is for enl itself, run a program by: enl PROGRAM";
    int came;
    if (!move_standard_files() || !write_magic(parent.out))
        return bcri_refuse(error, error_size, -1, "the daemon that started this one cannot be reached: %s",
                           strerror(errno));
    while ((came = bcri_frames_next(&parent.frames, &start, &wrong)) == 0)
        if (read_some(parent.in, &wrong) <= 0)
            break;
    if (came != 1)
        return bcri_refuse(error, error_size, -1,
                           "nothing to be understood from the daemon that started this one: %s", wrong);
    return take_start(program, &start, error, error_size);
}

bool enl_parent_open(struct enl_program *program)
{
    const int in = parent.in;
    parent.in = -1;
    uv_pipe_init(&program->loop, &parent.pipe, 0);
    parent.writes = uv_pipe_open(&parent.pipe, parent.out) == 0;
    program->parent = enl_conn_new(program, ENL_PARENT, in, NULL);
    if (!parent.writes || program->parent == NULL) {
        if (program->parent == NULL)
            enl_parent_close(program);
        enl_report(
            program, BCRI_LOG_ERROR,
            "stdin and stdout are no pipes to the daemon that started this one, or there is no memory");
        return false;
    }
    enl_conn_reply(program->parent, parent.start_id, 0, NULL);
    return true;
}

struct sending {
    uv_write_t request;
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
};

static void on_sent(uv_write_t *request, int status)
{
    (void)status; /* a parent that is gone has closed the other pipe too */
    free(request->data);
}

static void cannot_send(struct enl_conn *conn, const struct bcri_control *message, const char *why)
{
    bcri_log_write(&conn->program->log, BCRI_LOG_WARN,
                   "%s for the daemon that started this one cannot be sent (%s)",
                   bcri_control_name(message->type), why);
}

void enl_parent_send(struct enl_conn *conn, const struct bcri_control *message)
{
    uv_stream_t *stream = (uv_stream_t *)&parent.pipe;
    if (!parent.writes)
        return;
    struct sending *sending =
        uv_stream_get_write_queue_size(stream) < PENDING_MAX ? malloc(sizeof *sending) : NULL;
    if (sending == NULL) {
        cannot_send(conn, message, "it does not read, or there is no memory");
        parent.writes = false;
        return;
    }
    const uv_buf_t part = {(char *)sending->bytes,
                           bcri_frame_encode(message, sending->bytes, sizeof sending->bytes)};
    sending->request.data = sending;
    const int failed = part.len == 0 ? UV_EINVAL : uv_write(&sending->request, stream, &part, 1, on_sent);
    if (failed == 0)
        return;
    cannot_send(conn, message, uv_strerror(failed));
    free(sending);
}

/* The parent has ended, or must not be listened to any more. */
static void lost(struct enl_program *program, const char *why)
{
    enl_conn_close(program->parent);
    if (program->alive == 0 && program->jobs == NULL) {
        enl_program_check_end(program);
        return;
    }
    enl_report(program, BCRI_LOG_WARN,
               "the daemon that started this one is gone (%s); the CCEs here are killed", why);
    enl_program_abort(program, 1);
}

void enl_parent_readable(void *data)
{
    static struct bcri_incoming in = {.fds = {-1, -1}};
    struct enl_conn *conn = data;
    struct enl_program *program = conn->program;
    const char *wrong = "its pipe has ended";
    int came = read_some(conn->watch->fd, &wrong) > 0 ? 0 : -1;
    while (came == 0 && (came = bcri_frames_next(&parent.frames, &in.message, &wrong)) == 1) {
        wrong = enl_request(conn, &in);
        if (program->parent != conn)
            return;
        came = wrong == NULL ? 0 : -1;
    }
    if (came < 0 || !parent.writes)
        lost(program, wrong);
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
}

void enl_parent_close(struct enl_program *program)
{
    program->parent = NULL;
    parent.writes = false;
    uv_close((uv_handle_t *)&parent.pipe, on_closed);
}

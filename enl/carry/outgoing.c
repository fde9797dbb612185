/* SPDX-License-Identifier: MIT */
/* See outgoing.h. */
#include "carry/outgoing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "bcri/frames.h"
#include "bcri/log.h"

/* More than the environments (setup.c) of all hosts that are started at one time by way of one daemon. */
#define PENDING_MAX (40u << 20)

struct enl_outgoing_piece {
    uv_write_t request;
    STAILQ_ENTRY(enl_outgoing_piece) entry; /* of those that wait */
    struct enl_outgoing *outgoing;
    bool output;
    bool secret; /* it lies in secret memory */
    size_t length;
    uint8_t bytes[];
};

static size_t libuv_has(const struct enl_outgoing *outgoing)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&outgoing->pipe);
}

bool enl_outgoing_waits(const struct enl_outgoing *outgoing)
{
    return !STAILQ_EMPTY(&outgoing->pieces) || libuv_has(outgoing) != 0;
}

static void free_piece(struct enl_outgoing_piece *piece)
{
    if (piece->secret)
        enl_secret_free(piece);
    else
        free(piece);
}

static void drop_output(struct enl_outgoing *outgoing)
{
    for (struct enl_outgoing_piece *piece; (piece = STAILQ_FIRST(&outgoing->pieces)) != NULL;) {
        STAILQ_REMOVE_HEAD(&outgoing->pieces, entry);
        free_piece(piece);
    }
    outgoing->waiting = 0;
}

static void on_failed(uv_handle_t *handle)
{
    struct enl_outgoing *outgoing =
        (struct enl_outgoing *)((char *)handle - offsetof(struct enl_outgoing, pipe));
    outgoing->ends = false;
    if (outgoing->on_closed != NULL) {
        outgoing->on_closed(handle);
        return;
    }
    uv_pipe_init(handle->loop, &outgoing->pipe, 0); /* which enl_outgoing_close closes again */
    outgoing->failed(outgoing);
}

void enl_outgoing_give_up(struct enl_outgoing *outgoing, const char *what, const char *why)
{
    if (!outgoing->writes || outgoing->closed)
        return;
    bcri_log_write(outgoing->log, BCRI_LOG_WARN, "%s for another daemon cannot be sent (%s)", what, why);
    outgoing->writes = false;
    drop_output(outgoing);
    if (outgoing->failed == NULL)
        return;
    outgoing->ends = true;
    uv_close((uv_handle_t *)&outgoing->pipe, on_failed);
}

/* A neighbour that has ended, before that was read, is no news of its own. */
static void give_up_writing(struct enl_outgoing *outgoing, int status)
{
    if (status == UV_EPIPE) {
        outgoing->writes = false;
        drop_output(outgoing);
    } else {
        enl_outgoing_give_up(outgoing, "a message", uv_strerror(status));
    }
}

static void write_piece(struct enl_outgoing_piece *piece);

static void on_written(uv_write_t *request, int status)
{
    struct enl_outgoing_piece *piece = request->data;
    struct enl_outgoing *outgoing = piece->outgoing;
    if (piece->output)
        outgoing->output_under_way = false;
    free_piece(piece);
    if (outgoing->closed)
        return;
    if (status != 0)
        give_up_writing(outgoing, status);
    piece = STAILQ_FIRST(&outgoing->pieces);
    if (piece != NULL && !outgoing->output_under_way && libuv_has(outgoing) == 0) {
        STAILQ_REMOVE_HEAD(&outgoing->pieces, entry);
        outgoing->waiting -= piece->length;
        write_piece(piece);
    }
    outgoing->moved(outgoing);
}

static void write_piece(struct enl_outgoing_piece *piece)
{
    struct enl_outgoing *outgoing = piece->outgoing;
    const uv_buf_t part = {(char *)piece->bytes, piece->length};
    piece->request.data = piece;
    outgoing->output_under_way |= piece->output;
    const int failed = uv_write(&piece->request, (uv_stream_t *)&outgoing->pipe, &part, 1, on_written);
    if (failed == 0)
        return;
    free_piece(piece);
    give_up_writing(outgoing, failed);
}

bool enl_outgoing_magic(struct enl_outgoing *outgoing)
{
    static const char word[] = BCRI_FRAMES_MAGIC;
    struct enl_outgoing_piece *magic = malloc(sizeof *magic + BCRI_FRAMES_MAGIC_BYTES);
    if (magic == NULL)
        return false;
    *magic = (struct enl_outgoing_piece){.outgoing = outgoing, .length = BCRI_FRAMES_MAGIC_BYTES};
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it is no string */
    memcpy(magic->bytes, word, BCRI_FRAMES_MAGIC_BYTES);
    write_piece(magic);
    return true;
}

/* Wipes the bytes if they are secret. */
static struct enl_outgoing_piece *new_piece(struct enl_outgoing *outgoing, enum bcri_control_type type,
                                            uint8_t *bytes, size_t length, bool output)
{
    const bool secret = type == BCRI_MSG_start; /* it brings the program key */
    struct enl_outgoing_piece *piece = NULL;
    if (length != 0)
        piece = secret ? enl_secret_new(sizeof *piece + length) : malloc(sizeof *piece + length);
    if (piece == NULL) {
        enl_outgoing_give_up(outgoing, bcri_control_name(type), length == 0 ? "it has no form" : "no memory");
        enl_secret_wipe(bytes, length);
        return NULL;
    }
    *piece = (struct enl_outgoing_piece){
        .outgoing = outgoing, .output = output, .secret = secret, .length = length};
    memcpy(piece->bytes, bytes, length);
    if (secret)
        enl_secret_wipe(bytes, length);
    return piece;
}

static void queue(struct enl_outgoing *outgoing, struct enl_outgoing_piece *piece)
{
    if (STAILQ_EMPTY(&outgoing->pieces) && libuv_has(outgoing) == 0 && !outgoing->output_under_way) {
        write_piece(piece);
        return;
    }
    STAILQ_INSERT_TAIL(&outgoing->pieces, piece, entry);
    outgoing->waiting += piece->length;
}

void enl_outgoing_send(struct enl_outgoing *outgoing, enum bcri_control_type type, uint8_t *frame,
                       size_t bytes, enum enl_haste haste)
{
    if (!outgoing->writes || outgoing->closed ||
        (haste == ENL_OR_DROPPED && outgoing->waiting >= ENL_PACKETS_MAX)) {
        enl_secret_wipe(frame, bytes);
        return;
    }
    if (haste == ENL_AT_ONCE && libuv_has(outgoing) >= PENDING_MAX) {
        enl_outgoing_give_up(outgoing, bcri_control_name(type), "it does not read");
        enl_secret_wipe(frame, bytes);
        return;
    }
    struct enl_outgoing_piece *piece = new_piece(outgoing, type, frame, bytes, haste != ENL_AT_ONCE);
    if (piece != NULL && haste == ENL_AT_ONCE)
        write_piece(piece);
    else if (piece != NULL)
        queue(outgoing, piece);
}

/* ---- bytes that are no frames ---- */

struct raw {
    uv_write_t request;
    struct enl_outgoing *outgoing;
    char *bytes;
    void (*written)(void *data, bool goes_on);
    void *data;
};

static void end_raw(struct raw *raw, bool goes_on)
{
    const struct raw copy = *raw;
    free(copy.bytes);
    free(raw);
    copy.written(copy.data, goes_on);
}

static void on_raw_written(uv_write_t *request, int status)
{
    struct raw *raw = request->data;
    struct enl_outgoing *outgoing = raw->outgoing;
    if (status != 0 && !outgoing->closed)
        give_up_writing(outgoing, status);
    end_raw(raw, status == 0 && !outgoing->closed);
}

void enl_outgoing_send_raw(struct enl_outgoing *outgoing, char *bytes, size_t length,
                           void (*written)(void *data, bool goes_on), void *data)
{
    struct raw *raw = outgoing->writes && !outgoing->closed ? malloc(sizeof *raw) : NULL;
    if (raw == NULL) {
        free(bytes);
        written(data, false);
        return;
    }
    *raw = (struct raw){.outgoing = outgoing, .bytes = bytes, .written = written, .data = data};
    raw->request.data = raw;
    const uv_buf_t part = {bytes, length};
    if (uv_write(&raw->request, (uv_stream_t *)&outgoing->pipe, &part, 1, on_raw_written) != 0)
        end_raw(raw, false);
}

/* ---- its beginning and end ---- */

void enl_outgoing_init(struct enl_outgoing *outgoing, uv_loop_t *loop, struct bcri_log *log,
                       void (*moved)(struct enl_outgoing *outgoing),
                       void (*failed)(struct enl_outgoing *outgoing))
{
    *outgoing = (struct enl_outgoing){.log = log, .writes = true, .moved = moved, .failed = failed};
    STAILQ_INIT(&outgoing->pieces);
    uv_pipe_init(loop, &outgoing->pipe, 0);
}

bool enl_outgoing_open(struct enl_outgoing *outgoing, int fd)
{
    return uv_pipe_open(&outgoing->pipe, fd) == 0;
}

void enl_outgoing_close(struct enl_outgoing *outgoing, uv_close_cb closed)
{
    outgoing->closed = true;
    drop_output(outgoing);
    if (outgoing->ends)
        outgoing->on_closed = closed;
    else
        uv_close((uv_handle_t *)&outgoing->pipe, closed);
}

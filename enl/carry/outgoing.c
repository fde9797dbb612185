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
    bool secret;                               /* it lies in secret memory */
    void (*written)(void *data, bool goes_on); /* NULL: of a frame */
    void *data;
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

static void end_piece(struct enl_outgoing_piece *piece, bool goes_on)
{
    void (*written)(void *data, bool goes_on) = piece->written;
    void *data = piece->data;
    free_piece(piece);
    if (written != NULL)
        written(data, goes_on);
}

static void write_piece(struct enl_outgoing_piece *piece);

static void on_written(uv_write_t *request, int status)
{
    struct enl_outgoing_piece *piece = request->data;
    struct enl_outgoing *outgoing = piece->outgoing;
    if (piece->output)
        outgoing->output_under_way = false;
    if (status != 0 && !outgoing->closed)
        give_up_writing(outgoing, status);
    end_piece(piece, status == 0 && !outgoing->closed);
    if (outgoing->closed)
        return;
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
    give_up_writing(outgoing, failed);
    end_piece(piece, false);
}

/* NULL: no memory, so nothing is written any more. */
static struct enl_outgoing_piece *new_piece(struct enl_outgoing *outgoing, const char *what,
                                            const void *bytes, size_t length, bool secret)
{
    struct enl_outgoing_piece *piece =
        secret ? enl_secret_new(sizeof *piece + length) : malloc(sizeof *piece + length);
    if (piece == NULL) {
        enl_outgoing_give_up(outgoing, what, "no memory");
        return NULL;
    }
    *piece = (struct enl_outgoing_piece){.outgoing = outgoing, .secret = secret, .length = length};
    memcpy(piece->bytes, bytes, length);
    return piece;
}

void enl_outgoing_send(struct enl_outgoing *outgoing, enum bcri_control_type type, uint8_t *frame,
                       size_t bytes, enum enl_haste haste)
{
    const bool secret = type == BCRI_MSG_start; /* it brings the program key */
    struct enl_outgoing_piece *piece = NULL;
    if (!outgoing->writes || outgoing->closed ||
        (haste == ENL_OR_DROPPED && outgoing->waiting >= ENL_PACKETS_MAX))
        ;
    else if (bytes == 0 || (haste == ENL_AT_ONCE && libuv_has(outgoing) >= PENDING_MAX))
        enl_outgoing_give_up(outgoing, bcri_control_name(type),
                             bytes == 0 ? "it has no form" : "it does not read");
    else
        piece = new_piece(outgoing, bcri_control_name(type), frame, bytes, secret);
    if (secret)
        enl_secret_wipe(frame, bytes);
    if (piece == NULL)
        return;
    piece->output = haste != ENL_AT_ONCE;
    if (!piece->output || !(enl_outgoing_waits(outgoing) || outgoing->output_under_way)) {
        write_piece(piece);
        return;
    }
    STAILQ_INSERT_TAIL(&outgoing->pieces, piece, entry);
    outgoing->waiting += piece->length;
}

void enl_outgoing_send_raw(struct enl_outgoing *outgoing, const char *bytes, size_t length,
                           void (*written)(void *data, bool goes_on), void *data)
{
    struct enl_outgoing_piece *piece = outgoing->writes && !outgoing->closed
                                           ? new_piece(outgoing, "what is pushed", bytes, length, false)
                                           : NULL;
    if (piece != NULL) {
        piece->written = written;
        piece->data = data;
        write_piece(piece);
    } else if (written != NULL) {
        written(data, false);
    }
}

void enl_outgoing_init(struct enl_outgoing *outgoing, uv_loop_t *loop, struct bcri_log *log,
                       void (*moved)(struct enl_outgoing *outgoing),
                       void (*failed)(struct enl_outgoing *outgoing))
{
    *outgoing = (struct enl_outgoing){.log = log, .writes = true, .moved = moved, .failed = failed};
    STAILQ_INIT(&outgoing->pieces);
    uv_pipe_init(loop, &outgoing->pipe, 0);
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

/* SPDX-License-Identifier: MIT */
/* output.c -- draining two pipes per CCE.
 *
 * Nothing is added to what a CCE prints, nor is it cut: it is read when its turn has come (mux.c), so
 * a CCE that prints faster than the reader reads is slowed down, as it would be without BCR.
 * The text comes from programs, so it is escaped on its way to the log, and to a terminal in messages
 * of enl's own. */
#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/watch.h"
#include "bcri/escape.h"
#include "host/host.h"

/* A line in the log is broken here; each record holds as much as it can. */
#define LOG_LINE_BYTES 2048u
#define READ_BYTES     65536u

static void add_to_tail(struct enl_output *output, const char *bytes, size_t length)
{
    const size_t more = length < ENL_TAIL_BYTES ? length : ENL_TAIL_BYTES, room = ENL_TAIL_BYTES - more;
    const size_t kept = output->tail_length < room ? output->tail_length : room;
    output->tail_cut |= more < length || kept < output->tail_length;
    memmove(output->tail, output->tail + output->tail_length - kept, kept);
    memcpy(output->tail + kept, bytes + length - more, more);
    output->tail_length = kept + more;
}

/* In the tail the two streams lie in one, so each begins a line there. */
static void keep_tail(struct enl_output *output, int fd, const char *bytes, size_t length)
{
    if (output->tail == NULL && (output->tail = malloc(ENL_TAIL_BYTES)) == NULL)
        return;
    if (output->tail_fd != fd && output->tail_length != 0 && output->tail[output->tail_length - 1] != '\n')
        add_to_tail(output, "\n", 1);
    output->tail_fd = fd;
    add_to_tail(output, bytes, length);
}

static void log_line(struct enl_stream *stream)
{
    const struct enl_cce *cce = stream->cce;
    struct enl_here *here = cce->here;
    const struct bcri_log_who who = {here->self->hostname, cce->pid != 0 ? cce->pid : cce->process,
                                     (int)cce->ordinal};
    bcri_log_bytes(&here->self->log, BCRI_LOG_INFO, &who, stream->line, stream->length);
    stream->length = 0;
}

static void log_bytes(struct enl_stream *stream, const char *bytes, size_t length)
{
    if (stream->line == NULL && (stream->line = malloc(LOG_LINE_BYTES)) == NULL)
        return;
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t more = newline != NULL ? (size_t)(newline - bytes) : length;
        const size_t room = LOG_LINE_BYTES - stream->length;
        const bool whole = newline != NULL && more <= room;
        if (more > room)
            more = room;
        memcpy(stream->line + stream->length, bytes, more);
        stream->length += more;
        bytes += more + (whole ? 1 : 0);
        length -= more + (whole ? 1 : 0);
        if (whole || (stream->length == LOG_LINE_BYTES && length > 0 && *bytes != '\n'))
            log_line(stream);
    }
}

void enl_output_keep(struct enl_stream *stream, const char *bytes, size_t length)
{
    const struct enl_cce *cce = stream->cce;
    if (cce != cce->here->root) /* the root's are shown in any case */
        keep_tail(&stream->cce->output, stream->fd, bytes, length);
}

void enl_output_take(struct enl_stream *stream, const char *bytes, size_t length)
{
    struct enl_cce *cce = stream->cce;
    if (!enl_lines_wanted(&cce->here->lines)) {
        log_bytes(stream, bytes, length);
        return;
    }
    const struct enl_printed text = {.ordinal = cce->ordinal,
                                     .fd = stream->fd,
                                     .root = cce == cce->here->root,
                                     .goes_on = stream->in_line,
                                     .bytes = bytes,
                                     .length = length,
                                     .cost = length};
    stream->in_line = bytes[length - 1] != '\n';
    enl_lines_take(&cce->here->lines, stream->source, &text);
}

void enl_output_end(struct enl_stream *stream)
{
    if (stream->watch == NULL)
        return;
    enl_cell_lines_give_up(stream);
    enl_watch_stop(stream->watch);
    stream->watch = NULL;
    if (stream->line != NULL && stream->length != 0)
        log_line(stream);
    if (stream->source != NULL)
        enl_source_end(stream->source);
    stream->source = NULL;
    free(stream->line);
    stream->line = NULL;
    stream->length = 0;
}

/* Reads about `limit` bytes at most; true while there may be more. */
static bool read_pipe(struct enl_stream *stream, size_t limit)
{
    static char bytes[READ_BYTES];
    if (stream->batch != NULL)
        return false;
    if (stream->watch != NULL && stream->cce->lines_cell != 0) {
        enl_cell_lines_read(stream);
        return false;
    }
    while (stream->watch != NULL && limit > 0) {
        ssize_t got = read(stream->watch->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return false;
        if (got <= 0) {
            enl_output_end(stream);
            return false;
        }
        enl_output_keep(stream, bytes, (size_t)got);
        enl_output_take(stream, bytes, (size_t)got);
        limit -= (size_t)got < limit ? (size_t)got : limit;
    }
    return stream->watch != NULL;
}

static void on_output_readable(void *data)
{
    struct enl_stream *stream = data;
    struct enl_cce *cce = stream->cce;
    if (cce->lines_cell == 0 && stream->source != NULL && !enl_source_may_give(stream->source)) {
        enl_watch_pause(stream->watch, true);
        return;
    }
    read_pipe(stream, 1);
    if (stream->watch == NULL)
        enl_cce_release(cce);
}

static void on_output_turn(void *owner)
{
    const struct enl_stream *stream = owner;
    enl_watch_pause(stream->watch, false);
}

static int open_stream(struct enl_stream *stream, int *end_out)
{
    static const struct enl_source_ops ops = {.turn = on_output_turn};
    struct enl_here *here = stream->cce->here;
    struct enl_mux *mux = enl_lines_mux(&here->lines, stream->fd, stream->cce == here->root);
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return -errno;
    stream->watch = enl_watch_start(here->self, pair[0], on_output_readable, stream);
    if (stream->watch != NULL && mux != NULL)
        stream->source = enl_source_new(mux, &ops, stream);
    *end_out = pair[1];
    return stream->watch != NULL && (mux == NULL || stream->source != NULL) ? 0 : -ENOMEM;
}

int enl_output_open(struct enl_cce *cce, int *out, int *err)
{
    int error = 0;
    for (int i = 0; i < 2 && error == 0; i++) {
        cce->output.streams[i].cce = cce;
        cce->output.streams[i].fd = 1 + i;
        error = open_stream(&cce->output.streams[i], i == 0 ? out : err);
    }
    if (error != 0)
        enl_output_close(cce);
    return error;
}

void enl_output_drain(struct enl_cce *cce)
{
    for (int i = 0; i < 2; i++)
        read_pipe(&cce->output.streams[i],
                  1u << 20); /* a pipe holds at most that; other processes may still be writing */
    for (int i = 0; i < 2; i++)
        if (cce->lines_cell != 0 || cce->output.streams[i].batch != NULL)
            enl_cell_lines_owe(&cce->output.streams[i]);
}

size_t enl_output_tail(const struct enl_cce *cce, char text[ENL_TAIL_BYTES])
{
    const struct enl_output *output = &cce->output;
    const char *newline = output->tail_cut ? memchr(output->tail, '\n', output->tail_length - 1) : NULL;
    const size_t at = newline != NULL ? (size_t)(newline - output->tail) + 1 : 0;
    if (output->tail_length != 0)
        memcpy(text, output->tail + at, output->tail_length - at);
    return output->tail_length - at;
}

void enl_output_show_tail(struct enl_cce *cce)
{
    char text[ENL_TAIL_BYTES];
    const size_t length = enl_output_tail(cce, text);
    size_t at = 0;
    if (length == 0)
        return;
    enl_report_shown(cce->here->self, "enl: the last it printed:\n");
    while (at < length) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line = newline != NULL ? (size_t)(newline - text) - at : length - at;
        char shown[4 * ENL_TAIL_BYTES + 1];
        bcri_escape(text + at, line, shown, sizeof shown, NULL);
        enl_report_shown(cce->here->self, "  [%u] %s\n", cce->ordinal, shown);
        at += line + 1;
    }
}

bool enl_output_ended(const struct enl_cce *cce)
{
    return cce->output.streams[0].watch == NULL && cce->output.streams[1].watch == NULL;
}

void enl_output_close(struct enl_cce *cce)
{
    enl_output_end(&cce->output.streams[0]);
    enl_output_end(&cce->output.streams[1]);
    free(cce->output.tail);
    cce->output.tail = NULL;
    cce->output.tail_length = 0;
    cce->output.tail_cut = false;
}

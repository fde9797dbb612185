/* SPDX-License-Identifier: MIT */
/* output.c -- draining two pipes per CCE.
 *
 * A line goes out as a whole. Text that does not end in a newline is shown when the stream ends or
 * the line is full. The text comes from programs, so it is escaped on its way to the log, and to a
 * terminal in messages of enl's own. Where it is shown or put into a file (lines.c) it is as it was
 * printed. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/escape.h"
#include "cce.h"
#include "lines.h"

static void keep_tail(struct enl_output *output, const char *bytes, size_t length)
{
    if (output->tail == NULL && (output->tail = malloc(ENL_TAIL_BYTES)) == NULL)
        return;
    if (length > ENL_TAIL_BYTES) {
        output->tail_total += length - ENL_TAIL_BYTES;
        bytes += length - ENL_TAIL_BYTES;
        length = ENL_TAIL_BYTES;
    }
    for (size_t i = 0; i < length; i++)
        output->tail[(output->tail_total + i) % ENL_TAIL_BYTES] = bytes[i];
    output->tail_total += length;
}

static void put_line(struct enl_stream *stream, const char *text, size_t length)
{
    struct enl_cce *cce = stream->cce;
    struct enl_program *program = cce->program;
    struct bcri_log_who who = {program->hostname, cce->pid != 0 ? cce->pid : cce->process, (int)cce->ordinal};
    bcri_log_bytes(&program->log, BCRI_LOG_INFO, &who, text, length);
    if (cce != program->root) { /* the root's are shown in any case */
        keep_tail(&cce->output, text, length);
        keep_tail(&cce->output, "\n", 1);
    }
    if (!enl_lines_wanted(program))
        return;
    if (program->upward != NULL)
        program->upward->line(program, stream->fd, cce->ordinal, text, length);
    else
        enl_lines_take(program, stream->fd, cce->ordinal, cce == program->root, text, length);
}

static void take_bytes(struct enl_stream *stream, const char *bytes, size_t length)
{
    if (stream->line == NULL && (stream->line = malloc(ENL_LINE_BYTES)) == NULL)
        return;
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t more = newline != NULL ? (size_t)(newline - bytes) : length;
        size_t room = ENL_LINE_BYTES - stream->length;
        bool whole = newline != NULL && more <= room;
        if (more > room)
            more = room;
        memcpy(stream->line + stream->length, bytes, more);
        stream->length += more;
        bytes += more + (whole ? 1 : 0);
        length -= more + (whole ? 1 : 0);
        if (whole || stream->length == ENL_LINE_BYTES) {
            put_line(stream, stream->line, stream->length);
            stream->length = 0;
        }
    }
}

static void end_stream(struct enl_stream *stream)
{
    if (stream->watch == NULL)
        return;
    enl_watch_stop(stream->watch);
    stream->watch = NULL;
    if (stream->line != NULL && stream->length != 0)
        put_line(stream, stream->line, stream->length);
    free(stream->line);
    stream->line = NULL;
    stream->length = 0;
}

/* Reads about `limit` bytes at most; true while there may be more. */
static bool read_some(struct enl_stream *stream, size_t limit)
{
    static char bytes[65536];
    while (stream->watch != NULL && limit > 0) {
        ssize_t got = read(stream->watch->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return false;
        if (got <= 0) {
            end_stream(stream);
            return false;
        }
        take_bytes(stream, bytes, (size_t)got);
        limit -= (size_t)got < limit ? (size_t)got : limit;
    }
    return stream->watch != NULL;
}

/* Whether a line could not be shown now. */
static bool is_full(const struct enl_program *program, int fd)
{
    if (program->upward != NULL)
        return program->upward->full();
    return enl_lines_full(program, fd);
}

static void on_readable(void *data)
{
    struct enl_stream *stream = data;
    struct enl_cce *cce = stream->cce;
    struct enl_program *program = cce->program;
    if (enl_lines_wanted(program) && is_full(program, stream->fd)) {
        enl_watch_pause(stream->watch, true);
        return;
    }
    read_some(stream, 1);
    if (stream->watch == NULL)
        enl_cce_release(cce);
}

int enl_output_open(struct enl_cce *cce, int ends_out[2])
{
    for (int i = 0; i < 2; i++) {
        struct enl_stream *stream = &cce->output.streams[i];
        int pair[2];
        stream->cce = cce;
        stream->fd = 1 + i;
        if (pipe2(pair, O_CLOEXEC) == 0) {
            ends_out[i] = pair[1];
            stream->watch = enl_watch_start(cce->program, pair[0], on_readable, stream);
            if (stream->watch != NULL)
                continue;
            errno = ENOMEM;
            close(pair[1]);
        }
        int error = errno;
        if (i == 1)
            close(ends_out[0]);
        enl_output_close(cce);
        return -error;
    }
    return 0;
}

void enl_output_drain(struct enl_cce *cce)
{
    for (int i = 0; i < 2; i++)
        read_some(&cce->output.streams[i],
                  1u << 20); /* a pipe holds at most that; other processes may still be writing */
}

size_t enl_output_tail(const struct enl_cce *cce, char text[ENL_TAIL_BYTES])
{
    const struct enl_output *output = &cce->output;
    const size_t length = output->tail_total < ENL_TAIL_BYTES ? output->tail_total : ENL_TAIL_BYTES;
    for (size_t i = 0; i < length; i++)
        text[i] = output->tail[(output->tail_total - length + i) % ENL_TAIL_BYTES];
    const char *newline = output->tail_total > ENL_TAIL_BYTES ? memchr(text, '\n', length - 1) : NULL;
    if (newline == NULL)
        return length;
    const size_t at = (size_t)(newline - text) + 1;
    memmove(text, text + at, length - at);
    return length - at;
}

void enl_output_show_tail(struct enl_cce *cce)
{
    char text[ENL_TAIL_BYTES];
    const size_t length = enl_output_tail(cce, text);
    size_t at = 0;
    if (length == 0)
        return;
    enl_report_shown(cce->program, "enl: the last it printed:\n");
    while (at < length) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line = newline != NULL ? (size_t)(newline - text) - at : length - at;
        char shown[4 * ENL_TAIL_BYTES + 1];
        bcri_escape(text + at, line, shown, sizeof shown, NULL);
        enl_report_shown(cce->program, "  [%u] %s\n", cce->ordinal, shown);
        at += line + 1;
    }
}

bool enl_output_ended(const struct enl_cce *cce)
{
    return cce->output.streams[0].watch == NULL && cce->output.streams[1].watch == NULL;
}

void enl_output_close(struct enl_cce *cce)
{
    end_stream(&cce->output.streams[0]);
    end_stream(&cce->output.streams[1]);
    free(cce->output.tail);
    cce->output.tail = NULL;
    cce->output.tail_total = 0;
}

void enl_output_resume(struct enl_program *program)
{
    for (struct enl_cce *cce = program->first; cce != NULL; cce = cce->next)
        for (int i = 0; i < 2; i++)
            if (cce->output.streams[i].watch != NULL)
                enl_watch_pause(cce->output.streams[i].watch, false);
}

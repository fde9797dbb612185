/* SPDX-License-Identifier: MIT */
/* writer.c -- a helper that writes. Only the loop keeps the counts. */
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"

/* Time for a thread that has nothing to write to see that it must end. */
#define STOP_MSEC 2000u

struct piece {
    struct enl_task task;
    struct piece *next; /* while it is held */
    bool line;
    int error; /* why it was not written; 0: written, or the reader has gone */
    size_t length;
    char bytes[];
};

struct enl_writer {
    struct enl_program *program;
    void (*changed)(struct enl_program *program);
    struct enl_helper *helper;
    int fd;
    bool hold;
    struct piece *held, **held_end; /* that wait while `hold` is true */
    size_t left, lines_left;        /* bytes that were added and are not written */
    unsigned long long dropped;     /* messages since the last one that was added */
};

/* enl shares the descriptor with its starter, and another process may have made it non-blocking. */
static bool wait_for_room(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    return poll(&look, 1, -1) >= 0 || errno == EINTR;
}

static void write_piece(void *owner, struct enl_task *task)
{
    const struct enl_writer *writer = owner;
    struct piece *piece = (struct piece *)task;
    for (size_t at = 0; at < piece->length;) {
        ssize_t written = write(writer->fd, piece->bytes + at, piece->length - at);
        if (written >= 0)
            at += (size_t)written;
        else if (errno != EINTR && (errno != EAGAIN || !wait_for_room(writer->fd))) {
            piece->error = errno != EPIPE ? errno : 0; /* the reader has gone; the log has it */
            return;
        }
    }
}

static void add(struct enl_writer *writer, bool line, const char *bytes, size_t length)
{
    struct piece *piece = malloc(sizeof *piece + length);
    if (piece == NULL) {
        writer->dropped++;
        return;
    }
    piece->line = line;
    piece->error = 0;
    piece->length = length;
    memcpy(piece->bytes, bytes, length);
    writer->left += length;
    writer->lines_left += line ? length : 0;
    if (!writer->hold) {
        enl_helper_add(writer->helper, &piece->task);
        return;
    }
    piece->next = NULL;
    *writer->held_end = piece;
    writer->held_end = &piece->next;
}

void enl_writer_hold(struct enl_writer *writer, bool hold)
{
    writer->hold = hold;
    while (!hold && writer->held != NULL) {
        struct piece *piece = writer->held;
        writer->held = piece->next;
        enl_helper_add(writer->helper, &piece->task);
    }
    writer->held_end = &writer->held;
}

static void tell_dropped(struct enl_writer *writer)
{
    char text[160];
    int length =
        snprintf(text, sizeof text,
                 "enl: %llu messages are not shown here, since nobody read them; they are in the log\n",
                 writer->dropped);
    writer->dropped = 0;
    add(writer, false, text, (size_t)length);
}

static void drop(void *owner, struct enl_task *task)
{
    struct enl_writer *writer = owner;
    struct piece *piece = (struct piece *)task;
    writer->left -= piece->length;
    writer->lines_left -= piece->line ? piece->length : 0;
    free(piece);
}

/* Reports this once for a program. */
static void tell_lost(struct enl_program *program, int error)
{
    if (program->lines_lost)
        return;
    program->lines_lost = true;
    enl_report(program, BCRI_LOG_ERROR, "what CCEs print can no longer be shown (%s); the log has it",
               strerror(error));
}

static void written(void *owner, struct enl_task *task)
{
    struct enl_writer *writer = owner;
    bool was_full = enl_writer_full(writer);
    const struct piece *piece = (const struct piece *)task;
    if (piece->line && piece->error != 0)
        tell_lost(writer->program, piece->error);
    drop(owner, task);
    /* Not as soon as there is any room: else a slow reader would get every other message, and a
     * count of one between them. */
    if (writer->dropped != 0 && writer->left < ENL_WRITER_FULL_BYTES / 2)
        tell_dropped(writer);
    if (writer->left == 0 || (was_full && !enl_writer_full(writer)))
        writer->changed(writer->program);
}

struct enl_writer *enl_writer_start(struct enl_program *program, int fd,
                                    void (*changed)(struct enl_program *program))
{
    static const struct enl_helper_ops ops = {write_piece, written, drop};
    struct enl_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->program = program;
    writer->fd = fd;
    writer->held_end = &writer->held;
    writer->changed = changed;
    writer->helper = enl_helper_start(&program->loop, &ops, writer);
    if (writer->helper != NULL)
        return writer;
    free(writer);
    return NULL;
}

void enl_writer_line(struct enl_writer *writer, const char *bytes, size_t length)
{
    add(writer, true, bytes, length);
}

void enl_writer_text(struct enl_writer *writer, const char *bytes, size_t length)
{
    if (writer->dropped != 0 || enl_writer_full(writer))
        writer->dropped++;
    else
        add(writer, false, bytes, length);
}

bool enl_writer_full(const struct enl_writer *writer)
{
    return writer->left >= ENL_WRITER_FULL_BYTES;
}

size_t enl_writer_left(const struct enl_writer *writer, size_t *lines_out)
{
    if (lines_out != NULL)
        *lines_out = writer->lines_left;
    return writer->left;
}

bool enl_writer_stop(struct enl_writer *writer)
{
    enl_writer_hold(writer, false);
    if (!enl_helper_stop(writer->helper, writer->left == 0 ? STOP_MSEC : 0))
        return false;
    free(writer);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* writer.c -- a helper that writes. Only the loop keeps the counts. */
#include "base/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/self.h"

/* Time for a thread that has nothing to write to see that it must end. */
#define STOP_MSEC 2000u

struct piece {
    struct enl_mail task;
    bool printed;     /* by a CCE */
    uint32_t ordinal; /* of that */
    int error;        /* why it was not written, but for the first `written` bytes */
    size_t length, written;
    char bytes[];
};

struct enl_writer {
    struct enl_self *self;
    struct enl_helper *helper;
    int fd;
    bool hold;
    struct enl_mails held;      /* that wait while `hold` is true */
    size_t left, printed_left;  /* bytes that were added and are not written */
    bool in_line;               /* what a CCE printed last has no newline at its end */
    unsigned long long dropped; /* messages since the last one that was added */
    uint64_t log_lost;          /* lines that the log had lost before them */
};

/* enl shares the descriptor with its starter, and another process may have made it non-blocking. */
static bool wait_for_room(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    return poll(&look, 1, -1) >= 0 || errno == EINTR;
}

static void write_piece(void *owner, struct enl_mail *task)
{
    const struct enl_writer *writer = owner;
    struct piece *piece = (struct piece *)task;
    while (piece->written < piece->length) {
        const ssize_t written =
            write(writer->fd, piece->bytes + piece->written, piece->length - piece->written);
        if (written >= 0)
            piece->written += (size_t)written;
        else if (errno != EINTR && (errno != EAGAIN || !wait_for_room(writer->fd))) {
            piece->error = errno;
            return;
        }
    }
}

/* Adds a piece; what is not `printed` by a CCE begins a line. False: no memory. */
static bool add_piece(struct enl_writer *writer, bool printed, uint32_t ordinal, const char *bytes,
                      size_t length)
{
    const size_t newline = !printed && writer->in_line ? 1 : 0;
    struct piece *piece = malloc(sizeof *piece + newline + length);
    if (piece == NULL)
        return false;
    *piece = (struct piece){.printed = printed, .ordinal = ordinal, .length = newline + length};
    if (newline != 0)
        piece->bytes[0] = '\n';
    memcpy(piece->bytes + newline, bytes, length);
    writer->in_line = printed && bytes[length - 1] != '\n';
    writer->left += piece->length;
    writer->printed_left += printed ? piece->length : 0;
    if (writer->hold)
        STAILQ_INSERT_TAIL(&writer->held, &piece->task, entry);
    else
        enl_helper_add(writer->helper, &piece->task);
    return true;
}

static void count_dropped(struct enl_writer *writer)
{
    if (writer->dropped++ == 0)
        writer->log_lost = writer->self->log.lost_total;
}

static void add_text(struct enl_writer *writer, const char *bytes, size_t length)
{
    if (length != 0 && !add_piece(writer, false, 0, bytes, length))
        count_dropped(writer);
}

bool enl_writer_printed(struct enl_writer *writer, uint32_t ordinal, const char *bytes, size_t length)
{
    return add_piece(writer, true, ordinal, bytes, length);
}

void enl_writer_hold(struct enl_writer *writer, bool hold)
{
    writer->hold = hold;
    while (!hold && !STAILQ_EMPTY(&writer->held)) {
        struct enl_mail *task = STAILQ_FIRST(&writer->held);
        STAILQ_REMOVE_HEAD(&writer->held, entry);
        enl_helper_add(writer->helper, task);
    }
}

static void tell_dropped(struct enl_writer *writer)
{
    char text[160];
    const bool logged = enl_report_log_has(writer->self, writer->log_lost);
    int length =
        snprintf(text, sizeof text, "enl: %llu messages are not shown here, since nobody read them%s\n",
                 writer->dropped, logged ? "; they are in the log" : "");
    writer->dropped = 0;
    add_text(writer, text, (size_t)length);
}

static void drop_piece(void *owner, struct enl_mail *task)
{
    struct enl_writer *writer = owner;
    struct piece *piece = (struct piece *)task;
    writer->left -= piece->length;
    writer->printed_left -= piece->printed ? piece->length : 0;
    free(piece);
}

static void written(void *owner, struct enl_mail *task)
{
    struct enl_writer *writer = owner;
    bool was_full = enl_writer_full(writer);
    const struct piece *piece = (const struct piece *)task;
    if (piece->printed && piece->error != 0)
        writer->self->report.hooks->unwritten(writer->self->program, piece->ordinal,
                                              piece->bytes + piece->written, piece->length - piece->written,
                                              piece->error);
    drop_piece(owner, task);
    /* Not as soon as there is any room: else a slow reader would get every other message, and a
     * count of one between them. */
    if (writer->dropped != 0 && writer->left < ENL_WRITER_FULL_BYTES / 2)
        tell_dropped(writer);
    if (writer->left == 0 || (was_full && !enl_writer_full(writer)))
        writer->self->report.hooks->changed(writer->self->program);
}

struct enl_writer *enl_writer_start(struct enl_self *self, int fd)
{
    static const struct enl_helper_ops ops = {write_piece, written, drop_piece};
    struct enl_writer *writer = malloc(sizeof *writer);
    if (writer == NULL)
        return NULL;
    *writer = (struct enl_writer){.self = self, .fd = fd, .held = STAILQ_HEAD_INITIALIZER(writer->held)};
    writer->helper = enl_helper_start(&self->loop, &ops, writer);
    if (writer->helper != NULL)
        return writer;
    free(writer);
    return NULL;
}

void enl_writer_text(struct enl_writer *writer, const char *bytes, size_t length)
{
    if (writer->dropped != 0 || enl_writer_full(writer))
        count_dropped(writer);
    else
        add_text(writer, bytes, length);
}

bool enl_writer_full(const struct enl_writer *writer)
{
    return writer->left >= ENL_WRITER_FULL_BYTES;
}

size_t enl_writer_left(const struct enl_writer *writer, size_t *printed_io)
{
    *printed_io += writer->printed_left;
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

/* SPDX-License-Identifier: MIT */
/* writer.c -- a thread that writes, with two mailboxes: pieces to write, and written ones of which the loop does not know
 * yet. Only the loop keeps the counts. */
#include "base/writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mailbox.h"
#include "base/self.h"
#include "bcri/clock.h"
#include "bcri/failure.h"

/* Time for a thread that has nothing to write to see that it must end. */
enum { STOP_MSEC = 2000 };

struct piece {
    struct enl_mail mail;
    bool printed;     /* by a CCE */
    uint32_t ordinal; /* of that */
    int error;        /* why it was not written, but for the first `written` bytes */
    size_t length, written;
    char bytes[];
};

struct enl_writer {
    struct enl_self *self;
    int fd;
    uv_async_t bell; /* thread -> loop: something is written */
    uv_sem_t wake;   /* loop -> thread: a piece each, or the stop */
    struct enl_mailbox todo, done;
    atomic_bool stop;
    pthread_t thread;
    bool hold;
    size_t held;                /* the last pieces of `todo`, which wait while `hold` is true */
    size_t left, printed_left;  /* bytes that were added and are not written */
    size_t marked;              /* of `left`, those that were there at the last enl_writer_mark */
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

static void write_piece(int fd, struct piece *piece)
{
    while (piece->written < piece->length) {
        const ssize_t written = write(fd, piece->bytes + piece->written, piece->length - piece->written);
        if (written >= 0)
            piece->written += (size_t)written;
        else if (errno != EINTR && (errno != EAGAIN || !wait_for_room(fd))) {
            piece->error = errno;
            return;
        }
    }
}

static void *write_pieces(void *data)
{
    struct enl_writer *writer = data;
    for (uv_sem_wait(&writer->wake); !atomic_load(&writer->stop); uv_sem_wait(&writer->wake)) {
        struct piece *piece = (struct piece *)enl_mailbox_take(&writer->todo);
        write_piece(writer->fd, piece);
        enl_mailbox_add(&writer->done, &piece->mail);
        uv_async_send(&writer->bell);
    }
    return NULL;
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
    enl_mailbox_add(&writer->todo, &piece->mail);
    if (writer->hold)
        writer->held++;
    else
        uv_sem_post(&writer->wake);
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
    for (; !hold && writer->held != 0; writer->held--)
        uv_sem_post(&writer->wake);
}

static void tell_dropped(struct enl_writer *writer)
{
    char text[160];
    const bool logged = enl_report_log_has(writer->self, writer->log_lost);
    int length = snprintf(text, sizeof text,
                          "enl: %llu messages are not shown here, since they were not read in time%s\n",
                          writer->dropped, logged ? "; they are in the log" : "");
    writer->dropped = 0;
    add_text(writer, text, (size_t)length);
}

/* What is called at last may stop the writer. */
static void settle_piece(struct enl_writer *writer, struct piece *piece)
{
    const bool was_full = enl_writer_full(writer);
    if (piece->printed && piece->error != 0)
        writer->self->report.hooks->unwritten(writer->self->program, piece->ordinal,
                                              piece->bytes + piece->written, piece->length - piece->written,
                                              piece->error);
    const bool passes_mark = writer->marked != 0 && writer->marked <= piece->length;
    writer->marked -= passes_mark || writer->marked == 0 ? writer->marked : piece->length;
    writer->left -= piece->length;
    writer->printed_left -= piece->printed ? piece->length : 0;
    free(piece);
    /* Not as soon as there is any room: else a slow reader would get every other message, and a
     * count of one between them. */
    if (writer->dropped != 0 && writer->left < ENL_WRITER_FULL_BYTES / 2)
        tell_dropped(writer);
    if (writer->left == 0 || passes_mark || (was_full && !enl_writer_full(writer)))
        writer->self->report.hooks->changed(writer->self->program);
}

/* A writer that was stopped has its memory until the loop's next turn. */
static void on_bell(uv_async_t *bell)
{
    struct enl_writer *writer = bell->data;
    for (struct enl_mail *mail;
         !uv_is_closing((uv_handle_t *)bell) && (mail = enl_mailbox_take(&writer->done)) != NULL;)
        settle_piece(writer, (struct piece *)mail);
}

struct enl_writer *enl_writer_start(struct enl_self *self, int fd)
{
    struct enl_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->self = self;
    writer->fd = fd;
    writer->bell.data = writer;
    enl_mailbox_init(&writer->todo);
    enl_mailbox_init(&writer->done);
    if (uv_async_init(&self->loop, &writer->bell, on_bell) != 0) {
        free(writer);
        return NULL;
    }
    uv_sem_init(&writer->wake, 0);
    errno = pthread_create(&writer->thread, NULL, write_pieces, writer);
    if (errno == 0)
        return writer;
    bcri_failure_note("pthread_create");
    uv_close((uv_handle_t *)&writer->bell, NULL); /* the program ends without a turn of the loop */
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

void enl_writer_mark(struct enl_writer *writer)
{
    writer->marked = writer->left;
}

bool enl_writer_has_written(const struct enl_writer *writer)
{
    return writer->marked == 0;
}

size_t enl_writer_left(const struct enl_writer *writer, size_t *printed_io)
{
    *printed_io += writer->printed_left;
    return writer->left;
}

static void on_bell_closed(uv_handle_t *handle)
{
    struct enl_writer *writer = handle->data;
    uv_sem_destroy(&writer->wake);
    free(writer);
}

bool enl_writer_stop(struct enl_writer *writer)
{
    struct timespec deadline;
    enl_writer_hold(writer, false);
    atomic_store(&writer->stop, true);
    uv_sem_post(&writer->wake);
    bcri_deadline_timespec(bcri_deadline_after(writer->left == 0 ? STOP_MSEC : 0), &deadline);
    if (pthread_clockjoin_np(writer->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
        uv_unref((uv_handle_t *)&writer->bell);
        return false;
    }
    for (struct enl_mail *mail; (mail = enl_mailbox_take(&writer->done)) != NULL ||
                                (mail = enl_mailbox_take(&writer->todo)) != NULL;)
        free(mail);
    uv_close((uv_handle_t *)&writer->bell, on_bell_closed);
    return true;
}

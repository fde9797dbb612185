/* SPDX-License-Identifier: MIT */
/* sink.c -- a thread that writes what it is given. One buffer is filled while the other is written. */
#include "sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stretch of the buffer that goes to one descriptor: {fd, length} and the bytes. */
struct piece {
    int fd;
    size_t length;
};

struct buffer {
    char *bytes;
    size_t length, capacity;
};

struct enl_sink {
    struct enl_program *program;
    void (*room)(struct enl_program *program);
    uv_async_t bell;
    pthread_t thread;
    pthread_mutex_t mutex; /* all below */
    pthread_cond_t wake;
    struct buffer filling, writing; /* `writing` is the thread's alone */
    bool stop, was_full;
};

static void write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return; /* nobody reads it any more; the log has it */
        bytes += written;
        length -= (size_t)written;
    }
}

static void write_out(const struct buffer *buffer)
{
    for (size_t at = 0; at < buffer->length;) {
        struct piece piece;
        memcpy(&piece, buffer->bytes + at, sizeof piece);
        at += sizeof piece;
        write_all(piece.fd, buffer->bytes + at, piece.length);
        at += piece.length;
    }
}

static void *write_on(void *data)
{
    struct enl_sink *sink = data;
    pthread_mutex_lock(&sink->mutex);
    for (;;) {
        while (sink->filling.length == 0 && !sink->stop)
            pthread_cond_wait(&sink->wake, &sink->mutex);
        if (sink->filling.length == 0)
            break;
        struct buffer full = sink->filling;
        sink->filling = sink->writing;
        sink->filling.length = 0;
        sink->writing = full;
        bool was_full = sink->was_full;
        sink->was_full = false;
        pthread_mutex_unlock(&sink->mutex);
        write_out(&sink->writing);
        if (was_full)
            uv_async_send(&sink->bell);
        pthread_mutex_lock(&sink->mutex);
    }
    pthread_mutex_unlock(&sink->mutex);
    return NULL;
}

static void on_bell(uv_async_t *bell)
{
    struct enl_sink *sink = bell->data;
    sink->room(sink->program);
}

struct enl_sink *enl_sink_start(struct enl_program *program, void (*room)(struct enl_program *program))
{
    struct enl_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return NULL;
    sink->program = program;
    sink->room = room;
    sink->bell.data = sink;
    pthread_mutex_init(&sink->mutex, NULL);
    pthread_cond_init(&sink->wake, NULL);
    if (uv_async_init(&program->loop, &sink->bell, on_bell) != 0) {
        free(sink);
        return NULL;
    }
    if (pthread_create(&sink->thread, NULL, write_on, sink) != 0) {
        uv_close((uv_handle_t *)&sink->bell, NULL);
        return NULL;
    }
    return sink;
}

static bool make_room(struct buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->length >= more)
        return true;
    size_t capacity = buffer->capacity != 0 ? buffer->capacity : 4096;
    while (capacity - buffer->length < more)
        capacity *= 2;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void enl_sink_write(struct enl_sink *sink, int fd, const char *bytes, size_t length)
{
    struct piece piece = {fd, length};
    pthread_mutex_lock(&sink->mutex);
    if (make_room(&sink->filling, sizeof piece + length)) {
        memcpy(sink->filling.bytes + sink->filling.length, &piece, sizeof piece);
        memcpy(sink->filling.bytes + sink->filling.length + sizeof piece, bytes, length);
        sink->filling.length += sizeof piece + length;
        sink->was_full = sink->was_full || sink->filling.length >= ENL_SINK_FULL_BYTES;
        pthread_cond_signal(&sink->wake);
    }
    pthread_mutex_unlock(&sink->mutex);
}

bool enl_sink_full(struct enl_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    bool full = sink->filling.length >= ENL_SINK_FULL_BYTES;
    pthread_mutex_unlock(&sink->mutex);
    return full;
}

static void on_bell_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_sink_stop(struct enl_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
    sink->stop = true;
    pthread_cond_signal(&sink->wake);
    pthread_mutex_unlock(&sink->mutex);
    pthread_join(sink->thread, NULL);
    free(sink->filling.bytes);
    free(sink->writing.bytes);
    pthread_mutex_destroy(&sink->mutex);
    pthread_cond_destroy(&sink->wake);
    uv_close((uv_handle_t *)&sink->bell, on_bell_closed);
}

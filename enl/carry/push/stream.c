/* SPDX-License-Identifier: MIT */
/* See carry.h: how what is pushed goes into a pipe. */
#include "carry/carry.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/frames.h"

enum { CHUNK_BYTES = 65536 };

struct stream {
    const struct enl_push *push;
    struct enl_peer *peer;
    void (*went_on)(void *owner);
    void *owner;
    size_t file; /* 0: the script; 1 ...: files; behind them: the end */
    uint64_t offset;
};

static void send_next(struct stream *stream);

static void on_part_written(void *data, bool goes_on)
{
    struct stream *stream = data;
    if (!goes_on) {
        free(stream);
        return;
    }
    stream->went_on(stream->owner);
    send_next(stream);
}

static uint64_t bytes_left(const struct stream *stream)
{
    const struct enl_push *push = stream->push;
    return (stream->file != 0 ? push->files[stream->file - 1].bytes : push->script_bytes) - stream->offset;
}

/* Reads the next part. Returns its length; 0: the end; -1: it cannot be read. */
static ssize_t read_part(struct stream *stream, char *bytes)
{
    const struct enl_push *push = stream->push;
    if (stream->file > push->count)
        return 0;
    const struct enl_push_file *file = stream->file != 0 ? &push->files[stream->file - 1] : NULL;
    const uint64_t left = bytes_left(stream);
    const size_t part = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    if (file == NULL)
        memcpy(bytes, push->script + stream->offset, part);
    else if (pread(file->fd, bytes, part, (off_t)stream->offset) != (ssize_t)part)
        return -1;
    if (file != NULL && stream->offset == 0 && file->head_bytes <= part)
        memcpy(bytes, file->head, (size_t)file->head_bytes);
    stream->offset += part;
    for (; stream->file <= push->count && bytes_left(stream) == 0; stream->offset = 0)
        stream->file++;
    return (ssize_t)part;
}

/* A file that has become shorter: what is missing is not made up, and the command there is given up in time.
 *
 * The magic word goes in one piece with the last byte. With that alone the daemon there could begin, and what it is sent then would
 * come before the word if this loop learns of the one sooner than that the other is written. */
static void send_next(struct stream *stream)
{
    char bytes[CHUNK_BYTES + BCRI_FRAMES_MAGIC_BYTES];
    ssize_t length = read_part(stream, bytes);
    if (length > 0 && stream->file > stream->push->count) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it is no string */
        memcpy(bytes + length, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
        length += (ssize_t)BCRI_FRAMES_MAGIC_BYTES;
    }
    if (length > 0)
        enl_peer_send_raw(stream->peer, bytes, (size_t)length, on_part_written, stream);
    else
        free(stream);
}

bool enl_push_send(const struct enl_push *push, struct enl_peer *peer, void (*went_on)(void *owner),
                   void *owner)
{
    struct stream *stream = malloc(sizeof *stream);
    if (stream == NULL)
        return false;
    *stream = (struct stream){.push = push, .peer = peer, .went_on = went_on, .owner = owner};
    send_next(stream);
    return true;
}

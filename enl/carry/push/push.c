/* SPDX-License-Identifier: MIT */
/* See carry.h: what is sent, and how it goes into a pipe. */
#include "carry/carry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/last_part.h"
#include "base/names.h"
#include "bcri/frames.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"

enum { CHUNK_BYTES = 65536 };

/* ---- what is sent ---- */

int enl_push_begin(struct enl_carry *carry, char *error, size_t error_size)
{
    char own[PATH_MAX];
    struct enl_push *push = carry->push = calloc(1, sizeof *push);
    if (push == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    push->spare_kept = -1;
    if (!enl_remote_own_path(own, sizeof own))
        return bcri_refuse(error, error_size, -1, "--push: /proc does not say where this enl is");
    return enl_push_add(push, "enl", "/proc/self/exe", error, error_size) == 0
               ? enl_push_add_libraries(push, own, error, error_size)
               : -1;
}

static bool is_file(int fd, const char *path)
{
    struct stat one, other;
    return fstat(fd, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int enl_push_program(struct enl_carry *carry, const char *path, char *error, size_t error_size)
{
    struct enl_push *push = carry->push;
    char name[NAME_MAX + 8];
    snprintf(name, sizeof name, "bin/%.*s", NAME_MAX, enl_last_part(path));
    for (size_t i = 0; i < push->count; i++)
        if (strcmp(push->files[i].name, name) == 0 && !is_file(push->files[i].fd, path))
            return bcri_refuse(error, error_size, -1,
                               "--push cannot send %s: another program of the team has that name, too", path);
    return enl_push_add(push, name, path, error, error_size) == 0
               ? enl_push_add_libraries(push, path, error, error_size)
               : -1;
}

void enl_push_end(struct enl_carry *carry)
{
    struct enl_push *push = carry->push;
    carry->push = NULL;
    for (size_t i = 0; push != NULL && i < push->count; i++) {
        close(push->files[i].fd);
        free(push->files[i].name);
    }
    if (push != NULL) {
        enl_push_end_spare(push);
        free(push->files);
        free(push->script);
    }
    free(push);
}

bool enl_push_takes(const struct enl_host *host)
{
    return !host->local && host->enl == NULL && (host->abi == NULL || strcmp(host->abi, enl_abi()) == 0);
}

bool enl_push_is_for(const struct enl_carry *carry, const struct enl_host *host)
{
    return carry->push != NULL && enl_push_takes(host);
}

/* ---- how it goes into a pipe ---- */

struct stream {
    const struct enl_push *push;
    struct enl_peer *peer;
    void (*went_on)(void *owner);
    void *owner;
    size_t file; /* 0: the script; 1 ...: files; behind them: the magic word, and then the end */
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

/* Reads the next part. Returns its length; 0: the end; -1: it cannot be read. */
static ssize_t read_part(struct stream *stream, char *bytes)
{
    static const char word[] = BCRI_FRAMES_MAGIC;
    const struct enl_push *push = stream->push;
    for (; stream->file <= push->count; stream->file++, stream->offset = 0) {
        const struct enl_push_file *file = stream->file != 0 ? &push->files[stream->file - 1] : NULL;
        const uint64_t left = (file != NULL ? file->bytes : push->script_bytes) - stream->offset;
        const size_t part = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        if (part == 0)
            continue;
        if (file == NULL)
            memcpy(bytes, push->script + stream->offset, part);
        else if (pread(file->fd, bytes, part, (off_t)stream->offset) != (ssize_t)part)
            return -1;
        if (file != NULL && stream->offset == 0 && file->head_bytes <= part)
            memcpy(bytes, file->head, (size_t)file->head_bytes);
        stream->offset += part;
        return (ssize_t)part;
    }
    if (stream->file++ != push->count + 1)
        return 0;
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it is no string */
    memcpy(bytes, word, BCRI_FRAMES_MAGIC_BYTES);
    return (ssize_t)BCRI_FRAMES_MAGIC_BYTES;
}

/* A file that has become shorter: what is missing is not made up, and the command there is given up in
 * time. */
static void send_next(struct stream *stream)
{
    char bytes[CHUNK_BYTES];
    const ssize_t length = read_part(stream, bytes);
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

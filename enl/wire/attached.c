/* SPDX-License-Identifier: MIT */
/* See attached.h.
 *
 * Trust. The files are a CCE's, which may write to them at any time: strings are copied once, and the copy is checked.
 * Only a memory file whose size is sealed is read or written at all: with any other the daemon might have to wait. */
#include "wire/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/wire.h"

#define KEPT_MAX (64u << 20)
enum { PIECE_BYTES = 2048, IDENTITIES = PIECE_BYTES / BCRI_IDENTITY_BYTES };

static size_t kept; /* bytes of all blocks */

/* ------------------------------------------------------------------------------ start strings --- */

struct enl_strings *enl_strings_new(uint64_t length)
{
    if (length <= BCRI_STRINGS_HEAD_BYTES || length > BCRI_STRINGS_MAX || length > KEPT_MAX - kept)
        return NULL;
    const size_t bytes = (size_t)length;
    struct enl_strings *strings = malloc(sizeof *strings + bytes);
    if (strings == NULL)
        return NULL;
    *strings = (struct enl_strings){.uses = 1, .length = (uint32_t)length};
    kept += bytes;
    return strings;
}

bool enl_strings_add(struct enl_strings *strings, struct bcri_view bytes)
{
    if (bytes.length > strings->length - strings->came)
        return false;
    if (bytes.length != 0)
        memcpy(strings->bytes + strings->came, bytes.bytes, bytes.length);
    strings->came += bytes.length;
    return true;
}

const char *enl_strings_check(struct enl_strings *strings)
{
    const uint64_t arguments = bcri_strings_read_u32(strings->bytes),
                   variables = bcri_strings_read_u32(strings->bytes + 4);
    const uint8_t *at = strings->bytes + BCRI_STRINGS_HEAD_BYTES, *end = strings->bytes + strings->length;
    uint64_t count = 0;
    if (end[-1] != 0)
        return "the last start string has no end";
    for (; at < end; at++)
        count += *at == 0;
    if (count != 1 + arguments + variables)
        return "start strings are not as many as it says";
    if (strings->length + (arguments + variables) * BCRI_STRINGS_POINTER_BYTES > BCRI_STRINGS_MAX)
        return "more start strings than there may be";
    strings->arguments = (uint32_t)arguments;
    strings->variables = (uint32_t)variables;
    return NULL;
}

const char *enl_strings_list(const struct enl_strings *strings, char **list)
{
    const char *directory = (const char *)strings->bytes + BCRI_STRINGS_HEAD_BYTES;
    const char *at = directory + strlen(directory) + 1;
    for (uint32_t i = 0; i < strings->arguments + strings->variables; i++, at += strlen(at) + 1)
        list[i] = (char *)(uintptr_t)at;
    return directory;
}

struct enl_strings *enl_strings_share(struct enl_strings *strings)
{
    if (strings != NULL)
        strings->uses++;
    return strings;
}

void enl_strings_drop(struct enl_strings *strings)
{
    if (strings == NULL || --strings->uses != 0)
        return;
    kept -= strings->length;
    free(strings);
}

bool enl_strings_send(const struct enl_strings *strings, struct enl_conn *conn, uint32_t id, uint64_t from)
{
    if (strings == NULL || from >= strings->length)
        return false;
    const uint64_t left = strings->length - from;
    const uint64_t end = from + (left < ENL_STRINGS_WINDOW ? left : ENL_STRINGS_WINDOW);
    for (uint64_t at = from; at < end; at += PIECE_BYTES) {
        const uint64_t part = end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        const struct bcri_control message = {.type = BCRI_MSG_strings,
                                             .present = BCRI_HAS(id) | BCRI_HAS(bytes),
                                             .id = id,
                                             .bytes = {(const char *)strings->bytes + at, (uint32_t)part}};
        enl_conn_send(conn, &message, NULL, 0);
    }
    return true;
}

/* --------------------------------------------------------------------------- of an enlist --- */

/* A memory file that keeps its size, of at least so many bytes. */
static bool is_memory(int fd, uint64_t length)
{
    struct stat status;
    const int seals = fcntl(fd, F_GET_SEALS), wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & wanted) == wanted && fstat(fd, &status) == 0 &&
           (uint64_t)status.st_size >= length;
}

static bool read_whole(int fd, struct enl_strings *strings)
{
    while (strings->came < strings->length) {
        const ssize_t got =
            pread(fd, strings->bytes + strings->came, strings->length - strings->came, strings->came);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        strings->came += got > 0 ? (uint32_t)got : 0;
    }
    return true;
}

static const char *take_strings(struct enl_attached *attached, const struct bcri_control *message, int fd,
                                bool *refused_out)
{
    const bool has_file = (message->present & BCRI_HAS(size)) != 0;
    const uint64_t length = has_file ? message->size : message->bytes.length;
    if (length <= BCRI_STRINGS_HEAD_BYTES || length > BCRI_STRINGS_MAX ||
        (has_file && !is_memory(fd, length)))
        return "start strings of no length, or in no memory file";
    attached->strings = enl_strings_new(length);
    *refused_out = attached->strings == NULL;
    if (attached->strings == NULL)
        return NULL;
    if (!(has_file ? read_whole(fd, attached->strings) : enl_strings_add(attached->strings, message->bytes)))
        return "start strings that cannot be read";
    return enl_strings_check(attached->strings);
}

const char *enl_attached_take(struct enl_attached *attached, struct bcri_incoming *in, bool of_cce,
                              bool *refused_out)
{
    const struct bcri_control *message = &in->message;
    const bool has_file = (message->present & BCRI_HAS(size)) != 0,
               has_bytes = (message->present & BCRI_HAS(bytes)) != 0,
               has_ids = of_cce && (message->flags & BCRI_ENLIST_IDS) != 0;
    const unsigned ids = has_file ? 1 : 0, files = ids + (has_ids ? 1 : 0);
    *attached = ENL_ATTACHED_NONE;
    *refused_out = false;
    if (has_file && has_bytes)
        return "start strings in two places";
    for (unsigned i = 0; i < 2; i++)
        if ((in->fds[i] >= 0) != (i < files))
            return "other files than the request says";
    if (has_ids && !is_memory(in->fds[ids], (uint64_t)message->count * BCRI_IDENTITY_BYTES))
        return "no memory file for identities";
    const char *wrong =
        has_file || has_bytes ? take_strings(attached, message, in->fds[0], refused_out) : NULL;
    if (wrong != NULL)
        enl_attached_close(attached);
    else if (has_ids)
        attached->ids = bcri_incoming_take(in, ids);
    return wrong;
}

struct enl_attached enl_attached_move(struct enl_attached *attached)
{
    const struct enl_attached moved = *attached;
    *attached = ENL_ATTACHED_NONE;
    return moved;
}

void enl_attached_close(struct enl_attached *attached)
{
    enl_strings_drop(attached->strings);
    if (attached->ids >= 0)
        close(attached->ids);
    *attached = ENL_ATTACHED_NONE;
}

/* That the file cannot be written to is its owner's loss: it finds zeros there, which are no CCE's identity. */
static void write_ids(const struct enl_attached *attached, const uint8_t *identities, uint32_t count)
{
    ssize_t wrote;
    do
        wrote = pwrite(attached->ids, identities, count * BCRI_IDENTITY_BYTES,
                       (off_t)attached->told * BCRI_IDENTITY_BYTES);
    while (wrote < 0 && errno == EINTR);
}

void enl_attached_started(struct enl_attached *attached, struct enl_conn *conn, uint32_t id, uint32_t ordinal,
                          const uint8_t *identities, uint32_t count)
{
    if (attached->ids >= 0)
        write_ids(attached, identities, count);
    attached->told += count;
    for (uint32_t at = 0, part; conn != NULL && conn->peer != NULL && at < count; at += part) {
        part = count - at < IDENTITIES ? count - at : IDENTITIES;
        const struct bcri_control message = {
            .type = BCRI_MSG_started,
            .present = BCRI_HAS(id) | BCRI_HAS(bytes) | BCRI_HAS(ordinal),
            .id = id,
            .ordinal = ordinal + at,
            .bytes = {(const char *)identities + at * BCRI_IDENTITY_BYTES, part * BCRI_IDENTITY_BYTES}};
        enl_conn_send(conn, &message, NULL, 0);
    }
}

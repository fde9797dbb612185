/* SPDX-License-Identifier: MIT */
/* The files that are pushed: opened when the list is made, so that all hosts get the same. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/refuse.h"
#include "push.h"

/* dd there holds a file in memory as a whole. */
#define FILE_MOST ((off_t)1 << 30)

int enl_push_add(struct enl_push *push, const char *name, const char *path, char *error, size_t error_size)
{
    struct stat status;
    for (size_t i = 0; i < push->count; i++)
        if (strcmp(push->files[i].name, name) == 0)
            return 0;
    if (push->count == push->room) {
        const size_t room = push->room != 0 ? 2 * push->room : 16;
        struct enl_push_file *files = realloc(push->files, room * sizeof *files);
        if (files == NULL)
            return bcri_refuse(error, error_size, -1, "no memory");
        push->files = files;
        push->room = room;
    }
    struct enl_push_file file = {.name = strdup(name), .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file.name != NULL && file.fd >= 0 && fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0 && status.st_size <= FILE_MOST && strchr(name, '\n') == NULL) {
        file.bytes = (uint64_t)status.st_size;
        push->bytes += file.bytes;
        push->files[push->count++] = file;
        return 0;
    }
    const char *why = file.fd < 0 ? strerror(errno) : "it is no file of a size that can be sent";
    if (file.fd >= 0)
        close(file.fd);
    free(file.name);
    return bcri_refuse(error, error_size, -1, "--push cannot send %s: %s", path, why);
}

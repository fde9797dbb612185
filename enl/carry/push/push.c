/* SPDX-License-Identifier: MIT */
/* See carry.h: what is sent. */
#include "carry/carry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/last_part.h"
#include "base/names.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"

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

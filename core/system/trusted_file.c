/* SPDX-License-Identifier: MIT */
/* See trusted_file.h. */
#include "bcri/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/refuse.h"

static int check_file(int fd, const char *path, bool personal, char *error, size_t error_size)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return bcri_refuse(error, error_size, -errno, "%s: cannot be looked at: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return bcri_refuse(error, error_size, -EINVAL,
                           "%s: is not a plain file; remove it or put a file there", path);
    if (personal && st.st_uid != geteuid() && st.st_uid != 0)
        return bcri_refuse(
            error, error_size, -EPERM,
            "%s: belongs to user %lu and not to you, so it is not trusted to name programs; remove it, "
            "make it yours, or set HOME to your own home directory",
            path, (unsigned long)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return bcri_refuse(
            error, error_size, -EPERM,
            "%s: may be written by others than its owner, so it is not trusted to name programs; run "
            "chmod go-w %s",
            path, path);
    if (st.st_size > BCRI_TRUSTED_FILE_MAX)
        return bcri_refuse(error, error_size, -EFBIG, "%s: is larger than %d bytes; is this the right file?",
                           path, BCRI_TRUSTED_FILE_MAX);
    return 0;
}

/* Reads all of `fd`, which may grow or shrink meanwhile. */
static int slurp(int fd, const char *path, char **bytes_out, size_t *length_out, char *error,
                 size_t error_size)
{
    size_t length = 0;
    char *bytes = malloc(BCRI_TRUSTED_FILE_MAX + 1);

    if (!bytes)
        return bcri_refuse(error, error_size, -ENOMEM, "%s: not enough memory to read it", path);
    while (length <= BCRI_TRUSTED_FILE_MAX) {
        ssize_t got = read(fd, bytes + length, BCRI_TRUSTED_FILE_MAX + 1 - length);

        if (got == 0) {
            *bytes_out = bytes;
            *length_out = length;
            return 0;
        }
        if (got > 0) {
            length += (size_t)got;
        } else if (errno != EINTR) {
            int status =
                bcri_refuse(error, error_size, -errno, "%s: cannot be read: %s", path, strerror(errno));

            free(bytes);
            return status;
        }
    }
    free(bytes);
    return bcri_refuse(error, error_size, -EFBIG, "%s: is larger than %d bytes; is this the right file?",
                       path, BCRI_TRUSTED_FILE_MAX);
}

int bcri_trusted_read(const char *path, bool personal, char **bytes_out, size_t *length_out, char *error,
                      size_t error_size)
{
    /* Opened without blocking: a FIFO of that name must not hold the program up. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return bcri_refuse(error, error_size, -ENOENT, "%s: there is no such file", path);
        return bcri_refuse(error, error_size, -errno,
                           "%s: cannot be opened: %s; make it readable or remove it%s", path, strerror(errno),
                           personal ? ", or set HOME to your own home directory" : "");
    }

    int status = check_file(fd, path, personal, error, error_size);

    if (status == 0)
        status = slurp(fd, path, bytes_out, length_out, error, error_size);
    close(fd);
    return status;
}

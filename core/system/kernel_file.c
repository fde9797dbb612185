/* SPDX-License-Identifier: MIT */
/* See kernel_file.h. */
#include "kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

bool bcri_kernel_file(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, text, size - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Numbers of descriptors (bcri/descriptor.h). */
#include "bcri/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int bcri_descriptor_aside(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int aside = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(fd);
    errno = error;
    return aside;
}

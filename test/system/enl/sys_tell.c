/* SPDX-License-Identifier: MIT */
#include "sys_tell.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void tell(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const int fd = open(getenv("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        _exit(99);
    close(fd);
}

void wait_at(const char *fifo)
{
    char byte;
    const int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    if (read(fd, &byte, 1) != 1)
        _exit(98);
    close(fd);
}

void wait_to_go(void)
{
    wait_at(getenv("SYS_GO"));
}

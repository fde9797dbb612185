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

bool bcri_kernel_lines_open(struct bcri_kernel_lines *lines, const char *path)
{
    lines->fd = open(path, O_RDONLY | O_CLOEXEC);
    lines->at = lines->end = 0;
    return lines->fd >= 0;
}

/* The next character; -1: there is none. */
static int next(struct bcri_kernel_lines *lines)
{
    if (lines->at == lines->end) {
        const ssize_t length = read(lines->fd, lines->text, sizeof lines->text);
        if (length <= 0)
            return -1;
        lines->at = 0;
        lines->end = (size_t)length;
    }
    return (unsigned char)lines->text[lines->at++];
}

bool bcri_kernel_line(struct bcri_kernel_lines *lines, char *line, size_t size)
{
    size_t length = 0;
    int character = next(lines);
    if (character < 0)
        return false;
    for (; character >= 0 && character != '\n'; character = next(lines))
        if (length + 1 < size)
            line[length++] = (char)character;
    line[length] = '\0';
    return true;
}

void bcri_kernel_lines_close(const struct bcri_kernel_lines *lines)
{
    close(lines->fd);
}

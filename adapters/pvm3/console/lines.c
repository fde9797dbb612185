/* SPDX-License-Identifier: MIT */
/* lines.c -- lines from a terminal, a pipe or a file. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvm3.h>

#include "console.h"

/* Waits until there is something to read. What comes for this task is taken in: lines of tasks are printed. */
static void wait_to_read(int fd)
{
    int *descriptors;
    struct pollfd ready[2] = {{.fd = fd, .events = POLLIN}, {.events = POLLIN}};
    const bool is_task = pvm_getfds(&descriptors) == 1;
    ready[1].fd = is_task ? descriptors[0] : -1;
    do
        if (is_task)
            (void)pvm_probe(-1, -1);
    while ((poll(ready, 2, -1) < 0 && errno == EINTR) || ready[0].revents == 0);
}

/* Reads more; false: there is no more, or no memory. */
static bool read_more(struct lines *lines)
{
    if (lines->room - lines->length < 512) {
        const size_t room = 2 * lines->room + 4096;
        char *grown = realloc(lines->text, room);
        if (grown == NULL)
            return complain("no memory");
        lines->text = grown;
        lines->room = room;
    }
    wait_to_read(lines->fd);
    const ssize_t got = read(lines->fd, lines->text + lines->length, lines->room - lines->length - 1);
    if (got > 0)
        lines->length += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

char *lines_next(struct lines *lines)
{
    if (lines->used > 0) {
        lines->length -= lines->used;
        memmove(lines->text, lines->text + lines->used, lines->length);
        lines->used = 0;
    }
    char *end = NULL;
    while ((end = lines->length == 0 ? NULL : memchr(lines->text, '\n', lines->length)) == NULL &&
           !lines->is_over)
        lines->is_over = !read_more(lines);
    if (end == NULL && lines->length == 0)
        return NULL;
    const size_t length = end == NULL ? lines->length : (size_t)(end - lines->text);
    lines->used = length + (end != NULL);
    lines->text[length] = '\0';
    return lines->text;
}

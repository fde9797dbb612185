/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "base/watch.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/self.h"

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct enl_watch *watch = poll->data;
    (void)events;
    /* libuv polls no more after an error, such as that of a socket whose other end was closed with something
     * unread. `ready` finds it when it reads, perhaps behind what was sent before. */
    if (status != 0)
        uv_poll_start(poll, UV_READABLE, on_poll);
    watch->ready(watch->data);
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

struct enl_watch *enl_watch_start(struct enl_self *self, int fd, void (*ready)(void *data), void *data)
{
    struct enl_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL || uv_poll_init(&self->loop, &watch->poll, fd) != 0) {
        free(watch);
        close(fd);
        return NULL;
    }
    watch->poll.data = watch;
    watch->fd = fd;
    watch->ready = ready;
    watch->data = data;
    if (uv_poll_start(&watch->poll, UV_READABLE, on_poll) != 0) {
        enl_watch_stop(watch);
        return NULL;
    }
    return watch;
}

void enl_watch_pause(struct enl_watch *watch, bool pause)
{
    if (pause)
        uv_poll_stop(&watch->poll);
    else
        uv_poll_start(&watch->poll, UV_READABLE, on_poll);
}

void enl_watch_stop(struct enl_watch *watch)
{
    if (watch == NULL)
        return;
    uv_poll_stop(&watch->poll);
    close(watch->fd);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

/* SPDX-License-Identifier: MIT */
/* A descriptor that the loop polls: uv_poll_t with its descriptor and its memory. */
#ifndef ENL_WATCH_H
#define ENL_WATCH_H

#include <stdbool.h>

#include <uv.h>

struct enl_self;

struct enl_watch {
    uv_poll_t poll;
    int fd;
    void (*ready)(void *data);
    void *data;
};

/* Polls `fd` (taken) for input. NULL: no memory; fd is then closed, too. */
struct enl_watch *enl_watch_start(struct enl_self *self, int fd, void (*ready)(void *data), void *data);
/* Stops polling and closes the descriptor; NULL is allowed. `ready` is not called any more. */
void enl_watch_stop(struct enl_watch *watch);
void enl_watch_pause(struct enl_watch *watch, bool pause);

#endif

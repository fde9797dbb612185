/* SPDX-License-Identifier: MIT */
/* A target within one process: several of Earl's processes, whose inboxes are queues here. Nothing waits: inboxes have room for
 * all, work runs at once, and a take that would wait for ever is a failure, unless that makes something come. Memory may be refused to senders that do not wait. */
#ifndef EARL_DOUBLE_H
#define EARL_DOUBLE_H

#include "engine.h"

struct double_packet {
    void *bytes; /* first: what a packet's address leads to */
    size_t length;
    int holds;
    int ended; /* -1, or of which process's end it tells */
};

struct double_box {
    struct double_item {
        struct double_item *next;
        struct double_packet *packet;
    } * first, **last;
    int process;
    struct double_world *world;
};

struct double_world {
    struct double_box *boxes;
    int count;
    long packets;               /* that are held by anybody */
    int (*refuses)(void *data); /* whether memory is refused now; NULL: never */
    void (*idle)(
        void *data); /* a process waits, and nothing has come: now something is to; NULL: that is a failure */
    void *data;
};

void double_begin(struct double_world *world, int count);
void double_end(struct double_world *world);
extern const struct earl_target double_target; /* self: a box of the world */

#endif

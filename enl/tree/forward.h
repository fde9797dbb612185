/* SPDX-License-Identifier: MIT */
/* Requests that this daemon passes on to a neighbour in the tree, and whose answers it passes back.
 * A forwarded request is kept from the request to its answer; it may wait until the neighbour can take it.
 * Its requester is a connection: a CCE's, or a child daemon's. */
#ifndef ENL_FORWARD_H
#define ENL_FORWARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bcri/control.h"

struct enl_conn;
struct enl_peer;

struct enl_forward {
    STAILQ_ENTRY(enl_forward) entry;
    struct enl_conn *conn; /* NULL: the requester is gone */
    uint32_t id;           /* between this daemon and the neighbour; 0: not sent */
    uint32_t starts;       /* CCEs that it enlists */
    size_t length;
    uint8_t bytes[]; /* the request */
};

/* The first number of a forwarded request. Lower ones are those of a daemon's own requests to its child: start,
 * stop and kill, whose replies may come late. */
#define ENL_FORWARD_ID1 16u

/* Its list is to be initialized. */
struct enl_forwards {
    STAILQ_HEAD(, enl_forward) all; /* oldest first */
    uint32_t last_id;
};

/* Keeps a request of `conn`. False: no memory. */
bool enl_forward_add(struct enl_forwards *forwards, struct enl_conn *conn,
                     const struct bcri_control *request);
/* Sends those that are not sent. `turn`: that of the next CCE to be enlisted (round_robin.h), which goes on; NULL:
 * the neighbour decides. */
void enl_forwards_send(struct enl_forwards *forwards, struct enl_peer *peer, uint32_t *turn);
/* How many CCEs those enlist that are sent and not answered. */
uint32_t enl_forwards_start(const struct enl_forwards *forwards);
/* An answer has come. False: nobody has asked. */
bool enl_forward_answer(struct enl_forwards *forwards, const struct bcri_control *reply);
/* Takes the oldest forwarded request out; the caller frees it. `request_out` has views into it. NULL: none. */
struct enl_forward *enl_forward_take(struct enl_forwards *forwards, struct bcri_control *request_out);
/* The requester's connection is gone. */
void enl_forwards_forget(struct enl_forwards *forwards, const struct enl_conn *conn);
void enl_forwards_drop(struct enl_forwards *forwards);

#endif

/* SPDX-License-Identifier: MIT */
/* Requests that this daemon passes on to a neighbour in the tree, and whose answers it passes back.
 * An errand is kept from the request to its answer; it may wait until the neighbour can take it.
 * Its asker is a connection: a CCE's, or a child daemon's. */
#ifndef ENL_ERRAND_H
#define ENL_ERRAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bcri/control.h"

struct enl_conn;
struct enl_peer;

struct enl_errand {
    STAILQ_ENTRY(enl_errand) entry;
    struct enl_conn *conn; /* NULL: the asker is gone */
    uint32_t id;           /* between this daemon and the neighbour; 0: not sent */
    uint32_t starts;       /* CCEs that it enlists */
    size_t length;
    uint8_t bytes[]; /* the request */
};

/* The first number of an errand. Lower ones are those of a daemon's own requests to its child: start,
 * stop and kill, whose replies may come late. */
#define ENL_ERRAND_ID1 16u

/* Its list is to be initialized. */
struct enl_errands {
    STAILQ_HEAD(, enl_errand) all; /* oldest first */
    uint32_t last_id;
};

/* Keeps a request of `conn`. False: no memory. */
bool enl_errand_add(struct enl_errands *errands, struct enl_conn *conn, const struct bcri_control *request);
/* Sends those that are not sent. `turn`: that of the next CCE to be enlisted (turn.h), which goes on; NULL:
 * the neighbour decides. */
void enl_errands_send(struct enl_errands *errands, struct enl_peer *peer, uint32_t *turn);
/* How many CCEs those enlist that are sent and not answered. */
uint32_t enl_errands_start(const struct enl_errands *errands);
/* An answer has come. False: nobody has asked. */
bool enl_errand_answer(struct enl_errands *errands, const struct bcri_control *reply);
/* Takes the oldest errand out; the caller frees it. `request_out` has views into it. NULL: none. */
struct enl_errand *enl_errand_take(struct enl_errands *errands, struct bcri_control *request_out);
/* The asker's connection is gone. */
void enl_errands_forget(struct enl_errands *errands, const struct enl_conn *conn);
void enl_errands_drop(struct enl_errands *errands);

#endif

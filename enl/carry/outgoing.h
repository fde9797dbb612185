/* SPDX-License-Identifier: MIT */
/* The pipe to a neighbour (peer.c), and what waits for it. A write never waits: libuv keeps what the pipe does not
 * take, within bounds. A neighbour that reads nothing until more waits is written to no more. What may be overtaken waits in a
 * list of its own, of which one frame at a time is given to libuv when that has nothing else.
 *
 * When something cannot be written nothing is written any more. If `failed` is there the pipe is closed then, by which the
 * neighbour knows. */
#ifndef ENL_OUTGOING_H
#define ENL_OUTGOING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "bcri/control.h"

struct bcri_log;
struct enl_outgoing_piece;

/* How a message goes: at once; behind what waits; so, or not at all if much waits. */
enum enl_haste { ENL_AT_ONCE, ENL_IN_TURN, ENL_OR_DROPPED };

/* Packets are dropped when more waits. */
#define ENL_PACKETS_MAX (256u << 10)

struct enl_outgoing {
    uv_pipe_t pipe; /* not open, if the owner sends elsewhere */
    struct bcri_log *log;
    bool writes;                              /* what is sent may arrive */
    bool closed;                              /* libuv has not done with it */
    bool output_under_way;                    /* libuv has a piece of output */
    STAILQ_HEAD(, enl_outgoing_piece) pieces; /* output and packets that wait */
    size_t waiting;                           /* bytes of them */
    /* The pipe has taken something, or will take nothing any more. */
    void (*moved)(struct enl_outgoing *outgoing);
    /* NULL, or called by the loop when something could not be written. */
    void (*failed)(struct enl_outgoing *outgoing);
    bool ends;             /* the pipe is being closed for that reason */
    uv_close_cb on_closed; /* of enl_outgoing_close, if that comes meanwhile */
};

void enl_outgoing_init(struct enl_outgoing *outgoing, uv_loop_t *loop, struct bcri_log *log,
                       void (*moved)(struct enl_outgoing *outgoing),
                       void (*failed)(struct enl_outgoing *outgoing));
/* `type` is that of the frame; one that brings the program key is wiped. 0 bytes: it has no form. */
void enl_outgoing_send(struct enl_outgoing *outgoing, enum bcri_control_type type, uint8_t *frame,
                       size_t bytes, enum enl_haste haste);
/* See enl_peer_send_raw; `written` may be NULL. */
void enl_outgoing_send_raw(struct enl_outgoing *outgoing, const char *bytes, size_t length,
                           void (*written)(void *data, bool goes_on), void *data);
/* Whether something is not written yet. */
bool enl_outgoing_waits(const struct enl_outgoing *outgoing);
/* `what` cannot be sent, and nothing after it; that the neighbour is gone is read from the other pipe, and told then. */
void enl_outgoing_give_up(struct enl_outgoing *outgoing, const char *what, const char *why);
/* `closed` is libuv's, for the pipe. */
void enl_outgoing_close(struct enl_outgoing *outgoing, uv_close_cb closed);

#endif

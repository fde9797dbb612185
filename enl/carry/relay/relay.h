/* SPDX-License-Identifier: MIT */
/* Relays, the daemon's part: a helper process is started for each, and the daemon is out of the way.
 *
 *      command                      daemon                        helper
 *         | -- relay, one end of a stream --> |                       |
 *         | <------ reply ------------------- | -- that end as 0, 1 -> |
 *         | <================ bytes, through the stream =============> |
 *         |                                   | <--- segment_fd, ps -- |
 *         | <------ relay_end --------------- | <--- its exit          |
 *
 * The daemon itself looks at nothing and unwinds nothing: helpers are other processes of enl, with
 * options that only the daemon uses, and what goes wrong in one harms nobody. A helper has a socket
 * to the daemon (BCRI_SOCKET), over which it asks for descriptors of segments; it gets them for
 * reading only, so it cannot write what it looks at.
 *
 * A relay ends when its helper does, and when its asker's connection ends: the helper is killed
 * then. All of this is the loop's. */
#ifndef ENL_RELAY_H
#define ENL_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bcri/channel.h"

struct bcri_host;
struct enl_conn;
struct enl_carry;

/* What a helper is started for. */
struct enl_relay_wish {
    uint32_t kind;            /* enum bcri_relay_kind */
    const char *arguments[2]; /* behind the helper's option; the first NULL ends them */
    int stream;               /* the helper's 0 and 1, borrowed */
    /* Who is told relay_end with that id when the helper has ended, and whose end is the helper's. NULL:
     * nobody. */
    struct enl_conn *asker;
    uint32_t id;
    /* Called when the helper has ended, unless NULL. */
    void (*done)(void *data, int wait_status);
    void *data;
};

/* Starts a helper. Returns its pid, or -1 with a sentence in `reason`. */
pid_t enl_relay_start(struct enl_carry *carry, const struct enl_relay_wish *wish, char *reason,
                      size_t reason_size);

/* visit.c: a visitor's relay. Returns NULL, or why the connection must end. */
const char *enl_relay_ask(struct enl_carry *carry, struct enl_conn *conn, struct bcri_incoming *in);
/* A helper asks for a segment's descriptor. */
const char *enl_relay_segment(struct bcri_host *host, struct enl_conn *conn,
                              const struct bcri_control *message);

/* A child of this process has ended. False: it was no helper. */
bool enl_relay_reaped(struct enl_carry *carry, pid_t pid, int wait_status);
/* That connection is gone. */
void enl_relay_forget(struct enl_carry *carry, const struct enl_conn *conn);

#endif

/* SPDX-License-Identifier: MIT */
/* What carries bytes between this daemon and others: what all of it owns, and what it asks of the rest of the daemon. */
#ifndef ENL_CARRY_H
#define ENL_CARRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/self.h"
#include "wire/conn.h"

struct enl_far;
struct enl_push;
struct enl_relay;

struct enl_carry_ops {
    /* The tree's lane to a host (bcri/link_thread.h): sends; how much waits to be sent. */
    bool (*lane_send)(void *owner, uint32_t host, unsigned row, const void *content, uint32_t bytes);
    uint32_t (*lane_waits)(void *owner, uint32_t host);
    /* The connection to the daemon of that host; NULL: it is not up, or not known here. */
    struct enl_conn *(*daemon_of)(void *owner, uint32_t host);
    uint32_t (*host_numbers)(
        void *owner); /* how many of them this daemon can name: 1 if it is not the root's */
    void (*send_to_root)(void *owner, const struct bcri_control *message); /* what others may overtake */
    /* A pane has been asked for, for a CCE of another host. */
    void (*pane_wanted)(void *owner, uint32_t host, uint32_t ordinal);
};

struct enl_carry {
    struct enl_self *self;
    struct enl_conns *conns;
    const struct enl_carry_ops *ops;
    void *owner; /* theirs */

    struct enl_push *push;         /* what hosts get that have no BCR; NULL: nothing */
    LIST_HEAD(, enl_relay) relays; /* helpers of this host */
    LIST_HEAD(, enl_far) fars;     /* relays to other hosts, or of other hosts' commands */
    int logs_folder;               /* of logdir; -1: none */
};

#endif

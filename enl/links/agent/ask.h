/* SPDX-License-Identifier: MIT */
/* Asking: orders of this host's CCEs. */
#ifndef BCRI_AGENT_ASK_H
#define BCRI_AGENT_ASK_H

#include "bcri/region.h"

#include "links/agent/private.h"

#define NO_PLACE UINT32_MAX

/* A CCE of this host that has made its outbox. */
struct requester {
    struct item of_agent; /* or of those that are ending */
    struct entry by_ring;
    struct bcri_agent *agent;
    uint32_t index;
    bool has_ended; /* it is forgotten when all its entries are taken */
    bool forgotten;
    bool ends_to_tell;              /* there was no memory to tell all hosts that it has ended */
    struct bcri_outbox_shm *outbox; /* NULL once forgotten */
    uint64_t taken, completed;      /* entries; puts */
    uint64_t told;                  /* of those completed */
    uint64_t failed;                /* puts that the CCE does not wait for; told in its outbox */
    uint32_t datas;                 /* orders that carry regions of bcr_putm, and are not over */
    struct list orders;             /* those that are not over */
    struct list syncs;              /* of those, in no order */
    uint64_t sync_at;               /* at how many completed puts the first of them is answered */
    struct list shares;             /* that are open */
    struct list streams_out;
    void (*go_on)(struct requester *requester); /* after the end of each order; NULL: it is a CCE's */
};

/* The stream to an owner of whom this CCE has ordered something. */
struct stream_out {
    struct entry at;
    struct item of_requester;
    struct requester *requester;
    struct peer *peer;
    uint32_t target;
    bool end_told;
    struct list puts; /* that are neither answered nor told to wait, in the order of the stream */
};

/* Puts of one bcr_putm to one host: its region goes there once, before the first of them. */
struct share {
    struct entry at;          /* while it is open */
    struct item of_requester; /* or of those that are over and not told */
    struct peer *peer;
    bcri_ref ref;
    uint64_t key;                 /* of its puts, which wait for the same time */
    uint32_t source, target;      /* a stream in which its end can be told */
    uint64_t data;                /* the number of the order that the region goes with; 0: it was not sent */
    uint32_t orders;              /* that one and puts, as long as the link has them */
    bool is_open;                 /* further puts may come */
    struct bcri_slot_shm *region; /* while it is open and the link has done with the region */
};

/* No orders of the CCE's. */
#define ORDER_ENDED  BCRI_ORDER_OPS       /* tells the other host of its end */
#define ORDER_DATA   (BCRI_ORDER_OPS + 1) /* the region of a share */
#define ORDER_NOTICE (BCRI_ORDER_OPS + 2) /* tells one that watches it of its end (notice.c) */

/* An order on its way. It is over when it is answered, and the link does not need it any more. */
struct order {
    struct item of_requester;
    struct item in_queue;        /* a SYNC; a put in its stream's list */
    STAILQ_ENTRY(order) waiting; /* for the link */
    struct requester *requester;
    struct stream_out *stream; /* NULL: SYNC */
    uint32_t op;               /* enum bcri_order_op, ORDER_ENDED, ORDER_DATA, or ORDER_NOTICE */
    bcri_ref slot_ref;         /* the CCE's ID; none: a put that it does not wait for, or the CCE has ended */
    uint64_t key;              /* as the ID said */
    int cell;
    uint8_t owner[BCRI_IDENTITY_BYTES];
    uint64_t request;             /* its number, for the other host: above its place, a count */
    struct bcri_slot_shm *region; /* a put: the agent's ID of what is sent */
    struct share *share;
    void (*over)(const struct order *order); /* is told of its end; or NULL */
    uint32_t from, to;                       /* of lines.c: which bytes it has */
    bool sent;                               /* and not completed: the link has it */
    bool done; /* the owner says so; it is, if the link says that it has arrived */
    bool answered;
    int code; /* the answer of a put */
};

/* Where an order is found by its number. */
struct order_place {
    struct order *order; /* NULL: free */
    uint32_t next_free;
};

/* An error region that could not be put at once. */
struct untold {
    struct item of_agent;
    uint32_t index;
    int code, op, cell;
    uint8_t owner[BCRI_IDENTITY_BYTES];
};

/* Whether it is over as soon as the link has done with it. */
static inline bool order_has_no_answer(const struct order *order)
{
    return order->op == ORDER_ENDED || order->op == ORDER_DATA || order->op == ORDER_NOTICE;
}

/* Whether it is carried out though its CCE has ended. */
static inline bool order_outlives(const struct order *order)
{
    return bcri_order_is_put(order->op) || order->op == ORDER_DATA;
}

/* ---- orders_out.c ---- */

/* NULL: no memory. `stream` NULL: a SYNC. */
struct order *bcri_order_new(struct requester *requester, uint32_t op, struct stream_out *stream);
/* Sends it, or has it wait for a link; without memory, or if the host is lost, it is answered so. */
void bcri_order_send(struct order *order);
void bcri_ask_send_waiting(struct peer *peer);
/* All orders to that host end with `code`. */
void bcri_ask_fail(struct peer *peer, int code);

/* ---- ask.c ---- */

/* The stream to an owner. NULL: no memory. */
struct stream_out *bcri_stream_to(struct requester *requester, const uint8_t *owner);
void bcri_ask_take_all(struct bcri_agent *agent);
/* Those whose ring may have been meant by `low`. */
void bcri_ask_take_of(struct bcri_agent *agent, uint32_t low);
/* Ends that were not told for want of memory. */
void bcri_ask_tell_ends(struct bcri_agent *agent);
/* None of its orders is left: nobody remembers the way there. */
void bcri_ask_drop_streams(struct peer *peer);
void bcri_ask_free(struct bcri_agent *agent);

/* ---- share.c ---- */

struct share *bcri_share_find(const struct stream_out *stream, bcri_ref ref);
/* One whose region goes with the order `data`. NULL: no memory, or a CCE has the region's count. */
struct share *bcri_share_new(struct order *data, bcri_ref ref);
/* The link has done with its region. */
void bcri_order_let_go(struct order *order);
/* No further put comes to those of this CCE, save those of the region `but` (BCRI_REF_NONE: no region). */
void bcri_shares_close(struct requester *requester, bcri_ref but);
/* Tells the hosts of those that are over, as far as there is memory. */
void bcri_shares_end(struct bcri_agent *agent);

/* ---- answer.c ---- */

/* The CCE's ID of an order; NULL: it has none any more. */
static inline struct bcri_slot_shm *bcri_order_id(const struct order *order)
{
    return order->slot_ref != BCRI_REF_NONE ? bcri_at(order->requester->agent->ctx, order->slot_ref) : NULL;
}

/* The order with that number; NULL: it is answered, or there is none. */
struct order *bcri_order_find(const struct bcri_agent *agent, uint64_t request);
/* `region`: the agent's ID of what came, or NULL. */
void bcri_ask_answer(struct order *order, int code, uint64_t value, struct bcri_slot_shm *region);
/* All puts of its stream up to this one are done, but those that were told singly. */
void bcri_ask_done_up_to(struct order *order);
void bcri_ask_completed(struct order *order, enum bcri_link_outcome outcome);
/* A SYNC waits for puts, or is answered at once. */
void bcri_ask_sync(struct order *order);
/* Error regions that could not be put. */
void bcri_ask_tell_again(struct bcri_agent *agent);
/* Frees an order that is over, and its CCE's part when that was the last of a CCE that has ended. */
void bcri_order_end_if_over(struct order *order);
void bcri_requester_free_if_over(struct requester *requester);

/* ---- lines.c ---- */

/* The owner's host has said that a put waits there for room: its answer comes singly. */
void bcri_ask_waits(struct order *order);

#endif

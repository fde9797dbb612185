/* SPDX-License-Identifier: MIT */
/* What the parts of the agent share. ask.c: orders of this host's CCEs, and their answers; serve.c:
 * orders of CCEs elsewhere; agent.c: the links, and what brings both together. */
#ifndef BCRI_AGENT_PRIVATE_H
#define BCRI_AGENT_PRIVATE_H

#include "bcri/agent.h"
#include "bcri/order.h"
#include "bcri/outbox.h"
#include "bcri/slot.h"

#include "message.h"

#define AGENT_NEVER   BCRI_LINK_NEVER
#define STREAM_HASHES 64u

/* Another host. */
struct peer {
    struct peer *next;
    uint32_t host;
    bool lost, wanted;
    struct bcri_agent *agent;
    struct bcri_link *link;               /* NULL: none yet, or lost */
    struct order *waiting, **waiting_end; /* for the link */
    struct stream *streams[STREAM_HASHES];
    struct paused_answers *paused_answers; /* streams of answers that wait for the pool to grow */
};

struct paused_answers {
    struct paused_answers *next;
    uint32_t source, target;
};

/* ---- asking ---- */

/* A CCE of this host that has made its outbox. */
struct asker {
    struct asker *next;
    struct bcri_agent *agent;
    uint32_t index;
    bool forgotten;
    struct bcri_outbox_shm *outbox; /* NULL once forgotten */
    uint64_t taken, completed;      /* entries; puts */
    struct order *orders;           /* those that are not over */
    struct route *routes;
};

/* An owner of whom this CCE has ordered something. */
struct route {
    struct route *next;
    struct peer *peer;
    uint8_t owner[BCRI_IDENTITY_BYTES];
};

#define ORDER_ENDED BCRI_ORDER_OPS /* no order of the CCE's: tells the other host of its end */

/* An order on its way. It is over when it is answered, and the link does not need it any more. */
struct order {
    struct order *next, **at;   /* in its asker's list */
    struct order *next_waiting; /* for the link */
    struct asker *asker;
    struct peer *peer; /* NULL: SYNC */
    uint32_t op;       /* enum bcri_order_op, or ORDER_ENDED */
    bcri_ref slot_ref; /* the CCE's ID; none: a put, or the CCE has ended */
    uint64_t key;      /* as the ID said */
    int cell;
    uint8_t owner[BCRI_IDENTITY_BYTES];
    uint64_t request;             /* its number, for the other host */
    struct bcri_slot_shm *region; /* a put: the agent's ID of what is sent */
    bool sent;                    /* and not completed: the link has it */
    bool answered;
};

void bcri_ask_take(struct bcri_agent *agent);
void bcri_ask_send_waiting(struct peer *peer);
void bcri_ask_completed(struct order *order, enum bcri_link_outcome outcome);
/* The order of an answer; NULL: it is over, or there is none. */
struct order *bcri_ask_find(struct peer *peer, uint64_t request);
/* `region`: the agent's ID of what came, or NULL. */
void bcri_ask_answer(struct order *order, int code, uint64_t value, struct bcri_slot_shm *region);
void bcri_ask_lost(struct peer *peer);
void bcri_ask_forget(struct asker *asker);
void bcri_ask_tell_again(struct bcri_agent *agent);
void bcri_ask_free(struct bcri_agent *agent);

/* ---- serving ---- */

/* A message that has come, or is coming. */
struct incoming {
    struct incoming *next;
    struct peer *peer;
    struct bcri_message message;
    struct bcri_slot_shm *region; /* the agent's ID of its body, or NULL */
};

/* Orders of a CCE elsewhere to a CCE here. */
struct stream {
    struct stream *next;
    struct peer *peer;
    uint32_t source, target;
    struct incoming *first, **end; /* that have come and are not performed */
    uint32_t count;                /* those, and those that are coming */
    bool paused;                   /* the link asks again when it is resumed */
    bool ended; /* the CCE elsewhere has ended, and no other with its number has ordered anything */
    uint32_t served;
    struct write_lock *locks;
};

/* A write lock that the CCE of a stream has. */
struct write_lock {
    struct write_lock *next;
    bcri_ref cell;
    uint64_t gen_epoch; /* generation of the cell, epoch of the region */
    bool dead;          /* its CCE has ended: the cell is to be told */
};

enum served_state {
    SERVED_GET_WAITS,
    SERVED_PUT_WAITS,
    SERVED_SENT,      /* the region is on its way */
    SERVED_GOES_BACK, /* the region goes back to the head of its cell */
};
struct served {
    struct served *next, **at; /* the youngest first */
    struct served *next_ready;
    struct stream *stream;
    enum served_state state;
    enum bcri_want want;
    uint64_t request;
    int cell;
    uint64_t number; /* of regions on their way: they go back youngest first */
    struct bcri_slot_shm *slot;
    uint64_t deadline;
    bool cancelled;
    bool ended; /* its CCE has */
};

enum bcri_link_verdict bcri_serve_begin(struct peer *peer, struct bcri_link_message *message);
void bcri_serve_arrived(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming);
void bcri_serve_completed(struct served *served, enum bcri_link_outcome outcome);
/* `look`: also at what waits, since something there may have changed. */
void bcri_serve_run(struct bcri_agent *agent, bool look);
void bcri_serve_dropped(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming);
void bcri_serve_lost(struct peer *peer);
/* The pool has grown, or will not: answers that wait for that are looked at again. */
void bcri_serve_go_on(struct peer *peer);
void bcri_serve_free(struct peer *peer);

/* ---- both ---- */

/* What a message that was sent belongs to: the link's cookie. */
struct sent {
    struct order *order;
    struct served *served;
};

/* An error region that could not be put at once. */
struct untold {
    struct untold *next;
    uint32_t index;
    int code, op, cell;
    uint8_t owner[BCRI_IDENTITY_BYTES];
};

struct bcri_agent {
    struct bcri_ctx *ctx;
    const struct bcri_agent_events *events;
    void *owner;
    uint32_t pool;                 /* the heap's area */
    uint64_t pool_bytes, pool_now; /* at most; reserved */
    uint64_t pool_again;           /* when to ask again, after there was no memory */
    bool pool_asked;
    struct peer *peers;
    struct asker *askers;
    struct order **orders; /* by the low half of their numbers */
    uint32_t order_count, order_room, order_hint;
    uint32_t order_last; /* the high half of the last number */
    struct served *served;
    uint64_t served_last;
    struct untold *untold;
    uint64_t now, deadline;
    uint32_t bell_seen;
    bool parked; /* something waits for the release of a lock */
    bool again;  /* there is more to do at once */
};

struct peer *bcri_agent_peer(struct bcri_agent *agent, uint32_t host);
/* A region of `length` in the pool, in an ID of the agent; NULL: no room. */
struct bcri_slot_shm *bcri_agent_alloc(struct bcri_agent *agent, uint32_t length, uint32_t archtype,
                                       uint32_t error);
/* Sends; `cookie` is called back with the outcome unless this returns false: no memory, or no link. */
bool bcri_agent_send(struct peer *peer, uint32_t source, uint32_t target, const struct bcri_message *message,
                     struct bcri_slot_shm *region, struct sent sent);
void bcri_agent_note(struct bcri_agent *agent, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

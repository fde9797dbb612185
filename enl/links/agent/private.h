/* SPDX-License-Identifier: MIT */
/* What the parts of the agent share: orders of this host's CCEs (ask.h), and of CCEs elsewhere (serve.h). */
#ifndef BCRI_AGENT_PRIVATE_H
#define BCRI_AGENT_PRIVATE_H

#include <sys/queue.h>

#include "bcri/agent.h"
#include "bcri/order.h"
#include "bcri/outbox.h"
#include "bcri/slot.h"

#include "base/table.h"
#include "links/agent/list.h"
#include "links/agent/message.h"
#include "links/agent/records.h"

#define AGENT_NEVER BCRI_LINK_NEVER
#define AGAIN_NS    (UINT64_C(1000) * 1000) /* when to try again what lacked memory, or room in the pool */
/* What is remembered for a host: what waits here, write locks, streams. A host that is mad, or has more waiting
 * than that, is told that there is no memory. */
#define PEER_BYTES_MAX (UINT64_C(64) << 20)
/* Orders of a host that have begun to come and are not performed. Its streams pause then. */
#define PEER_ORDERS_MAX (UINT32_C(1) << 18)
/* Regions of bcr_putm of a host that are kept for further puts; one that is larger by itself. */
#define PEER_PAYLOADS_MAX (UINT64_C(64) << 20)

/* Another host. */
struct peer {
    LIST_ENTRY(peer) of_agent;
    uint32_t host;
    bool lost, wanted;
    struct bcri_agent *agent;
    struct bcri_link *link;             /* NULL: none yet, or lost */
    STAILQ_HEAD(orders, order) waiting; /* for the link */
    struct list streams;
    struct list owing;    /* streams of which puts are done and not answered */
    struct item of_owing; /* in the agent's list, the first to be answered first */
    uint64_t owing_at;    /* when they are answered at the latest; 0: something else is sent there now */
    struct paused_answers *paused_answers; /* streams of answers that wait for the pool to grow */
    struct list payloads;                  /* that have come from there, for further puts */
    uint64_t payload_bytes;                /* of those */
    uint32_t payloads_unknown;             /* that were refused without being remembered, and are not over */
    uint64_t bytes;                        /* remembered for it */
    uint32_t orders;                       /* not performed */
    bool was_too_much;                     /* it was told in the log */
};

struct bcri_agent {
    struct bcri_ctx *ctx;
    const struct bcri_agent_events *events;
    void *owner;
    uint64_t now, deadline;
    uint32_t bell_seen;
    uint64_t retry_at; /* when to try again what is parked, though no release has rung; NEVER: nothing is */
    LIST_HEAD(, peer) peers;
    uint64_t peer_bytes_max, peer_payloads_max;
    uint64_t messages; /* sent and begun */

    uint32_t pool;                 /* the heap's area */
    uint64_t pool_bytes, pool_now; /* at most; reserved */
    uint64_t pool_again;           /* when to ask again, after there was no memory */
    bool pool_asked;

    struct records orders, arrivals, serveds; /* that are free */

    /* asking */
    struct list requesters;
    struct table requesters_by_ring, streams_out;
    struct list ending; /* requesters that have ended, and whose ends are not told everywhere */
    uint64_t ask_at;    /* when to look at all outboxes, though none has rung */
    struct order_place *places;
    size_t place_room;
    uint32_t place_count, place_free; /* the first free one; NO_PLACE */
    uint32_t order_last;              /* the high half of the last number */
    bool lines_halted;                /* bcri_agent_lines_halt */
    struct list untold;               /* error regions that could not be put, the oldest first */
    struct table shares;              /* that are open, by region, host and CCE */
    struct list shares_over;          /* of which the other host is to be told, when there is memory */

    /* serving */
    struct table streams; /* by host, source, target */
    struct table served;  /* gets that wait, by stream and request */
    struct table payloads;
    struct list unused_payloads;
    struct table cells; /* by the low half of their references, as rings name them */
    struct list all_cells;
    struct list owing;       /* hosts to which answers are kept back */
    struct list ready;       /* streams with orders to be performed */
    struct list over;        /* what waits, and is not to wait any longer */
    struct list giving_back; /* cells, the youngest region of which is to go back */
    struct list dead_locks;  /* whose cells are to be told */
    struct list parked_streams, parked_waits, parked_cells, parked_locks;
    struct list no_room; /* streams that are paused, for want of room in the pool */
    uint64_t resume_at;  /* when those are resumed */
    struct deadlines deadlines;
    struct wanted_cell *spare_cell;
};

/* Each record of a table with that number. The body may take out the one it has, but not the next. */
#define EACH_WITH(record, table, number, type, member)                                           \
    for (struct entry *at_ = table_find(table, number), *next_;                                  \
         at_ != NULL &&                                                                          \
         ((record) = RECORD_OF(at_, type, member), next_ = table_next(at_->next, number), true); \
         at_ = next_)

/* ---- pool.c ---- */

/* False: no memory. */
bool bcri_pool_make(struct bcri_agent *agent);
void bcri_pool_grown(struct bcri_agent *agent, const struct bcri_heap_piece *piece, bool reserved);
/* A region of `length` in the pool, in an ID of the agent; NULL: no room. */
struct bcri_slot_shm *bcri_agent_alloc(struct bcri_agent *agent, uint32_t length, uint32_t archtype,
                                       uint32_t error);

/* ---- peer.c ---- */

/* NULL: nothing is known of that host. */
struct peer *bcri_peer_find(struct bcri_agent *agent, uint32_t host);
/* The same, made if need be. NULL: no memory. */
struct peer *bcri_peer_of(struct bcri_agent *agent, uint32_t host);
/* Sends. `cookie` comes back with the outcome: an order, or bcri_served_cookie; NULL: nobody wants to know.
 * False: no memory, or no link. */
bool bcri_agent_send(struct peer *peer, uint32_t source, uint32_t target, const struct bcri_message *message,
                     struct bcri_slot_shm *region, void *cookie);
/* For the log, about that host or BCRI_NO_HOST: agent.h. */
void bcri_agent_note(struct bcri_agent *agent, uint32_t host, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether so much more may be remembered for that host, which is counted then. */
bool bcri_peer_remember(struct peer *peer, size_t bytes);
/* Memory for what is remembered for that host. */
void *bcri_peer_alloc(struct peer *peer, size_t bytes);

/* The agent is to run at that time at the latest. */
static inline void run_by(struct bcri_agent *agent, uint64_t at_ns)
{
    if (at_ns < agent->deadline)
        agent->deadline = at_ns;
}
/* Something is parked: a release rings, save where the kernel has no membarrier. */
void bcri_agent_parks(struct bcri_agent *agent);

#endif

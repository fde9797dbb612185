/* SPDX-License-Identifier: MIT */
/* Messages that come from other hosts: orders (orders_in.c), the regions of a bcr_putm (payload.c), and answers
 * (answers_in.c). events.c is told of them by the links. */
#ifndef BCRI_AGENT_INCOMING_H
#define BCRI_AGENT_INCOMING_H

#include "links/agent/private.h"

struct payload;
struct stream;

/* A message that has come, or is coming. */
struct incoming {
    STAILQ_ENTRY(incoming) entry;
    struct peer *peer;
    struct bcri_message message;
    struct bcri_slot_shm *region; /* the agent's ID of its body, or NULL */
    struct payload *payload;      /* what it puts, until it has a hold of its own */
    uint64_t late_at;             /* when its CCE has waited for as long as it wants to; NEVER */
    bool is_performed;            /* and not answered, for want of memory; so: */
    uint32_t flags;
    int code;
    uint64_t value;
};

/* ---- incoming.c ---- */

/* NULL: no memory. */
struct incoming *bcri_incoming_new(struct peer *peer, const struct bcri_message *message);
/* `stream`: it counts there; or NULL. */
void bcri_incoming_free(struct stream *stream, struct incoming *incoming);
/* Room in the pool for the body of a message. */
bool bcri_incoming_find_room(struct bcri_agent *agent, struct incoming *incoming, uint32_t bytes);
/* The link is to put the body of the message there. */
enum bcri_link_verdict bcri_incoming_accept(struct bcri_link_message *message, struct incoming *incoming);

/* ---- orders_in.c: messages of CCEs elsewhere ---- */

enum bcri_link_verdict bcri_orders_in_begin(struct peer *peer, struct bcri_link_message *message,
                                            const struct bcri_message *read);
void bcri_orders_in_arrived(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming);
void bcri_orders_in_dropped(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming);

/* ---- answers_in.c: messages for orders of this host's CCEs ---- */

enum bcri_link_verdict bcri_answers_in_begin(struct peer *peer, struct bcri_link_message *message,
                                             const struct bcri_message *read);
void bcri_answers_in_arrived(struct peer *peer, struct incoming *incoming);
void bcri_answers_in_dropped(struct peer *peer, struct incoming *incoming);
/* The pool has grown, or will not: answers that wait for that are looked at again. */
void bcri_answers_in_go_on(struct peer *peer);

/* ---- events.c ---- */

extern const struct bcri_link_events bcri_agent_link_events; /* of each link; its owner is the peer */

#endif

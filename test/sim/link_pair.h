/* SPDX-License-Identifier: MIT */
/* Two hosts in one process whose link threads talk over real sockets on this machine, sealed: an order finds a thread that
 * rests in epoll, and its answer wakes a CCE that sleeps. */
#ifndef SIM_LINK_PAIR_H
#define SIM_LINK_PAIR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <bcr.h>

#include "bcri/link_thread.h"
#include "group.h"
#include "link_sockets.h"

#define PAIR_SILENCE_NS 300000000 /* of tests that are about silence */

struct host {
    struct group *group;
    struct bcri_ctx *agent, *cce;
    struct bcri_link_thread *thread;
    _Atomic unsigned told;
    struct bcri_link_introduction introduction; /* of the other host */
};

extern struct host hosts[2];

extern struct link_pair {
    /* set before pair_begin */
    uint32_t most_bytes; /* of a packet */
    uint64_t pool_bytes;
    uint64_t most_forged; /* packets; 0: as many as are usual */
    /* 0, at first: never. A link that is silent goes on over the tree of daemons; where a test does not carry
     * what goes there, nothing arrives any more. It needs no cut for that: what host 1 sends before host 2 is
     * introduced is dropped, and sent again only after 300 ms, since no round trip is measured yet. */
    uint64_t silence_ns;
    _Atomic int callocs_to_fail; /* of other threads than that which has called pair_own_memory */
    /* Pieces of the pool come before the link thread has done anything else, and are counted. */
    _Atomic bool grows_at_once;
    _Atomic unsigned pieces;
    /* set by pair_begin: the second host's CCE, as the first host's calls it, and a cell of it */
    bcr_cce_id there;
    int cell;
} pair;

/* Opens both; the calling thread is the first host's CCE. With sockets.has_two_ways they reach each other by IPv4 and by
 * IPv6. */
void pair_begin(void);
void pair_end(void);
/* Each to the other. */
void pair_introduce(void);
/* A CCE of that host; it ends. */
struct bcri_ctx *pair_join(struct host *host, int bell_fd);
void pair_leave(struct host *host);
/* The next that the link thread tells. */
struct bcri_link_news pair_news(struct host *host);
void pair_own_memory(void);
/* Two daemons with pipes between them: what one link thread gives out for the tree the other gets, until pair_tree_ends. How many packets
 * have passed there, in all. */
void pair_tree_begins(void);
void pair_tree_ends(void);
unsigned pair_tree_packets(void);

#endif

/* SPDX-License-Identifier: MIT */
/* The agent of a host: it carries the orders of this host's CCEs to other hosts, and performs here
 * what CCEs elsewhere have ordered.
 *
 * It does no I/O and reads no clock: whoever runs it (link_thread.h; in tests, a simulator)
 * gives it the time, carries the packets of its links, and calls bcri_agent_run when the
 * agent's bell has rung, when packets have come, and when its deadline has come. It never blocks:
 * its context parks (lock.h). It belongs to one thread; there may be several in one process.
 *
 * Its death is its host's, so nothing of what it knows is in shared memory except what cells and
 * IDs say by themselves; what it does there, it does with a record of its own, by the code that
 * CCEs use. docs/states/order.md has the states of an order on both sides. */
#ifndef BCRI_AGENT_H
#define BCRI_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"
#include "bcri/heap.h"
#include "bcri/line.h"
#include "bcri/link.h"
#include "bcri/notice.h"

struct bcri_agent;

#define BCRI_NO_HOST UINT32_MAX

/* What the agent tells whoever runs it, on the thread that runs it. None of these may call the
 * agent. */
struct bcri_agent_events {
    /* An order is for a host to which there is no link yet. Told once, until the link is there, or
     * the host is lost or unknown. */
    void (*wants_link)(void *owner, uint32_t host);
    /* The CCE that bcri_agent_forget named is forgotten: the agent will not touch its IDs again, and
     * its puts will be carried out. */
    void (*forgotten)(void *owner, uint32_t index);
    /* A CCE elsewhere has ended, which one here watches; all that it ordered of that one is performed, or waits for room.
     * False: it could not be told; it is told again. */
    bool (*ended)(void *owner, const struct bcri_notice *notice);
    /* What was to be printed into a cell elsewhere is there, or what is left of it: bcri_agent_lines. */
    void (*printed)(void *owner, struct bcri_lines *lines);
    /* A sentence for the log. It is about that host, which it calls "it" and "there", or BCRI_NO_HOST. */
    void (*note)(void *owner, uint32_t host, const char *sentence);
    /* The receive pool needs this piece; bcri_agent_grown is to be called when it is reserved, or
     * cannot be. False: it could not be told. NULL: the whole pool is reserved at once. */
    bool (*wants_pool)(void *owner, const struct bcri_heap_piece *piece);
};

/* `ctx` is the agent's context: of a record of its own that is ALIVE, and parks. Borrowed; its heap
 * is the receive pool, of at most `pool_bytes`. NULL: no memory. */
struct bcri_agent *bcri_agent_new(struct bcri_ctx *ctx, uint64_t pool_bytes,
                                  const struct bcri_agent_events *events, void *owner);
/* Ends all links; what they carried is lost, and stays in the agent's IDs. */
void bcri_agent_free(struct bcri_agent *agent);

/* CCE `index` of this host has made its outbox: it lies at `outbox`. 0, or bcrE_NOMEM. */
int bcri_agent_outbox(struct bcri_agent *agent, uint32_t index, bcri_ref outbox);
/* CCE `index` of this host has ended (its record says DYING): what stands in its outbox is carried
 * out, its gets are cancelled. Then `forgotten` is told, perhaps within this call. */
void bcri_agent_forget(struct bcri_agent *agent, uint32_t index);

/* A CCE of this host has ended, and its agent has forgotten it: tells the host of one that watches it, behind all that the
 * ended one has ordered there. False: not now, for want of memory. */
bool bcri_agent_notice(struct bcri_agent *agent, const struct bcri_notice *notice);

/* Puts what a CCE of this host has printed into a cell of another host, line by line, each when there is room; then `printed`
 * is told, perhaps within this call. False: not now, for want of memory. */
bool bcri_agent_lines(struct bcri_agent *agent, struct bcri_lines *lines);
/* From now on no line is sent. `printed` is told of each batch when each of its lines that was sent has come there, or has
 * failed; the code bcrE_HOSTLOST says that others were not sent. */
void bcri_agent_lines_halt(struct bcri_agent *agent);

/* A link to `host` as the introduction says; NULL: no memory, or there is one already. Whoever runs
 * the agent carries its packets and asks for its deadline, and calls nothing else of it. */
struct bcri_link *bcri_agent_link(struct bcri_agent *agent, uint32_t host,
                                  const struct bcri_link_config *config, uint64_t now);
/* That host is lost, or cannot be reached: orders to it end with bcrE_DEAD, what its CCEs want here
 * is cancelled. Its number is never used again. The link is gone when this returns. False: no memory to
 * remember that; nothing was known of that host. */
bool bcri_agent_lost(struct bcri_agent *agent, uint32_t host);
/* There is no host of that number yet: what waits for a link to it ends with bcrE_NOCCE, and nothing of it
 * is remembered. Without effect if there is a link by now. */
void bcri_agent_unknown(struct bcri_agent *agent, uint32_t host);
/* Whether that host is lost: no link to it can be made any more. */
bool bcri_agent_has_lost(struct bcri_agent *agent, uint32_t host);

/* What has become of the piece of the pool. */
void bcri_agent_grown(struct bcri_agent *agent, const struct bcri_heap_piece *piece, bool reserved);

/* Does all that can be done now. Afterwards links may have packets to send. */
void bcri_agent_run(struct bcri_agent *agent, uint64_t now);
/* When bcri_agent_run is to be called at the latest, whatever happens; BCRI_LINK_NEVER. */
uint64_t bcri_agent_deadline(const struct bcri_agent *agent);
/* Whether nothing moves here unless a CCE rings, a packet comes, or a command: nothing is planned for a time,
 * parked, or sent and not completed. Orders may wait, here and elsewhere. To be asked after
 * bcri_agent_run; docs/states/deadlock.md. `*messages_out`: how many messages it has sent and begun to receive so far. */
bool bcri_agent_rests(const struct bcri_agent *agent, uint64_t *messages_out);

#endif

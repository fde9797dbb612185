/* SPDX-License-Identifier: MIT */
/* links.h -- the interface of enl/links: the ways between hosts. */
#ifndef ENL_LINKS_H
#define ENL_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bcri/link_thread.h"
#include "bcri/ref.h"
#include "host/host.h"

struct bcri_config;
struct bcri_control;
struct bcri_ctx;
struct bcri_link_news;
struct enl_conn;
struct enl_known_way;
struct enl_links;

/* links.c -- The loop's side of the link thread (bcri/link_thread.h): it starts that, hands it what the loop
 * knows, and does what it asks for. A program has a link thread on each host from when it may have
 * another host. Introductions come from the tree (tree.h).
 *
 * What CCEs need to know of the agent, its record and its eventfd, is there before the first CCE if
 * the program may get another host; its thread, socket and memory when it does.
 *
 * All of this is the loop's. That hosts are lost or unknown, packets that have come over the tree, and whether anything is
 * under way, it says to `thread` itself. */

/* What the loop does for it. */
struct enl_links_ops {
    /* The name of that host; NULL: it is gone, or there has been none. */
    const char *(*host_name)(const struct enl_program *program, uint32_t number);
    void (*wants_link)(struct enl_program *program, uint32_t number); /* an introduction to that host */
    /* Sends what is to go over the tree. */
    void (*send_packet)(struct enl_program *program, uint32_t host, const void *packet, uint32_t bytes);
    /* What a daemon says in the control link. */
    void (*came_in_control_link)(struct enl_program *program, uint32_t host, const uint8_t *content,
                                 uint32_t bytes);
    /* All has been taken that it had said when enl_links_control_link_mark was called. */
    void (*control_link_is_read)(struct enl_program *program, uint32_t host);
    /* Perhaps nothing waits in one any more (enl_links_control_link_tell_empty). */
    void (*control_links_moved)(struct enl_program *program);
    /* The answer to bcri_link_thread_quiet. */
    void (*is_quiet)(struct enl_program *program, uint32_t question, bool quiet, uint64_t messages);
};

struct enl_links {
    struct enl_self *self;
    struct enl_here *here;
    const struct enl_links_ops *ops;
    struct bcri_ctx *agent;          /* the agent's context; NULL: the program will have no other host */
    struct bcri_link_thread *thread; /* NULL: it does not run */
    uv_async_t told;                 /* link thread -> loop: there is news; `data` NULL: it is not there */
    LIST_HEAD(, enl_known_way) ways;
};

/* Before the first CCE, and before the loop: makes the agent's record, since the program may have another
 * host. False: a sentence says why there is none. */
bool enl_links_prepare(struct enl_links *links, char *error, size_t error_size);
/* The eventfd by which CCEs wake the agent, borrowed; -1: the program has no other host. */
int enl_links_bell(const struct enl_links *links);

/* Starts the agent's thread, unless it runs. False: a sentence says why there is none. */
bool enl_links_begin(struct enl_links *links, char *error, size_t error_size);
/* Ends it, if it runs, and frees the rest. False: the thread does not end, and nothing that it uses
 * may be freed. */
bool enl_links_stop(struct enl_links *links);

/* This host may work until then, by enl_boottime_ms; UINT64_MAX: for ever. */
void enl_links_lease(struct enl_links *links, uint64_t until_ms);

/* Where this host can be reached: the socket's port with every usable address of this machine, or
 * bindaddr alone. Returns how many there are; 0: there is no thread. */
uint32_t enl_links_addresses(const struct enl_links *links,
                             struct bcri_link_address out[BCRI_INTRODUCED_MAX]);
/* Makes a link, or gives the one that is there new keys, and wipes the introduction. False: no memory. */
bool enl_links_introduce(struct enl_links *links, struct bcri_link_introduction *introduction);
/* The control link to a host, which enl_links_introduce has made: bcri_link_thread_lane_send and _waits. False: no
 * memory, or no thread. */
bool enl_links_control_link_send(struct enl_links *links, uint32_t host, unsigned row, const void *content,
                                 uint32_t bytes);
uint32_t enl_links_control_link_waits(const struct enl_links *links, uint32_t host);
/* From now on the op control_links_moved is called when nothing waits there for a host any more. */
void enl_links_control_link_tell_empty(struct enl_links *links);
/* The op control_link_is_read is called when what has come there so far has been taken. False: no memory, or no thread. */
bool enl_links_control_link_mark(struct enl_links *links, uint32_t host);

/* The CCE with that record has an outbox now. False: no memory, or no thread. */
bool enl_links_outbox(struct enl_links *links, uint32_t index, bcri_ref outbox);
/* The CCE with that record has ended: enl_cce_forgotten is called when the agent does not know it any
 * more. False: the agent has never known it. */
bool enl_links_forget(struct enl_links *links, uint32_t index);

/* A CCE that the agent has forgotten has ended: for one on another host that watches it. False: no memory, or no
 * thread. */
bool enl_links_notice(struct enl_links *links, const struct bcri_notice *notice);

/* What a CCE of this host has printed, for a cell of another host; enl_cell_lines_put is called with them when that is over. False:
 * no memory, or no thread. */
bool enl_links_lines(struct enl_links *links, struct bcri_lines *lines);
/* From now on none is sent; of those that are under way enl_cell_lines_put is called when it is known what has come. */
void enl_links_lines_halt(struct enl_links *links);

/* That host is lost: what CCEs here have ordered there fails, and those that watch CCEs there are told. */
void enl_links_lost(struct enl_links *links, uint32_t host);

/* A piece of the receive pool is reserved, or cannot be. */
void enl_links_grown(struct enl_links *links, const struct bcri_heap_piece *piece, bool reserved);

/* sockets.c -- Where the socket of the links is bound, and where other hosts find it. */

/* Starts a link thread at the first port of dataport that can be had at the address that bindaddr is, or has in its
 * network. Returns 0; -ENOMEM; -ENODEV: this machine has no such address; or another -errno. */
int enl_sockets_start(struct bcri_link_thread_config *config, const struct bcri_config *settings,
                      struct bcri_link_thread **out);
/* Says why no socket could be bound there, as the end of a sentence: an errno; ENODEV: there is no such address. */
void enl_sockets_refuse(const char *bindaddr, const char *dataport, int why, char *error, size_t error_size);

/* By which addresses a socket can be reached that is bound to `own`: by that one, or by all of this
 * machine if that is any, those of loopback last. Returns how many. */
uint32_t enl_sockets_reach(const struct bcri_link_address *own,
                           struct bcri_link_address out[BCRI_INTRODUCED_MAX]);

/* Makes of `address` what a socket of that family sends to: IPv4 within IPv6. False: it cannot. */
bool enl_sockets_fit(struct bcri_link_address *address, int family);

/* ways.c -- By which way packets go to each other host, where it is not the usual one: what the link thread has
 * told of that, the sentences for the user, and the answers for enl why. All of it is the loop's. */

/* The link thread tells of another way (BCRI_TOLD_WAY). Each kind is said once for each host. */
void enl_ways_changed(struct enl_links *links, const struct bcri_link_news *news);
/* way_next, of a helper: answers with the first host of at least that number to which the way is not the usual one. */
const char *enl_ways_ask(struct enl_links *links, struct enl_conn *conn, const struct bcri_control *message);

#endif

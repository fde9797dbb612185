/* SPDX-License-Identifier: MIT */
/* The link thread of a host: it runs the agent and alone touches the socket, the keys and the links.
 *
 * It rests in epoll until a packet comes, the agent's bell rings (an order, a served request, a lock
 * that is released, a message from here), or a deadline has come. It never yields to a running CCE.
 *
 * Any other thread of the daemon may call what is below; each call is a message to the thread, and
 * waits for nothing. What the thread has to tell is taken by bcri_link_thread_take. */
#ifndef BCRI_LINK_THREAD_H
#define BCRI_LINK_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bcri/ctx.h"
#include "bcri/heap.h"
#include "bcri/line.h"
#include "bcri/notice.h"
#include "bcri/seal.h"

#define BCRI_INTRODUCED_MAX 8u          /* addresses of a host */
#define BCRI_TUNNELLED_MAX  2048u       /* bytes of a packet that goes over the tree */
#define BCRI_LANE_BYTES_MAX 8192u       /* bytes of a message in the tree's lane */
#define BCRI_LANE_WAITS_MAX (32u << 20) /* so much waits for a host there at most: it may read nothing */

struct bcri_link_thread;

struct bcri_link_address {
    struct sockaddr_storage at;
    socklen_t bytes;
};

struct bcri_link_thread_config {
    struct bcri_ctx *ctx; /* the agent's, with bell_fd; the thread's from start to stop */
    uint64_t pool_bytes;  /* at most; it grows by what is told */
    struct bcri_link_address bind;
    uint32_t packet_bytes; /* of a packet at most; the other host may want less */
    uint64_t silence_ns;   /* of a path on which an answer is due, after which it is told, and the link
                            goes on over the tree; 0: never */
    uint64_t forged_max;   /* bcri_link_config's */
    /* There is something to take. Called on the link thread. */
    void (*told)(void *owner);
    void *owner;
};

/* Starts the thread. Returns 0; -ENOMEM, also for want of descriptors; or another -errno: the address
 * cannot be bound. */
int bcri_link_thread_start(const struct bcri_link_thread_config *config, struct bcri_link_thread **out);
/* Ends it; what was on its way is lost, save in the tree's lane, for which it waits a second. False: it does not end (corrupt memory), and nothing that it
 * uses may be freed. */
bool bcri_link_thread_stop(struct bcri_link_thread *thread);
/* The address that the socket has. */
struct bcri_link_address bcri_link_thread_address(const struct bcri_link_thread *thread);

/* This host may work until `until_ns` of CLOCK_BOOTTIME (BCRI_DEADLINE_NEVER, at first: for ever).
 * The thread looks at that by itself before it receives, serves, or sends, so that a daemon that goes
 * on after others have taken it for dead does nothing of these before the loop has looked. */
void bcri_link_thread_lease(struct bcri_link_thread *thread, uint64_t until_ns);

/* The lanes: the orders of CCEs and their answers; the tree's, by which the root's daemon and one that others have started
 * say control messages (below). */
enum { BCRI_LANE_ORDERS = 0, BCRI_LANE_TREE = 1 };

/* What an introduction says of a host. Of its addresses all are tried until one has answered. If there is a
 * link, that has new keys from then on, and nothing else changes; in the tree's lane a link is made once. */
struct bcri_link_introduction {
    uint32_t host;
    uint16_t lane;
    bool listens;                   /* the tree's lane: nothing is sent before something has come */
    struct bcri_seal_secret secret; /* copied, and wiped by the thread */
    uint32_t address_count;
    struct bcri_link_address address[BCRI_INTRODUCED_MAX];
};
/* That host is lost; that there is no host of that number (yet). Nothing happens if `thread` is NULL. */
void bcri_link_thread_lost(struct bcri_link_thread *thread, uint32_t host);
void bcri_link_thread_unknown(struct bcri_link_thread *thread, uint32_t host);
/* These return false without memory. The last says so, too, if that CCE has no outbox: then there is
 * nothing to forget. */
bool bcri_link_thread_introduce(struct bcri_link_thread *thread,
                                const struct bcri_link_introduction *introduction);
bool bcri_link_thread_outbox(struct bcri_link_thread *thread, uint32_t index, bcri_ref outbox);
bool bcri_link_thread_forget(struct bcri_link_thread *thread, uint32_t index);

/* A CCE of this host, which the agent has forgotten, has ended: for one on another host that watches it. False: no memory. */
bool bcri_link_thread_notice(struct bcri_link_thread *thread, const struct bcri_notice *notice);
/* Puts what a CCE of this host has printed into a cell of another one; BCRI_TOLD_PRINTED tells when that is over, and the lines
 * are the thread's until then. False: no memory. */
bool bcri_link_thread_lines(struct bcri_link_thread *thread, struct bcri_lines *lines);
/* From now on it sends none, and tells of each as soon as it knows what has come there (bcri_agent_lines_halt). */
void bcri_link_thread_lines_halt(struct bcri_link_thread *thread);

/* Whether anything is under way: answered by BCRI_TOLD_QUIET, for a moment after this call. `question` is not
 * 0. A question that a later one overtakes has no answer. */
void bcri_link_thread_quiet(struct bcri_link_thread *thread, uint32_t question);

/* What has become of a piece that was told. */
void bcri_link_thread_grown(struct bcri_link_thread *thread, const struct bcri_heap_piece *piece,
                            bool reserved);

/* A link whose UDP path is silent or narrow goes on over the tree of daemons; one of the tree's lane uses both until it hears by
 * UDP. The oldest packet that is to go
 * there: its length, and the host that it is for; 0: there is none. */
uint32_t bcri_link_thread_take_packet(struct bcri_link_thread *thread, uint32_t *host_out,
                                      uint8_t packet_out[BCRI_TUNNELLED_MAX]);
/* A packet has come over the tree; at most BCRI_TUNNELLED_MAX bytes. It is dropped, as a network would,
 * if too many wait, there is no memory, or `thread` is NULL. */
void bcri_link_thread_tunnelled(struct bcri_link_thread *thread, const void *packet, uint32_t bytes);

/* The tree's lane to `host`, which has been introduced: sends a message (copied), once and in the order of its
 * row, of which there are two. It may be dropped if the host is lost, or has no such lane. False: no memory,
 * or too much waits for that host. Unlike orders these messages go, and come, while the lease is over: the loop looks at that itself. */
bool bcri_link_thread_lane_send(struct bcri_link_thread *thread, uint32_t host, unsigned row,
                                const void *content, uint32_t bytes);
/* Beside the row: it is not counted below, since it is said again and again. */
#define BCRI_LANE_PASSING 2u
/* Bytes of them that have not arrived yet: of all hosts; of one. */
uint64_t bcri_link_thread_lane_bytes(const struct bcri_link_thread *thread);
uint32_t bcri_link_thread_lane_waits(const struct bcri_link_thread *thread, uint32_t host);
/* From now on `told` is called, too, when nothing waits for a host any more. */
void bcri_link_thread_lane_tell_empty(struct bcri_link_thread *thread);
/* Puts a mark behind what has come of that host, and will be taken: so the end of a host, which is learned of in another way, is
 * known to be behind what that has said. False: no memory. */
bool bcri_link_thread_lane_mark(struct bcri_link_thread *thread, uint32_t host);
#define BCRI_LANE_MARK UINT32_MAX
/* The oldest that has come: its length, or BCRI_LANE_MARK, and the host that it is from; 0: there is none. */
uint32_t bcri_link_thread_lane_take(struct bcri_link_thread *thread, uint32_t *host_out,
                                    uint8_t content_out[BCRI_LANE_BYTES_MAX]);

enum bcri_link_told {
    BCRI_TOLD_WANTS_LINK, /* `number`: the host; if there is a link, it needs new keys */
    BCRI_TOLD_FORGOTTEN,  /* `number`: the CCE */
    BCRI_TOLD_POOL,       /* `piece`: to be reserved, bcri_heap_piece_reserve; not on the link thread */
    BCRI_TOLD_WAY, /* `number`: the host to which packets go in another way; `way`, `bytes`; `text`: its address */
    BCRI_TOLD_QUIET,  /* `number`: the question; `quiet` and `messages` answer it */
    BCRI_TOLD_NOTE,   /* `text`, for the log */
    BCRI_TOLD_ENDED,  /* `notice`: a CCE of another host */
    BCRI_TOLD_PRINTED /* `lines`: they are put, or what is left of them */
};
/* In which way the packets to a host go. */
enum bcri_way {
    BCRI_WAY_USUAL, /* by UDP */
    BCRI_WAY_LOW, /* by UDP, in packets of at most `bytes`, which is less than BCRI_LINK_PACKET_BASE: no larger ones pass */
    BCRI_WAY_SILENT, /* over the tree: nothing comes by UDP, though an answer is due */
    BCRI_WAY_NARROW, /* over the tree: by UDP small packets pass, but not those of BCRI_LINK_PACKET_MIN */
    BCRI_WAY_UNHEARD /* over the tree: what is sent by UDP has no answer, though that host's packets came not long ago */
};
struct bcri_link_news {
    enum bcri_link_told told;
    uint32_t number;
    enum bcri_way way;
    uint32_t bytes;
    bool quiet;        /* nothing is under way in the agent and its links (bcri_agent_rests) */
    uint64_t messages; /* sent and begun so far */
    struct bcri_heap_piece piece;
    struct bcri_notice notice;
    struct bcri_lines *lines;
    char text[480];
};
/* The oldest; false: there is none. */
bool bcri_link_thread_take(struct bcri_link_thread *thread, struct bcri_link_news *news_out);

#endif

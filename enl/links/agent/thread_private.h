/* SPDX-License-Identifier: MIT */
/* What the parts of the link thread share. */
#ifndef BCRI_THREAD_PRIVATE_H
#define BCRI_THREAD_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/mailbox.h"
#include "bcri/agent.h"
#include "bcri/lane_way.h"
#include "bcri/link.h"
#include "bcri/link_thread.h"
#include "bcri/udp.h"

/* What another thread wants: the first member of what it brings. */
enum what { INTRODUCE, OUTBOX, LANE, NOTICE, LINES };
struct command {
    struct enl_mail mail;
    enum what what;
    uint32_t number; /* the host, or the CCE */
};
struct introduce_command { /* in memory for secrets */
    struct command command;
    struct bcri_link_introduction introduction;
};
struct outbox_command {
    struct command command;
    bcri_ref outbox;
};
struct notice_command {
    struct command command;
    struct bcri_notice notice;
};
struct lines_command {
    struct command command;
    struct bcri_lines *lines;
};
/* Bytes on their way between the loop and a link: a message of the tree's lane, or a packet that goes over the tree. */
struct parcel {
    struct command command; /* LANE */
    uint32_t row, bytes;
    bool is_passing; /* nobody waits until it has arrived */
    uint8_t content[];
};

struct news {
    struct enl_mail mail;
    struct bcri_link_news news;
};

/* Numbers of hosts, or of CCEs. To add one needs no memory, and so no end of a host or CCE does. */
enum { NUMBERS_BITS = 64, NUMBERS_WORDS = (BCRI_HOST_NUMBER_MAX + 1) / NUMBERS_BITS };
struct numbers {
    uint32_t count;
    uint64_t words[NUMBERS_WORDS]; /* pages of no memory until used */
};
_Static_assert(BCRI_CCE_MAX <= BCRI_HOST_NUMBER_MAX, "numbers has room for CCEs");
/* What is told in numbers: to the thread, hosts that are lost, hosts that are unknown, CCEs that have ended; to the loop,
 * hosts to which a link is wanted, and CCEs that are forgotten. */
enum told_number { LOST, UNKNOWN, ENDED, WANTED, FORGOTTEN, TOLD_NUMBERS };

/* A host to which there is a link, in one lane. */
struct path {
    LIST_ENTRY(path) entry;
    struct bcri_link_thread *thread;
    uint32_t host;
    uint16_t lane;
    bool listens;    /* nothing is sent until something has come */
    uint32_t paused; /* the tree's lane: streams that wait until the loop has taken some, a bit each */
    struct bcri_link *link;
    struct bcri_link_address address[BCRI_INTRODUCED_MAX]; /* where the host may be */
    uint32_t address_count;
    struct bcri_link_address found; /* whence its latest packet came; `bytes` 0: none has come */
    struct bcri_lane_way by_udp;    /* heard: `found` works, packets go there alone */
    bool on_tree;                   /* UDP is silent or narrow: packets go over the tree */
    bool blocked;                   /* they wait until the loop has taken some */
    enum bcri_way way;              /* what is known of it now */
    enum bcri_way told;             /* what was told of it, with the size of packets */
    uint32_t told_bytes;
    bool wants_keys;     /* told: the hosts are to be introduced anew */
    uint64_t stays_ns;   /* how long it stays on the tree at least; twice as long each time */
    uint64_t changed_at; /* between tree and UDP */
    uint64_t try_at;     /* on_tree: when UDP is tried next */
};
LIST_HEAD(paths, path);

/* TREE_OUT, TREE_IN: packets that go, and have come, over the tree; LANE_IN: what has come in the tree's lane. */
enum { COMMANDS, NEWS, TREE_OUT, TREE_IN, LANE_IN, BOXES };

struct bcri_link_thread {
    struct bcri_link_thread_config config;
    struct bcri_agent *agent;
    struct bcri_udp *udp;
    int epoll, timer;
    uint64_t timer_at; /* when it goes off, or has gone off */
    struct paths paths;
    struct paths lost;      /* packets to them may still be gathered, which name their addresses */
    uint32_t path_count;    /* without the next */
    uint32_t lane_count;    /* in the tree's lane */
    uint64_t lingers_until; /* 0: it is not to end */
    uint32_t watched;       /* what epoll tells of the socket */
    uint32_t rung;          /* how often CCEs here had been rung before the last rest */
    bool over;              /* the lease is; then only the tree's lane goes on */
    bool gathers_orders;    /* packets of the other lane are gathered, and not sent */
    bool full;              /* the socket is; nothing is filled until it is writable */
    bool readable;          /* packets may have come */
    bool unasked;           /* likewise: there was no rest, since the bell had rung */
    uint64_t active_at;     /* when a packet came or went last */
    uint64_t now;
    struct enl_mails kept; /* commands for which there was no memory, and what may not overtake them */
    struct numbers ended[ENDED + 1]; /* taken from `told` */
    uint64_t notes_since;            /* the second for which notes are counted */
    unsigned notes;
    pthread_t thread;
    struct enl_mailbox box[BOXES];
    pthread_mutex_t mutex; /* of the next three */
    struct numbers told[TOLD_NUMBERS];
    struct numbers has_outbox; /* CCEs */
    struct grown { /* a piece for the pool, or that there is none; the agent asks for one at a time */
        bool there, reserved;
        struct bcri_heap_piece piece;
    } grown;
    _Atomic uint32_t quiet; /* the last question of bcri_link_thread_quiet that is not answered; 0: none */
    atomic_bool out_full;   /* the thread waits until the loop has taken some */
    atomic_bool halts_lines;
    atomic_bool stop;
    atomic_bool
        tells_empty; /* config.told is called when nothing waits in the tree's lane to a host any more */
    _Atomic uint32_t lane_in_bytes;
    _Atomic uint64_t lane_bytes; /* to be sent, or under way */
    _Atomic uint32_t
        lane_waits[BCRI_HOST_NUMBER_MAX + 1]; /* of them, to each host; pages of no memory until used */
    _Atomic uint64_t lease_ns;                /* of CLOCK_BOOTTIME */
};

/* ---- commands.c ---- */

void bcri_thread_ring(struct bcri_link_thread *thread);
/* What the agent tells goes to the daemon's loop. */
extern const struct bcri_agent_events bcri_thread_events;
bool bcri_thread_tell(struct bcri_link_thread *thread, const struct bcri_link_news *what);
void bcri_thread_wants_link(void *owner, uint32_t host);
void bcri_thread_note(void *owner, uint32_t host, const char *sentence);
/* Frees a command that is executed, or will not be. */
void bcri_thread_done(struct bcri_link_thread *thread, struct command *command);
/* `content` NULL: it is filled later. NULL: no memory. */
struct parcel *bcri_parcel_new(uint32_t host, uint32_t row, const void *content, uint32_t bytes);
/* A message of the tree's lane that was to be sent is done with. */
void bcri_lane_gone(struct bcri_link_thread *thread, struct parcel *parcel);
void bcri_numbers_add(struct numbers *numbers, uint32_t number);
/* Takes the lowest out. False: there is none. */
bool bcri_numbers_take(struct numbers *numbers, uint32_t *number_out);

/* Whether this host may not work any more, unless the loop comes to know better. */
bool bcri_thread_lease_is_over(const struct bcri_link_thread *thread);

/* ---- parcels.c ---- */

/* On the link thread. Whether a packet more may be sent now; if not, the bell rings when it may. */
bool bcri_tunnelled_has_room(struct bcri_link_thread *thread);
void bcri_tunnelled_send(struct bcri_link_thread *thread, uint32_t host, const uint8_t *packet,
                         uint32_t bytes);

extern const struct bcri_link_events bcri_lane_events; /* their owner is a path */
/* A message of the lane is there for the loop; without bytes: a mark. */
void bcri_lane_came(struct bcri_link_thread *thread, struct parcel *parcel);
/* Streams go on for which there is room now. */
void bcri_lane_resume(struct bcri_link_thread *thread, struct path *path);

/* ---- paths.c; on the link thread ---- */

/* NULL: there is none. */
struct path *bcri_path_find(const struct bcri_link_thread *thread, uint32_t host, uint16_t lane);
/* Something is to be sent there: if nothing was answered for long, no time is lost by waiting for longer each time. */
void bcri_paths_try_again(struct bcri_link_thread *thread, struct path *path);

/* False: not now, for want of memory. */
bool bcri_paths_introduce(struct bcri_link_thread *thread, const struct bcri_link_introduction *introduction);
/* Likewise. */
bool bcri_paths_lose(struct bcri_link_thread *thread, uint32_t host);
/* Links to hosts from which nothing comes, though an answer is due, or to which only small packets pass, go on over the
 * tree; for those that
 * forged packets wear out, an introduction is asked for. */
void bcri_paths_look_after(struct bcri_link_thread *thread);
/* When a link has something to send at the latest. */
uint64_t bcri_paths_deadline(const struct bcri_link_thread *thread);
/* The other host is on the tree: a packet has come there; `heard_at`: when anything came before. */
void bcri_path_came_by_tree(struct bcri_link_thread *thread, struct path *path, uint64_t heard_at);
void bcri_paths_free(struct paths *paths);
/* Whether its link may send, and wants to be called again for that. */
static inline bool path_is_awake(const struct bcri_link_thread *thread, const struct path *path)
{
    return path->lane == BCRI_LANE_TREE ? !path->listens : !thread->over;
}
/* How often UDP is tried for a link on the tree (clock.h). */
#define PATH_TRY_NS (2 * BCRI_NS_PER_S)

/* ---- packets_in.c, packets_out.c; on the link thread ---- */

/* Receives what has come, up to a limit. Returns whether anything has. */
bool bcri_packets_receive(struct bcri_link_thread *thread);
/* Receives what has come over the tree. */
void bcri_packets_take_tunnelled(struct bcri_link_thread *thread);
/* Acknowledges what has come by a link of the tree's lane that is about to go: the other host waits for that with its end. */
void bcri_packets_send_last(struct bcri_link_thread *thread, struct path *path);
/* Sends what the links have to send. Returns whether there was anything. */
bool bcri_packets_send(struct bcri_link_thread *thread);

#endif

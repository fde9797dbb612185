/* SPDX-License-Identifier: MIT */
/* A program on many hosts in pretended time: daemons start each other as the plan says, pass frames on by their
 * tables, are killed, stand still and lose their pipes at any time; hosts whose way is lost go over to the control link; hosts
 * want links to each other, and new keys for those that they have. What decides is the daemons' own code: life.c, lives.c,
 * plan.c, routes.c, sequence.c, lease.h, introducer.c, introduced.c, backup.c, and the keys are theirs. What carries
 * frames, and does what life.c decides, is written again here, after child.c, uplink.c and branch.c.
 *
 *   tree_clock.c    what is to happen, in order
 *   tree_ways.c     frames, and by whom they go
 *   tree_links.c    what each daemon has of links and introductions
 *   tree_root.c     the root's daemon
 *   tree_member.c   each other one
 *   tree_sim.c      who acts on what happens; faults */
#ifndef TREE_SIM_H
#define TREE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"
#include "tree/introductions.h"
#include "tree/lease.h"
#include "tree/life.h"
#include "tree/plan.h"
#include "tree/routes.h"
#include "tree/sequence.h"

enum { TIMEOUT = 30000, CONNECT = 20000, END_MSEC = 2000 };

enum kind {
    UP,
    DOWN,
    LANE_UP,
    LANE_DOWN,
    BEAT,
    LOOK,
    LOGIN,
    STARTED,
    ENDED_PIPE, /* of a daemon: to its starter */
    CLOSED,     /* of a starter: the pipe to the host */
    ENDED,      /* of a starter: the command of the host */
    LOSE,
    KILL,
    STOP,
    CUT,
    BLOCK, /* nothing passes one way for a while */
    INTERRUPT,
    WORK
};

/* One end. */
struct link {
    uint32_t other;
    bool is_made, is_wanted, is_lost;
    struct bcri_seal_secret secret;
    unsigned made, absent; /* how often; how often it was told that there is no such host, or not yet */
};

/* What a daemon has of links: the product's part, and what its link thread would know. */
struct ends {
    uint32_t number; /* of its host */
    struct enl_keys keys;
    struct enl_introductions all;
    struct link *links;
    unsigned count, room;
};

struct host {
    /* the daemon itself */
    bool runs, is_up, was_killed, was_stopped, on_control_link, seeks;
    unsigned troubles;    /* how often it stood still, or its pipe was cut or blocked */
    bool command_is_over; /* by which it was begun: ssh, of which another daemon has the other end */
    uint64_t resumes;     /* it stands still until then */
    struct enl_sequence numbers;
    struct enl_lease lease;
    struct enl_routes routes;
    struct ends ends;
    struct enl_backup_up *backup; /* NULL: none, or it has not been started */
    struct bcri_seal_secret control_link_secret;
    unsigned wants, said, passed, begun;
    unsigned asks;       /* resume, of either kind */
    unsigned says, sent; /* what it says itself; and frames of that, also those that are sent again */
    uint64_t blocked[4]; /* until then nothing passes, by way */
    uint64_t last[8];    /* when the last frame comes, by way and row: none overtakes another */
    /* as the root knows it */
    struct enl_life life;
    uint32_t place;
    uint64_t looks_ms; /* the next LOOK; UINT64_MAX: none */
    struct enl_sequence root_numbers;
    struct enl_backup root_backup;
    struct bcri_seal_secret root_control_link_secret;
    unsigned root_heard, root_says, root_sent;
};

struct event {
    uint64_t at, order;
    enum kind kind;
    uint32_t host;
    uint8_t *bytes;
    size_t length;
};

/* All that there is. */
struct tree_sim {
    struct host *hosts; /* by number, from 1 */
    uint32_t last_number, numbers;
    unsigned places, partners, fanout;
    struct enl_lives lives; /* the root's */
    bool begins;            /* the plan may have something to begin */
    bool has_faults, is_over;
    struct enl_plan plan; /* the root's */
    struct ends root;
    uint64_t now_ms, quiet_ms, seed, random; /* no new keys are wanted from quiet_ms on */
    unsigned ambushes; /* so many daemons more are killed while an introduction passes through them */
    unsigned up_count, deepest, rounds_ms, gone_count, lost_count, attached, frames, events;
};
extern struct tree_sim sim;

/* ---- tree_clock.c ---- */

/* What happens, with its time: printed if BCR_TREE_TRACE is set. */
__attribute__((format(printf, 1, 2))) void sim_trace(const char *format, ...);

/* Those of one moment come in the order in which they were pushed first. */
void clock_push(struct event event);
void clock_later(enum kind kind, uint32_t host, uint64_t after_ms);
/* The next that comes no later than `end_ms`. False: there is none. */
bool clock_pop(uint64_t end_ms, struct event *out);

/* ---- tree_ways.c ---- */

/* A frame by the pipe or control link between `host` and what is above it. */
void way_post(enum kind kind, uint32_t host, const struct bcri_control *message);
/* From a host to the root, and back; for struct enl_sequence. */
void way_up(void *owner, const struct bcri_control *message);
void way_down(void *owner, const struct bcri_control *message);
/* Whether what the root and that host say has numbers. */
bool way_is_numbered(const struct host *host);
void member_says(struct host *host, struct bcri_control message);
void root_says(struct host *host, struct bcri_control message);
struct bcri_control message_of(enum bcri_control_type type, uint32_t number);

/* ---- tree_links.c ---- */

/* That daemon's, with the program's key (NULL: it makes that). */
void ends_begin(struct ends *ends, uint32_t number, const uint8_t *program_key);
void ends_end(struct ends *ends);
/* Something is ordered there of that host: a link is wanted, unless there is one, or it is on its way. Returns whether
 * it is now. */
bool ends_want(struct ends *ends, uint32_t other);
/* New keys are wanted, of a link that is there. */
void ends_renew(struct ends *ends, struct link *link);
/* NULL: there has been none. */
struct link *ends_find(const struct ends *ends, uint32_t other);

/* ---- tree_root.c ---- */

void root_wants(uint32_t place);
void root_begins(void);
/* Whether what is tried now fails, once in so many times, if there are faults. */
bool fails(unsigned times);
/* How long a login takes; now and then longer than it may. */
uint64_t login_ms(void);
/* What has come by the pipe, or lane, of host `by`. */
void root_takes(uint32_t by, const struct bcri_control *message);
/* That has happened to a host, as the root learns. */
void root_happens(struct host *host, enum enl_life_event event);
/* Whether the end of its command says that its daemon has ended, too: of some commands it never does. */
bool end_is_sure(const struct host *host);
void root_looks(struct host *host);
/* All are to end. */
void root_ends(void);
/* Hosts are lost to others whose lease is over by now. */
void root_tells_of_lost(void);

/* ---- tree_member.c ---- */

void member_logs_in(struct host *host);
void member_has_started(struct host *host);
void member_takes(struct host *host, const struct bcri_control *message);
void member_beats(struct host *host);
/* Wants a link to one more, and prints. */
void member_works(struct host *host);
void member_ends(struct host *host);
/* The command by which it was begun is killed, or ends. `closes`: its starter finds the pipe closed. */
void command_ends(struct host *host, bool closes);
/* There is no host of that number yet: another one is tried. */
void member_is_refused(struct host *host);
/* The pipe from its starter has ended; that of `host` to its starter has. */
void member_has_no_pipe(struct host *host);
void member_tells_of_closed(struct host *host);
void member_tells_of_ended(struct host *host);

/* ---- tree_sim.c ---- */

void tree_begin(uint64_t seed, unsigned places, unsigned fanout, unsigned partners);
/* What is under way 10 s before comes to its end. */
void tree_run_until(uint64_t end_ms);
void tree_finish(void);

#endif

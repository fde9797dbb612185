/* SPDX-License-Identifier: MIT */
/* A program on many hosts in pretended time: daemons start each other as the plan says, pass
 * frames on by their tables, are killed, stand still and lose their pipes at any time; hosts want
 * links to each other, and new keys for those that they have. What decides is the daemons' own
 * code: life.c, lives.c, membership.c, plan.c, routes.c, introducer.c, introductions.c,
 * control_link.c, and the keys are theirs. What carries frames, and does what life.c and
 * membership.c decide, is written again here, after child.c, uplink.c and branch.c.
 *
 *   tree_clock.c    what is to happen, in order
 *   tree_ways.c     frames, and by whom they go
 *   tree_keys.c     keys that cost nothing
 *   tree_links.c    what each daemon has of links and introductions
 *   tree_root.c     the root's daemon: what is done
 *   tree_comes.c    the same: what comes
 *   tree_member.c   each other one: those that it begins, and what comes
 *   tree_membership.c   the same: what happens to it
 *   tree_stop.c     Ctrl-Z, and how the program goes on
 *   tree_faults.c   what goes wrong
 *   tree_sim.c      who acts on what happens */
#ifndef TREE_SIM_H
#define TREE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"
#include "bcri/lane_way.h"
#include "tree/introductions.h"
#include "tree/life.h"
#include "tree/membership.h"
#include "tree/plan.h"
#include "tree/routes.h"

enum { TIMEOUT = 30000, CONNECT = 20000, END_MSEC = 2000 };
/* So long may a host stand still, or what it says be held up, without harm: a lease is four beats
 * long, and frames may be held up in both directions, and again. */
enum { HARMLESS = TIMEOUT / 8 };

enum kind {
    /* frames: by the pipes, one hop of them, and by a control link */
    UP,
    DOWN,
    LINK_UP,
    LINK_DOWN,
    WAYS,
    READ = WAYS, /* the root has taken what a control link has brought so far */
    TICK,        /* a deadline of a host's daemon */
    LOOK,
    LOGIN,
    STARTED,
    ENDED_PIPE, /* of a daemon: to its starter */
    CLOSED,     /* of a starter: the pipe to the host */
    ENDED,      /* of a starter: the command of the host */
    LOSE,
    WORK,
    FINISH,      /* a host's work is done, which is to end */
    CAME,        /* what a host has said may have come */
    ANSWERED_UP, /* by a control link: what a host, or the root, has sent is acknowledged */
    ANSWERED_DOWN,
    KILLED,    /* a command that hung has ended */
    PUSHED,    /* of a starter: what is pushed to the host is on its way */
    INTERRUPT, /* Ctrl-C */
    DISMISS,   /* one host alone is to end: it is taken out of the program */
    NONSENSE,  /* the root takes what a host says for nonsense */
    WANT,      /* one more host is wanted, which is added to the program */
    PATIENCE,  /* with hosts that are to stop */
    /* nobody acts on them */
    SUSPEND, /* Ctrl-Z */
    GO_ON,
    KILL,
    STOP,
    SLEEP, /* a machine sleeps: its time goes on, and its timers are late; host 0 is the root's */
    CUT,
    STICK, /* a pipe takes nothing any more */
    LAG,   /* all that a host says and is told takes long from now on */
    BLOCK, /* nothing passes one way for a while */
    QUIT,  /* a host ends by itself, in order */
    DIE    /* the root's daemon */
};

/* One end. */
struct link {
    uint32_t other;
    bool is_made, is_wanted, is_lost;
    struct bcri_seal_secret secret;
    unsigned answered;     /* how many wants were answered by that there is no such host */
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

/* One direction of the pipe to a host, or of its control link. */
struct way {
    uint64_t lag_ms;
    uint64_t blocked_ms;   /* until then nothing passes */
    uint64_t held_ms;      /* of a control link: until then a frame waits, and all behind it */
    uint64_t last_ms[2];   /* when the last frame comes, by row: none overtakes another */
    unsigned words;        /* frames up to the last that was no beat */
    unsigned posted, came; /* frames; by a control link all come, or none any more */
    bool is_broken;        /* who has sent is gone, with what was on its way */
    /* of a control link: what the sender knows */
    struct bcri_lane_way lane;
    uint64_t waits_ms, heard_ms; /* when the oldest was sent that has no answer; when an answer came last */
    unsigned answered;           /* frames */
    bool has_answer;             /* one is on its way */
    uint64_t closed_ms;          /* since when nothing can pass by any way; 0: something can */
};

struct host {
    /* the daemon itself */
    bool runs, is_up, was_killed;
    bool by_link;  /* all that it says goes by its control link */
    bool has_pipe; /* to its starter, which leads to the root if all above have theirs */
    bool is_done;  /* its work is ended */
    bool has_quit;
    bool was_warned;      /* it worked when it was told that the root is gone */
    bool command_is_over; /* by which it was begun: ssh, of which another daemon has the other end */
    uint64_t troubled_ms; /* it stands still until then, or something that it says or is told is held up */
    bool is_excused; /* it stood still, or what it says or is told was held up for long: it may be lost */
    bool was_spared; /* the command was killed, and hangs until then, or until it is killed again */
    uint64_t hangs_ms;
    bool has_said_end;                  /* as the last of all, and nothing was in its way */
    uint64_t said_end_ms;               /* its last word; 0: it has not said that */
    bool is_stuck;                      /* its starter can write nothing to it */
    uint64_t resumes;                   /* it stands still until then */
    uint64_t ticks_ms;                  /* the next TICK; UINT64_MAX: none */
    uint64_t starts_ms;                 /* what comes waits until then */
    uint32_t first_branch, next_branch; /* hosts that it has begun; its starter's next */
    struct enl_membership membership;   /* once it is up */
    struct {
        uint32_t number;
        uint64_t ms;
    } beats[ENL_BEATS]; /* when they were sent */
    uint64_t lease_ms;  /* when it must have ended, unless it is stopped */
    struct enl_routes routes;
    struct ends ends;
    struct enl_control_link_up *control_link; /* NULL: none, or it has not been started */
    struct bcri_seal_secret secret;           /* of its control link */
    unsigned wants, said, passed, begun, says;
    struct way ways[WAYS];
    /* as the root knows it */
    struct enl_life life;
    uint32_t place, wish, blamed;
    bool has_spoken, has_end; /* it has said what machine it is; there is an end for its control link */
    bool is_dismissed;        /* it alone is to end, or is not needed */
    bool goes_on_late;        /* it is told that the program goes on when it is up */
    bool stops;               /* it was told to stop, and has not answered */
    uint64_t more_ms;         /* it was last told that more of what is pushed is on its way */
    unsigned cuts;            /* that were sent to it twice */
    uint64_t looks_ms;        /* the next LOOK; UINT64_MAX: none */
    struct enl_control_link root_control_link;
    struct bcri_seal_secret root_secret;
    unsigned root_heard, root_says;
};

/* A host that the program has asked for, under one number or, where it could not be begun,
 * several. */
struct wish {
    unsigned up, told; /* how often it was up at last; how often it was said that it cannot be, or need not */
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
    struct wish *wishes;
    uint32_t last_number, numbers, last_wish;
    unsigned places, partners, fanout;
    struct enl_lives lives; /* the root's */
    bool begins;            /* the plan may have something to begin */
    bool has_faults, has_cheap_keys, is_over;
    struct enl_plan plan; /* the root's */
    struct ends root;
    uint64_t now_ms, quiet_ms, seed, random; /* no new keys are wanted from quiet_ms on */
    bool is_stopping;                        /* hosts are told to stop, or have, and so has the root then */
    uint64_t root_until_ms;                  /* it stands still until then */
    unsigned stops;                          /* how often the program was stopped */
    bool is_dead;                            /* the root's daemon */
    unsigned ambushes; /* so many daemons more are killed while something passes through them */
    unsigned up_count, deepest, rounds_ms, gone_count, lost_count, orphans, frames, acts;
};
extern struct tree_sim sim;
/* What has happened to hosts of each state, as often, in all programs so far. */
extern unsigned sim_happened[ENL_LIFE_STATES][ENL_LIFE_EVENTS];
extern unsigned sim_happened_there[ENL_MEMBERSHIP_STATES][ENL_MEMBERSHIP_EVENTS];

/* ---- tree_clock.c ---- */

/* What happens, with its time: printed if BCR_TREE_TRACE is set. */
__attribute__((format(printf, 1, 2))) void sim_trace(const char *format, ...);

/* Those of one moment come in the order in which they were pushed first. */
void clock_push(struct event event);
void clock_later(enum kind kind, uint32_t host, uint64_t after_ms);
/* The next that comes no later than `end_ms`. False: there is none. */
bool clock_pop(uint64_t end_ms, struct event *out);

/* ---- tree_ways.c ---- */

/* Whether another daemon has begun it. */
static inline bool is_deep(const struct host *host)
{
    return host->life.starter != 0;
}

/* A frame by the pipe of `host`, or by its control link. */
void way_post(enum kind kind, uint32_t host, const struct bcri_control *message);
/* A frame of a control link has come to its other end. False: not yet, or never; then it is put
 * back or dropped. */
bool way_is_through(struct event *event);
/* The acknowledgement of what has come by LINK_UP or LINK_DOWN is sent. */
void way_answers(enum kind kind, uint32_t number);
/* What goes behind what is on its way to the reader. */
uint64_t way_behind_ms(enum kind kind, const struct host *host);
void member_says(struct host *host, struct bcri_control message);
void root_says(struct host *host, struct bcri_control message);
struct bcri_control message_of(enum bcri_control_type type, uint32_t number);

/* ---- tree_links.c ---- */

/* That daemon's, with the program's key (NULL: it makes that). */
void ends_begin(struct ends *ends, uint32_t number, const uint8_t *program_key);
void ends_end(struct ends *ends);
/* Something is ordered there of that host: a link is wanted, unless there is one, or it is on its
 * way. Returns whether it is now. */
bool ends_want(struct ends *ends, uint32_t other);
/* New keys are wanted, of a link that is there. */
void ends_renew(struct ends *ends, struct link *link);
/* NULL: there has been none. */
struct link *ends_find(const struct ends *ends, uint32_t other);
/* Whether that host does anything still: its daemon runs, is not stopped, and its lease holds. */
bool host_works(const struct host *host);

/* ---- tree_root.c ---- */

/* The program asks for a host. */
void root_wants(uint32_t place);
void root_begins(void);
/* That has happened to a host, as the root learns. */
void root_happens(struct host *host, enum enl_life_event event);
/* Whether the end of its command says that its daemon has ended, too: of some commands it never
 * does. */
bool end_is_sure(const struct host *host);
void root_looks(struct host *host);
/* All are to end. */
void root_ends(void);
/* Hosts are lost to others whose lease is over by now. */
void root_tells_of_lost(void);

/* ---- tree_comes.c ---- */

/* What has come by the pipe of host `by`, and by the control link of `host`. */
void root_takes(uint32_t by, const struct bcri_control *message);
void root_takes_of_link(struct host *host, const struct bcri_control *message);
void root_has_read(struct host *host);

/* ---- tree_member.c ---- */

void member_logs_in(struct host *host);
void member_has_started(struct host *host);
void member_takes(struct host *host, enum kind kind, const struct bcri_control *message);
/* A frame has come by the pipe of `from`, which it has begun. */
void member_passes_up(struct host *host, uint32_t from, struct bcri_control message);
bool member_has_branches(const struct host *host);
struct bcri_control ended_message(uint32_t number);
/* Wants a link to one more, and prints. */
void member_works(struct host *host);
void member_ends(struct host *host);
/* The command by which it was begun is killed, or ends. `closes`: its starter finds the pipe
 * closed. */
void command_ends(struct host *host, bool closes);
/* Who kills it has closed the pipes. Now and then it does not end by that. */
void command_is_killed(struct host *host);
/* There is no host of that number yet: another one is tried. */
void member_is_refused(struct host *host);
/* The pipe of `host` to its starter has ended. */
void member_tells_of_closed(struct host *host);
void member_tells_of_ended(struct host *host);
void member_tells_of_push(struct host *host);
void member_tells_of_stuck(struct host *host);

/* ---- tree_membership.c ---- */

/* It has answered `start`. */
void member_joins(struct host *host);
/* That has happened to it, as it sees. */
void member_happens(struct host *host, enum enl_membership_event event);
/* Its deadline may have come. */
void member_ticks(struct host *host);
/* A heartbeat of its has been answered. */
void member_is_answered(struct host *host, uint32_t number);
/* It ends when all has come that it has said. */
void member_finishes(struct host *host);
void member_looks_whether_all_came(struct host *host);
void member_hears_that_root_is_lost(struct host *host);
/* The pipe from its starter has ended. */
void member_has_no_pipe(struct host *host);

/* ---- tree_stop.c ---- */

void root_stops(void);
/* That one is told to stop; to go on. */
void root_has_stop(struct host *host);
void root_has_go_on(struct host *host);
/* A host has stopped, or is gone. */
void root_has_stopped(struct host *host);
void root_stops_itself(void);
void root_goes_on(void);
void root_dies(void);
void member_stops(struct host *host);
void member_goes_on(struct host *host);

/* ---- tree_faults.c ---- */

/* Whether what is tried now fails, once in so many times, if there are faults. */
bool fails(unsigned times);
/* How long a login takes; now and then longer than it may. */
uint64_t login_ms(void);
void fault_happens(enum kind kind);
/* Something that the root does to one host, of any state. */
void root_meddles(enum kind kind);
/* Whether that daemon is killed now, by something that comes to it or passes through it. */
bool is_ambushed(struct host *host, const struct bcri_control *message);

/* ---- tree_sim.c ---- */

void tree_begin(uint64_t seed, unsigned places, unsigned fanout, unsigned partners, bool has_cheap_keys);
/* What is under way 40 s before comes to its end. */
void tree_run_until(uint64_t end_ms);
void tree_finish(void);

#endif

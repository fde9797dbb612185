/* SPDX-License-Identifier: MIT */
/* life.h -- One other host of the program, as the root's daemon sees it, from when it is wanted until it is gone; and which hosts
 * are reached by way of which. Pure: no loop, descriptor, process, clock or message is here. What happens goes in as an
 * event, with the time; what is to be done comes out as a set of actions, to be carried out in their order.
 *
 * The rules are one table (enl_life_rules), which docs/states/host.md shows and explains, and test_life compares with that page. An
 * event for which a state has no rule is dropped and counted.
 *
 * Times are milliseconds of CLOCK_BOOTTIME, which also counts while the machine sleeps. */
#ifndef ENL_LIFE_H
#define ENL_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

enum enl_life_state {
    ENL_LIFE_WAITING,   /* for a daemon that may begin it */
    ENL_LIFE_BEGUN,     /* its command runs; it has not spoken */
    ENL_LIFE_MET,       /* it has said what machine it is, and is sent its settings */
    ENL_LIFE_ANNOUNCED, /* it has said where it can be reached */
    ENL_LIFE_UP,        /* it works */
    ENL_LIFE_ENDING,    /* it works, and was told to end */
    ENL_LIFE_FAILED,    /* it was never up; no way leads to it any more, and its command is still to end */
    ENL_LIFE_CLOSED,    /* it was up; the same */
    ENL_LIFE_GONE,
    ENL_LIFE_STATES,
    /* In a rule: the state stays. */
    ENL_LIFE_SAME = ENL_LIFE_STATES
};

enum enl_life_event {
    ENL_LIFE_BEGIN,     /* its command has been started, or its starter was asked to */
    ENL_LIFE_NOT_BEGUN, /* its command could not be started */
    ENL_LIFE_PRESENTS,  /* it has said what machine it is */
    ENL_LIFE_ANNOUNCES, /* where it can be reached */
    ENL_LIFE_STARTS,    /* it has answered `start` */
    ENL_LIFE_MORE,      /* files that are pushed to it are on their way */
    ENL_LIFE_SPEAKS,    /* anything has come from it, which is to end */
    ENL_LIFE_BEATS,     /* a heartbeat of its has been answered, or time does not count */
    ENL_LIFE_SILENT,    /* nothing came for too long */
    ENL_LIFE_END,       /* it is to end */
    ENL_LIFE_CUT, /* it is to be given up at once: it talks nonsense, is not needed, or memory is short */
    ENL_LIFE_PIPE_ENDS,    /* its pipe has ended, as this daemon sees, or its starter tells */
    ENL_LIFE_PROCESS_ENDS, /* its command has ended */
    ENL_LIFE_DAEMON_ENDS,  /* its command has ended, with a status that says that its daemon has, too */
    ENL_LIFE_SAYS_END,     /* it tells of its own end, by its control link */
    ENL_LIFE_WAY_LOST, /* a pipe between the root and its starter is lost, or its own cannot be written to */
    ENL_LIFE_STARTER_LOST, /* the host that has begun it is */
    ENL_LIFE_GO_ON,        /* the program goes on after Ctrl-Z: time counts from now */
    ENL_LIFE_EVENTS
};

/* What is to be done, in this order. */
enum {
    ENL_LIFE_DO_KILL = 1 << 0,   /* kill its command, or tell its starter to */
    ENL_LIFE_DO_IDLE = 1 << 1,   /* have it begin no more hosts */
    ENL_LIFE_DO_CLOSE = 1 << 2,  /* close the way to it; those below it lose theirs */
    ENL_LIFE_DO_SET_UP = 1 << 3, /* send it the settings */
    ENL_LIFE_DO_LISTEN =
        1
        << 4, /* if another host has begun it: be ready for its control link, by which all goes from now on */
    ENL_LIFE_DO_WELCOME = 1 << 5,
    ENL_LIFE_DO_TELL = 1 << 6, /* send it the message by which it is to end */
    ENL_LIFE_DO_LEAVE = 1 << 7 /* it is GONE: say so, and fail what was asked of it */
};

enum enl_life_process {
    ENL_LIFE_NO_PROCESS,
    ENL_LIFE_RUNS,         /* for all that is known */
    ENL_LIFE_ENDED,        /* its status is known */
    ENL_LIFE_SAID_END,     /* its daemon has, as that has said */
    ENL_LIFE_NOBODY_TELLS, /* its starter is lost */
    ENL_LIFE_NOT_TOLD      /* its starter was to kill it, and does not tell that it has */
};

/* The parts that decide; `child.h` has the rest. */
struct enl_life {
    uint32_t number;  /* of the host in the program */
    uint32_t starter; /* the host whose daemon has begun it; 0: the root's */
    enum enl_life_state state;
    enum enl_life_process process; /* its command, by which it was begun */
    bool was_up;
    bool is_told;                /* that it is to end, or is not needed: its end needs no reason */
    uint64_t heard_ms;           /* of the last answer that it got */
    uint64_t patience_ms;        /* how long it may say nothing before it ends */
    uint64_t until_ms;           /* UINT64_MAX: no deadline */
    uint32_t pending;            /* events, as bits, that have been told and not handled */
    TAILQ_ENTRY(enl_life) entry; /* of those that have some */
};

/* What an event is judged by. */
struct enl_life_now {
    uint64_t ms;
    uint64_t connecttimeout, hosttimeout; /* ms */
    uint64_t patience_ms;                 /* of END */
};

struct enl_life_rule {
    uint16_t states; /* bits */
    uint8_t event;
    uint8_t next; /* FAILED and CLOSED are GONE at once, with DO_LEAVE, unless its command runs */
    uint16_t actions;
};

/* The table, and how many rules it has. No two are of the same state and event. */
extern const struct enl_life_rule enl_life_rules[];
extern const size_t enl_life_rules_count;

/* Whether there is a rule. */
bool enl_life_takes(const struct enl_life *life, enum enl_life_event event);
/* That has happened. Returns the actions, 0 if there are none. Sets the deadline. */
unsigned enl_life_happens(struct enl_life *life, enum enl_life_event event, const struct enl_life_now *now);
/* Whether SILENT is to happen now: the deadline has come. */
static inline bool enl_life_is_silent(const struct enl_life *life, uint64_t now_ms)
{
    return now_ms >= life->until_ms;
}
/* How many events were dropped, in this process. */
uint64_t enl_life_dropped(void);
/* As docs/states/host.md has them. */
const char *enl_life_state_name(enum enl_life_state state);
const char *enl_life_event_name(enum enl_life_event event);

/* It can be asked for something. */
static inline bool enl_life_works(const struct enl_life *life)
{
    return life->state == ENL_LIFE_UP;
}

/* It is told that the program stops: it has been sent its settings, so it may be up before the root has stopped, and it is not to end. */
static inline bool enl_life_hears_stop(const struct enl_life *life)
{
    return life->state >= ENL_LIFE_MET && life->state <= ENL_LIFE_UP;
}

/* What it is told now goes by pipes, and will not when it is up. */
static inline bool enl_life_changes_way(const struct enl_life *life)
{
    return life->starter != 0 && life->state == ENL_LIFE_MET;
}

static inline bool enl_life_is_ending(const struct enl_life *life)
{
    return life->state >= ENL_LIFE_ENDING && life->state <= ENL_LIFE_CLOSED;
}

/* A way to it was made, and is not closed. */
static inline bool enl_life_has_way(const struct enl_life *life)
{
    return life->state >= ENL_LIFE_BEGUN && life->state <= ENL_LIFE_ENDING;
}

/* Until when the daemon there may go on working: 0: it has ended. `is_sure`: the end of its command is that of its
 * daemon. */
uint64_t enl_life_lease_ms(const struct enl_life *life, bool is_sure, uint64_t hosttimeout);

/* Whether one that is GONE, and is wanted still, is to be begun again, and by whom. Its starter is lost, or has not got there: which may be
 * the starter's fault, since from there other machines can be reached, or by other names, than from the root's. `has_spoken`: it has
 * said what machine it is. */
enum enl_life_again { ENL_LIFE_NOT_AGAIN, ENL_LIFE_AGAIN_BY_ANY, ENL_LIFE_AGAIN_BY_ROOT };
enum enl_life_again enl_life_again(const struct enl_life *life, bool has_spoken);

/* lives.c -- All of them, by number; and what has happened to them and is not handled. An event is handled after the one by which it
 * arose, never within: so what is done for one finds no other changed meanwhile. Of one host those that wait together are handled in
 * the order of their enum, by which it lives. */
struct enl_lives {
    struct enl_life **by_number; /* NULL: it is gone, or there has been none */
    size_t room;
    TAILQ_HEAD(, enl_life) pending;
    bool runs;
};

/* That has happened to it. */
void enl_lives_tell(struct enl_lives *lives, struct enl_life *life, enum enl_life_event event);
/* Has all be handled that was told, and what is told meanwhile: by `happens`, which may add hosts and let any be gone. Within that it
 * does nothing, since it goes on anyway. */
typedef void enl_lives_happens(void *owner, struct enl_life *life, enum enl_life_event event);
void enl_lives_run(struct enl_lives *lives, enl_lives_happens *happens, void *owner);
/* It is GONE: nothing happens to it any more. */
void enl_lives_gone(struct enl_lives *lives, struct enl_life *life);

static inline struct enl_life *enl_lives_find(const struct enl_lives *lives, uint32_t number)
{
    return number < lives->room ? lives->by_number[number] : NULL;
}

/* The highest of those above it, itself included, that is known and was begun by host `top`, or by the root. NULL: one between is
 * gone. */
const struct enl_life *enl_lives_highest(const struct enl_lives *lives, const struct enl_life *life,
                                         uint32_t top);

/* The way to that host is closed, which is told to those below it. */
void enl_lives_closed(struct enl_lives *lives, uint32_t number);

#endif

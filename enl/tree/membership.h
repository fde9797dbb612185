/* SPDX-License-Identifier: MIT */
/* membership.h -- A host's place in its program, as its own daemon has it: from the reply to `start` until nothing is left to be
 * said. Pure, as life.h is, which has the same host as the root's daemon sees it: what happens goes in as an event, with the time;
 * what is to be done comes out as a set of actions, to be carried out in their order.
 *
 * The rules are one table (enl_membership_rules), which docs/states/member.md shows and explains, and test_membership compares with
 * that page. An event for which a state has no rule is dropped and counted.
 *
 * Times are milliseconds of CLOCK_BOOTTIME. */
#ifndef ENL_MEMBERSHIP_H
#define ENL_MEMBERSHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/lease.h"

enum enl_membership_state {
    ENL_MEMBERSHIP_WORKS,
    ENL_MEMBERSHIP_STOPPED, /* by Ctrl-Z: its lease does not run */
    ENL_MEMBERSHIP_ENDING,  /* it works, and was told to end */
    ENL_MEMBERSHIP_FLUSHES, /* its work is done; what it has said is still on its way */
    ENL_MEMBERSHIP_LAST,    /* only its last word is */
    ENL_MEMBERSHIP_LOST,    /* the root is not listened to any more; what is here is ended */
    ENL_MEMBERSHIP_OVER,    /* the daemon may exit */
    ENL_MEMBERSHIP_STATES,
    /* In a rule: the state stays. */
    ENL_MEMBERSHIP_SAME = ENL_MEMBERSHIP_STATES
};

enum enl_membership_event {
    ENL_MEMBERSHIP_BEAT_DUE,
    ENL_MEMBERSHIP_EXPIRES,  /* its lease is over, or what else it waits for */
    ENL_MEMBERSHIP_ANSWERED, /* a heartbeat was */
    ENL_MEMBERSHIP_STOP,     /* the root says that the program is stopped; that it goes on */
    ENL_MEMBERSHIP_GO_ON,
    ENL_MEMBERSHIP_END,       /* that all ends */
    ENL_MEMBERSHIP_ROOT_LOST, /* its starter says that the root is gone */
    ENL_MEMBERSHIP_PIPE_ENDS, /* the pipes that it has beside a control link have ended */
    ENL_MEMBERSHIP_WAY_ENDS,  /* its way to the root has ended, or brings nonsense */
    ENL_MEMBERSHIP_FLUSH,     /* its work is done here */
    ENL_MEMBERSHIP_FLUSHED,   /* all that it has said has come */
    ENL_MEMBERSHIP_EVENTS
};

/* What is to be done, in this order. */
enum {
    ENL_MEMBERSHIP_DO_WARN = 1 << 0,  /* tell those that it has begun that the root is lost */
    ENL_MEMBERSHIP_DO_LOSE = 1 << 1,  /* close the way to the root, kill the CCEs, end */
    ENL_MEMBERSHIP_DO_LEAVE = 1 << 2, /* close its end of the pipes */
    ENL_MEMBERSHIP_DO_BEAT = 1 << 3,  /* send a heartbeat */
    ENL_MEMBERSHIP_DO_SAY = 1 << 4,   /* say its last word */
    ENL_MEMBERSHIP_DO_AWAIT = 1 << 5, /* FLUSHED is to happen when all has come */
    ENL_MEMBERSHIP_DO_DONE = 1 << 6   /* let the daemon exit */
};

struct enl_membership {
    enum enl_membership_state state;
    bool by_control_link; /* its way to the root; else its pipes are */
    bool has_gone_on;     /* it has been told once that the program goes on */
    uint64_t hosttimeout; /* ms */
    uint64_t beat_ms;     /* the next heartbeat */
    uint64_t links_ms;    /* until when the link thread works; 0: it rests */
    uint64_t until_ms;    /* the deadline; UINT64_MAX: none */
    struct enl_lease lease;
};

enum { ENL_MEMBERSHIP_BY_PIPES = 1, ENL_MEMBERSHIP_BY_CONTROL_LINK = 2, ENL_MEMBERSHIP_BY_ANY = 3 };

struct enl_membership_rule {
    uint16_t states; /* bits */
    uint8_t by;      /* of which ways it is the rule */
    uint8_t event;
    uint8_t next;
    uint8_t actions;
};

/* The table, and how many rules it has. No two are of the same state, way and event. */
extern const struct enl_membership_rule enl_membership_rules[];
extern const size_t enl_membership_rules_count;

/* It has answered `start`. Its first heartbeat is due at once. */
void enl_membership_begin(struct enl_membership *membership, bool by_control_link, uint64_t hosttimeout,
                          uint64_t now_ms);
/* That has happened; if the lease is over, EXPIRES before it. Returns the actions, 0 if there are none. Sets the deadline, and until
 * when links work. */
unsigned enl_membership_happens(struct enl_membership *membership, enum enl_membership_event event,
                                uint64_t now_ms);
/* Whether the deadline has come, and which event that is. */
bool enl_membership_due(const struct enl_membership *membership, uint64_t now_ms,
                        enum enl_membership_event *event_out);
/* The number of the heartbeat that is sent now. */
uint32_t enl_membership_beat(struct enl_membership *membership, uint64_t now_ms);
/* That one is answered, which extends the lease if that is not over; then ANSWERED is to happen. Returns NULL, or what is wrong
 * with that. */
const char *enl_membership_answered(struct enl_membership *membership, uint32_t beat, uint64_t now_ms);

/* Whether a stop counts that the pipes bring beside a control link: the root may have sent it before it listened to that. What comes by
 * the one may overtake what comes by the other. So the root says go_on by the control link alone, and a stop that the pipes bring
 * behind that is the one before. */
static inline bool enl_membership_heeds_stop(const struct enl_membership *membership)
{
    return !membership->has_gone_on;
}

/* How many events were dropped, in this process. */
uint64_t enl_membership_dropped(void);
/* As docs/states/member.md has them. */
const char *enl_membership_state_name(enum enl_membership_state state);
const char *enl_membership_event_name(enum enl_membership_event event);

#endif

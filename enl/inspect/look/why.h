/* SPDX-License-Identifier: MIT */
/* enl why: what each CCE waits for, who could end that, and whether somebody ever will.
 *
 * A CCE is *blocked* if it sleeps without a time limit for requests that are not served. It has a way
 * out if a CCE that can serve one of them is not blocked, or has a way out itself. Who can serve a
 * request:
 *   a get       who may put there: the owner, and for a cell of kind in or in/out everybody else; but
 *               while a CCE has the write lock of the cell, that CCE alone
 *   a put       who may take there: the owner, and for a cell of kind out or in/out everybody else
 *   a lock inside a call   the holder alone
 * Those blocked CCEs that have no way out are stuck: nothing in the program can wake any of them. A
 * CCE that runs, starts, is stopped or traced, or waits with a time limit, for a descriptor or for
 * enl, is never blocked. So one CCE that only computes keeps all from being accused, except those
 * in a circle of locks.
 *
 * A pure function of two views, taken one shortly after the other: what slept in both without having
 * been awake between is asleep. */
#ifndef ENL_LOOK_WHY_H
#define ENL_LOOK_WHY_H

#include <stdio.h>

#include "inspect/look/view.h"

enum look_fate {
    LOOK_RUNS,    /* it is not blocked, or has ended */
    LOOK_STOPPED, /* a person, or a debugger, has stopped it */
    LOOK_TIMED, /* it waits with a time limit, again and again, and has got nothing for several times that */
    LOOK_BLOCKED, /* a CCE that runs can serve it */
    LOOK_STUCK,   /* nobody that can serve it will ever run */
};

struct look_why_cce {
    const struct look_cce *cce;
    const struct look_wait **waits; /* the requests that it sleeps for */
    size_t wait_count;
    enum look_fate fate;
    size_t next; /* whom it waits for, most probably: index in `cces`; SIZE_MAX: nobody in particular */
    bool in_cycle;
    const struct look_left *left; /* who would have served it last, and has ended; NULL: nobody is known */
    uint64_t vain_ns;             /* TIMED: for how long it has got nothing, at least */
    uint64_t at_a_time_ns;        /* TIMED: its time limit */
    bool ever;                    /* and whether it has got anything before */
    bool has_put;                 /* `next` has put into the cell before */
    bool by_lock;                 /* `next` has the write lock of the cell */
};

struct look_why {
    const struct look_view *view;
    struct look_why_cce *cces;
    const struct look_wait **waits;        /* of all, by CCE */
    size_t count, stuck, blocked, running; /* `running`: those TIMED too */
    size_t stopped;
    size_t in_flight; /* puts to other hosts that are on their way */
    bool partial;     /* not all CCEs of the program were seen: others may run */
    bool all_stuck;   /* every CCE of the program is */
};

/* `before` may be NULL. False: no memory. Release with look_why_fini. */
bool look_why(const struct look_view *view, const struct look_view *before, struct look_why *why_out);
void look_why_fini(struct look_why *why);

void look_why_text(FILE *out, const struct look_why *why);
/* What is told of a deadlock by itself: circles, missing puts, and what the first CCEs wait for. */
void look_why_deadlock(FILE *out, const struct look_why *why);
/* The circles of write locks alone, as suspected. */
void look_why_locks(FILE *out, const struct look_why *why);
void look_why_json(FILE *out, const struct look_why *why);
void look_why_dot(FILE *out, const struct look_why *why);

#endif

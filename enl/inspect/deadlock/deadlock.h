/* SPDX-License-Identifier: MIT */
/* deadlock.h -- the interface of enl/inspect/deadlock: whether any CCE of a program can still go on. */
#ifndef ENL_DEADLOCK_H
#define ENL_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/debug_wish.h"
#include "base/watch.h"
#include "bcri/control.h"
#include "bcri/record.h"
#include "host/host.h"

/* detectors.c -- What a host knows of its own standstill at one look. All of this file is pure; docs/states/deadlock.md has the argument.
 *
 * The numbers are such that two looks with equal ones have seen the same CCEs in the same sleeps, and
 * no message sent or received between them. */

struct enl_stillness {
    bool still;     /* no CCE here can go on by itself, and nothing is under way */
    uint32_t count; /* CCEs that rest and are no servers */
    uint64_t
        who; /* which they are, and how each rests: a sum of parts of their identities, which are random */
    uint64_t
        moves; /* their sleeps or periods, and the agent's messages, so far: while `who` stays, it only grows */
    uint64_t since; /* the sum of when their waits began: signals that interrupt a wait do not change it */
    bool servers;   /* servers rest beside them, which are in `who`, `moves` and `since`, too */
};

/* A look at one CCE. */
struct enl_rest {
    bool rests;      /* it sleeps without a time limit, and was not rung since it looked; or it looks */
    bool looks;      /* it only looks for regions (bcr_idle), as it says: it is to be asked */
    bool server;     /* it says so (bcr_idle), and is no part of a deadlock */
    bool may_circle; /* it sleeps for one request, and has had write locks; or its note names a CCE */
    uint64_t who, since;
    uint64_t moves; /* the number of its sleep, or of the period in which it only looks */
};

/* Looks at a record that its CCE, and ringers, go on writing. */
struct enl_rest enl_rest_of(const struct bcri_record_shm *record);

/* Adds a CCE that rests. */
static inline void enl_stillness_add(struct enl_stillness *stillness, const struct enl_rest *rest)
{
    stillness->count += !rest->server;
    stillness->servers |= rest->server;
    stillness->who += rest->who;
    stillness->moves += rest->moves;
    stillness->since += rest->since;
}

/* Whether nothing has moved from one look to the other. */
static inline bool enl_stillness_same(const struct enl_stillness *one, const struct enl_stillness *other)
{
    return one->still && other->still && one->who == other->who && one->moves == other->moves;
}

/* What the root's daemon makes of the stillness of all hosts: whether the program is in a deadlock.
 *
 *      hosts tell by themselves        all are still                all answer the same again
 *   WATCHING --------------------> WATCHING --------> ASKING ------------------------------> told, WATCHING
 *                                      ^                  |
 *                                      +------------------+  one answers something else, comes or goes
 *
 * The second look of each host begins when it is asked, which is after the first look of every host
 * has ended. docs/states/deadlock.md tells why two equal looks in this order are a proof.
 *
 * Servers must rest like all others, but a standstill of servers alone is no deadlock. */

struct enl_checked_host {
    uint32_t number;
    bool told, answered, present;
    struct enl_stillness stillness; /* as it has told last */
};

struct enl_root_detector {
    struct enl_checked_host *hosts;
    size_t count, room;
    uint32_t round; /* the number of the last question */
    bool asking;
    unsigned asked_for;            /* ticks */
    bool news;                     /* something was told since the last question */
    uint64_t told_who, told_since; /* of the standstill that was told last */
};

enum enl_verdict { ENL_MOVES, ENL_ASK, ENL_DEADLOCK };

/* These are the program's hosts now. What is known of others is forgotten, and a round ends if any has come
 * or gone. False: no memory. */
bool enl_root_detector_hosts(struct enl_root_detector *detector, const uint32_t *numbers, size_t count);
/* Host `number` tells of itself: by itself (`round` 0), or as the answer to that round's question.
 * ENL_DEADLOCK: this was the last answer, and nothing can ever move again. It is returned once for a
 * standstill. */
enum enl_verdict enl_root_detector_hear(struct enl_root_detector *detector, uint32_t number, uint32_t round,
                                        const struct enl_stillness *stillness);
/* Once in a while. ENL_ASK: all hosts are to be asked, with detector->round. */
enum enl_verdict enl_root_detector_tick(struct enl_root_detector *detector);
/* How many CCEs are in it: all but servers. */
uint32_t enl_root_detector_count(const struct enl_root_detector *detector);
/* Whether servers wait beside them. */
bool enl_root_detector_servers(const struct enl_root_detector *detector);
void enl_root_detector_fini(struct enl_root_detector *detector);

/* When a host looks at itself, and what of it is worth telling the root.
 *
 * A look has two parts: the records of the CCEs, and, if these all rest, answers: that of the link thread, if there is
 * one, whether anything is under way there; and that of each CCE that only looks, whether it has found nothing. */

struct enl_host_detector {
    struct enl_stillness last; /* that is told, or is to be told now */
    uint64_t last_sleeps;      /* `moves` of the last look without the agent's messages */
    uint32_t round;            /* of the root's question that it answers; 0: none */
    uint32_t question;         /* the last */
    unsigned pending;          /* so many answers are waited for */
    unsigned patience;         /* seconds until they are given up */
    struct enl_stillness seen; /* that look so far */
};

enum enl_host_detector_wants {
    ENL_HOST_DETECTOR_NOTHING,
    ENL_HOST_DETECTOR_LOOK, /* a whole look, of round 0 */
    ENL_HOST_DETECTOR_ASK,  /* all that are to answer, with `question` */
    ENL_HOST_DETECTOR_TELL, /* `last`, with `round` */
};

/* Once a second, with what the records say. */
enum enl_host_detector_wants enl_host_detector_second(struct enl_host_detector *detector,
                                                      const struct enl_stillness *seen);
/* A whole look begins: with what the records say now. It takes the place of one that is pending. So many are to
 * answer. */
enum enl_host_detector_wants enl_host_detector_look(struct enl_host_detector *detector, uint32_t round,
                                                    const struct enl_stillness *seen, unsigned answers);
/* One of them has answered, of the link thread with the number of its messages. */
enum enl_host_detector_wants enl_host_detector_answer(struct enl_host_detector *detector, uint32_t question,
                                                      bool quiet, uint64_t messages);

/* deadlock.c -- The daemon's part of deadlock detection: it looks at its host once a second, tells its parent what has
 * changed, and on the root's host has a detector at the root (detectors.c), and does what `ondeadlock` says.
 *
 * All of this is the loop's. What it asks of the rest of the daemon it asks by struct enl_deadlock_ops. */

struct enl_deadlock_ops {
    /* Nothing that is to be started or stopped is under way. */
    bool (*is_quiet)(const struct enl_program *program);
    /* Of the root: to all other hosts, or to those alone that are up. */
    void (*send_down)(const struct enl_program *program, const struct bcri_control *message, bool up_alone);
    /* Of the root: whether a CCE has asked for bcr_passsignals. */
    bool (*passes_signals)(const struct enl_program *program);
    /* Of the root: the numbers of all hosts, which the caller frees. NULL: no memory. */
    uint32_t *(*hosts)(const struct enl_program *program, size_t *count_out);
};

struct enl_deadlock {
    struct enl_self *self;
    struct enl_here *here;
    const struct enl_debug_wish *wish; /* where debuggers are opened */
    const struct enl_deadlock_ops *ops;

    bool looks; /* false: deadlocks are not looked for */
    uv_timer_t timer;
    unsigned count; /* of looks */
    struct enl_host_detector host_detector;
    /* CCEs that may be in a circle of write locks or notes. */
    uint64_t suspects;          /* which, in which waits; 0: fewer than two */
    unsigned pause, next_pause; /* looks */
    bool suspects_told;
    uint64_t told_circles;       /* those that were told last */
    struct enl_explanation {     /* a deadlock, or a suspicion, and what a program has written of it so far */
        struct enl_watch *watch; /* of its output; NULL: none runs */
        pid_t pid;
        unsigned looks;     /* for how long */
        bool whole;         /* it explains a deadlock */
        size_t length, own; /* of it: what the daemon says by itself */
        char bytes[60000];  /* ended by a NUL */
    } text;
    struct enl_root_detector root_detector; /* the root's */
};

/* Begins to look, unless `ondeadlock` is ignore. */
void enl_deadlock_start(struct enl_deadlock *deadlock);
/* The loop ends. */
void enl_deadlock_stop(struct enl_deadlock *deadlock);

/* The answer to bcri_link_thread_quiet. */
void enl_deadlock_quiet(struct enl_deadlock *deadlock, uint32_t question, bool quiet, uint64_t messages);
/* idle: a CCE that only looks for regions has looked, and answers. */
void enl_deadlock_idle(struct enl_deadlock *deadlock, struct enl_cce *cce,
                       const struct bcri_control *message);
/* still: another host's daemon tells of it. */
void enl_deadlock_of_host(struct enl_deadlock *deadlock, uint32_t host, const struct bcri_control *message);
/* look: the daemon above wants to know once more. deadlock: it has told of one. */
void enl_deadlock_of_parent(struct enl_deadlock *deadlock, const struct bcri_control *message);

#endif

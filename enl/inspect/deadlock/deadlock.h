/* SPDX-License-Identifier: MIT */
/* The daemon's part of deadlock detection: it looks at its host once a second, tells its parent what has
 * changed, and on the root's host has a judge (judge.h), and does what `ondeadlock` says.
 *
 * All of this is the loop's. What it asks of the rest of the daemon it asks by struct enl_deadlock_ops. */
#ifndef ENL_DEADLOCK_H
#define ENL_DEADLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uv.h>

#include "base/debug_wish.h"
#include "base/watch.h"
#include "bcri/control.h"
#include "host/host.h"
#include "inspect/deadlock/judge.h"
#include "inspect/deadlock/lookout.h"

struct enl_deadlock_ops {
    /* Nothing that is to be started or stopped is under way. */
    bool (*is_quiet)(void *owner);
    /* Whether this host has a network, and is to be asked whether that is quiet: enl_deadlock_quiet is called with the
     * answer. False: it cannot be asked. */
    bool (*has_network)(void *owner);
    bool (*ask_network)(void *owner, uint32_t question);
    /* Whether this is the root's daemon, which judges; tells the daemon that has started this one, if it is there. */
    bool (*is_roots)(void *owner);
    bool (*send_up)(void *owner, const struct bcri_control *message);
    /* Of the root: to all other hosts, or to those alone that are up. */
    void (*send_down)(void *owner, const struct bcri_control *message, bool up_alone);
    /* Their numbers, as many as there is room for. Returns how many they are. */
    size_t (*hosts)(void *owner, uint32_t *numbers_out, size_t room);
};

struct enl_deadlock {
    struct enl_self *self;
    struct enl_here *here;
    const struct enl_debug_wish *wish; /* where debuggers are opened */
    const struct enl_deadlock_ops *ops;
    void *owner; /* theirs */

    bool looks; /* false: nobody looks for deadlocks */
    uv_timer_t timer;
    unsigned count; /* of looks */
    struct enl_lookout lookout;
    pid_t held; /* a CCE that was stopped, traced or running */
    /* CCEs that may be in a circle of write locks. */
    uint64_t lockers;                        /* which, in which waits; 0: fewer than two */
    unsigned lockers_for, pause, next_pause; /* looks */
    bool lockers_told;
    struct enl_explanation {     /* what a program that explains has said so far */
        struct enl_watch *watch; /* NULL: none runs */
        char *bytes;
        size_t length;
        bool whole;     /* it explains a deadlock, not a suspicion */
        uint32_t count; /* CCEs in it */
        pid_t pid;      /* the process that explains */
        unsigned looks; /* for how long */
    } text;
    struct enl_judge judge; /* the root's */
};

/* Begins to look, unless `ondeadlock` is ignore. */
void enl_deadlock_start(struct enl_deadlock *deadlock);
/* The loop ends. */
void enl_deadlock_stop(struct enl_deadlock *deadlock);

/* The answer to ops->ask_network. */
void enl_deadlock_quiet(struct enl_deadlock *deadlock, uint32_t question, bool quiet, uint64_t messages);
/* still: another host's daemon tells of it. */
void enl_deadlock_of_host(struct enl_deadlock *deadlock, uint32_t host, const struct bcri_control *message);
/* look: the daemon above wants to know once more. deadlock: it has told of one. */
void enl_deadlock_of_parent(struct enl_deadlock *deadlock, const struct bcri_control *message);

#endif

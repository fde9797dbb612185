/* SPDX-License-Identifier: MIT */
/* The scheduler of a CCE's handlers: which invocation executes, and when another one does.
 *
 * Words. An operation that meets a cell's mark *requests* the cell's handler, once. An *invocation*
 * is one run of a handler, a coroutine; the main program is one too. Each has a priority while it
 * executes (`activep`) and one while it is blocked (`blockp`). One at a time executes; all others
 * are *stopped*:
 *   interrupted  in a call that need not have waited, since something else came first; in bcr_allow
 *   blocked      in a call that waits for something
 * and what a blocked one waits for may have happened by now: then it is *ready*.
 *
 * THE RULE
 *
 * 1. Stopped invocations lie on a stack, in the order in which they stopped. One leaves it when it
 * goes on, and a blocked one
 *    as soon as it is ready. The topmost one decides the *threshold*: the blockp of one that is blocked, the activep of one that
 *    was interrupted, the argument of bcr_allow, 0 for bcr_block. Nothing left on it: 0.
 * 2. When the executing invocation stops or ends, the next to execute is, of the following, the one
 * with the highest
 *    priority, and of several the first in this list:
 *      a ready or interrupted invocation     its activep               of several the one that came first
 *      a request, starting its handler       its handler's activep     of several cells the one whose turn has waited longest
 *      one in bcr_allow(p)                   p
 *    if that priority is at least the threshold. Of several of one priority that were interrupted or are in bcr_allow, only the
 *    one that stopped last is looked at. A cell's turn is one invocation; then it waits anew, behind all others. If there is
 *    nobody, the CCE waits.
 * 3. An invocation is interrupted, at the beginning of a call, if a request of a higher priority
 * than its own, or a ready
 *    or interrupted invocation of a higher priority, is there; the main program also by a request of an equal one, and then it
 *    lets as many turns pass as there are requests of that priority at this moment. So handlers of one priority do not interrupt
 *    each other: at no time are more of them under way, without being blocked, than there are priorities. bcr_allow stops its
 *    caller always.
 * 4. What happened is seen at once (requests by what this CCE does itself), at the beginning of
 * calls (others'), and, with
 *    everything that was waited for, whenever an invocation stops or ends and while the CCE waits: first all requests that
 *    are there, then what is ready. Of requests by others at several cells that are seen at one time, any may count as the first.
 *
 * A request belongs to its cell's handler: if that is replaced by another one, the new one is run
 * for it, with the new priority; if it is removed, the request is dropped. Where no further stack
 * can be had (bcr/stack.h), handlers wait to be started until an invocation ends.
 *
 * bcr_errno is each invocation's own, bcrE_OK when a handler starts.
 *
 * Nothing here is shared; a thread at a time calls. Death of the CCE: all of it goes with the
 * process; the requests of blocked invocations are ordinary ones (cells/cleanup.c). */
#ifndef BCRI_SCHED_H
#define BCRI_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/coroutine.h"
#include "bcri/ctx.h"
#include "bcri/registry.h"
#include "bcri/run_queue.h"
#include "bcri/stack.h"
#include "bcri/waits.h"

struct bcri_invocation {
    struct bcri_stack stack; /* all zero in the main program */
    struct bcri_coroutine co;
    struct bcri_sched *sched;
    struct bcri_handler *handler; /* that is to be run; NULL: it has ended, or this is the main program */
    int cell;
    int activep, blockp;
    int error; /* bcr_errno, while it is stopped */
    struct bcri_resumable resumable;
    /* on the stack of stopped ones */
    struct bcri_invocation *below, *above;
    bool stopped;
    int threshold;
    struct bcri_wait wait;
};

struct bcri_sched {
    struct bcri_ctx *ctx;
    struct bcri_invocation *current;
    struct bcri_invocation *top; /* of the stopped ones */
    struct bcri_run_queue queue;
    struct bcri_registry registry;
    struct bcri_waits waits;
    struct bcri_stacks stacks;
    uint64_t look_back_ns; /* when the stacks are looked through for memory to give back */
    uint32_t idles;
    struct bcri_invocation main;
};

/* The scheduler of a CCE, made if there is none. NULL: no memory. */
struct bcri_sched *bcri_sched_of(struct bcri_ctx *ctx);

/* Installs, replaces or (run NULL) removes the handler of an own cell. 0; bcrE_NOCELL, bcrE_NOMEM,
 * bcrE_INTERNAL. */
int bcri_sched_install(struct bcri_sched *sched, int cell, void (*run)(int), int mark, int activep,
                       int blockp);

/* The code for a call that does not come from the executing invocation's stack: bcrE_LONGJMP. Or
 * the end, if that is since it was too small for a frame. */
int bcri_sched_out_of_place(const struct bcri_sched *sched);

/* Lets others go first that may interrupt the executing invocation. */
void bcri_sched_yield(struct bcri_sched *sched);
/* bcr_allow with a priority from 0 on. 0 or bcrE_NOMEM. */
int bcri_sched_allow(struct bcri_sched *sched, int priority);
/* bcr_priority. 0 or bcrE_NOMEM. */
int bcri_sched_set_priority(struct bcri_sched *sched, int activep, int blockp);
_Noreturn void bcri_sched_block(struct bcri_sched *sched);
/* Blocks until the event has happened. */
void bcri_sched_wait_for(struct bcri_sched *sched, struct bcri_event *event);

#endif

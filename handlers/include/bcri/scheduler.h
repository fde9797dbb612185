/* SPDX-License-Identifier: MIT */
/* The scheduler of a CCE's handlers: which invocation executes, and when another one does.
 *
 * Words. An operation that meets a cell's watermark *requests* the cell's handler, once. An
 * *invocation* is one run of a handler, in a coroutine; the main program is an invocation, too.
 * Each has a priority while it executes (`activep`) and one while it is blocked (`blockp`). One
 * executes at a time; all others are *stopped*:
 *   interrupted  in a call that need not have waited, since another came first; or in bcr_allow
 *   blocked      in a call that waits for something
 * A blocked invocation is *ready* when what it waits for has happened.
 *
 * THE RULE
 *
 * 1. Stopped invocations lie on a stack, in the order in which they stopped. One leaves the stack
 *    when it goes on, and a blocked one as soon as it is ready. The topmost one decides the
 *    *threshold*: if blocked, its blockp; if interrupted, its activep; in bcr_allow, the argument;
 *    in bcr_block, 0. An empty stack means 0.
 *
 * 2. When the executing invocation stops or ends, the next to execute is the one of the following
 *    with the highest priority, and of several with the same priority the first in this list, if
 *    that priority is at least the threshold:
 *   a ready or interrupted invocation   its activep             of several: the one that came first
 *   a request, starting its handler     its handler's activep   of several: the longest wait
 *   one in bcr_allow(p)                 p
 * Of several with the same priority that were interrupted or are in bcr_allow, only the one that
 * stopped last is considered. A cell's turn is one invocation; after it the cell waits anew, behind
 * all others. If nothing can execute, the CCE waits.
 *
 * 3. An invocation is interrupted when a call begins, if there is a request, or a ready or
 *    interrupted invocation, of a higher priority than its own. The main program is also
 *    interrupted by a request of its own priority; then it lets as many turns pass as there are
 *    requests of that priority at this moment. So handlers of one priority do not interrupt each
 *    other: at no time are more of them under way and not blocked than there are priorities.
 *    bcr_allow always stops its caller.
 *
 * 4. Requests by what this CCE does itself are seen at once, requests by others when a call begins.
 *    All that has happened, including what invocations wait for, is seen whenever an invocation
 *    stops or ends and while the CCE waits: first all requests, then what is ready. Of requests by
 *    others at several cells that are seen at one time, any may count as the first.
 *
 * A request belongs to its cell's handler. If another handler replaces that one, the new one runs
 * for the request, with the new priority; if the handler is removed, the request is dropped. Where
 * no further stack can be had (bcri/stack.h), handlers wait to be started until an invocation ends.
 *
 * bcr_errno is each invocation's own, and bcrE_OK when a handler starts.
 *
 * Nothing here is shared, and one thread at a time calls. Death of the CCE: all of it goes with the
 * process; the requests of blocked invocations are ordinary ones (cells/recovery/cleanup.c). */
#ifndef BCRI_SCHEDULER_H
#define BCRI_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/coroutine.h"
#include "bcri/ctx.h"
#include "bcri/exceptions.h"
#include "bcri/registry.h"
#include "bcri/run_queue.h"
#include "bcri/stack.h"
#include "bcri/wait_set.h"

struct bcri_invocation {
    struct bcri_stack stack; /* all zero in the main program */
    struct bcri_coroutine co;
    struct bcri_scheduler *sched;
    struct bcri_handler *handler; /* to be run; NULL: it has ended, or this is the main program */
    int cell;
    int activep, blockp;
    int error; /* bcr_errno, while it is stopped; likewise: */
    struct bcri_exceptions exceptions;
    const char *does; /* in BCR (one_thread.h) */
    struct bcri_resumable resumable;
    /* neighbours on the stack of the stopped */
    struct bcri_invocation *below, *above;
    bool stopped;
    int threshold;
    struct bcri_wait wait;
};

struct bcri_scheduler {
    struct bcri_ctx *ctx;
    struct bcri_invocation *current;
    struct bcri_invocation *top; /* of the stack of the stopped */
    struct bcri_run_queue queue;
    struct bcri_registry registry;
    struct bcri_wait_set waits;
    struct bcri_stacks stacks;
    uint64_t look_back_ns; /* when the stacks are looked through for memory to give back */
    uint32_t idles;
    struct bcri_invocation main;
};

/* Does in bcr_init what handlers need and what may need malloc, which no later call may (private.h). */
void bcri_sched_prepare(void);

/* The scheduler of a CCE, made if there is none. NULL: no memory. */
struct bcri_scheduler *bcri_sched_of(struct bcri_ctx *ctx);

/* Installs, replaces or (without a routine) removes the handler of an own cell: routine, cell and priorities are those
 * of `like`. 0; bcrE_NOCELL, bcrE_NOMEM, bcrE_INTERNAL. */
int bcri_sched_install(struct bcri_scheduler *sched, const struct bcri_handler *like, int watermark);

/* The code for a call that does not come from the executing invocation's stack: bcrE_LONGJMP. Ends
 * the process if the reason is that the stack was too small for a frame. */
int bcri_sched_out_of_place(const struct bcri_scheduler *sched);

/* Lets the invocations run first that may interrupt the executing one. */
void bcri_sched_yield(struct bcri_scheduler *sched);
/* bcr_allow with a priority from 0 on. 0 or bcrE_NOMEM. */
int bcri_sched_allow(struct bcri_scheduler *sched, int priority);
/* bcr_priority. 0 or bcrE_NOMEM. */
int bcri_sched_set_priority(struct bcri_scheduler *sched, int activep, int blockp);
_Noreturn void bcri_sched_block(struct bcri_scheduler *sched);
/* For a process outside: where the invocations of `sched`, which may be NULL, lie. A signal handler may call
 * it. */
struct bcri_coroutines;
void bcri_sched_describe(const struct bcri_scheduler *sched, struct bcri_coroutines *out);
/* Blocks until the event has happened. */
void bcri_sched_wait_for(struct bcri_scheduler *sched, struct bcri_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/* The scheduler: bcri/scheduler.h has the rule.
 *
 * The scheduler has no stack of its own. An invocation that stops or ends finds the next one and
 * switches there directly. An invocation that has ended runs the next handler itself, on its own
 * stack, so that a CCE that lives in its handlers hardly ever switches. */
#include "bcri/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/clock.h"
#include "bcri/handler_request.h"
#include "bcri/idle.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"
#include "bcri/wait.h"
#include "bcri/waiters.h"
#include "bcri/wakefd.h"
#include "bcri/wakes.h"
#include "scheduler_private.h"

/* ---- the stack of the stopped ---- */

static void stop(struct bcri_scheduler *s, struct bcri_invocation *self, int threshold)
{
    self->threshold = threshold;
    self->stopped = true;
    self->below = s->top;
    self->above = NULL;
    if (s->top != NULL)
        s->top->above = self;
    s->top = self;
}

static void unstop(struct bcri_scheduler *s, struct bcri_invocation *one)
{
    if (!one->stopped)
        return;
    one->stopped = false;
    if (one->above != NULL)
        one->above->below = one->below;
    else
        s->top = one->below;
    if (one->below != NULL)
        one->below->above = one->above;
}

static int threshold(const struct bcri_scheduler *s)
{
    return s->top != NULL ? s->top->threshold : 0;
}

/* ---- seeing what happened ---- */

static void over(struct bcri_wait *wait)
{
    struct bcri_invocation *one = BCRI_INVOCATION_OF(wait, wait);
    unstop(one->sched, one);
    bcri_run_queue_resume(&one->sched->queue, &one->resumable);
}

/* Whether a look would find nothing new. */
static inline bool nothing_new(const struct bcri_scheduler *s)
{
    return !bcri_requests_any(s->ctx) && bcri_waits_quiet(&s->waits);
}

static void see(struct bcri_scheduler *s, bool exact)
{
    if (bcri_requests_any(s->ctx))
        bcri_sched_take_requests(s);
    if (!bcri_waits_quiet(&s->waits))
        bcri_waits_look(&s->waits, exact, over);
}

void bcri_sched_see_all(struct bcri_scheduler *s)
{
    see(s, true);
    s->ctx->handlers.due = is_due(s);
    bcri_wakefd_deadline(s->ctx, s->waits.deadline_count != 0 ? s->waits.deadlines[0]->deadline_ns
                                                              : BCRI_DEADLINE_NEVER);
}

/* ---- invocations ---- */

static bool make(struct bcri_scheduler *s, struct bcri_invocation *one);

/* An invocation that has ended, or a new one. NULL: none can be had now. */
static struct bcri_invocation *take_invocation(struct bcri_scheduler *s)
{
    struct bcri_stack *stack = bcri_stacks_take(&s->stacks);
    if (bcri_unlikely(stack == NULL))
        return NULL;
    struct bcri_invocation *one = BCRI_INVOCATION_OF(stack, stack);
    if (bcri_unlikely(one->co.context == NULL) && !make(s, one)) {
        bcri_stacks_give(&s->stacks, stack);
        return NULL;
    }
    return one;
}

void bcri_sched_drop_invocation(struct bcri_stack *stack)
{
    struct bcri_invocation *one = BCRI_INVOCATION_OF(stack, stack);
    if (one->co.context != NULL)
        bcri_coroutine_drop(&one->co);
}

/* `one` is to run the handler next. */
static void assign(struct bcri_invocation *one, struct bcri_handler *handler)
{
    bcri_idle_ends(one->sched->ctx);
    one->handler = handler;
    one->cell = handler->cell;
    one->activep = handler->activep;
    one->blockp = handler->blockp;
    if (one->resumable.level != handler->requested.level) {
        if (one->resumable.level != NULL)
            bcri_level_leave(one->resumable.level);
        one->resumable.level = handler->requested.level;
        one->resumable.level->users++;
    }
    atomic_store_explicit(&one->stack.cell, handler->cell, memory_order_relaxed);
}

/* A thread that has not run handlers yet needs what bcri_stacks_watch gives it. */
static void watch(const struct bcri_invocation *from)
{
    static BCRI_TLS bool watched;
    if (is_main(from) && bcri_unlikely(!watched)) {
        watched = true;
        bcri_stacks_watch();
    }
}

void bcri_sched_set_entry(struct bcri_scheduler *s)
{
    const struct bcri_invocation *self = s->current;
    bcri_store(&s->ctx->handlers.stack_low, is_main(self) ? 0 : (uintptr_t)self->stack.low);
    s->ctx->handlers.stack_bytes = is_main(self) ? UINTPTR_MAX : self->stack.bytes;
    s->ctx->handlers.due = is_due(s);
}

/* bcr_errno, and what C++ knows of exceptions, is thread-local, and an invocation may go on in another thread.
 * So the address must be found anew after a switch. These two are not inline, since a routine with a switch in it
 * would keep the old address. */
static __attribute__((noinline)) void keep_thread_locals(struct bcri_invocation *self)
{
    watch(self);
    self->error = bcri_self_errno;
    bcri_call_stops(self->sched->ctx, &self->does);
    if (bcri_unlikely(bcri_exceptions_of != NULL))
        self->exceptions = *bcri_exceptions_of();
}

static __attribute__((noinline)) void give_thread_locals_back(const struct bcri_invocation *self)
{
    bcri_self_errno = self->error;
    bcri_call_goes_on(self->sched->ctx, self->does);
    if (bcri_unlikely(bcri_exceptions_of != NULL))
        *bcri_exceptions_of() = self->exceptions;
}

/* Inline in the routines of invocations that stop or end, as the switch is inline here
 * (coroutine.h). The processor mispredicts the return of each routine that stopped on one stack and
 * returns on another, and then of the returns that it predicts by what those have left. */
BCRI_INLINE void switch_to(struct bcri_scheduler *s, struct bcri_invocation *self, struct bcri_invocation *to)
{
    bcri_stack_check(&self->stack);
    keep_thread_locals(self);
    s->current = to;
    bcri_sched_set_entry(s);
    bcri_coroutine_switch(&self->co, &to->co);
    give_thread_locals_back(self);
}

/* ---- which is next ---- */

/* The invocation that `turn` starts or resumes. `self` runs the handler if `self` has ended. */
static struct bcri_invocation *begin(struct bcri_invocation *self, struct bcri_invocation *fresh,
                                     const struct bcri_turn *turn)
{
    if (turn->invocation != NULL)
        return BCRI_INVOCATION_OF(turn->invocation, resumable);
    struct bcri_invocation *one = fresh != NULL ? fresh : self;
    assign(one, (struct bcri_handler *)(void *)turn->requested);
    return one;
}

/* A CCE that has nothing to do gives back memory of stacks that it no longer needs. As long as it
 * has such memory it wakes up for that once a second, about a dozen times after the largest peak. A
 * CCE that always gets something to do, but has idle moments, looks at the clock now and then. */
enum { CLEANED_AT_ONCE = 16, IDLES_BETWEEN_LOOKS = 4096 };
#define LOOK_BACK_EVERY_NS UINT64_C(1000000000)

static void give_memory_back(struct bcri_scheduler *s)
{
    struct bcri_stack *stack;
    for (int i = 0; i < CLEANED_AT_ONCE && (stack = bcri_stacks_clean_one(&s->stacks)) != NULL; i++) {
        bcri_sched_drop_invocation(stack);
        BCRI_INVOCATION_OF(stack, stack)->co.context = NULL; /* to be made anew */
    }
}

static __attribute__((noinline)) void idle(struct bcri_scheduler *s)
{
    if (bcri_unlikely(s->stacks.surplus != NULL)) {
        give_memory_back(s);
        return;
    }
    const bool may_shrink = bcri_stacks_may_shrink(&s->stacks);
    const bool slept = bcri_waits_idle(&s->waits, may_shrink ? s->look_back_ns : BCRI_DEADLINE_NEVER);
    if (bcri_likely(!may_shrink) || (!slept && ++s->idles % IDLES_BETWEEN_LOOKS != 0))
        return;
    uint64_t now_ns = bcri_clock_ns();
    if (now_ns >= s->look_back_ns) {
        bcri_stacks_look_back(&s->stacks);
        s->look_back_ns = now_ns + LOOK_BACK_EVERY_NS;
    }
}

/* Finds the invocation that is next, and waits for one if need be. `self` has ended, or has just
 * stopped and is on the stack of the stopped, or in the run queue, as the rule says. */
static __attribute__((noinline)) struct bcri_invocation *find_next(struct bcri_scheduler *s,
                                                                   struct bcri_invocation *self)
{
    const bool ended = self->handler == NULL && !is_main(self);
    struct bcri_invocation *fresh = NULL;
    struct bcri_turn turn;
    for (bool exact = false;; exact = true) {
        see(s, exact);
        if (!ended && fresh == NULL)
            fresh = take_invocation(s);
        const bool may_start = ended || fresh != NULL;
        turn = (struct bcri_turn){
            .requested = may_start ? bcri_run_queue_next_request(&s->queue, threshold(s)) : NULL};
        if (turn.requested != NULL || bcri_run_queue_next(&s->queue, threshold(s), may_start, &turn))
            break;
        idle(s);
    }
    struct bcri_invocation *next = begin(self, fresh, &turn);
    if (fresh != NULL && fresh != next)
        bcri_stacks_give(&s->stacks, &fresh->stack);
    unstop(s, next);
    if (next == self)
        bcri_sched_set_entry(s);
    else if (ended)
        bcri_stacks_give(&s->stacks, &self->stack);
    return next;
}

/* Lets others execute until it is `self`'s turn again: to go on, or, if `self` has ended, to run
 * the handler that it was assigned. */
BCRI_INLINE void schedule(struct bcri_scheduler *s, struct bcri_invocation *self)
{
    struct bcri_invocation *next = find_next(s, self);
    if (next != self)
        switch_to(s, self, next);
}

/* The short form of schedule after a handler's end, if a request is next and nothing else has
 * happened. */
static inline bool run_next(struct bcri_scheduler *s, struct bcri_invocation *self)
{
    if (!nothing_new(s))
        return false;
    struct bcri_requested *requested = bcri_run_queue_next_request(&s->queue, threshold(s));
    if (requested == NULL)
        return false;
    assign(self, (struct bcri_handler *)(void *)requested);
    s->ctx->handlers.due = false; /* this handler has the highest priority of all that are known */
    return true;
}

/* Ends a process that a handler has forked and that returns from the handler: none of what it would
 * go on with is its own. */
static __attribute__((noinline)) void end_fork_if_forked(const struct bcri_scheduler *s)
{
    if (bcri_likely(bcri_self_thread == s->ctx))
        return;
    char line[256];
    const int length =
        snprintf(line, sizeof line,
                 "bcr: %.64s: a process that was forked in a handler has returned from it; let "
                 "it call exec or _exit\n",
                 program_invocation_short_name);
    const ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* the status says it, too */
    _exit(1);
}

static __attribute__((noinline)) void begin_thread_locals(void)
{
    bcri_self_errno = bcrE_OK;
    if (bcri_unlikely(bcri_exceptions_of != NULL))
        *bcri_exceptions_of() = (struct bcri_exceptions){0};
}

static void body(struct bcri_coroutine *co)
{
    struct bcri_invocation *self = BCRI_INVOCATION_OF(co, co);
    struct bcri_scheduler *s = self->sched;
    for (;;) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): whoever switches to a coroutine has given it a handler */
        void (*run)(int) = self->handler->run; /* read before it may remove the handler */
        void (*run_with)(int, void *) = self->handler->run_with;
        void *argument = self->handler->argument;
        begin_thread_locals();
        bcri_call_goes_on(s->ctx, NULL);
        if (run != NULL)
            run(self->cell);
        else
            run_with(self->cell, argument);
        bcri_call_enters(s->ctx); /* the program's own code may have called, and so has left it 0 */
        bcri_call_goes_on(s->ctx, "the end of a handler");
        end_fork_if_forked(s);
        self->handler = NULL;
        if (bcri_unlikely(!run_next(s, self)))
            schedule(s, self);
    }
}

static bool make(struct bcri_scheduler *s, struct bcri_invocation *one)
{
    one->sched = s;
    return bcri_waits_reserve(&s->waits, (size_t)s->stacks.count + 1) &&
           bcri_coroutine_make(&one->co, one->stack.low, one->stack.bytes, body) == 0;
}

/* ---- a call from elsewhere ---- */

/* A call from a place where the executing invocation is not. After a longjmp the caller is on a
 * stack that is in use: another invocation's, or the main program's, near where that has stopped. A
 * frame larger than the guard lies below the invocation's own stack, in memory that belongs to no
 * stack; then the stack was too small. */
int bcri_sched_out_of_place(const struct bcri_scheduler *s)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)s->current->stack.low;
    const uintptr_t near_main = (uintptr_t)s->main.co.context - BCRI_STACK_STEP_MOST / 2;
    const struct bcri_stack *there = bcri_stack_around(frame);
    const bool in_use = there != NULL ? ((const struct bcri_invocation *)(const void *)there)->handler != NULL
                                      : frame - near_main < BCRI_STACK_STEP_MOST;
    if (!in_use && low - frame < BCRI_STACK_STEP_MOST)
        bcri_stack_end(&s->current->stack);
    return bcrE_LONGJMP;
}

/* ---- what the executing invocation does ---- */

void bcri_sched_yield(struct bcri_scheduler *s)
{
    struct bcri_invocation *self = s->current;
    if (bcri_requests_any(s->ctx))
        bcri_sched_take_requests(s);
    s->ctx->handlers.due = false;
    if (!is_due(s))
        return;
    struct bcri_level *level = self->resumable.level;
    stop(s, self, self->activep);
    /* The main program lets requests of its own priority go first, but not those that come
     * later. */
    bcri_run_queue_stop(&s->queue, &self->resumable, level,
                        is_main(self) ? level->turns + level->waiting : 0);
    schedule(s, self);
}

int bcri_sched_allow(struct bcri_scheduler *s, int priority)
{
    struct bcri_invocation *self = s->current;
    struct bcri_level *level = bcri_level_enter(&s->queue, priority);
    if (level == NULL)
        return bcrE_NOMEM;
    stop(s, self, priority);
    bcri_run_queue_stop(&s->queue, &self->resumable, level, BCRI_ALLOWS);
    schedule(s, self);
    bcri_level_leave(level);
    return 0;
}

int bcri_sched_set_priority(struct bcri_scheduler *s, int activep, int blockp)
{
    struct bcri_invocation *self = s->current;
    if (activep != self->activep) {
        struct bcri_level *level = bcri_level_enter(&s->queue, activep);
        if (level == NULL)
            return bcrE_NOMEM;
        bcri_level_leave(self->resumable.level);
        self->resumable.level = level;
    }
    self->activep = activep;
    self->blockp = blockp;
    return 0;
}

_Noreturn void bcri_sched_block(struct bcri_scheduler *s)
{
    struct bcri_invocation *self = s->current;
    stop(s, self, 0);
    for (;;)
        schedule(s, self); /* never returns: nothing resumes this invocation */
}

static int wait_for(struct bcri_scheduler *s, struct bcri_wait wait)
{
    struct bcri_invocation *self = s->current;
    self->wait = wait;
    stop(s, self, self->blockp);
    bcri_waits_add(&s->waits, &self->wait);
    schedule(s, self);
    return self->wait.result;
}

void bcri_sched_wait_for(struct bcri_scheduler *s, struct bcri_event *event)
{
    (void)bcri_sched_wait_for_until(s->ctx, event, BCRI_DEADLINE_NEVER);
}

bool bcri_sched_wait_for_until(struct bcri_ctx *ctx, struct bcri_event *event, uint64_t deadline_ns)
{
    return event->happened(event) ||
           wait_for(ctx->handlers.sched, (struct bcri_wait){.event = event, .deadline_ns = deadline_ns}) >= 0;
}

int bcri_sched_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (bcri_request_ready(ctx, slots[i]))
            return i;
    if (deadline_ns == BCRI_DEADLINE_PASSED)
        return -1;
    if (bcri_unlikely(bcri_wakes_any(ctx)) && bcri_wake_due(ctx, slots, count) != NULL)
        return BCRI_WOKEN;
    return wait_for(ctx->handlers.sched,
                    (struct bcri_wait){.slots = slots, .count = count, .deadline_ns = deadline_ns});
}

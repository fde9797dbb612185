/* SPDX-License-Identifier: MIT */
/* The scheduler: bcri/scheduler.h has the rule.
 *
 * The scheduler has no stack of its own. An invocation that stops or ends finds the next one and
 * switches there directly. An invocation that has ended runs the next handler itself, on its own
 * stack, so that a CCE that lives in its handlers hardly ever switches. */
#include "bcri/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/corrupt.h"
#include "bcri/enter.h"
#include "bcri/handler_request.h"
#include "bcri/hooks.h"
#include "bcri/self.h"
#include "bcri/waiters.h"
#include "bcri/watermark.h"
#include "settings.h"

#define OF(member_at, member) \
    ((struct bcri_invocation *)(void *)((char *)(member_at)-offsetof(struct bcri_invocation, member)))

static bool is_main(const struct bcri_invocation *one)
{
    return one == &one->sched->main;
}

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
    struct bcri_invocation *one = OF(wait, wait);
    unstop(one->sched, one);
    bcri_run_queue_resume(&one->sched->queue, &one->resumable);
}

/* The bound of a valid count: counts never go back, and no owner computes for so long that this
 * many requests come before it looks. */
#define AHEAD_MOST (UINT64_C(1) << 40)
/* If a notice is further ahead than this, the cell's own count is read. */
#define AHEAD_TOLD (UINT32_C(1) << 20)

/* The handler's cell has counted `count` requests so far. */
static inline void see_count(struct bcri_scheduler *s, struct bcri_handler *handler, uint64_t count)
{
    const uint64_t ahead = count - handler->seen;
    if (ahead == 0)
        return;
    handler->seen = count;
    if (bcri_unlikely(ahead >= AHEAD_MOST))
        bcri_corrupt_at(s->ctx, "the count of a cell's requests", handler->counter);
    else
        bcri_run_queue_request(&s->queue, &handler->requested, ahead);
}

static void see_counter(struct bcri_handler *handler, void *sched)
{
    see_count(sched, handler, bcri_load_acquire(handler->counter));
}

static void see_bits(struct bcri_scheduler *s)
{
    for (uint32_t word = 0; word < BCRI_REQUEST_WORDS; word++)
        for (uint64_t bits = bcri_requests_take_bits(s->ctx, word); bits != 0; bits &= bits - 1)
            bcri_registry_under_bit(&s->registry, word * 64 + (uint32_t)__builtin_ctzll(bits), see_counter,
                                    s);
}

/* A notice about a cell may be older than what is known; then its count is not ahead. */
static void take_requests(struct bcri_scheduler *s)
{
    const struct bcri_news news = bcri_requests_take(s->ctx);
    struct bcri_handler *handler =
        bcri_likely(news.number >= 0) ? bcri_registry_find(&s->registry, news.number) : NULL;
    if (bcri_likely(handler != NULL)) {
        const uint32_t ahead = news.count - (uint32_t)handler->seen;
        if (bcri_likely(ahead < AHEAD_TOLD))
            see_count(s, handler, handler->seen + ahead);
        else if ((int32_t)ahead > 0)
            see_counter(handler, s);
    }
    if (news.look)
        see_bits(s);
}

/* Whether a look would find nothing new. */
static inline bool nothing_new(const struct bcri_scheduler *s)
{
    return !bcri_requests_any(s->ctx) && bcri_waits_quiet(&s->waits);
}

static void see(struct bcri_scheduler *s, bool exact)
{
    if (bcri_requests_any(s->ctx))
        take_requests(s);
    if (!bcri_waits_quiet(&s->waits))
        bcri_waits_look(&s->waits, exact, over);
}

/* ---- invocations ---- */

static bool make(struct bcri_scheduler *s, struct bcri_invocation *one);

/* An invocation that has ended, or a new one. NULL: none can be had now. */
static struct bcri_invocation *take_invocation(struct bcri_scheduler *s)
{
    struct bcri_stack *stack = bcri_stacks_take(&s->stacks);
    if (bcri_unlikely(stack == NULL))
        return NULL;
    struct bcri_invocation *one = OF(stack, stack);
    if (bcri_unlikely(one->co.context == NULL) && !make(s, one)) {
        bcri_stacks_give(&s->stacks, stack);
        return NULL;
    }
    return one;
}

static void drop_invocation(struct bcri_stack *stack)
{
    struct bcri_invocation *one = OF(stack, stack);
    if (one->co.context != NULL)
        bcri_coroutine_drop(&one->co);
}

/* `one` is to run the handler next. */
static void assign(struct bcri_invocation *one, struct bcri_handler *handler)
{
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

/* Whether something that was seen interrupts the executing invocation when a call begins. */
static bool is_due(struct bcri_scheduler *s)
{
    const struct bcri_invocation *self = s->current;
    const struct bcri_level *level = bcri_run_queue_top(&s->queue);
    return level != NULL && (level->priority > self->activep ||
                             (level->priority == self->activep && level->first != NULL && is_main(self)));
}

/* Sets what each call looks at when it begins (bcri_enter): where the executing invocation's stack
 * lies, and whether something that was seen earlier may interrupt it. Such are requests that came
 * after others had interrupted the main program, and those for which bcr_allow did not wait. */
static void set_entry(struct bcri_scheduler *s)
{
    const struct bcri_invocation *self = s->current;
    s->ctx->handlers.stack_low = is_main(self) ? 0 : (uintptr_t)self->stack.low;
    s->ctx->handlers.stack_bytes = is_main(self) ? UINTPTR_MAX : self->stack.bytes;
    s->ctx->handlers.due = is_due(s);
}

/* bcr_errno is thread-local, and an invocation may go on in another thread. So its address must be
 * found anew after a switch. These two are not inline, since a routine with a switch in it would
 * keep the old address. */
static __attribute__((noinline)) void keep_errno(struct bcri_invocation *self)
{
    watch(self);
    self->error = bcri_self_errno;
}

static __attribute__((noinline)) void give_errno_back(const struct bcri_invocation *self)
{
    bcri_self_errno = self->error;
}

/* Inline in the routines of invocations that stop or end, as the switch is inline here
 * (coroutine.h). The processor mispredicts the return of each routine that stopped on one stack and
 * returns on another, and then of the returns that it predicts by what those have left. */
BCRI_INLINE void switch_to(struct bcri_scheduler *s, struct bcri_invocation *self, struct bcri_invocation *to)
{
    bcri_stack_check(&self->stack);
    keep_errno(self);
    s->current = to;
    set_entry(s);
    bcri_coroutine_switch(&self->co, &to->co);
    give_errno_back(self);
}

/* ---- who is next ---- */

/* The invocation that `turn` starts or resumes. `self` runs the handler if `self` has ended. */
static struct bcri_invocation *begin(struct bcri_invocation *self, struct bcri_invocation *fresh,
                                     const struct bcri_turn *turn)
{
    if (turn->invocation != NULL)
        return OF(turn->invocation, resumable);
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
        drop_invocation(stack);
        OF(stack, stack)->co.context = NULL; /* to be made anew */
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
        set_entry(s);
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
    fprintf(
        stderr,
        "bcr: %s: a process that was forked in a handler has returned from it; let it call exec or _exit\n",
        program_invocation_short_name);
    _exit(1);
}

static __attribute__((noinline)) void begin_errno(void)
{
    bcri_self_errno = bcrE_OK;
}

static void body(struct bcri_coroutine *co)
{
    struct bcri_invocation *self = OF(co, co);
    struct bcri_scheduler *s = self->sched;
    for (;;) {
        void (*run)(int) = self->handler->run;
        begin_errno();
        run(self->cell);
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
 * frame larger than the guard lies below the invocation's own stack, in memory that is nobody's
 * stack; then the stack was too small. */
int bcri_sched_out_of_place(const struct bcri_scheduler *s)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)s->current->stack.low;
    const uintptr_t near_main = (uintptr_t)s->main.co.context - BCRI_STACK_STEP_MOST / 2;
    const struct bcri_stack *there = bcri_stack_around(frame);
    const bool somebodys = there != NULL
                               ? ((const struct bcri_invocation *)(const void *)there)->handler != NULL
                               : frame - near_main < BCRI_STACK_STEP_MOST;
    if (!somebodys && low - frame < BCRI_STACK_STEP_MOST)
        bcri_stack_end(&s->current->stack);
    return bcrE_LONGJMP;
}

/* ---- what the executing invocation does ---- */

void bcri_sched_yield(struct bcri_scheduler *s)
{
    struct bcri_invocation *self = s->current;
    if (bcri_requests_any(s->ctx))
        take_requests(s);
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
    if (!event->happened(event))
        (void)wait_for(s, (struct bcri_wait){.event = event, .deadline_ns = BCRI_DEADLINE_NEVER});
}

/* ---- the table for the layers below ---- */

static void requested(struct bcri_ctx *ctx, uint32_t number, uint64_t count)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    const struct bcri_invocation *self = s->current;
    struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)number);
    if (bcri_unlikely(handler == NULL))
        return;
    see_count(s, handler, count);
    if (handler->activep > self->activep || (handler->activep == self->activep && is_main(self)))
        ctx->handlers.due = true;
}

static int wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (bcri_request_ready(ctx, slots[i]))
            return i;
    if (deadline_ns == BCRI_DEADLINE_PASSED)
        return -1;
    return wait_for(ctx->handlers.sched,
                    (struct bcri_wait){.slots = slots, .count = count, .deadline_ns = deadline_ns});
}

static int run(struct bcri_ctx *ctx)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    if (bcri_unlikely(!bcri_in_place(ctx)))
        return bcri_sched_out_of_place(s);
    bcri_sched_yield(s);
    return 0;
}

static void remove_handler(struct bcri_scheduler *s, struct bcri_handler *handler)
{
    bcri_registry_remove(&s->registry, handler);
    bcri_run_queue_drop(&s->queue, &handler->requested);
    bcri_level_leave(handler->requested.level);
    free(handler);
}

static void cells_gone(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    for (uint32_t i = 0; i < count && s->registry.count != 0; i++) {
        struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)(first + i));
        if (handler != NULL)
            remove_handler(s, handler);
    }
}

static void fini(struct bcri_ctx *ctx)
{
    struct bcri_scheduler *s = ctx->handlers.sched;
    ctx->hooks = NULL;
    ctx->handlers.sched = NULL;
    bcri_stacks_fini(&s->stacks, drop_invocation);
    bcri_waits_fini(&s->waits);
    bcri_run_queue_fini(&s->queue);
    bcri_registry_fini(&s->registry);
    free(s);
}

static bool alone(const struct bcri_ctx *ctx)
{
    const struct bcri_scheduler *s = ctx->handlers.sched;
    return s->queue.heap_count == 0 && s->waits.polled.first == NULL && s->waits.armed.first == NULL &&
           !bcri_requests_any(ctx);
}

static const struct bcri_hooks hooks = {.wait = wait_ready,
                                        .alone = alone,
                                        .run = run,
                                        .cells_gone = cells_gone,
                                        .requested = requested,
                                        .fini = fini};

struct bcri_scheduler *bcri_sched_of(struct bcri_ctx *ctx)
{
    if (bcri_likely(ctx->handlers.sched != NULL))
        return ctx->handlers.sched;
    struct bcri_scheduler *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->ctx = ctx;
    s->current = &s->main;
    s->main.sched = s;
    bcri_run_queue_init(&s->queue);
    bcri_waits_init(&s->waits, ctx);
    s->main.resumable.level = bcri_level_enter(&s->queue, 0);
    if (s->main.resumable.level == NULL || !bcri_waits_reserve(&s->waits, 1)) {
        bcri_run_queue_fini(&s->queue);
        bcri_waits_fini(&s->waits);
        free(s);
        return NULL;
    }
    struct bcri_settings settings = bcri_settings();
    bcri_stacks_init(&s->stacks, sizeof(struct bcri_invocation), settings.stack_bytes, settings.most);
    ctx->handlers.sched = s;
    ctx->hooks = &hooks;
    set_entry(s);
    return s;
}

/* ---- handlers come and go ---- */

static int replace(struct bcri_scheduler *s, struct bcri_handler *handler, const struct bcri_handler *as,
                   int mark)
{
    struct bcri_level *level = bcri_level_enter(&s->queue, as->activep);
    if (level == NULL)
        return bcrE_NOMEM;
    int error = bcri_watermark_set(s->ctx, as->cell, mark);
    if (error != 0) {
        bcri_level_leave(level);
        return error;
    }
    bcri_level_leave(handler->requested.level);
    if (level != handler->requested.level)
        bcri_run_queue_move(&s->queue, &handler->requested, level);
    handler->run = as->run;
    handler->activep = as->activep;
    handler->blockp = as->blockp;
    s->ctx->handlers.due = is_due(s); /* its queued requests may have a higher priority now */
    return 0;
}

/* Drops what was told of an earlier cell of this number first. As long as a cell has no watermark
 * it counts no requests. */
static int add(struct bcri_scheduler *s, const struct bcri_handler *like, int mark)
{
    struct bcri_handler *handler = malloc(sizeof *handler);
    if (handler == NULL)
        return bcrE_NOMEM;
    *handler = *like;
    int error = bcrE_NOMEM;
    handler->requested.level = bcri_level_enter(&s->queue, like->activep);
    if (handler->requested.level == NULL)
        goto free_handler;
    if (!bcri_registry_reserve(&s->registry))
        goto leave_level;
    take_requests(s);
    handler->counter = bcri_watermark_counter(s->ctx, like->cell);
    handler->seen = handler->counter != NULL ? bcri_load(handler->counter) : 0;
    error = bcri_watermark_set(s->ctx, like->cell, mark);
    if (error != 0)
        goto leave_level;
    bcri_registry_add(&s->registry, handler);
    return 0;
leave_level:
    bcri_level_leave(handler->requested.level);
free_handler:
    free(handler);
    return error;
}

int bcri_sched_install(struct bcri_scheduler *s, int cell, void (*handler_run)(int), int mark, int activep,
                       int blockp)
{
    struct bcri_handler *handler = bcri_registry_find(&s->registry, cell);
    if (handler_run == NULL) {
        int error = bcri_watermark_clear(s->ctx, cell);
        if (error == 0 && handler != NULL)
            remove_handler(s, handler);
        return error;
    }
    const struct bcri_handler like = {.run = handler_run, .cell = cell, .activep = activep, .blockp = blockp};
    return handler != NULL ? replace(s, handler, &like, mark) : add(s, &like, mark);
}

/* SPDX-License-Identifier: MIT */
/* The scheduler: bcri/sched.h says by which rule.
 *
 * It has no stack of its own. Whoever stops or ends looks for what is next and switches there directly; one that has ended runs
 * the next handler itself, on the stack that it has, so that a CCE that lives in its handlers hardly ever switches. */
#include "bcri/sched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/flow.h"
#include "bcri/mark.h"
#include "bcri/self.h"
#include "bcri/summons.h"
#include "bcri/upward.h"
#include "settings.h"

#define OF(member_at, member) \
    ((struct bcri_invocation *)(void *)((char *)(member_at)-offsetof(struct bcri_invocation, member)))

static bool is_main(const struct bcri_invocation *one)
{
    return one == &one->sched->main;
}

/* ---- the stack of the stopped ---- */

static void stop(struct bcri_sched *s, struct bcri_invocation *self, int level)
{
    self->level = level;
    self->stopped = true;
    self->below = s->top;
    self->above = NULL;
    if (s->top != NULL)
        s->top->above = self;
    s->top = self;
}

static void unstop(struct bcri_sched *s, struct bcri_invocation *one)
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

static int level(const struct bcri_sched *s)
{
    return s->top != NULL ? s->top->level : 0;
}

/* ---- seeing what happened ---- */

static void over(struct bcri_wait *wait)
{
    struct bcri_invocation *one = OF(wait, wait);
    unstop(one->sched, one);
    bcri_agenda_go_on(&one->sched->agenda, &one->going_on);
}

static bool is_of(const struct bcri_handler *handler, uint32_t gen)
{
    return ((gen - handler->first_gen) & BCRI_MARK_GEN_MAX) <=
           ((handler->last_gen - handler->first_gen) & BCRI_MARK_GEN_MAX);
}

/* One that finds no memory is held until there is some; all later ones stay where they are. */
static void take_summonses(struct bcri_sched *s)
{
    uint32_t number, gen;
    if (bcri_unlikely(s->held != NULL)) {
        if (!s->held->summoned.removed && !bcri_agenda_room(&s->held->summoned))
            return;
        struct bcri_handler *held = s->held;
        if (!held->summoned.removed)
            bcri_agenda_summon(&s->agenda, &held->summoned);
        s->held = NULL;
        held->summoned.queued--; /* what kept it while it was held */
        if (held->summoned.removed && held->summoned.queued == 0)
            free(held);
    }
    while (bcri_summons_take(s->ctx, &number, &gen)) {
        struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)number);
        if (bcri_unlikely(handler == NULL || !is_of(handler, gen)))
            continue;
        if (bcri_unlikely(!bcri_agenda_room(&handler->summoned))) {
            handler->summoned.queued++;
            s->held = handler;
            return;
        }
        bcri_agenda_summon(&s->agenda, &handler->summoned);
    }
}

/* Whether a look for summonses would find none. */
static inline bool none_new(const struct bcri_sched *s)
{
    return bcri_likely(s->held == NULL) && !bcri_summons_any(s->ctx);
}

/* Whether a look would find nothing that is not known yet. */
static inline bool nothing_new(const struct bcri_sched *s)
{
    return none_new(s) && bcri_waits_quiet(&s->waits);
}

static void see(struct bcri_sched *s, bool exact)
{
    if (!none_new(s))
        take_summonses(s);
    if (!bcri_waits_quiet(&s->waits))
        bcri_waits_look(&s->waits, exact, over);
}

/* ---- invocations ---- */

static bool make(struct bcri_sched *s, struct bcri_invocation *one);

/* An invocation that has ended, or a new one. NULL: there can be none now. */
static struct bcri_invocation *take_invocation(struct bcri_sched *s)
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

/* The handler's next run is `one`'s. */
static void assign(struct bcri_invocation *one, struct bcri_handler *handler)
{
    one->handler = handler;
    one->cell = handler->cell;
    one->activep = handler->activep;
    one->blockp = handler->blockp;
    if (one->going_on.lane != handler->summoned.lane) {
        if (one->going_on.lane != NULL)
            bcri_lane_leave(one->going_on.lane);
        one->going_on.lane = handler->summoned.lane;
        one->going_on.lane->users++;
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

/* Whether what was seen interrupts the executing invocation at the beginning of a call. */
static bool is_due(struct bcri_sched *s)
{
    const struct bcri_invocation *self = s->current;
    const struct bcri_lane *lane = bcri_agenda_top(&s->agenda);
    return lane != NULL && (lane->priority > self->activep ||
                            (lane->priority == self->activep && lane->count != 0 && is_main(self)));
}

/* What the beginning of each call looks at (bcri_enter): where the executing invocation's stack lies, and whether something may
 * interrupt it that was seen already: summonses that came after the main program was interrupted by others, or that bcr_allow
 * left alone. */
static void set_entry(struct bcri_sched *s)
{
    const struct bcri_invocation *self = s->current;
    s->ctx->stack_low = is_main(self) ? 0 : (uintptr_t)self->stack.low;
    s->ctx->stack_bytes = is_main(self) ? UINTPTR_MAX : self->stack.bytes;
    s->ctx->handlers_due = is_due(s);
}

/* bcr_errno is the thread's, and an invocation may go on in another thread: where that lies is found out anew after a switch, so
 * not by a routine with a switch in it. */
static __attribute__((noinline)) void keep_errno(struct bcri_invocation *self)
{
    watch(self);
    self->error = bcri_self_errno;
}

static __attribute__((noinline)) void give_errno_back(const struct bcri_invocation *self)
{
    bcri_self_errno = self->error;
}

/* Inline in whoever stops or ends, as the switch is inline here (coroutine.h): each routine that stopped on one stack and
 * returns on another costs a wrong prediction, and so do those whose returns on the other stack went by what it had left. */
BCRI_INLINE void switch_to(struct bcri_sched *s, struct bcri_invocation *self, struct bcri_invocation *to)
{
    bcri_stack_check(&self->stack);
    keep_errno(self);
    s->current = to;
    set_entry(s);
    bcri_coroutine_switch(&self->co, &to->co);
    give_errno_back(self);
}

/* ---- who is next ---- */

/* Whom `turn` starts or lets go on. `self` runs the handler if it has ended. */
static struct bcri_invocation *begin(struct bcri_invocation *self, struct bcri_invocation *fresh,
                                     const struct bcri_turn *turn)
{
    if (turn->invocation != NULL)
        return OF(turn->invocation, going_on);
    struct bcri_invocation *one = fresh != NULL ? fresh : self;
    assign(one, (struct bcri_handler *)(void *)turn->summoned);
    return one;
}

/* A CCE that has nothing to do gives memory of stacks back that it has needed once. It wakes up for that, as long as there is any:
 * once a second, a dozen times after the largest peak. One that has always something to do, but not for all its time,
 * looks at the clock now and then. */
enum { CLEANED_AT_ONCE = 16, IDLES_BETWEEN_LOOKS = 4096 };
#define LOOK_BACK_EVERY_NS UINT64_C(1000000000)

static void give_memory_back(struct bcri_sched *s)
{
    struct bcri_stack *stack;
    for (int i = 0; i < CLEANED_AT_ONCE && (stack = bcri_stacks_clean_one(&s->stacks)) != NULL; i++) {
        drop_invocation(stack);
        OF(stack, stack)->co.context = NULL; /* to be made anew */
    }
}

static __attribute__((noinline)) void idle(struct bcri_sched *s)
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

/* Finds who is next, waiting for one if need be. `self` has just stopped, and is where the rule wants it, or has ended. */
static __attribute__((noinline)) struct bcri_invocation *find_next(struct bcri_sched *s,
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
        turn = (struct bcri_turn){may_start ? bcri_agenda_next_summons(&s->agenda, level(s)) : NULL, NULL};
        if (turn.summoned != NULL || bcri_agenda_next(&s->agenda, level(s), may_start, &turn))
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

/* Lets others execute until it is `self`'s turn again: to go on, or, if it has ended, to run the handler that it has been
 * assigned. */
BCRI_INLINE void schedule(struct bcri_sched *s, struct bcri_invocation *self)
{
    struct bcri_invocation *next = find_next(s, self);
    if (next != self)
        switch_to(s, self, next);
}

/* What that comes to after the end of a handler if the next one is to be run and nothing else has happened. */
static inline bool run_next(struct bcri_sched *s, struct bcri_invocation *self)
{
    if (!nothing_new(s))
        return false;
    struct bcri_summoned *summoned = bcri_agenda_next_summons(&s->agenda, level(s));
    if (summoned == NULL)
        return false;
    assign(self, (struct bcri_handler *)(void *)summoned);
    s->ctx->handlers_due = false; /* it has the highest priority of all that are known */
    return true;
}

/* In a process that a handler has forked, and which returns from it: nothing there is its own to go on with. */
static __attribute__((noinline)) void end_fork_if_forked(const struct bcri_sched *s)
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
    struct bcri_sched *s = self->sched;
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

static bool make(struct bcri_sched *s, struct bcri_invocation *one)
{
    one->sched = s;
    return bcri_waits_reserve(&s->waits, (size_t)s->stacks.count + 1) &&
           bcri_coroutine_make(&one->co, one->stack.low, one->stack.bytes, body) == 0;
}

/* ---- a call from elsewhere ---- */

/* Whoever was jumped to is on a stack where somebody is: the main program's, around where that has stopped, or another
 * invocation's. A frame that is larger than the guard is where nobody is, below the stack that it was to be on. */
int bcri_sched_out_of_place(const struct bcri_sched *s)
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

void bcri_sched_yield(struct bcri_sched *s)
{
    struct bcri_invocation *self = s->current;
    if (!none_new(s))
        take_summonses(s);
    s->ctx->handlers_due = false;
    if (!is_due(s))
        return;
    stop(s, self, self->activep);
    bcri_agenda_stop(&s->agenda, &self->going_on, self->going_on.lane, false);
    schedule(s, self);
}

int bcri_sched_allow(struct bcri_sched *s, int priority)
{
    struct bcri_invocation *self = s->current;
    struct bcri_lane *lane = bcri_lane_enter(&s->agenda, priority);
    if (lane == NULL)
        return bcrE_NOMEM;
    stop(s, self, priority);
    bcri_agenda_stop(&s->agenda, &self->going_on, lane, true);
    schedule(s, self);
    bcri_lane_leave(lane);
    return 0;
}

int bcri_sched_set_priority(struct bcri_sched *s, int activep, int blockp)
{
    struct bcri_invocation *self = s->current;
    if (activep != self->activep) {
        struct bcri_lane *lane = bcri_lane_enter(&s->agenda, activep);
        if (lane == NULL)
            return bcrE_NOMEM;
        bcri_lane_leave(self->going_on.lane);
        self->going_on.lane = lane;
    }
    self->activep = activep;
    self->blockp = blockp;
    return 0;
}

_Noreturn void bcri_sched_block(struct bcri_sched *s)
{
    struct bcri_invocation *self = s->current;
    stop(s, self, 0);
    for (;;)
        schedule(s, self); /* never comes back: nothing lets it go on */
}

static int wait_for(struct bcri_sched *s, struct bcri_wait wait)
{
    struct bcri_invocation *self = s->current;
    self->wait = wait;
    stop(s, self, self->blockp);
    bcri_waits_add(&s->waits, &self->wait);
    schedule(s, self);
    return self->wait.result;
}

void bcri_sched_wait_for(struct bcri_sched *s, struct bcri_event *event)
{
    if (!event->happened(event))
        (void)wait_for(s, (struct bcri_wait){.event = event, .deadline_ns = BCRI_DEADLINE_NEVER});
}

/* ---- the table for the floors below ---- */

static void *summons_room(struct bcri_ctx *ctx, uint32_t number)
{
    const struct bcri_sched *s = ctx->handlers;
    struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)number);
    return handler != NULL && s->held == NULL && bcri_agenda_room(&handler->summoned) ? handler : NULL;
}

static void summon(struct bcri_ctx *ctx, void *noted)
{
    struct bcri_sched *s = ctx->handlers;
    struct bcri_handler *handler = noted;
    const struct bcri_invocation *self = s->current;
    bcri_agenda_summon(&s->agenda, &handler->summoned);
    if (handler->activep > self->activep || (handler->activep == self->activep && is_main(self)))
        ctx->handlers_due = true;
}

static int wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count, uint64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (bcri_request_ready(ctx, slots[i]))
            return i;
    if (deadline_ns == BCRI_DEADLINE_PASSED)
        return -1;
    return wait_for(ctx->handlers,
                    (struct bcri_wait){.slots = slots, .count = count, .deadline_ns = deadline_ns});
}

static int run(struct bcri_ctx *ctx)
{
    struct bcri_sched *s = ctx->handlers;
    if (bcri_unlikely(!bcri_in_place(ctx)))
        return bcri_sched_out_of_place(s);
    bcri_sched_yield(s);
    return 0;
}

static void remove_handler(struct bcri_sched *s, struct bcri_handler *handler)
{
    bcri_registry_remove(&s->registry, handler);
    bcri_lane_leave(handler->summoned.lane);
    handler->summoned.removed = true;
    if (handler->summoned.queued == 0)
        free(handler);
}

static void cells_gone(struct bcri_ctx *ctx, uint32_t first, uint32_t count)
{
    struct bcri_sched *s = ctx->handlers;
    for (uint32_t i = 0; i < count && s->registry.count != 0; i++) {
        struct bcri_handler *handler = bcri_registry_find(&s->registry, (int)(first + i));
        if (handler != NULL)
            remove_handler(s, handler);
    }
}

static void fini(struct bcri_ctx *ctx)
{
    struct bcri_sched *s = ctx->handlers;
    ctx->upward = NULL;
    ctx->handlers = NULL;
    if (s->held != NULL && s->held->summoned.removed && --s->held->summoned.queued == 0)
        free(s->held);
    bcri_stacks_fini(&s->stacks, drop_invocation);
    bcri_waits_fini(&s->waits);
    bcri_agenda_fini(&s->agenda);
    bcri_registry_fini(&s->registry);
    free(s);
}

static bool alone(const struct bcri_ctx *ctx)
{
    const struct bcri_sched *s = ctx->handlers;
    return s->agenda.heap_count == 0 && s->waits.watched.first == NULL && s->waits.belled.first == NULL &&
           none_new(s);
}

static const struct bcri_upward upward = {.wait = wait_ready,
                                          .alone = alone,
                                          .run = run,
                                          .cells_gone = cells_gone,
                                          .summons_room = summons_room,
                                          .summon = summon,
                                          .fini = fini};

static void dropped(struct bcri_summoned *summoned)
{
    free((struct bcri_handler *)(void *)summoned);
}

struct bcri_sched *bcri_sched_of(struct bcri_ctx *ctx)
{
    if (bcri_likely(ctx->handlers != NULL))
        return ctx->handlers;
    struct bcri_sched *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->ctx = ctx;
    s->current = &s->main;
    s->main.sched = s;
    bcri_agenda_init(&s->agenda, dropped);
    bcri_waits_init(&s->waits, ctx);
    s->main.going_on.lane = bcri_lane_enter(&s->agenda, 0);
    if (s->main.going_on.lane == NULL || !bcri_waits_reserve(&s->waits, 1)) {
        bcri_agenda_fini(&s->agenda);
        bcri_waits_fini(&s->waits);
        free(s);
        return NULL;
    }
    struct bcri_settings settings = bcri_settings();
    bcri_stacks_init(&s->stacks, sizeof(struct bcri_invocation), settings.stack_bytes, settings.most);
    ctx->handlers = s;
    ctx->upward = &upward;
    set_entry(s);
    return s;
}

/* ---- handlers come and go ---- */

static int replace(struct bcri_sched *s, struct bcri_handler *handler, const struct bcri_handler *as,
                   int mark)
{
    struct bcri_lane *lane = bcri_lane_enter(&s->agenda, as->activep);
    if (lane == NULL)
        return bcrE_NOMEM;
    const bool moves = lane != handler->summoned.lane;
    uint32_t gen;
    int error = moves && !bcri_agenda_move_room(&s->agenda, &handler->summoned, lane)
                    ? bcrE_NOMEM
                    : bcri_mark_set(s->ctx, as->cell, mark, &gen);
    if (error != 0) {
        bcri_lane_leave(lane);
        return error;
    }
    bcri_lane_leave(handler->summoned.lane);
    if (moves)
        bcri_agenda_move(&s->agenda, &handler->summoned, lane);
    handler->run = as->run;
    handler->activep = as->activep;
    handler->blockp = as->blockp;
    handler->last_gen = gen;
    s->ctx->handlers_due = is_due(s); /* what is queued of it may have a higher priority now */
    return 0;
}

static int add(struct bcri_sched *s, const struct bcri_handler *like, int mark)
{
    struct bcri_handler *handler = malloc(sizeof *handler);
    if (handler == NULL)
        return bcrE_NOMEM;
    *handler = *like;
    int error = bcrE_NOMEM;
    handler->summoned.lane = bcri_lane_enter(&s->agenda, like->activep);
    if (handler->summoned.lane == NULL)
        goto free_handler;
    if (!bcri_registry_reserve(&s->registry))
        goto leave_lane;
    error = bcri_mark_set(s->ctx, like->cell, mark, &handler->first_gen);
    if (error != 0)
        goto leave_lane;
    handler->last_gen = handler->first_gen;
    bcri_registry_add(&s->registry, handler);
    return 0;
leave_lane:
    bcri_lane_leave(handler->summoned.lane);
free_handler:
    free(handler);
    return error;
}

int bcri_sched_install(struct bcri_sched *s, int cell, void (*handler_run)(int), int mark, int activep,
                       int blockp)
{
    struct bcri_handler *handler = bcri_registry_find(&s->registry, cell);
    if (handler_run == NULL) {
        int error = bcri_mark_clear(s->ctx, cell);
        if (error == 0 && handler != NULL)
            remove_handler(s, handler);
        return error;
    }
    const struct bcri_handler like = {.run = handler_run, .cell = cell, .activep = activep, .blockp = blockp};
    return handler != NULL ? replace(s, handler, &like, mark) : add(s, &like, mark);
}

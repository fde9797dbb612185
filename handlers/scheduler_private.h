/* SPDX-License-Identifier: MIT */
/* What the files of the scheduler share: scheduler.c, requests.c, install.c, hooks.c. */
#ifndef BCRI_SCHEDULER_PRIVATE_H
#define BCRI_SCHEDULER_PRIVATE_H

#include "bcri/scheduler.h"

/* The invocation of which `member_at` is a member. */
#define BCRI_INVOCATION_OF(member_at, member) \
    ((struct bcri_invocation *)(void *)((char *)(member_at)-offsetof(struct bcri_invocation, member)))

static inline bool is_main(const struct bcri_invocation *one)
{
    return one == &one->sched->main;
}

/* Whether something that was seen interrupts the executing invocation when a call begins. */
static inline bool is_due(struct bcri_scheduler *s)
{
    const struct bcri_invocation *self = s->current;
    const struct bcri_level *level = bcri_run_queue_top(&s->queue);
    return level != NULL && (level->priority > self->activep ||
                             (level->priority == self->activep && level->first != NULL && is_main(self)));
}

/* Sets what each call looks at when it begins (bcri_enter): where the executing invocation's stack
 * lies, and whether something that was seen earlier may interrupt it. Such are requests that came
 * after others had interrupted the main program, and those for which bcr_allow did not wait. */
void bcri_sched_set_entry(struct bcri_scheduler *sched);

/* Waits, for a routine below, until one of `count` requests is ready: its index, or -1 when the
 * deadline has passed, or BCRI_WOKEN. Others execute meanwhile. */
int bcri_sched_wait_ready(struct bcri_ctx *ctx, struct bcri_slot_shm **slots, int count,
                          uint64_t deadline_ns);

/* The same for an event: whether it has happened. */
bool bcri_sched_wait_for_until(struct bcri_ctx *ctx, struct bcri_event *event, uint64_t deadline_ns);

/* Frees what an invocation has beside its stack. */
void bcri_sched_drop_invocation(struct bcri_stack *stack);

/* requests.c. Puts the requests that others have made since the last look into the run queue. */
void bcri_sched_take_requests(struct bcri_scheduler *sched);
/* The same for one of this CCE's own: its cell `number` has counted `count` requests so far. */
void bcri_sched_requested(struct bcri_ctx *ctx, uint32_t number, uint64_t count);

/* `wakes` of the handler's cell (wakes.h) are requests of it. */
void bcri_sched_see_wakes(struct bcri_scheduler *sched, struct bcri_handler *handler, uint64_t wakes);

/* Sees what has happened, exactly, after the CCE's descriptor was armed, and sets its timer (wakefd.c). */
void bcri_sched_see_all(struct bcri_scheduler *sched);

/* install.c. Removes the handlers of cells that go. */
void bcri_sched_cells_gone(struct bcri_ctx *ctx, uint32_t first, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bcri/clock.h"
#include "host/host.h"
#include "host/worker.h"
#include "links/links.h"

/* A circle of write locks or notes is looked for when it has lasted for some looks, which is longer than the root needs to
 * tell that all wait; and after a vain search less often. */
enum { LOOK_MSEC = 1000, SUSPECT_SECONDS = 3, SEARCH_LOOKS_MAX = 64 };

/* ---- looking at this host ---- */

/* Whether the process does not merely sleep, or look, whatever its record says: a person holds it, who has stopped it or
 * has a debugger; or it runs, in a signal handler; or it is dead, of which the daemon will hear. */
static bool is_held(const struct enl_cce *cce)
{
    struct enl_process_status status;
    const bool runs = bcri_load(&cce->record->idle.period) % 2 != 0;
    return !enl_process_status(cce->pid, &status) || status.tracer != 0 ||
           strchr(runs ? "SRD" : "S", status.state) == NULL;
}

static bool is_one_held(const struct enl_here *here)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->life == ENL_ALIVE && is_held(cce))
            return true;
    return false;
}

static bool daemon_is_quiet(const struct enl_deadlock *deadlock)
{
    const struct enl_here *here = deadlock->here;
    return deadlock->self->phase == ENL_RUNNING && deadlock->ops->is_quiet(deadlock->self->program) &&
           TAILQ_EMPTY(&here->conns->waiting) && here->forgetting == 0 && enl_worker_is_idle(here->worker);
}

/* What the records of the CCEs say. In a whole look, notes which CCEs are to be asked. */
static struct enl_stillness look_at_records(const struct enl_deadlock *deadlock, bool whole,
                                            unsigned *lookers_out, uint64_t *suspects_out)
{
    struct enl_stillness seen = {.still = daemon_is_quiet(deadlock)};
    const uint64_t now_ns = bcri_clock_ns();
    unsigned suspects = 0;
    *suspects_out = *lookers_out = 0;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &deadlock->here->all, entry) {
        if (cce->life == ENL_OVER && !cce->repairing)
            continue;
        const bool lives =
            cce->life == ENL_ALIVE && !cce->repairing && !cce->disconnected && cce->crash == NULL;
        const struct enl_rest rest = lives ? enl_rest_of(cce->record) : (struct enl_rest){0};
        if (!rest.rests) {
            seen.still = false;
            continue;
        }
        enl_stillness_add(&seen, &rest);
        if (whole)
            cce->idle.period = rest.looks ? rest.moves : 0;
        *lookers_out += rest.looks;
        if (rest.may_circle && now_ns - rest.since >= SUSPECT_SECONDS * BCRI_NS_PER_S) {
            suspects++;
            *suspects_out += rest.who ^ rest.since;
        }
    }
    if (suspects < 2)
        *suspects_out = 0;
    return seen;
}

/* ---- a look ---- */

static void act_on_verdict(struct enl_deadlock *deadlock, enum enl_verdict verdict)
{
    if (verdict == ENL_DEADLOCK &&
        !enl_deadlock_explain(deadlock, enl_root_detector_count(&deadlock->root_detector)))
        enl_deadlock_explained(deadlock);
}

static void tell_root(struct enl_deadlock *deadlock)
{
    const struct enl_stillness *told = &deadlock->host_detector.last;
    const struct bcri_control message = {.type = BCRI_MSG_still,
                                         .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count) |
                                                    BCRI_HAS(who) | BCRI_HAS(moves) | BCRI_HAS(since) |
                                                    BCRI_HAS(flags),
                                         .id = deadlock->host_detector.round,
                                         .status = told->still,
                                         .count = told->count,
                                         .who = told->who,
                                         .moves = told->moves,
                                         .since = told->since,
                                         .flags = told->servers};
    if (deadlock->self->upward != NULL)
        deadlock->self->upward->send(deadlock->self->program, &message);
    else
        act_on_verdict(deadlock, enl_root_detector_hear(&deadlock->root_detector, deadlock->self->host_number,
                                                        message.id, told));
}

/* All that are to answer. A CCE of which this look does not count that it looks has no question left. */
static void ask_here(const struct enl_deadlock *deadlock, uint32_t question)
{
    struct enl_cce *cce;
    if (deadlock->self->links->thread != NULL)
        bcri_link_thread_quiet(deadlock->self->links->thread, question);
    TAILQ_FOREACH (cce, &deadlock->here->all, entry) {
        cce->idle.question = cce->life == ENL_ALIVE && cce->idle.period != 0 ? question : 0;
        if (cce->idle.question != 0)
            bcri_store_release(&cce->record->idle.asked, question);
    }
}

static void look_at_cces(struct enl_deadlock *deadlock, uint32_t round)
{
    struct enl_host_detector *host_detector = &deadlock->host_detector;
    unsigned lookers;
    uint64_t suspects;
    struct enl_stillness seen = look_at_records(deadlock, true, &lookers, &suspects);
    seen.still = seen.still && !is_one_held(deadlock->here);
    const unsigned answers = (deadlock->self->links->thread != NULL) + lookers;
    const enum enl_host_detector_wants wants = enl_host_detector_look(host_detector, round, &seen, answers);
    if (wants == ENL_HOST_DETECTOR_ASK)
        ask_here(deadlock, host_detector->question);
    else if (wants == ENL_HOST_DETECTOR_TELL)
        tell_root(deadlock);
}

void enl_deadlock_idle(struct enl_deadlock *deadlock, struct enl_cce *cce, const struct bcri_control *message)
{
    const bool quiet = message->status != 0 && message->moves == cce->idle.period;
    if (cce->idle.question == 0 || message->id != cce->idle.question)
        return;
    cce->idle.question = 0;
    enl_deadlock_quiet(deadlock, message->id, quiet, 0);
}

void enl_deadlock_quiet(struct enl_deadlock *deadlock, uint32_t question, bool quiet, uint64_t messages)
{
    if (deadlock->looks && enl_host_detector_answer(&deadlock->host_detector, question, quiet, messages) ==
                               ENL_HOST_DETECTOR_TELL)
        tell_root(deadlock);
}

/* ---- circles of write locks and notes here, while others may run ---- */

static void suspect_circle(struct enl_deadlock *deadlock, uint64_t suspects)
{
    if (suspects != deadlock->suspects) {
        deadlock->suspects = suspects;
        deadlock->suspects_told = false;
    }
    deadlock->pause -= deadlock->pause != 0;
    if (suspects == 0 || deadlock->suspects_told || deadlock->pause != 0 || deadlock->text.watch != NULL)
        return;
    deadlock->next_pause =
        deadlock->next_pause < SEARCH_LOOKS_MAX ? 2 * deadlock->next_pause + 1 : SEARCH_LOOKS_MAX;
    deadlock->pause = deadlock->next_pause;
    (void)enl_deadlock_explain(deadlock, 0);
}

/* ---- the second ---- */

static void ask_all(struct enl_deadlock *deadlock)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_look, .present = BCRI_HAS(id), .id = deadlock->root_detector.round};
    deadlock->ops->send_down(deadlock->self->program, &message, false);
    look_at_cces(deadlock, deadlock->root_detector.round);
}

/* Which hosts there are. False: no memory. */
static bool know_hosts(struct enl_deadlock *deadlock)
{
    size_t count;
    uint32_t *numbers = deadlock->ops->hosts(deadlock->self->program, &count);
    const bool done = numbers != NULL && enl_root_detector_hosts(&deadlock->root_detector, numbers, count);
    free(numbers);
    return done;
}

static void on_deadlock_timer(uv_timer_t *timer)
{
    struct enl_deadlock *deadlock = timer->data;
    uint64_t suspects;
    unsigned lookers;
    if (deadlock->self->phase != ENL_RUNNING)
        return;
    const struct enl_stillness seen = look_at_records(deadlock, false, &lookers, &suspects);
    bcri_log_write(&deadlock->self->log, BCRI_LOG_DEBUG, "look %u for a deadlock: %u CCEs%s rest, %s",
                   ++deadlock->count, seen.count, seen.servers ? " and servers" : "",
                   seen.still ? "and nothing else is under way" : "others do not");
    enl_deadlock_bound_text(deadlock);
    suspect_circle(deadlock, suspects);
    const bool is_root = deadlock->self->upward == NULL;
    if (is_root && !know_hosts(deadlock))
        return;
    switch (enl_host_detector_second(&deadlock->host_detector, &seen)) {
    case ENL_HOST_DETECTOR_LOOK: look_at_cces(deadlock, 0); break;
    case ENL_HOST_DETECTOR_TELL: tell_root(deadlock); break;
    default: break;
    }
    if (is_root && enl_root_detector_tick(&deadlock->root_detector) == ENL_ASK)
        ask_all(deadlock);
}

void enl_deadlock_of_host(struct enl_deadlock *deadlock, uint32_t host, const struct bcri_control *message)
{
    const struct enl_stillness told = {.still = message->status != 0,
                                       .count = message->count,
                                       .who = message->who,
                                       .moves = message->moves,
                                       .since = message->since,
                                       .servers = (message->flags & 1) != 0};
    if (deadlock->looks && know_hosts(deadlock))
        act_on_verdict(deadlock, enl_root_detector_hear(&deadlock->root_detector, host, message->id, &told));
}

void enl_deadlock_of_parent(struct enl_deadlock *deadlock, const struct bcri_control *message)
{
    if (!deadlock->looks)
        return;
    if (message->type == BCRI_MSG_look) {
        look_at_cces(deadlock, message->id);
        return;
    }
    deadlock->suspects_told = true;
    if (message->kind == BCRI_ONDEADLOCK_HUP)
        enl_deadlock_send_hup(deadlock->here);
}

void enl_deadlock_start(struct enl_deadlock *deadlock)
{
    deadlock->looks = deadlock->self->config.ondeadlock != BCRI_ONDEADLOCK_IGNORE;
    if (!deadlock->looks)
        return;
    uv_timer_init(&deadlock->self->loop, &deadlock->timer);
    deadlock->timer.data = deadlock;
    uv_timer_start(&deadlock->timer, on_deadlock_timer, LOOK_MSEC, LOOK_MSEC);
}

void enl_deadlock_stop(struct enl_deadlock *deadlock)
{
    if (!deadlock->looks)
        return;
    deadlock->looks = false;
    enl_explanation_drop(&deadlock->text);
    enl_root_detector_fini(&deadlock->root_detector);
    uv_close((uv_handle_t *)&deadlock->timer, NULL);
}

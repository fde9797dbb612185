/* SPDX-License-Identifier: MIT */
/* See setup.h. */
#include "conductor/setup.h"

#include <string.h>

#include "base/boottime.h"
#include "base/clock.h"
#include "links/links.h"
#include "tree/membership.h"
#include "wire/wire.h"

static struct {
    struct enl_membership membership;
    void (*flushed)(struct enl_program *program);
    uv_timer_t timer; /* for membership.until_ms */
    bool is_open;
    struct enl_clock clock;
    uint32_t clock_turn; /* of the log, in which the clock is told */
} uplink;

/* ------------------------------------------------------------------------------- sending --- */

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void send_beat(struct enl_program *program)
{
    const struct bcri_control message = {.type = BCRI_MSG_beat,
                                         .present = BCRI_HAS(id),
                                         .id = enl_membership_beat(&uplink.membership, enl_boottime_ms())};
    enl_clock_sent(&uplink.clock, message.id, nanoseconds(CLOCK_MONOTONIC));
    enl_peer_send(program->parent->peer, &message);
}

void enl_uplink_send(struct enl_program *program, const struct bcri_control *message)
{
    enl_peer_send(program->parent->peer, message);
}

/* The last word: behind all else, which has arrived. Nobody else may be left who tells the root that this daemon has ended. */
static void tell_end(struct enl_program *program)
{
    const struct bcri_control ended = {.type = BCRI_MSG_ended,
                                       .present =
                                           BCRI_HAS(host) | BCRI_HAS(code) | BCRI_HAS(flags) | BCRI_HAS(text),
                                       .host = program->self.host_number,
                                       .text = bcri_view_of("")};
    enl_uplink_send(program, &ended);
}

static void on_flushed(void *data)
{
    enl_uplink_happens(data, ENL_MEMBERSHIP_FLUSHED, NULL);
}

void enl_uplink_flush(struct enl_program *program, void (*done)(struct enl_program *program))
{
    uplink.flushed = done;
    enl_uplink_happens(program, ENL_MEMBERSHIP_FLUSH, NULL);
}

/* ------------------------------------------------------------------------------ what is done --- */

const char *enl_uplink_go_by_control_link(struct enl_program *program, const struct enl_peer_ops *ops)
{
    const char *wrong = enl_control_link_make(program->control_link, program->introductions);
    struct enl_peer *peer =
        wrong == NULL ? enl_peer_new_by_control_link(&program->carry, 0, ops, program) : NULL;
    if (peer == NULL)
        return wrong != NULL ? wrong : "no memory";
    program->parent->peer = peer;
    uplink.membership.by_control_link = true;
    return NULL;
}

/* They may be the parent's own, which are closed with it. */
static void close_pipes(struct enl_program *program)
{
    if (uplink.membership.by_control_link && program->pipes != NULL)
        enl_peer_close(program->pipes);
    program->pipes = NULL;
}

static void leave_pipes(struct enl_program *program)
{
    close_pipes(program);
    if (program->self.phase != ENL_ENDED)
        bcri_log_write(
            &program->self.log, BCRI_LOG_WARN,
            "the daemon that started this one is gone; this host goes on over its link to the root");
}

/* The root has ended, or must not be listened to any more. */
static void lose(struct enl_program *program, const char *why)
{
    const char *reason = why != NULL ? why : "no heartbeat was answered in time (hosttimeout)";
    const char *who = uplink.membership.by_control_link ? "the program's root does not answer"
                                                        : "the daemon that started this one is gone";
    enl_conn_close(program->parent);
    close_pipes(program);
    enl_branches_leave();
    if (program->self.phase == ENL_ENDED) {
        enl_bring_give_up(&program->carry);
        return;
    }
    if (program->here.alive == 0 && STAILQ_EMPTY(&program->jobs.queue)) {
        bcri_log_write(&program->self.log, BCRI_LOG_WARN, "%s (%s)", who, reason);
        enl_program_check_end(program);
        return;
    }
    enl_report(&program->self, BCRI_LOG_WARN, "%s (%s); the CCEs here are killed", who, reason);
    enl_program_abort(program, 1);
}

static void finish(struct enl_program *program)
{
    void (*done)(struct enl_program *) = uplink.flushed;
    uplink.flushed = NULL;
    if (done != NULL)
        done(program);
}

static void carry_out(struct enl_program *program, unsigned actions, const char *why)
{
    if ((actions & ENL_MEMBERSHIP_DO_WARN) != 0)
        enl_branches_warn();
    if ((actions & ENL_MEMBERSHIP_DO_LOSE) != 0)
        lose(program, why);
    if ((actions & ENL_MEMBERSHIP_DO_LEAVE) != 0)
        leave_pipes(program);
    if ((actions & ENL_MEMBERSHIP_DO_BEAT) != 0)
        send_beat(program);
    if ((actions & ENL_MEMBERSHIP_DO_SAY) != 0)
        tell_end(program);
    if ((actions & ENL_MEMBERSHIP_DO_AWAIT) != 0)
        enl_peer_flush(program->parent->peer, on_flushed, program);
    if ((actions & ENL_MEMBERSHIP_DO_DONE) != 0)
        finish(program);
}

/* ------------------------------------------------------------------------------ what happens --- */

static void on_uplink_timer(uv_timer_t *timer);

/* Has the link thread and the timer know what has been decided. */
static void pass_on(struct enl_program *program)
{
    const uint64_t until_ms = uplink.membership.until_ms, now_ms = enl_boottime_ms();
    enl_links_lease(&program->links, uplink.membership.links_ms);
    if (until_ms == UINT64_MAX)
        uv_timer_stop(&uplink.timer);
    else
        uv_timer_start(&uplink.timer, on_uplink_timer, until_ms > now_ms ? until_ms - now_ms : 0, 0);
}

void enl_uplink_happens(struct enl_program *program, enum enl_membership_event event, const char *why)
{
    const enum enl_membership_state before = uplink.membership.state;
    const unsigned actions = enl_membership_happens(&uplink.membership, event, enl_boottime_ms());
    if (uplink.membership.state != before)
        bcri_log_write(&program->self.log, BCRI_LOG_DEBUG, "this host: %s, %s: %s",
                       enl_membership_state_name(before), enl_membership_event_name(event),
                       enl_membership_state_name(uplink.membership.state));
    pass_on(program);
    carry_out(program, actions, why);
}

static void on_uplink_timer(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    enum enl_membership_event event;
    const bool is_stopped = uplink.membership.state == ENL_MEMBERSHIP_STOPPED;
    if (enl_membership_due(&uplink.membership, enl_boottime_ms(), &event))
        enl_uplink_happens(program, event, is_stopped ? "the program was stopped for an hour" : NULL);
    else /* the loop's time was old when the timer was set */
        pass_on(program);
}

/* As `enl logs` reads it (verbs/merge.c). A log that has begun anew is told again. */
static void tell_clock(struct enl_program *program)
{
    const int64_t ahead = uplink.clock.ahead_ns, size = ahead < 0 ? -ahead : ahead;
    uplink.clock_turn = program->self.log.turns;
    bcri_log_write(&program->self.log, BCRI_LOG_INFO,
                   "clock %c%lld.%09lld s to the root's, round trip %lld.%09lld s", ahead < 0 ? '-' : '+',
                   (long long)(size / 1000000000), (long long)(size % 1000000000),
                   (long long)(uplink.clock.round_trip_ns / 1000000000),
                   (long long)(uplink.clock.round_trip_ns % 1000000000));
}

const char *enl_uplink_answered(struct enl_program *program, const struct bcri_control *message)
{
    const char *wrong = enl_membership_answered(&uplink.membership, message->id, enl_boottime_ms());
    if (wrong != NULL)
        return wrong;
    enl_uplink_happens(program, ENL_MEMBERSHIP_ANSWERED, NULL);
    if ((message->present & BCRI_HAS(clock)) != 0 &&
        (enl_clock_answered(&uplink.clock, message->id, message->clock, nanoseconds(CLOCK_MONOTONIC),
                            nanoseconds(CLOCK_REALTIME)) ||
         (uplink.clock.known && uplink.clock_turn != program->self.log.turns)))
        tell_clock(program);
    return NULL;
}

bool enl_uplink_heeds_stop(void)
{
    return enl_membership_heeds_stop(&uplink.membership);
}

/* --------------------------------------------------------------------- its beginning and end --- */

void enl_uplink_open(struct enl_program *program)
{
    uv_timer_init(&program->self.loop, &uplink.timer);
    uplink.timer.data = program;
    uplink.is_open = true;
    enl_membership_begin(&uplink.membership, false, (uint64_t)program->self.config.hosttimeout,
                         enl_boottime_ms());
    pass_on(program);
}

void enl_uplink_close(struct enl_program *program)
{
    close_pipes(program);
    if (uplink.is_open)
        uv_close((uv_handle_t *)&uplink.timer, NULL);
    uplink.is_open = false;
}

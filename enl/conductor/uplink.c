/* SPDX-License-Identifier: MIT */
/* See setup.h. */
#include "conductor/setup.h"

#include <string.h>

#include "base/boottime.h"
#include "base/clock.h"
#include "links/links.h"
#include "tree/lease.h"
#include "wire/wire.h"

/* At its end a daemon says more often that it is there: its parent waits for 2 s. */
enum { END_BEAT_MSEC = 400, LAST_MSEC = 1000 };

static struct {
    void (*flushed)(struct enl_program *program);
    uv_timer_t timer;
    bool beats;     /* the timer is there */
    bool suspended; /* the program is stopped */
    uint64_t suspended_ms;
    struct enl_lease lease;
    struct enl_clock clock;
    uint32_t clock_turn;  /* of the log, in which the clock is told */
    bool by_control_link; /* program->parent is the root, by the control link */
} uplink;

static void on_uplink_timer(uv_timer_t *timer);

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
                                         .id = enl_lease_beat(&uplink.lease, enl_boottime_ms())};
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

static void finish(void *data)
{
    void (*done)(struct enl_program *) = uplink.flushed;
    uplink.flushed = NULL;
    if (done != NULL)
        done(data);
}

static void on_last_timer(uv_timer_t *timer)
{
    finish(timer->data);
}

/* All but the last word has arrived. That may never be acknowledged, since the root may have gone at once. */
static void on_flushed(void *data)
{
    struct enl_program *program = data;
    if (!uplink.by_control_link) {
        finish(program);
        return;
    }
    tell_end(program);
    uv_timer_start(&uplink.timer, on_last_timer, LAST_MSEC, 0);
    enl_peer_flush(program->parent->peer, finish, program);
}

void enl_uplink_flush(struct enl_program *program, void (*done)(struct enl_program *program))
{
    uplink.flushed = done;
    if (uplink.by_control_link)
        uv_timer_start(&uplink.timer, on_uplink_timer, 0,
                       END_BEAT_MSEC); /* the root is patient while it hears */
    enl_peer_flush(program->parent->peer, on_flushed, program);
}

/* ------------------------------------------------------------------------ the way, and its end --- */

const char *enl_uplink_go_by_control_link(struct enl_program *program, const struct enl_peer_ops *ops)
{
    const char *wrong = enl_control_link_make(program->control_link, program->introductions);
    struct enl_peer *peer =
        wrong == NULL ? enl_peer_new_by_control_link(&program->carry, 0, ops, program) : NULL;
    if (peer == NULL)
        return wrong != NULL ? wrong : "no memory";
    program->parent->peer = peer;
    uplink.by_control_link = true;
    return NULL;
}

/* They may be the parent's own, which are closed with it. */
static void close_pipes(struct enl_program *program)
{
    if (uplink.by_control_link && program->pipes != NULL)
        enl_peer_close(program->pipes);
    program->pipes = NULL;
}

/* While the program is stopped the lease does not run, so nothing would end this host if it is the root that is gone. */
bool enl_uplink_leave_pipes(struct enl_program *program)
{
    if (!uplink.by_control_link || uplink.suspended)
        return false;
    close_pipes(program);
    if (program->self.phase != ENL_ENDED)
        bcri_log_write(
            &program->self.log, BCRI_LOG_WARN,
            "the daemon that started this one is gone; this host goes on over its link to the root");
    return true;
}

/* The parent has ended, or must not be listened to any more. */
void enl_uplink_lost(struct enl_program *program, const char *why)
{
    const char *who = uplink.by_control_link && !uplink.suspended
                          ? "the program's root does not answer"
                          : "the daemon that started this one is gone";
    enl_conn_close(program->parent);
    close_pipes(program);
    enl_branches_leave();
    uv_timer_stop(&uplink.timer);
    if (program->self.phase == ENL_ENDED) {
        enl_bring_give_up(&program->carry);
        finish(program);
        return;
    }
    if (program->here.alive == 0 && STAILQ_EMPTY(&program->jobs.queue)) {
        bcri_log_write(&program->self.log, BCRI_LOG_WARN, "%s (%s)", who, why);
        enl_program_check_end(program);
        return;
    }
    enl_report(&program->self, BCRI_LOG_WARN, "%s (%s); the CCEs here are killed", who, why);
    enl_program_abort(program, 1);
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

static void on_uplink_timer(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    const uint64_t now_ms = enl_boottime_ms();
    if (program->parent != NULL && uplink.by_control_link && uplink.suspended &&
        enl_lease_stopped_is_over(uplink.suspended_ms, now_ms))
        enl_uplink_lost(program, "the program was stopped for an hour");
    if (program->parent == NULL || uplink.suspended)
        return;
    if (enl_lease_is_over(&uplink.lease, now_ms)) {
        enl_uplink_lost(program, "no heartbeat was answered in time (hosttimeout)");
        return;
    }
    send_beat(program);
}

static void extend_lease(struct enl_program *program, uint64_t from_ms)
{
    const uint64_t until_ms =
        enl_lease_extend(&uplink.lease, from_ms, (uint64_t)program->self.config.hosttimeout);
    enl_links_lease(&program->links, uplink.suspended ? UINT64_MAX : until_ms);
}

const char *enl_uplink_answered(struct enl_program *program, const struct bcri_control *message)
{
    uint64_t sent_ms;
    if (message->id > uplink.lease.beat)
        return "it answers a heartbeat that was not sent";
    if ((message->present & BCRI_HAS(clock)) != 0 &&
        (enl_clock_answered(&uplink.clock, message->id, message->clock, nanoseconds(CLOCK_MONOTONIC),
                            nanoseconds(CLOCK_REALTIME)) ||
         (uplink.clock.known && uplink.clock_turn != program->self.log.turns)))
        tell_clock(program);
    if (enl_lease_sent(&uplink.lease, message->id, &sent_ms))
        extend_lease(program, sent_ms);
    return NULL;
}

void enl_uplink_suspend(struct enl_program *program)
{
    uplink.suspended = true;
    uplink.suspended_ms = enl_boottime_ms();
    enl_links_lease(&program->links, UINT64_MAX);
}

/* The parent counts from when it sent this, which may be long ago. So the links rest until it has
 * answered a heartbeat that is sent now. */
void enl_uplink_go_on(struct enl_program *program)
{
    uplink.suspended = false;
    extend_lease(program, enl_boottime_ms());
    enl_links_lease(&program->links, 0);
    on_uplink_timer(&uplink.timer);
}

void enl_uplink_hurry(void)
{
    uv_timer_start(&uplink.timer, on_uplink_timer, 0, END_BEAT_MSEC);
}

/* --------------------------------------------------------------------- its beginning and end --- */

void enl_uplink_open(struct enl_program *program)
{
    uv_timer_init(&program->self.loop, &uplink.timer);
    uplink.timer.data = program;
    uplink.beats = true;
    extend_lease(program, enl_boottime_ms());
    uv_timer_start(&uplink.timer, on_uplink_timer, 0,
                   (uint64_t)program->self.config.hosttimeout / 4); /* at once, for the clock */
}

void enl_uplink_close(struct enl_program *program)
{
    close_pipes(program);
    if (uplink.beats)
        uv_close((uv_handle_t *)&uplink.timer, NULL);
    uplink.beats = false;
}

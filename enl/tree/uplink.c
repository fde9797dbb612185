/* SPDX-License-Identifier: MIT */
/* See setup.h. */
#include "tree/setup.h"

#include <string.h>

#include "base/boottime.h"
#include "base/clock.h"
#include "links/links.h"
#include "tree/lease.h"
#include "wire/wire.h"

/* At its end a daemon says more often that it is there: its parent waits for 2 s. */
enum { END_BEAT_MSEC = 400 };

static struct {
    void (*flushed)(struct enl_program *program);
    uv_timer_t timer;
    bool beats;     /* the timer is there */
    bool suspended; /* the program is stopped */
    uint64_t suspended_ms;
    struct enl_lease lease;
    struct enl_clock clock;
    uint32_t clock_turn;           /* of the log, in which the clock is told */
    bool has_backup;               /* introductions.h; what goes up is numbered then */
    struct enl_sequence numbers;   /* of what goes up and comes down */
    struct enl_peer *control_link; /* to the root, if the pipes are silent; NULL: they are not */
    bool on_control_link;          /* the parent is the root, by the control link */
    const struct enl_peer_ops *control_link_ops;
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
    struct bcri_control message = {.type = BCRI_MSG_beat,
                                   .present = BCRI_HAS(id),
                                   .id = enl_lease_beat(&uplink.lease, enl_boottime_ms())};
    const bool is_silent =
        enl_lease_is_silent(&uplink.lease, enl_boottime_ms(), (uint64_t)program->self.config.hosttimeout);
    if (is_silent) { /* the root may hear this, though nothing comes back */
        message.present |= BCRI_HAS(flags);
        message.flags = BCRI_BEAT_UNHEARD;
    }
    enl_clock_sent(&uplink.clock, message.id, nanoseconds(CLOCK_MONOTONIC));
    if (uplink.has_backup)
        enl_sequence_tell(&uplink.numbers, &message);
    enl_peer_send(program->parent->peer, &message);
    if (uplink.control_link != NULL && is_silent)
        enl_peer_send(uplink.control_link, &message);
}

/* What both ends keep until the other has told that it has it does not grow without end. */
static void tell_early(struct enl_program *program)
{
    if (uplink.has_backup && enl_sequence_wants_beat(&uplink.numbers))
        send_beat(program);
}

void enl_uplink_send(struct enl_program *program, const struct bcri_control *message)
{
    enl_peer_send(program->parent->peer, message);
    tell_early(program);
}

/* Nobody else tells the root that this daemon has ended. */
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
    struct enl_program *program = data;
    void (*done)(struct enl_program *) = uplink.flushed;
    uplink.flushed = NULL;
    if (done != NULL && uplink.on_control_link && program->parent != NULL)
        tell_end(program);
    if (done != NULL)
        done(program);
}

void enl_uplink_flush(struct enl_program *program, void (*done)(struct enl_program *program))
{
    uplink.flushed = done;
    if (uplink.has_backup)
        uv_timer_start(&uplink.timer, on_uplink_timer, 0, END_BEAT_MSEC); /* answers say that all has come */
    enl_peer_flush(program->parent->peer, on_flushed, program);
}

/* ------------------------------------------------------------------------ the way, and its end --- */

/* The way to the root by others is lost, or silent. False: there is none without them. */
static bool seek_root(struct enl_program *program)
{
    if (uplink.control_link != NULL)
        return true;
    if (!uplink.has_backup || uplink.on_control_link || uplink.numbers.broken ||
        !enl_backup_make(program->backup, program->introductions))
        return false;
    uplink.control_link = enl_peer_new_by_control_link(&program->carry, 0, uplink.control_link_ops, program);
    if (uplink.control_link != NULL)
        bcri_log_write(&program->self.log, BCRI_LOG_INFO, "the backup link to the root is tried");
    return uplink.control_link != NULL;
}

/* From now on that is the way. */
void enl_uplink_go_by_control_link(struct enl_program *program)
{
    struct enl_peer *pipes = program->parent->peer;
    program->parent->peer = uplink.control_link;
    uplink.control_link = NULL;
    uplink.on_control_link = true;
    enl_peer_number(program->parent->peer, &uplink.numbers);
    enl_peer_close(pipes);
    if (uplink.flushed != NULL)
        enl_peer_flush(program->parent->peer, on_flushed, program);
}

/* The pipe has ended: the daemon that started this one is lost, or the way to it. While the program is stopped the
 * lease does not run, so nothing would end this host if it is the root that is gone. */
bool enl_uplink_leave_pipes(struct enl_program *program)
{
    if (uplink.on_control_link || uplink.suspended ||
        (program->self.phase == ENL_ENDED && uplink.numbers.kept_bytes == 0) || !seek_root(program))
        return false;
    enl_sequence_hold(&uplink.numbers);
    enl_uplink_go_by_control_link(program);
    bcri_log_write(&program->self.log, BCRI_LOG_WARN,
                   "the daemon that started this one is gone; this host goes on over a link to the root");
    on_uplink_timer(&uplink.timer);
    return true;
}

/* The parent has ended, or must not be listened to any more. */
void enl_uplink_lost(struct enl_program *program, const char *why)
{
    enl_conn_close(program->parent);
    if (uplink.control_link != NULL)
        enl_peer_close(uplink.control_link);
    uplink.control_link = NULL;
    enl_branches_leave();
    uv_timer_stop(&uplink.timer);
    if (program->self.phase == ENL_ENDED) {
        enl_bring_give_up(&program->carry);
        on_flushed(program);
        return;
    }
    if (program->here.alive == 0 && STAILQ_EMPTY(&program->jobs.queue)) {
        bcri_log_write(&program->self.log, BCRI_LOG_WARN, "the daemon that started this one is gone (%s)",
                       why);
        enl_program_check_end(program);
        return;
    }
    enl_report(&program->self, BCRI_LOG_WARN,
               "the daemon that started this one is gone (%s); the CCEs here are killed", why);
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

/* The moment from which the root is silent lies between two beats, mostly: of the time that is left then, none is
 * to be lost. From then on beats are more frequent, since those that come before the root is ready are lost. */
static void look_in_time(struct enl_program *program, uint64_t now_ms)
{
    const uint64_t hosttimeout = (uint64_t)program->self.config.hosttimeout;
    const uint64_t repeat = uv_timer_get_repeat(&uplink.timer);
    const uint64_t silent_ms = uplink.lease.until_ms - hosttimeout / 2 + 1;
    const bool tries = uplink.numbers.asked || silent_ms <= now_ms;
    const uint64_t next = tries ? hosttimeout / 16 : silent_ms - now_ms;
    if (uplink.has_backup && next < repeat)
        uv_timer_start(&uplink.timer, on_uplink_timer, next, repeat);
}

static void on_uplink_timer(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    const uint64_t now_ms = enl_boottime_ms();
    if (program->parent != NULL && uplink.on_control_link && uplink.suspended &&
        enl_lease_stopped_is_over(uplink.suspended_ms, now_ms))
        enl_uplink_lost(program, "the program was stopped for an hour");
    if (program->parent == NULL || uplink.suspended)
        return;
    if (enl_lease_is_over(&uplink.lease, now_ms)) {
        enl_uplink_lost(program, "no heartbeat was answered in time (hosttimeout)");
        return;
    }
    if (enl_lease_is_silent(&uplink.lease, now_ms, (uint64_t)program->self.config.hosttimeout))
        (void)seek_root(program);
    look_in_time(program, now_ms);
    send_beat(program);
}

static void extend_lease(struct enl_program *program, uint64_t from_ms)
{
    const uint64_t until_ms =
        enl_lease_extend(&uplink.lease, from_ms, (uint64_t)program->self.config.hosttimeout);
    enl_links_lease(&program->links, uplink.suspended ? UINT64_MAX : until_ms);
}

static const char *take_beat(struct enl_program *program, const struct bcri_control *message)
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

const char *enl_uplink_answered(struct enl_program *program, const struct bcri_control *message)
{
    const char *wrong = take_beat(program, message);
    enl_peer_acknowledged(program->parent->peer);
    return wrong;
}

enum enl_sequence_verdict enl_uplink_came(struct enl_program *program, const struct bcri_control *message)
{
    if (!uplink.has_backup)
        return ENL_SEQUENCE_TAKE;
    const enum enl_sequence_verdict verdict = enl_sequence_came(&uplink.numbers, message);
    if (verdict != ENL_SEQUENCE_NONSENSE)
        tell_early(program);
    return verdict;
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

bool enl_uplink_is_control_link(void)
{
    return uplink.on_control_link;
}

struct enl_peer *enl_uplink_control_link(const struct enl_program *program)
{
    return uplink.on_control_link && program->parent != NULL ? program->parent->peer : uplink.control_link;
}

/* --------------------------------------------------------------------- its beginning and end --- */

void enl_uplink_open(struct enl_program *program, const struct enl_peer_ops *control_link_ops)
{
    uplink.control_link_ops = control_link_ops;
    uv_timer_init(&program->self.loop, &uplink.timer);
    uplink.timer.data = program;
    uplink.beats = true;
    extend_lease(program, enl_boottime_ms());
    uv_timer_start(&uplink.timer, on_uplink_timer, 0,
                   (uint64_t)program->self.config.hosttimeout / 4); /* at once, for the clock */
}

void enl_uplink_number(struct enl_program *program)
{
    uplink.has_backup = true;
    enl_peer_number(program->parent->peer, &uplink.numbers);
}

void enl_uplink_close(void)
{
    enl_sequence_drop(&uplink.numbers);
    if (uplink.control_link != NULL)
        enl_peer_close(uplink.control_link);
    uplink.control_link = NULL;
    if (uplink.beats)
        uv_close((uv_handle_t *)&uplink.timer, NULL);
    uplink.beats = false;
}

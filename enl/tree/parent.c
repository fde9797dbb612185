/* SPDX-License-Identifier: MIT */
/* parent.c -- see parent.h.
 *
 * The lease (lease.h) runs by a clock that also runs while the machine sleeps. When it is over this daemon
 * ends, since its parent may have taken it for lost, a tenth later. While the program is stopped
 * (Ctrl-Z, which is told beforehand) the lease does not run. */
#include "parent.h"

#include <string.h>

#include "bcri/descriptor.h"
#include "branch.h"
#include "bring.h"
#include "carry.h"
#include "cce.h"
#include "child.h"
#include "clock.h"
#include "conn.h"
#include "deadlock.h"
#include "errand.h"
#include "far.h"
#include "greeting.h"
#include "introduce.h"
#include "lease.h"
#include "links.h"
#include "output.h"
#include "peer.h"
#include "reserve.h"
#include "sequence.h"
#include "signals.h"

/* At its end a daemon says more often that it is there: its parent waits for 2 s. */
enum { END_BEAT_MSEC = 400 };

static struct {
    struct enl_greeting greeting; /* its secrets until enl_parent_open */
    struct enl_errands errands;
    uint32_t alive; /* as the parent knows */
    long window;    /* bytes of output that it takes now */
    void (*flushed)(struct enl_program *program);
    uv_timer_t timer;
    bool beats;     /* the timer is there */
    bool suspended; /* the program is stopped */
    uint64_t suspended_ms;
    struct enl_lease lease;
    struct enl_clock clock;
    uint32_t clock_turn;         /* of the log, in which the clock is told */
    bool has_reserve;            /* reserve.h; what goes up is numbered then */
    struct enl_sequence numbers; /* of what goes up and comes down */
    struct enl_peer *lane;       /* to the root, if the pipes are silent; NULL: they are not */
    bool on_lane;                /* the parent is the root, by the tree's lane */
} parent = {.greeting = {.in = -1, .out = -1}};

int enl_parent_await(struct enl_program *program, char *error, size_t error_size)
{
    return enl_greeting_await(&parent.greeting, program, error, error_size);
}

static void on_timer(uv_timer_t *timer);

/* --------------------------------------------------------------------------- what goes up --- */

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
                                   .id = enl_lease_beat(&parent.lease, enl_boottime_ms())};
    enl_clock_sent(&parent.clock, message.id, nanoseconds(CLOCK_MONOTONIC));
    if (parent.has_reserve)
        enl_sequence_tell(&parent.numbers, &message);
    enl_peer_send(program->parent->peer, &message);
    if (parent.lane != NULL &&
        enl_lease_is_silent(&parent.lease, enl_boottime_ms(), (uint64_t)program->config.hosttimeout))
        enl_peer_send(parent.lane, &message);
}

/* What both ends keep until the other has told that it has it does not grow without end. */
static void tell_early(struct enl_program *program)
{
    if (parent.has_reserve && enl_sequence_wants_beat(&parent.numbers))
        send_beat(program);
}

static void send_up(struct enl_program *program, const struct bcri_control *message)
{
    enl_peer_send(program->parent->peer, message);
    tell_early(program);
}

void enl_parent_send_output(struct enl_program *program, const struct bcri_control *message)
{
    if (program->parent != NULL)
        enl_peer_send_output(program->parent->peer, message);
}

/* In pieces, if it is long. */
static void up_report(struct enl_program *program, enum bcri_log_level level, const char *text, size_t length)
{
    while (length > 0) {
        const size_t part = length < 2048 ? length : 2048;
        const struct bcri_control message = {.type = BCRI_MSG_report,
                                             .present = BCRI_HAS(kind) | BCRI_HAS(bytes),
                                             .kind = (uint32_t)level,
                                             .bytes = {text, (uint32_t)part}};
        send_up(program, &message);
        text += part;
        length -= part;
    }
}

static void up_line(struct enl_program *program, int fd, uint32_t ordinal, const char *text, size_t length)
{
    const struct bcri_control message = {.type = BCRI_MSG_output,
                                         .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes),
                                         .ordinal = ordinal,
                                         .kind = (uint32_t)fd,
                                         .bytes = {text, (uint32_t)length}};
    parent.window -= (long)(length + ENL_WINDOW_LINE);
    enl_peer_send_output(program->parent->peer, &message);
    tell_early(program);
}

static bool up_full(void)
{
    return parent.window <= 0;
}

static void up_alive(struct enl_program *program)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_alive, .present = BCRI_HAS(count), .count = program->alive};
    if (parent.alive == program->alive)
        return;
    parent.alive = program->alive;
    send_up(program, &message);
}

static void up_failed(struct enl_program *program, int status)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_failed, .present = BCRI_HAS(status), .status = (uint32_t)status & 255};
    send_up(program, &message);
}

/* Nobody else tells the root that this daemon has ended. */
static void tell_end(struct enl_program *program)
{
    const struct bcri_control ended = {.type = BCRI_MSG_ended,
                                       .present =
                                           BCRI_HAS(host) | BCRI_HAS(code) | BCRI_HAS(flags) | BCRI_HAS(text),
                                       .host = program->host_number,
                                       .text = bcri_view_of("")};
    send_up(program, &ended);
}

static void on_flushed(struct enl_program *program)
{
    void (*done)(struct enl_program *) = parent.flushed;
    parent.flushed = NULL;
    if (done != NULL && parent.on_lane && program->parent != NULL)
        tell_end(program);
    if (done != NULL)
        done(program);
}

static void up_flush(struct enl_program *program, void (*done)(struct enl_program *program))
{
    parent.flushed = done;
    if (parent.has_reserve)
        uv_timer_start(&parent.timer, on_timer, 0, END_BEAT_MSEC); /* answers say that all has come */
    enl_peer_flush(program->parent->peer, on_flushed);
}

static const struct enl_parent_hooks upward = {up_report, up_line, up_full, up_alive, up_failed, up_flush};

bool enl_parent_ask(struct enl_conn *conn, const struct bcri_control *request)
{
    struct enl_program *program = conn->program;
    if (program->parent == NULL || !enl_errand_add(&parent.errands, conn, request))
        return false;
    enl_errands_send(&parent.errands, program->parent->peer, NULL);
    return true;
}

void enl_parent_forget(const struct enl_conn *conn)
{
    enl_errands_forget(&parent.errands, conn);
}

/* ------------------------------------------------------------------------ what comes down --- */

static const struct enl_peer_ops lane_ops;

/* The way to the root by others is lost, or silent. False: there is none without them. */
static bool seek_root(struct enl_program *program)
{
    if (parent.lane != NULL)
        return true;
    if (!parent.has_reserve || parent.on_lane || parent.numbers.broken || !enl_reserve_make(program))
        return false;
    parent.lane = enl_peer_new_by_lane(program, 0, &lane_ops, program);
    if (parent.lane != NULL)
        bcri_log_write(&program->log, BCRI_LOG_INFO,
                       "the link to the root that this host has in reserve is tried");
    return parent.lane != NULL;
}

/* From now on that is the way. */
static void go_by_lane(struct enl_program *program)
{
    struct enl_peer *pipes = program->parent->peer;
    program->parent->peer = parent.lane;
    parent.lane = NULL;
    parent.on_lane = true;
    enl_peer_number(program->parent->peer, &parent.numbers);
    enl_peer_close(pipes);
    if (parent.flushed != NULL)
        enl_peer_flush(program->parent->peer, on_flushed);
}

/* The pipe has ended: whoever has started this daemon is lost, or the way to it. While the program is stopped the
 * lease does not run, so nothing would end this host if it is the root that is gone. */
static bool leave_pipes(struct enl_program *program)
{
    if (parent.on_lane || parent.suspended ||
        (program->phase == ENL_ENDED && parent.numbers.kept_bytes == 0) || !seek_root(program))
        return false;
    enl_sequence_hold(&parent.numbers);
    go_by_lane(program);
    bcri_log_write(&program->log, BCRI_LOG_WARN,
                   "the daemon that started this one is gone; this host goes on over a link to the root");
    on_timer(&parent.timer);
    return true;
}

/* The parent has ended, or must not be listened to any more. */
static void lost(struct enl_program *program, const char *why)
{
    enl_conn_close(program->parent);
    if (parent.lane != NULL)
        enl_peer_close(parent.lane);
    parent.lane = NULL;
    enl_branches_leave(program);
    uv_timer_stop(&parent.timer);
    if (program->phase == ENL_ENDED) {
        enl_bring_give_up(program);
        on_flushed(program);
        return;
    }
    if (program->alive == 0 && program->jobs == NULL) {
        bcri_log_write(&program->log, BCRI_LOG_WARN, "the daemon that started this one is gone (%s)", why);
        enl_program_check_end(program);
        return;
    }
    enl_report(program, BCRI_LOG_WARN,
               "the daemon that started this one is gone (%s); the CCEs here are killed", why);
    enl_program_abort(program, 1);
}

/* As `enl logs` reads it (logs/merge.c). A log that has begun anew is told again. */
static void tell_clock(struct enl_program *program)
{
    const int64_t ahead = parent.clock.ahead_ns, size = ahead < 0 ? -ahead : ahead;
    parent.clock_turn = program->log.turns;
    bcri_log_write(&program->log, BCRI_LOG_INFO,
                   "clock %c%lld.%09lld s to the root's, round trip %lld.%09lld s", ahead < 0 ? '-' : '+',
                   (long long)(size / 1000000000), (long long)(size % 1000000000),
                   (long long)(parent.clock.round_trip_ns / 1000000000),
                   (long long)(parent.clock.round_trip_ns % 1000000000));
}

/* The moment from which the root is silent lies between two beats, mostly: of the time that is left then, none is
 * to be lost. From then on beats are more frequent, since those that come before the root is ready are lost. */
static void look_in_time(struct enl_program *program, uint64_t now_ms)
{
    const uint64_t hosttimeout = (uint64_t)program->config.hosttimeout;
    const uint64_t repeat = uv_timer_get_repeat(&parent.timer);
    const uint64_t silent_ms = parent.lease.until_ms - hosttimeout / 2 + 1;
    const bool tries = parent.numbers.asked || silent_ms <= now_ms;
    const uint64_t next = tries ? hosttimeout / 16 : silent_ms - now_ms;
    if (parent.has_reserve && next < repeat)
        uv_timer_start(&parent.timer, on_timer, next, repeat);
}

static void on_timer(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    const uint64_t now_ms = enl_boottime_ms();
    if (program->parent != NULL && parent.on_lane && parent.suspended &&
        enl_lease_stopped_is_over(parent.suspended_ms, now_ms))
        lost(program, "the program was stopped for an hour");
    if (program->parent == NULL || parent.suspended)
        return;
    if (enl_lease_is_over(&parent.lease, now_ms)) {
        lost(program, "no heartbeat was answered in time (hosttimeout)");
        return;
    }
    if (enl_lease_is_silent(&parent.lease, now_ms, (uint64_t)program->config.hosttimeout))
        (void)seek_root(program);
    look_in_time(program, now_ms);
    send_beat(program);
}

static void extend_lease(struct enl_program *program, uint64_t from_ms)
{
    const uint64_t until_ms = enl_lease_extend(&parent.lease, from_ms, (uint64_t)program->config.hosttimeout);
    enl_links_lease(program, parent.suspended ? UINT64_MAX : until_ms);
}

static const char *take_beat(struct enl_program *program, const struct bcri_control *message)
{
    uint64_t sent_ms;
    if (message->id > parent.lease.beat)
        return "it answers a heartbeat that was not sent";
    if ((message->present & BCRI_HAS(clock)) != 0 &&
        (enl_clock_answered(&parent.clock, message->id, message->clock, nanoseconds(CLOCK_MONOTONIC),
                            nanoseconds(CLOCK_REALTIME)) ||
         (parent.clock.known && parent.clock_turn != program->log.turns)))
        tell_clock(program);
    if (enl_lease_sent(&parent.lease, message->id, &sent_ms))
        extend_lease(program, sent_ms);
    return NULL;
}

static const char *take_unstarted(struct enl_program *program, const struct bcri_control *message)
{
    struct enl_origin origin;
    if (message->enlistor.length != sizeof origin.identity ||
        bcri_identity_host((const uint8_t *)message->enlistor.bytes) != program->host_number)
        return "a start for another host failed";
    memcpy(origin.identity, message->enlistor.bytes, sizeof origin.identity);
    enl_cce_tell_failure(program, &origin, message->ordinal, (int)message->status);
    return NULL;
}

static void hold(struct enl_program *program, uint32_t id)
{
    parent.suspended = true;
    parent.suspended_ms = enl_boottime_ms();
    enl_links_lease(program, UINT64_MAX);
    enl_signals_stop_cces(program);
    enl_conn_reply(program->parent, id, 0, NULL);
}

/* The parent counts from when it sent this, which may be long ago. So the links rest until it has
 * answered a heartbeat that is sent now. */
static void go_on(struct enl_program *program)
{
    parent.suspended = false;
    extend_lease(program, enl_boottime_ms());
    enl_links_lease(program, 0);
    on_timer(&parent.timer);
    enl_signals_continue_cces(program);
}

static const char *request(struct enl_program *program, const struct bcri_control *message)
{
    static struct bcri_incoming in = {.fds = {-1, -1}};
    in.message = *message;
    return enl_request(program->parent, &in);
}

static const char *on_message(void *owner, const struct bcri_control *message)
{
    struct enl_program *program = owner;
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != program->host_number) {
        enl_branch_pass_down(program, message);
        return NULL;
    }
    if (parent.has_reserve) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&parent.numbers, message);
        if (verdict == ENL_SEQUENCE_NONSENSE)
            return "what it says it has had makes no sense";
        tell_early(program);
        if (verdict == ENL_SEQUENCE_DROP)
            return NULL;
    }
    switch (message->type) {
    case BCRI_MSG_begin:
    case BCRI_MSG_cut: return enl_branch_of_parent(program, message);
    case BCRI_MSG_reply: enl_errand_answer(&parent.errands, message); return NULL;
    case BCRI_MSG_window:
        if (message->size > ENL_WINDOW_BYTES * 64u)
            return "a window that is none";
        parent.window += (long)message->size;
        enl_output_resume(program);
        return NULL;
    case BCRI_MSG_beat: {
        const char *wrong = take_beat(program, message);
        enl_peer_acknowledged(program->parent->peer);
        return wrong;
    }
    case BCRI_MSG_unstarted: return take_unstarted(program, message);
    case BCRI_MSG_introduce:
    case BCRI_MSG_introduced:
    case BCRI_MSG_lost: return enl_introduce_of_parent(program, message);
    case BCRI_MSG_carry: return enl_carry_of_parent(program, message);
    case BCRI_MSG_look:
    case BCRI_MSG_deadlock: return enl_deadlock_of_parent(program, message);
    case BCRI_MSG_relay: return enl_far_begin(program->parent, message);
    case BCRI_MSG_relay_bytes:
    case BCRI_MSG_relay_window:
    case BCRI_MSG_relay_end:
        return message->id == 0 ? enl_bring_heard(program, message) : enl_far_take(program->parent, message);
    case BCRI_MSG_stop: hold(program, message->id); return NULL;
    case BCRI_MSG_go_on: go_on(program); return NULL;
    case BCRI_MSG_signal:
    case BCRI_MSG_end:
    case BCRI_MSG_kill: break;
    default: return request(program, message);
    }
    program->all_end = true;
    uv_timer_start(&parent.timer, on_timer, 0, END_BEAT_MSEC);
    if (message->type == BCRI_MSG_kill)
        return request(program, message);
    if (message->type == BCRI_MSG_signal)
        enl_signals_end(program, (int)message->kind);
    program->dismissed = true;
    enl_program_check_end(program);
    return NULL;
}

static void on_ended(void *owner, const char *why)
{
    static const char plain[] = "its pipe has ended"; /* else it talks nonsense */
    if (strcmp(why, plain) != 0 || !leave_pipes(owner))
        lost(owner, why);
}

/* Before this host has gone over to the lane, the root says there only that it has. */
static const char *on_lane_message(void *owner, const struct bcri_control *message)
{
    if (!parent.on_lane && message->type != BCRI_MSG_resume)
        return NULL;
    if (!parent.on_lane) {
        bcri_log_write(
            &((struct enl_program *)owner)->log, BCRI_LOG_WARN,
            "nothing comes from the daemon that started this one; this host goes on over a link to the root");
        go_by_lane(owner);
    }
    return on_message(owner, message);
}

static const struct enl_peer_ops lane_ops = {on_lane_message, on_ended};

void enl_parent_lane_came(struct enl_program *program, const uint8_t *content, uint32_t bytes)
{
    struct enl_peer *peer = parent.on_lane && program->parent != NULL ? program->parent->peer : parent.lane;
    if (peer != NULL)
        enl_peer_came(peer, content, bytes);
}

bool enl_parent_open(struct enl_program *program)
{
    static const struct enl_peer_ops ops = {on_message, on_ended};
    char error[512];
    struct enl_greeting *greeting = &parent.greeting;
    struct enl_peer *peer =
        enl_peer_new(program, greeting->in, greeting->out, greeting->frames, &ops, program);
    greeting->in = greeting->out = -1;
    program->parent = peer != NULL ? enl_conn_of_peer(program, ENL_PARENT, peer) : NULL;
    if (program->parent == NULL) {
        enl_report(
            program, BCRI_LOG_ERROR,
            "stdin and stdout are no pipes to the daemon that started this one, or there is no memory");
        return false;
    }
    const bool begun = enl_introduce_begin(program, greeting->program_key, error, sizeof error);
    enl_greeting_wipe(greeting);
    if (!begun) {
        enl_report(program, BCRI_LOG_ERROR, "%s", error);
        return false;
    }
    const uint64_t often = (uint64_t)program->config.hosttimeout / 4;
    program->upward = &upward;
    parent.window = ENL_WINDOW_BYTES;
    uv_timer_init(&program->loop, &parent.timer);
    parent.timer.data = program;
    parent.beats = true;
    extend_lease(program, enl_boottime_ms());
    uv_timer_start(&parent.timer, on_timer, 0, often); /* at once, for the clock */
    const bool has_reserve = enl_introduce_announce(program);
    enl_conn_reply(program->parent, greeting->start_id, 0, NULL);
    parent.has_reserve = has_reserve; /* from here on, as the root does when that reply has come */
    if (has_reserve)
        enl_peer_number(program->parent->peer, &parent.numbers);
    return true;
}

void enl_parent_close(struct enl_program *program)
{
    (void)program;
    enl_errands_drop(&parent.errands);
    enl_sequence_drop(&parent.numbers);
    if (parent.lane != NULL)
        enl_peer_close(parent.lane);
    parent.lane = NULL;
    if (parent.beats)
        uv_close((uv_handle_t *)&parent.timer, NULL);
    parent.beats = false;
    enl_greeting_wipe(&parent.greeting);
}

/* SPDX-License-Identifier: MIT */
/* See child.h: what happens to a child, and what is done about it, as life.h decides. */
#include "conductor/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/boottime.h"
#include "bcri/refuse.h"
#include "conductor/setup.h"
#include "host/output.h"
#include "wire/wire.h"

/* When a deadline is met what has come before is read: for so long if it is met so much too late, since this process stood
 * still then, or its machine slept. */
enum { LATE_MSEC = 200 };

static struct enl_life_now now_of(const struct enl_child *child)
{
    const struct bcri_config *config = &child->program->self.config;
    return (struct enl_life_now){.ms = enl_boottime_ms(),
                                 .connecttimeout = (uint64_t)config->connecttimeout,
                                 .hosttimeout = (uint64_t)config->hosttimeout};
}

/* Whether the end of its command is that of its daemon. A local daemon is the process itself. ssh tells the exit status of
 * the shell there, which has waited for the daemon (remote.c); it has 255 for its own trouble. What other commands say
 * may be about themselves: rsh ends with 0 when its connection is reset. */
static bool end_is_sure(const struct enl_child *child)
{
    return child->host->local ||
           (child->is_ssh && WIFEXITED(child->wait_status) && WEXITSTATUS(child->wait_status) != 255);
}

uint64_t enl_child_lease_ms(const struct enl_child *child)
{
    return enl_life_lease_ms(&child->life, end_is_sure(child),
                             (uint64_t)child->program->self.config.hosttimeout);
}

void enl_child_send(struct enl_child *child, const struct bcri_control *message)
{
    if (child->conn != NULL)
        enl_peer_send(child->conn->peer, message);
}

void enl_child_ask(struct enl_child *child)
{
    if (!enl_life_works(&child->life) || child->conn == NULL)
        return;
    uint32_t turn = enl_round_robin_next(child->program, child);
    enl_forwards_send(&child->forwards, child->conn->peer, &turn);
}

void enl_child_stop(struct enl_child *child)
{
    const struct bcri_control stop = {
        .type = BCRI_MSG_stop, .present = BCRI_HAS(id), .id = ENL_CHILD_STOP_ID};
    child->stops = true;
    child->goes_on_late = false;
    enl_child_send(child, &stop);
}

void enl_child_go_on(struct enl_child *child)
{
    child->stops = false;
    child->goes_on_late = enl_life_changes_way(&child->life);
    if (child->life.state > ENL_LIFE_BEGUN && !child->goes_on_late) /* else it expects to be started */
        enl_child_send(child, &(const struct bcri_control){.type = BCRI_MSG_go_on});
}

/* ---- what is done ---- */

static void set_up(struct enl_child *child)
{
    enl_setup_send(child, ENL_CHILD_START_ID);
    if (child->program->jobs.stop_signal != 0)
        enl_child_stop(child);
}

static void leave(struct enl_child *child, const char *sentence)
{
    uv_timer_stop(&child->timer);
    enl_said_end(&child->said);
    enl_places_gone(child, sentence);
}

/* Its process is to end, at once. It comes before its pipes are closed: a daemon that finds them closed while it
 * lives says so on stderr, which would pass for the reason. */
static void end_process(const struct enl_child *child)
{
    if (child->process != 0) {
        kill(-child->process, SIGKILL);
        kill(child->process, SIGKILL);
    } else if (child->life.starter != 0 && child->life.process != ENL_LIFE_ENDED) {
        enl_tree_cut_child(child);
    }
}

static void close_way(struct enl_child *child)
{
    struct enl_conn *conn = child->conn;
    struct enl_tree *tree = child->program->tree;
    child->conn = NULL;
    if (conn == NULL)
        return;
    enl_plan_ends(&tree->plan, child->life.number);
    enl_lives_closed(&tree->lives, child->life.number);
    enl_conn_close(conn);
}

static void welcome(struct enl_child *child)
{
    enl_said_report(&child->said);
    bcri_log_write(&child->program->self.log, BCRI_LOG_INFO, "host %s is number %u, started by %s%s",
                   child->host->name, child->life.number, child->by != NULL ? "host " : "this one: ",
                   child->by != NULL ? child->by->name : child->command);
    if (child->goes_on_late)
        enl_child_go_on(child);
    if (child->program->here.is_frozen) /* before what it is to start */
        enl_child_send(child, &(const struct bcri_control){.type = BCRI_MSG_freeze});
    enl_child_ask(child);
    enl_tree_up(child);
    enl_changes_up(child);
}

/* It is taken out of a program that goes on. When the program ends it is told so as all others are. */
static bool ends_alone(const struct enl_child *child)
{
    return child->host->place->is_taken && child->program->self.phase == ENL_RUNNING;
}

static void tell_end(struct enl_child *child)
{
    static const struct bcri_control alone = {
        .type = BCRI_MSG_finish, .present = BCRI_HAS(status) | BCRI_HAS(flags), .flags = BCRI_FINISH_ALONE};
    enl_child_send(child, ends_alone(child) ? &alone : &child->program->tree->end);
}

/* Only LEAVE frees the child, whatever the others lead to, since that is handled later. */
static void carry_out(struct enl_child *child, unsigned actions)
{
    struct enl_tree *tree = child->program->tree;
    char sentence[3072];
    if ((actions & ENL_LIFE_DO_KILL) != 0)
        end_process(child);
    if ((actions & ENL_LIFE_DO_IDLE) != 0)
        enl_plan_ends(&tree->plan, child->life.number);
    if ((actions & ENL_LIFE_DO_CLOSE) != 0)
        close_way(child);
    if ((actions & ENL_LIFE_DO_SET_UP) != 0)
        set_up(child);
    if ((actions & ENL_LIFE_DO_LISTEN) != 0 && child->life.starter != 0)
        enl_child_listen(child);
    if ((actions & ENL_LIFE_DO_WELCOME) != 0)
        welcome(child);
    if ((actions & ENL_LIFE_DO_TELL) != 0)
        tell_end(child);
    if ((actions & ENL_LIFE_DO_LEAVE) != 0) {
        enl_child_sentence(child, sentence, sizeof sentence);
        leave(child, sentence);
    }
}

static void on_child_timer(uv_timer_t *timer);

static void arm(struct enl_child *child, uint64_t now_ms)
{
    const uint64_t until_ms = child->life.until_ms;
    uv_timer_start(&child->timer, on_child_timer, until_ms > now_ms ? until_ms - now_ms : 0, 0);
}

/* ---- what happens ---- */

static void happens(void *owner, struct enl_life *life, enum enl_life_event event)
{
    (void)owner;
    struct enl_child *child = enl_child_of(life);
    struct enl_life_now now = now_of(child);
    const uint64_t until_ms = life->until_ms;
    const enum enl_life_state before = life->state;
    now.patience_ms = ends_alone(child) ? ENL_CHILD_END_MSEC : child->program->tree->end_patience_ms;
    const unsigned actions = enl_life_happens(life, event, &now);
    if (life->state != before)
        bcri_log_write(&child->program->self.log, BCRI_LOG_DEBUG, "host %u: %s, %s: %s", life->number,
                       enl_life_state_name(before), enl_life_event_name(event),
                       enl_life_state_name(life->state));
    if (life->until_ms != until_ms && life->until_ms != UINT64_MAX)
        arm(child, now.ms);
    carry_out(child, actions);
}

void enl_child_tell(struct enl_child *child, enum enl_life_event event)
{
    enl_lives_tell(&child->program->tree->lives, &child->life, event);
}

void enl_children_handle(struct enl_program *program)
{
    enl_lives_run(&program->tree->lives, happens, NULL);
}

void enl_child_happens(struct enl_child *child, enum enl_life_event event)
{
    struct enl_program *program = child->program;
    enl_child_tell(child, event);
    enl_children_handle(program);
}

void enl_child_not_begun(struct enl_child *child, const char *sentence)
{
    const struct enl_life_now now = now_of(child);
    if ((enl_life_happens(&child->life, ENL_LIFE_NOT_BEGUN, &now) & ENL_LIFE_DO_LEAVE) != 0)
        leave(child, sentence);
}

void enl_child_cut(struct enl_child *child, const char *why)
{
    if (child->why[0] == '\0')
        snprintf(child->why, sizeof child->why, "%s", why);
    enl_child_happens(child, ENL_LIFE_CUT);
}

void enl_child_end_alone(struct enl_child *child)
{
    child->ends_until_ms = enl_boottime_ms() + enl_tree_end_limit(child->program);
    enl_child_happens(child, ENL_LIFE_END);
}

bool enl_child_is_overdue(const struct enl_child *child)
{
    return child->ends_until_ms != 0 && enl_boottime_ms() >= child->ends_until_ms;
}

void enl_child_reaped(struct enl_child *child, int wait_status)
{
    child->process = 0;
    child->wait_status = wait_status;
    enl_child_happens(child, ENL_LIFE_PROCESS_ENDS);
}

static void take_ended(struct enl_child *child, const struct bcri_control *message)
{
    const bool has_why = (message->present & BCRI_HAS(object)) != 0; /* it could not be begun */
    bcri_view_copy(message->text, child->command, sizeof child->command);
    child->is_ssh = (message->flags & BCRI_ENDED_SSH) != 0;
    child->wait_status = message->code;
    if (has_why && enl_life_takes(&child->life, ENL_LIFE_NOT_BEGUN)) {
        const size_t most = sizeof child->why - 1, length = message->object.length;
        if (child->why[0] == '\0')
            snprintf(child->why, sizeof child->why, "%.*s", (int)(length < most ? length : most),
                     message->object.bytes);
        enl_child_happens(child, ENL_LIFE_NOT_BEGUN);
        return;
    }
    enl_child_happens(child, end_is_sure(child) ? ENL_LIFE_DAEMON_ENDS : ENL_LIFE_PROCESS_ENDS);
}

const char *enl_child_said_end(struct enl_child *child)
{
    if (child->life.starter == 0 || !enl_life_takes(&child->life, ENL_LIFE_SAYS_END))
        return "it tells of its own end";
    enl_child_happens(child, ENL_LIFE_SAYS_END);
    return NULL;
}

/* A login may refuse where a daemon would speak: on its stdout. */
static void take_printed(struct enl_child *child)
{
    char line[ENL_PRINTED_MAX];
    if (child->life.was_up || child->conn == NULL || child->conn->peer == NULL)
        return;
    enl_peer_printed(child->conn->peer, line);
    enl_said_take(&child->said, line, strlen(line));
}

static bool is_plain_end(const char *why)
{
    return strcmp(why, "its pipe has ended") == 0; /* else it talks nonsense */
}

void enl_child_pipe_ended(struct enl_child *child, const char *why)
{
    take_printed(child);
    if (!is_plain_end(why))
        enl_child_cut(child, why);
    else
        enl_child_happens(child, ENL_LIFE_PIPE_ENDS);
}

void enl_child_control_link_is_read(struct enl_child *child)
{
    if (enl_life_takes(&child->life, ENL_LIFE_PIPE_ENDS))
        enl_child_happens(child, ENL_LIFE_PIPE_ENDS);
}

/* Its starter tells so. The news must not overtake what the host has said by its control link. */
static void take_closed(struct enl_child *child, const struct bcri_control *message)
{
    char why[128];
    if (!bcri_view_copy(message->text, why, sizeof why))
        snprintf(why, sizeof why, "it talks nonsense");
    if (child->conn == NULL)
        return;
    if (!child->life.was_up || !is_plain_end(why) || !enl_peer_mark(child->conn->peer))
        enl_child_pipe_ended(child, why);
}

void enl_child_told(struct enl_child *child, const struct bcri_control *message)
{
    switch (message->type) {
    case BCRI_MSG_said:
        enl_said_take(&child->said, message->bytes.bytes, message->bytes.length);
        if (message->bytes.length == 0)
            enl_child_gets_more(child);
        break;
    case BCRI_MSG_ended: take_ended(child, message); break;
    default: take_closed(child, message); break;
    }
}

void enl_child_gets_more(void *child)
{
    struct enl_child *one = child;
    if (enl_life_takes(&one->life, ENL_LIFE_MORE))
        enl_child_happens(one, ENL_LIFE_MORE);
}

/* The reason, unless it is to end anyway. */
static void say_silent(struct enl_child *child)
{
    const struct bcri_config *config = &child->program->self.config;
    const bool works = enl_life_works(&child->life);
    if (child->why[0] == '\0' && !enl_life_is_ending(&child->life))
        snprintf(child->why, sizeof child->why, "nothing came from it for %d ms (%s)",
                 works ? config->hosttimeout : config->connecttimeout,
                 works ? "hosttimeout" : "connecttimeout");
}

static void on_child_timer(uv_timer_t *timer)
{
    struct enl_child *child = timer->data;
    const struct enl_life_now now = now_of(child);
    if (enl_life_works(&child->life) && child->program->jobs.stop_signal != 0 && !child->stops) {
        enl_child_happens(child, ENL_LIFE_BEATS); /* it has stopped, and sends no beats before it goes on */
        return;
    }
    if (!enl_life_is_silent(&child->life, now.ms)) { /* the loop's time was old when the timer was set */
        arm(child, now.ms);
        return;
    }
    if (child->met_until_ms != child->life.until_ms) {
        child->met_until_ms = child->life.until_ms;
        uv_timer_start(timer, on_child_timer, now.ms > child->life.until_ms + LATE_MSEC ? LATE_MSEC : 1, 0);
        return;
    }
    say_silent(child);
    enl_child_happens(child, ENL_LIFE_SILENT);
}

static void on_freed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_child_free(struct enl_child *child)
{
    if (child->conn != NULL)
        enl_conn_close(child->conn);
    child->conn = NULL;
    free(child->address);
    enl_said_end(&child->said);
    enl_forwards_drop(&child->forwards);
    bcri_seal_wipe(&child->control_link, sizeof child->control_link);
    for (int i = 0; i < 2; i++)
        if (child->sources[i] != NULL)
            enl_source_end(child->sources[i]);
    uv_close((uv_handle_t *)&child->timer, on_freed);
}

/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "conductor/setup.h"

#include <string.h>

#include "host/host.h"
#include "host/output.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "wire/wire.h"

/* Of one message. */
#define OUTPUT_BYTES 2048u

static struct {
    struct enl_greeting greeting; /* its secrets until enl_parent_open */
    struct enl_forwards forwards;
    uint32_t alive, isolated; /* as the parent knows */
    long window;              /* bytes of output that it takes now */
} parent = {.greeting = {.in = -1, .out = -1},
            .forwards = {.all = STAILQ_HEAD_INITIALIZER(parent.forwards.all)}};

int enl_parent_await(struct enl_program *program, char *error, size_t error_size)
{
    return enl_greeting_await(&parent.greeting, program, error, error_size);
}

/* --------------------------------------------------------------------------- what goes up --- */

/* In pieces, if it is long. */
static void up_report(struct enl_program *program, enum bcri_log_level level, const char *text, size_t length)
{
    while (length > 0) {
        const size_t part = length < 2048 ? length : 2048;
        const struct bcri_control message = {.type = BCRI_MSG_report,
                                             .present = BCRI_HAS(kind) | BCRI_HAS(bytes),
                                             .kind = (uint32_t)level,
                                             .bytes = {text, (uint32_t)part}};
        enl_uplink_send(program, &message);
        text += part;
        length -= part;
    }
}

static void send_output(struct enl_program *program, uint32_t kind, const struct enl_printed *text)
{
    bool goes_on = text->goes_on;
    for (size_t at = 0, part; at < text->length; at += part) {
        part = text->length - at < OUTPUT_BYTES ? text->length - at : OUTPUT_BYTES;
        const struct bcri_control message = {.type = BCRI_MSG_output,
                                             .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes) |
                                                        BCRI_HAS(flags),
                                             .ordinal = text->ordinal,
                                             .kind = kind,
                                             .flags = goes_on ? BCRI_OUTPUT_GOES_ON : 0,
                                             .bytes = {text->bytes + at, (uint32_t)part}};
        goes_on = text->bytes[at + part - 1] != '\n';
        parent.window -= (long)(part + ENL_WINDOW_PIECE);
        enl_uplink_send(program, &message);
    }
}

/* The answer goes the way of output, behind all that was sent before. */
static uint32_t drained_for;

static void on_drained(struct enl_here *here)
{
    const struct bcri_control message = {.type = BCRI_MSG_output,
                                         .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes),
                                         .ordinal = drained_for,
                                         .kind = BCRI_OUTPUT_DRAINED,
                                         .bytes = {"", 0}};
    parent.window -= (long)ENL_WINDOW_PIECE;
    enl_uplink_send(here->self->program, &message);
}

static void up_printed(struct enl_program *program, const struct enl_printed *text)
{
    send_output(program, (uint32_t)text->fd, text);
}

static bool up_logged(struct enl_program *program, const char *line, size_t length)
{
    const struct enl_printed text = {.bytes = line, .length = length};
    if (program->parent == NULL || parent.window <= 0)
        return false;
    send_output(program, BCRI_OUTPUT_LOG, &text);
    return true;
}

static bool up_full(void)
{
    return parent.window <= 0;
}

static void up_alive(struct enl_program *program)
{
    const struct bcri_control message = {.type = BCRI_MSG_alive,
                                         .present = BCRI_HAS(count) | BCRI_HAS(isolated),
                                         .count = program->here.alive,
                                         .isolated = program->here.isolated};
    if (parent.alive == program->here.alive && parent.isolated == program->here.isolated)
        return;
    parent.alive = program->here.alive;
    parent.isolated = program->here.isolated;
    enl_uplink_send(program, &message);
}

static void up_failed(struct enl_program *program, int status)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_failed, .present = BCRI_HAS(status), .status = (uint32_t)status & 255};
    enl_uplink_send(program, &message);
}

static const struct enl_upward upward = {.send = enl_uplink_send,
                                         .report = up_report,
                                         .logged = up_logged,
                                         .printed = up_printed,
                                         .is_full = up_full,
                                         .alive = up_alive,
                                         .failed = up_failed,
                                         .flush = enl_uplink_flush};

bool enl_parent_ask(struct enl_conn *conn, const struct bcri_control *request, struct enl_attached *attached)
{
    struct enl_program *program = enl_program_of(conn);
    if (program->parent == NULL || !enl_forward_add(&parent.forwards, conn, request, attached))
        return false;
    enl_forwards_send(&parent.forwards, program->parent->peer, NULL);
    return true;
}

void enl_parent_forget(const struct enl_conn *conn)
{
    enl_forwards_forget(&parent.forwards, conn);
}

/* ------------------------------------------------------------------------ what comes down --- */

static void suspend_program(struct enl_program *program, uint32_t id)
{
    enl_uplink_happens(program, ENL_MEMBERSHIP_STOP, NULL);
    if (program->parent == NULL)
        return;
    enl_signals_stop_cces(&program->jobs);
    enl_conn_reply(program->parent, id, 0, NULL);
}

static const char *on_parent_message(void *owner, const struct bcri_control *message)
{
    struct bcri_control request;
    struct enl_program *program = owner;
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != program->self.host_number) {
        enl_branch_pass_down(program, message);
        return NULL;
    }
    if (message->type == BCRI_MSG_finish && (message->present & BCRI_HAS(team)) != 0)
        return enl_members_take(&program->here, message);
    switch (message->type) {
    case BCRI_MSG_begin:
    case BCRI_MSG_cut: return enl_branch_of_parent(program, message);
    case BCRI_MSG_reply: (void)enl_forward_answer(&parent.forwards, message, &request); return NULL;
    case BCRI_MSG_started: return enl_forward_started(&parent.forwards, message);
    case BCRI_MSG_strings_next: return enl_forward_strings(&parent.forwards, program->parent, message);
    case BCRI_MSG_window:
        if (message->size > ENL_WINDOW_BYTES * 64u)
            return "a window that is none";
        parent.window += (long)message->size;
        enl_lines_resume(&program->here.lines);
        return NULL;
    case BCRI_MSG_beat: return enl_uplink_answered(program, message);
    case BCRI_MSG_watched: return enl_forward_watched(program, message);
    case BCRI_MSG_unstarted: return enl_forward_unstarted(program, message);
    case BCRI_MSG_input: return enl_input_take(&program->here, message);
    case BCRI_MSG_team_table:
    case BCRI_MSG_team_open:
    case BCRI_MSG_team_back:
    case BCRI_MSG_team_synced: return enl_members_take(&program->here, message);
    case BCRI_MSG_introduce:
    case BCRI_MSG_introduced:
    case BCRI_MSG_lost: return enl_introduced_take(program->introductions, message);
    case BCRI_MSG_carry: return enl_tunnelled_of_parent(program, message);
    case BCRI_MSG_drain:
        drained_for = message->id;
        enl_drain_read(&program->here);
        enl_drain_mark(&program->here, on_drained);
        return NULL;
    case BCRI_MSG_look:
    case BCRI_MSG_deadlock: enl_deadlock_of_parent(&program->deadlock, message); return NULL;
    case BCRI_MSG_relay: return enl_far_begin(&program->carry, program->parent, message);
    case BCRI_MSG_relay_bytes:
    case BCRI_MSG_relay_window:
    case BCRI_MSG_relay_end:
        return message->id == 0 ? enl_bring_heard(&program->carry, message)
                                : enl_far_take(&program->carry, program->parent, message);
    case BCRI_MSG_pass:
        if ((message->present & BCRI_HAS(team)) != 0)
            return enl_members_take(&program->here, message);
        enl_signals_pass(&program->jobs, (int)message->kind, false);
        return NULL;
    case BCRI_MSG_stop: suspend_program(program, message->id); return NULL;
    case BCRI_MSG_freeze: enl_signals_freeze(&program->jobs); return NULL;
    case BCRI_MSG_go_on:
        enl_uplink_happens(program, ENL_MEMBERSHIP_GO_ON, NULL);
        if (program->parent != NULL) /* else its lease was over before */
            enl_signals_continue_cces(&program->jobs);
        return NULL;
    case BCRI_MSG_signal:
    case BCRI_MSG_finish:
    case BCRI_MSG_end:
    case BCRI_MSG_kill: break;
    default: return enl_forward_request(program->parent, message);
    }
    if (message->type != BCRI_MSG_finish || (message->flags & BCRI_FINISH_ALONE) == 0)
        program->all_end = true;
    else
        bcri_log_write(&program->self.log, BCRI_LOG_INFO, "this host is taken out of the program");
    enl_uplink_happens(program, ENL_MEMBERSHIP_END, NULL);
    if (program->parent == NULL)
        return NULL;
    if (message->type == BCRI_MSG_kill)
        return enl_forward_request(program->parent, message);
    if (message->type == BCRI_MSG_signal)
        enl_signals_end(&program->jobs, (int)message->kind, false);
    program->dismissed = true;
    if (message->type == BCRI_MSG_finish && !program->all_end)
        enl_cell_lines_halt(&program->here);
    if (message->type == BCRI_MSG_finish)
        enl_program_finish(program, (int)message->status, "the root's daemon");
    else if (message->type == BCRI_MSG_end &&
             program->here.alive != 0) /* entered as the last of the others ended */
        enl_program_finish(program, 0, "the root's daemon");
    enl_program_check_end(program);
    return NULL;
}

static void on_parent_ended(void *owner, const char *why)
{
    enl_uplink_happens(owner, ENL_MEMBERSHIP_WAY_ENDS, why);
}

/* Beside a control link the pipes carry packets of links, and frames for hosts below this one. What else came by them would be said by
 * a daemon that is only on the way, but for a stop that the root has sent before it listened to the control link, and for the end of the
 * root. */
static const char *on_pipes_message(void *owner, const struct bcri_control *message)
{
    struct enl_program *program = owner;
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != program->self.host_number)
        enl_branch_pass_down(program, message);
    else if (message->type == BCRI_MSG_carry)
        return enl_tunnelled_of_parent(program, message);
    else if (message->type == BCRI_MSG_lost && message->host == 0)
        enl_uplink_happens(program, ENL_MEMBERSHIP_ROOT_LOST, "as the daemon says that started this one");
    else if (message->type == BCRI_MSG_stop && enl_uplink_heeds_stop())
        suspend_program(program, message->id);
    return NULL;
}

static void on_pipes_ended(void *owner, const char *why)
{
    enl_uplink_happens(owner, ENL_MEMBERSHIP_PIPE_ENDS, why);
}

static const struct enl_peer_ops pipes_ops = {.came = on_pipes_message, .ended = on_pipes_ended};
static const struct enl_peer_ops parent_ops = {.came = on_parent_message, .ended = on_parent_ended};

void enl_parent_control_link_came(struct enl_program *program, const uint8_t *content, uint32_t bytes)
{
    if (program->parent != NULL && program->control_link != NULL)
        enl_peer_came(program->parent->peer, content, bytes);
}

void enl_parent_control_link_moved(struct enl_program *program)
{
    if (program->parent != NULL && program->control_link != NULL)
        enl_peer_moved(program->parent->peer);
}

/* Answers `start`: by the pipes if these lead to the root, else by the control link, as all from then on. */
static bool answer_start(struct enl_program *program, uint32_t id)
{
    enl_introduce_announce(program);
    const char *wrong =
        program->control_link != NULL ? enl_uplink_go_by_control_link(program, &parent_ops) : NULL;
    if (wrong != NULL)
        enl_report(&program->self, BCRI_LOG_ERROR, "there is no link to the program's root: %s", wrong);
    else
        enl_conn_reply(program->parent, id, 0, NULL);
    return wrong == NULL;
}

bool enl_parent_open(struct enl_program *program)
{
    char error[512];
    struct enl_greeting *greeting = &parent.greeting;
    struct enl_peer *peer = enl_peer_new(&program->carry, greeting->in, greeting->out, greeting->frames,
                                         program->control_link != NULL ? &pipes_ops : &parent_ops, program);
    greeting->in = greeting->out = -1;
    program->parent = peer != NULL ? enl_conn_of_peer(&program->conns, ENL_PARENT, peer) : NULL;
    if (program->parent == NULL) {
        enl_report(
            &program->self, BCRI_LOG_ERROR,
            "stdin and stdout are no pipes to the daemon that started this one, or there is no memory");
        return false;
    }
    const bool begun = enl_introduce_begin(program, greeting->program_key, error, sizeof error);
    enl_greeting_wipe(greeting);
    if (!begun) {
        enl_report(&program->self, BCRI_LOG_ERROR, "%s", error);
        return false;
    }
    program->pipes = peer;
    program->self.upward = &upward;
    parent.window = ENL_WINDOW_BYTES;
    enl_uplink_open(program);
    if (!answer_start(program, greeting->start_id))
        return false;
    enl_peer_take_begun(peer);
    return true;
}

void enl_parent_close(struct enl_program *program)
{
    enl_forwards_drop(&parent.forwards);
    enl_uplink_close(program);
    enl_greeting_wipe(&parent.greeting);
}

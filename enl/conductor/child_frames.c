/* SPDX-License-Identifier: MIT */
/* What a child's frames bring, by its state: the last function has the table. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "base/writer.h"
#include "bcri/archtype.h"
#include "conductor/setup.h"
#include "debug/debug.h"
#include "host/host.h"
#include "host/output.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "wire/wire.h"

/* So much output is let on at a time. */
#define WINDOW_STEP (ENL_WINDOW_BYTES / 4)

enum { SHOWN_BYTES = 2048 + 1 }; /* a message's `bytes`, and a 0 */

static const char *take_present(struct enl_child *child, const struct bcri_control *message)
{
    char abi[64];
    const struct enl_host *host = child->host;
    if (!enl_life_takes(&child->life, ENL_LIFE_PRESENTS))
        return "it presents itself twice";
    if (!bcri_view_copy(message->text, child->machine_id, sizeof child->machine_id) ||
        !bcri_view_copy(message->object, abi, sizeof abi) || !bcri_archtype_valid((int)message->archtype))
        return "it does not say what it is";
    if (host->abi != NULL && strcmp(host->abi, abi) != 0) {
        snprintf(child->why, sizeof child->why, "the enl there is for %s, and the hosts file says abi=%s",
                 abi, host->abi);
        return child->why;
    }
    child->archtype = message->archtype;
    bcri_view_copy(message->object, host->place->abi, sizeof host->place->abi);
    if (!enl_places_met(child)) {
        child->life.is_told = true;
        enl_child_cut(child, "");
        return NULL;
    }
    enl_child_happens(child, ENL_LIFE_PRESENTS);
    return NULL;
}

static const char *take_reply(struct enl_child *child, const struct bcri_control *message)
{
    if (child->life.state <= ENL_LIFE_ANNOUNCED && message->id == ENL_CHILD_START_ID) {
        if (message->status != 0)
            return "it refuses to start";
        if (!enl_life_takes(&child->life, ENL_LIFE_STARTS))
            return "it does not say where it can be reached";
        enl_child_happens(child, ENL_LIFE_STARTS);
        return NULL;
    }
    if (child->stops && message->id == ENL_CHILD_STOP_ID) {
        enl_tree_stopped(child);
        return NULL;
    }
    struct bcri_control request;
    if (enl_forward_answer(&child->forwards, message, &request) && request.type == BCRI_MSG_enlist &&
        request.team != 0)
        enl_teams_answered(&child->program->jobs, &request);
    return NULL;
}

void enl_child_resume(struct enl_child *child)
{
    const struct enl_program *program = child->program;
    if (child->unread < WINDOW_STEP || enl_writer_full(program->self.report.out) ||
        enl_writer_full(program->self.report.err))
        return;
    const struct bcri_control message = {
        .type = BCRI_MSG_window, .present = BCRI_HAS(size), .size = child->unread};
    child->unread = 0;
    enl_child_send(child, &message);
}

static void on_output_turn_of_child(void *owner)
{
    (void)owner;
}

static void on_passed(void *owner, size_t cost)
{
    struct enl_child *child = owner;
    child->unread += (uint32_t)cost;
    enl_child_resume(child);
}

/* What the daemon there has escaped, as it may be shown. Returns its length. */
static size_t text_of(const struct bcri_control *message, char out[SHOWN_BYTES])
{
    const size_t length = message->bytes.length;
    for (size_t i = 0; i < length; i++) {
        const char byte = message->bytes.bytes[i];
        out[i] = byte;
        if ((unsigned char)byte < 0x20 && byte != '\n')
            out[i] = '?';
    }
    out[length] = '\0';
    return length;
}

static void take_log(struct enl_child *child, const struct bcri_control *message)
{
    char text[SHOWN_BYTES];
    const size_t length = text_of(message, text);
    if (length != 0)
        enl_writer_text(child->program->self.report.err, text, length);
    on_passed(child, message->bytes.length + ENL_WINDOW_PIECE);
}

static void take_output(struct enl_child *child, const struct bcri_control *message)
{
    static const struct enl_source_ops ops = {on_output_turn_of_child, on_passed};
    const int fd = message->kind == 1 ? 1 : 2;
    const struct enl_printed text = {.ordinal = message->ordinal,
                                     .fd = fd,
                                     .goes_on = (message->flags & BCRI_OUTPUT_GOES_ON) != 0,
                                     .bytes = message->bytes.bytes,
                                     .length = message->bytes.length,
                                     .cost = message->bytes.length + ENL_WINDOW_PIECE};
    struct enl_source **source = &child->sources[fd - 1];
    struct enl_mux *mux = enl_lines_mux(&child->program->here.lines, fd, false);
    if (*source == NULL && mux != NULL)
        *source = enl_source_new(mux, &ops, child);
    if (*source == NULL && mux != NULL) /* no memory */
        enl_lines_log(&child->program->here.lines, text.ordinal, text.bytes, text.length);
    if (text.length != 0)
        enl_lines_take(&child->program->here.lines, *source, &text);
    if (text.length == 0 || *source == NULL)
        on_passed(child, text.cost);
}

/* What the daemon there says to a person, with its host unless that is in the text. Once the program is ended by bcr_end,
 * CCEs of a host that does not know it yet may fail for want of others: such errors, and what CCEs have printed last, are
 * not shown, but warnings are. */
static void take_report(struct enl_child *child, const struct bcri_control *message)
{
    const char *host = child->host->name;
    char text[SHOWN_BYTES];
    size_t length = text_of(message, text);
    if (length == 0)
        return;
    const bool is_shown = !child->program->jobs.is_quiet || message->kind == BCRI_LOG_WARN;
    static const char enl[] = "enl: ";
    const size_t skip = sizeof enl - 1;
    const char *own =
        length >= skip && memcmp(text, enl, skip) == 0 && strstr(text, host) == NULL ? text + skip : NULL;
    if (is_shown)
        enl_report_shown(&child->program->self, "%s%s%s%s", own != NULL ? "enl: host " : "",
                         own != NULL ? host : "", own != NULL ? ": " : "", own != NULL ? own : text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    bcri_log_write(enl_report_log(&child->program->self),
                   message->kind <= BCRI_LOG_DEBUG ? (enum bcri_log_level)message->kind : BCRI_LOG_INFO,
                   "host %s: %s", child->host->name, text);
}

static const char *take_started(struct enl_child *child, const struct bcri_control *message)
{
    const uint8_t *identity = (const uint8_t *)message->bytes.bytes;
    for (uint32_t left = message->bytes.length / BCRI_IDENTITY_BYTES; left > 0;
         left--, identity += BCRI_IDENTITY_BYTES)
        if (bcri_identity_host(identity) != child->life.number)
            return "it tells of CCEs of another host";
    return enl_forward_started(&child->forwards, message);
}

static const char *take_request(struct enl_child *child, const struct bcri_control *message)
{
    const bool has_enlistor = message->type == BCRI_MSG_enlist || message->type == BCRI_MSG_publish ||
                              message->type == BCRI_MSG_find || message->type == BCRI_MSG_team_new ||
                              message->type == BCRI_MSG_team_cut;
    if (has_enlistor && (message->enlistor.length != BCRI_IDENTITY_BYTES ||
                         bcri_identity_host((const uint8_t *)message->enlistor.bytes) != child->life.number))
        return "it asks in the name of a CCE that it has not";
    return enl_forward_request(child->conn, message);
}

/* A CCE of its that this daemon keeps something of has ended. */
static const char *take_left(const struct enl_child *child, const struct bcri_control *message)
{
    if (message->enlistor.length != BCRI_IDENTITY_BYTES ||
        bcri_identity_host((const uint8_t *)message->enlistor.bytes) != child->life.number)
        return "it tells of the end of a CCE that it has not";
    enl_jobs_left(&child->program->jobs, (const uint8_t *)message->enlistor.bytes);
    return NULL;
}

/* With the time here, by which a host knows what its own clock is worth (clock.h). */
static void answer_beat(struct enl_child *child, const struct bcri_control *message)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct bcri_control answer = {.type = BCRI_MSG_beat,
                                  .present = BCRI_HAS(id) | BCRI_HAS(clock),
                                  .id = message->id,
                                  .clock = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
    enl_child_send(child, &answer);
    enl_child_happens(child, ENL_LIFE_BEATS);
}

/* A CCE there has said hello with flags that concern the whole program. */
static void take_asked(const struct enl_child *child, const struct bcri_control *message)
{
    char who[300];
    snprintf(who, sizeof who, "CCE %u on host %s", message->ordinal, child->host->name);
    if ((message->flags & bcr_passsignals) != 0)
        enl_signals_row_passed(&child->program->jobs, who);
}

static void take_finish(const struct enl_child *child, const struct bcri_control *message)
{
    char who[300];
    if ((message->present & BCRI_HAS(team)) != 0) {
        const struct bcri_control down = {.type = BCRI_MSG_finish,
                                          .present = BCRI_HAS(status) | BCRI_HAS(team),
                                          .status = message->status,
                                          .team = message->team};
        enl_teams_pass(&child->program->jobs, message->team, &down);
        return;
    }
    snprintf(who, sizeof who, "a CCE on host %s", child->host->name);
    enl_program_finish(child->program, (int)message->status, who);
}

static const char *take_up(struct enl_child *child, const struct bcri_control *message)
{
    switch (message->type) {
    case BCRI_MSG_reply: return take_reply(child, message);
    case BCRI_MSG_started: return take_started(child, message);
    case BCRI_MSG_strings_next: return enl_forward_strings(&child->forwards, child->conn, message);
    case BCRI_MSG_strings: return enl_forward_request(child->conn, message);
    case BCRI_MSG_alive:
        child->alive = message->count;
        child->isolated = message->isolated;
        enl_program_check_end(child->program);
        return NULL;
    case BCRI_MSG_output:
        if (message->kind == BCRI_OUTPUT_DRAINED) {
            child->drains = child->drains == message->ordinal ? 0 : child->drains;
            enl_outdone_look(&child->program->jobs);
        }
        (message->kind == BCRI_OUTPUT_LOG ? take_log : take_output)(child, message);
        return NULL;
    case BCRI_MSG_report: take_report(child, message); return NULL;
    case BCRI_MSG_died: return enl_crash_of_host(&child->program->crashes, child->life.number, message);
    case BCRI_MSG_debugged:
        enl_session_far_started(&child->program->session, child->life.number, message);
        return NULL;
    case BCRI_MSG_debug:
        enl_inspection_open(&child->program->session, child->life.number, message);
        return NULL;
    case BCRI_MSG_asked: take_asked(child, message); return NULL;
    case BCRI_MSG_failed:
        if (!child->program->jobs
                 .is_quiet) /* else its daemon is told to end already, and may take its time */
            enl_program_abort(child->program, (int)message->status);
        return NULL;
    case BCRI_MSG_watched: return enl_forward_watched(child->program, message);
    case BCRI_MSG_unstarted: return enl_forward_unstarted(child->program, message);
    case BCRI_MSG_finish: take_finish(child, message); return NULL;
    case BCRI_MSG_enlist:
    case BCRI_MSG_signal_cce:
    case BCRI_MSG_host_name:
    case BCRI_MSG_host_add:
    case BCRI_MSG_host_del:
    case BCRI_MSG_publish:
    case BCRI_MSG_find:
    case BCRI_MSG_outdone:
    case BCRI_MSG_team_new:
    case BCRI_MSG_team_cut:
    case BCRI_MSG_host_arch: return take_request(child, message);
    case BCRI_MSG_member:
    case BCRI_MSG_team_arrived:
    case BCRI_MSG_input_taken:
    case BCRI_MSG_team_back: return enl_teams_take(&child->program->jobs, child->life.number, message);
    case BCRI_MSG_used:
        return enl_limits_take(&child->program->jobs, child->life.number, child->host->name, message);
    case BCRI_MSG_left: return take_left(child, message);
    case BCRI_MSG_announce:
    case BCRI_MSG_want:
    case BCRI_MSG_agreed: return enl_introduce_of_child(child, message);
    case BCRI_MSG_carry: return enl_tunnelled_of_child(child, message);
    case BCRI_MSG_still:
        enl_deadlock_of_host(&child->program->deadlock, child->life.number, message);
        return NULL;
    case BCRI_MSG_ended:
        if (message->host == child->life.number)
            return enl_child_said_end(child);
        return enl_tree_tells(child, message);
    case BCRI_MSG_said:
    case BCRI_MSG_closed: return enl_tree_tells(child, message);
    case BCRI_MSG_relay_bytes:
    case BCRI_MSG_relay_window:
    case BCRI_MSG_relay_end:
        return message->id == 0 ? enl_collect_take(child, message)
                                : enl_far_take(&child->program->carry, child->conn, message);
    case BCRI_MSG_beat: answer_beat(child, message); return NULL;
    default: return "it says what no daemon says to its parent";
    }
}

const char *enl_child_take(struct enl_child *child, const struct bcri_control *message)
{
    const enum enl_life_state state = child->life.state;
    if (enl_child_is_overdue(child)) {
        enl_child_cut(child, "");
        return NULL;
    }
    if (enl_life_is_ending(&child->life))
        enl_child_happens(child, ENL_LIFE_SPEAKS);
    if (message->type == BCRI_MSG_present)
        return take_present(child, message);
    if (state == ENL_LIFE_BEGUN ||
        ((state == ENL_LIFE_MET || state == ENL_LIFE_ANNOUNCED) && message->type != BCRI_MSG_reply &&
         message->type != BCRI_MSG_report && message->type != BCRI_MSG_announce))
        return "it speaks before it was started";
    return take_up(child, message);
}

/* SPDX-License-Identifier: MIT */
/* program_parts.c -- what the parts of the daemon ask of others that stand above them: each says in its header what
 * it needs (struct enl_..._ops). */
#include "program.h"

#include <stdlib.h>

#include "carry/carry.h"
#include "conductor/child.h"
#include "conductor/tree.h"
#include "debug/debug.h"
#include "host/host.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "links/links.h"
#include "wire/wire.h"

static void on_end_due(struct enl_program *program)
{
    enl_program_abort(program, program->jobs.status);
}

static const struct enl_program_ops program_ops = {.abort = enl_program_abort,
                                                   .finish = enl_program_finish,
                                                   .end_is_due = on_end_due,
                                                   .something_ended = enl_program_check_end};

/* The root's daemon alone passes signals: those that reach another one mean what they always do. */
static void on_asked(struct enl_program *program, const struct enl_cce *cce)
{
    const struct bcri_control message = {.type = BCRI_MSG_asked,
                                         .present = BCRI_HAS(ordinal) | BCRI_HAS(flags),
                                         .ordinal = cce->ordinal,
                                         .flags = (uint32_t)cce->flags};
    if (program->self.upward != NULL)
        program->self.upward->send(program, &message);
    else if (!program->self.is_child)
        enl_signals_row_passed(&program->jobs, enl_cce_text(cce));
}

static void cce_left(struct enl_program *program, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    const struct bcri_control message = {.type = BCRI_MSG_left,
                                         .present = BCRI_HAS(enlistor),
                                         .enlistor = {(const char *)identity, BCRI_IDENTITY_BYTES}};
    if (program->self.upward != NULL)
        program->self.upward->send(program, &message);
    else if (!program->self.is_child)
        enl_jobs_left(&program->jobs, identity);
}

/* The root's daemon decides about teams. */
static void tell_teams(struct enl_program *program, const struct bcri_control *message)
{
    if (program->self.upward != NULL)
        program->self.upward->send(program, message);
    else if (!program->self.is_child)
        (void)enl_teams_take(&program->jobs, program->self.host_number, message);
}

/* The same about what a job may use. */
static void tell_used(struct enl_program *program, const struct bcri_control *message)
{
    if (program->self.upward != NULL)
        program->self.upward->send(program, message);
    else if (!program->self.is_child)
        (void)enl_limits_take(&program->jobs, program->self.host_number, program->self.hostname, message);
}

static void want_host(struct enl_program *program, uint32_t number)
{
    if (enl_introduce_name(program, number) == NULL)
        enl_introduce_want(program, number);
}

static const struct enl_here_ops here_ops = {.is_debugged = enl_session_wants,
                                             .dress = enl_session_wrap,
                                             .debugger_started = enl_session_started,
                                             .network_bell = enl_links_bell,
                                             .outbox_made = enl_links_outbox,
                                             .left = cce_left,
                                             .tell_teams = tell_teams,
                                             .tell_used = tell_used,
                                             .send_notice = enl_links_notice,
                                             .send_lines = enl_links_lines,
                                             .halt_lines = enl_links_lines_halt,
                                             .want_host = want_host,
                                             .send_to_host = enl_tree_send,
                                             .asked = on_asked,
                                             .outcome_of_end = enl_meaning_of_end,
                                             .root_ended = enl_jobs_decide,
                                             .crashed = enl_crash_ended,
                                             .crash_dropped = enl_crash_drop,
                                             .forget = enl_links_forget,
                                             .pool_grown = enl_links_grown};

/* ---- what carries bytes to other hosts (carry/carry.h) ---- */

static struct enl_conn *daemon_of(struct enl_program *program, uint32_t host)
{
    const struct enl_child *child = enl_tree_child(program, host);
    return child != NULL && enl_life_works(&child->life) ? child->conn : NULL;
}

static uint32_t host_numbers(struct enl_program *program)
{
    return program->tree != NULL && !program->self.is_child ? program->tree->last_number + 1 : 1;
}

_Static_assert(ENL_ROW_PASSING == BCRI_LANE_PASSING, "what carry says links understand");
static const struct enl_carry_ops carry_ops = {.control_link_send = enl_links_control_link_send,
                                               .control_link_waits = enl_links_control_link_waits,
                                               .control_link_tell_empty = enl_links_control_link_tell_empty,
                                               .control_link_mark = enl_links_control_link_mark,
                                               .daemon_of = daemon_of,
                                               .host_numbers = host_numbers,
                                               .pane_wanted = enl_session_far_seen};

/* ---- the search for deadlocks (inspect/deadlock/deadlock.h) ---- */

/* Where a cell has a name, any process may enter, find it, and put what a CCE waits for. */
static bool is_quiet(const struct enl_program *program)
{
    return program->jobs.stop_signal == 0 && !program->here.is_frozen &&
           !enl_enlist_is_busy(&program->jobs) && !enl_changes_wait(program) &&
           LIST_EMPTY(&program->jobs.outdone.printers) && LIST_EMPTY(&program->jobs.names.seekers) &&
           LIST_EMPTY(&program->jobs.names.all);
}

static void send_down(const struct enl_program *program, const struct bcri_control *message, bool up_alone)
{
    struct enl_child *child = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    for (; child != NULL; child = LIST_NEXT(child, entry))
        if (!up_alone || enl_life_works(&child->life))
            enl_child_send(child, message);
}

/* A host that comes up later is told then (enl/conductor/child.c). */
static void freeze_all(struct enl_program *program)
{
    const struct bcri_control message = {.type = BCRI_MSG_freeze};
    enl_signals_freeze(&program->jobs);
    send_down(program, &message, true);
}

static uint32_t *all_hosts(const struct enl_program *program, size_t *count_out)
{
    const struct enl_child *first = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    *count_out = 1;
    for (const struct enl_child *child = first; child != NULL; child = LIST_NEXT(child, entry))
        ++*count_out;
    uint32_t *numbers = malloc(*count_out * sizeof *numbers), *next = numbers;
    if (numbers == NULL)
        return NULL;
    *next++ = program->self.host_number;
    for (const struct enl_child *child = first; child != NULL; child = LIST_NEXT(child, entry))
        *next++ = child->life.number;
    return numbers;
}

static bool passes_signals(const struct enl_program *program)
{
    return program->jobs.signal_row == ENL_SIGNALS_PASSED;
}

static const struct enl_deadlock_ops deadlock_ops = {
    .is_quiet = is_quiet, .send_down = send_down, .passes_signals = passes_signals, .hosts = all_hosts};

/* ---- links (links/links.h) ---- */

static void on_control_link(struct enl_program *program, uint32_t host, const uint8_t *content,
                            uint32_t bytes)
{
    struct enl_child *child = enl_tree_child(program, host);
    if (program->self.is_child)
        enl_parent_control_link_came(program, content, bytes);
    else if (child != NULL)
        enl_child_control_link_came(child, content, bytes);
}

static void on_control_link_read(struct enl_program *program, uint32_t host)
{
    struct enl_child *child = enl_tree_child(program, host);
    if (child != NULL)
        enl_child_control_link_is_read(child);
}

static void on_quiet(struct enl_program *program, uint32_t question, bool quiet, uint64_t messages)
{
    enl_deadlock_quiet(&program->deadlock, question, quiet, messages);
}

static const struct enl_links_ops links_ops = {.host_name = enl_introduce_name,
                                               .wants_link = enl_introduce_want,
                                               .send_packet = enl_tunnelled_send,
                                               .came_in_control_link = on_control_link,
                                               .control_link_is_read = on_control_link_read,
                                               .control_links_moved = enl_parent_control_link_moved,
                                               .is_quiet = on_quiet};

/* ---- jobs (job/job.h) ---- */

static bool turn_of_machine(struct enl_program *program, uint32_t *turn_out)
{
    if (program->self.is_child || !enl_round_robin_is_shared(program))
        return false;
    *turn_out = enl_round_robin_next(program, NULL);
    return true;
}

static void on_others_stopped(struct enl_program *program)
{
    enl_signals_stopped(&program->jobs);
}

static void stop_others(struct enl_program *program)
{
    enl_tree_stop(program, on_others_stopped);
}

static void kill_others(struct enl_program *program)
{
    enl_session_cut(&program->session);
    enl_tree_kill(program);
}

static bool on_reaped(struct enl_program *program, pid_t pid, int wait_status)
{
    enl_crash_reaped(&program->crashes, pid);
    return enl_tree_reaped(program, pid, wait_status) || enl_branch_reaped(program, pid, wait_status) ||
           enl_proxy_reaped(&program->carry, pid, wait_status) || enl_tempdir_reaped(&program->here, pid) ||
           enl_session_reaped(&program->session, pid, wait_status);
}

static void show_crash(struct enl_program *program, uint32_t ordinal)
{
    enl_crash_show(&program->crashes, ordinal);
}

static bool is_spared(const struct enl_program *program, pid_t pid)
{
    return enl_branch_is_left(pid) || pid == program->here.tempdir.keeper;
}

static const struct enl_jobs_ops jobs_ops = {.way = enl_tree_enlist,
                                             .turn = turn_of_machine,
                                             .pass_on = enl_tree_signal,
                                             .signal_others = enl_tree_pass,
                                             .send_to_host = enl_tree_send,
                                             .ask_host = enl_tree_ask,
                                             .stop = stop_others,
                                             .go_on = enl_tree_go_on,
                                             .kill = kill_others,
                                             .cut = enl_tree_cut,
                                             .drain_others = enl_tree_drain,
                                             .others_are_drained = enl_tree_is_drained,
                                             .show_crash = show_crash,
                                             .reaped = on_reaped,
                                             .is_spared = is_spared};

/* ---- all of them ---- */

void enl_program_init(struct enl_program *program, const struct enl_options *options, char **argv)
{
    struct enl_self *self = &program->self;
    program->options = *options;
    self->program = program;
    self->ops = &program_ops;
    self->links = &program->links;
    self->jobs = &program->jobs;
    self->crashes = &program->crashes;
    self->session = &program->session;
    self->is_child = options->child;
    self->log = (struct bcri_log)BCRI_LOG_INIT;
    enl_conns_init(&program->conns, self, &enl_program_conn_ops);
    enl_here_init(&program->here, self, &program->conns, &here_ops);
    program->carry =
        (struct enl_carry){.self = self, .conns = &program->conns, .ops = &carry_ops, .logs_folder = -1};
    program->links = (struct enl_links){.self = self, .here = &program->here, .ops = &links_ops};
    enl_jobs_init(&program->jobs, self, &program->conns, &program->here, &jobs_ops);
    program->jobs.root_argv = argv;
    enl_crash_init(&program->crashes, self, &program->here);
    program->deadlock = (struct enl_deadlock){
        .self = self, .here = &program->here, .wish = &program->options.debug, .ops = &deadlock_ops};
    enl_session_init(&program->session, self, &program->here, &program->options.debug, freeze_all);
}

/* SPDX-License-Identifier: MIT */
/* program_parts.c -- what the parts of the daemon ask of each other. Each says in its header what it needs (struct
 * enl_..._ops); here that is passed on to the part that has it. */
#include "program.h"

#include "carry/carry.h"
#include "debug/debug.h"
#include "host/host.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "links/links.h"
#include "tree/branch.h"
#include "tree/introduce.h"
#include "tree/places.h"
#include "tree/round_robin.h"
#include "tree/tree.h"
#include "wire/wire.h"

/* ---- what this host asks (host/host.h) ---- */

static struct enl_outcome root_detector(void *owner, bool is_root, bool is_normal)
{
    return enl_meaning_of_end(((struct enl_program *)owner)->self.config.onfail, is_root, is_normal);
}

static void on_root_ended(void *owner, int status, bool is_decided)
{
    enl_jobs_decide(&((struct enl_program *)owner)->jobs, status, is_decided);
}

static bool is_debugged(void *owner, uint32_t ordinal)
{
    return enl_session_wants(&((struct enl_program *)owner)->session, ordinal);
}

static int dress(struct enl_cce *cce, struct enl_spawn *spawn, char ***words_out, char *error,
                 size_t error_size)
{
    return enl_session_dress(&enl_program_of_cce(cce)->session, cce, spawn, words_out, error, error_size);
}

static void on_debugger_started(struct enl_cce *cce, pid_t pid)
{
    enl_session_started(&enl_program_of_cce(cce)->session, cce, pid);
}

static void on_crashed(struct enl_cce *cce, int signal, bool core_file)
{
    enl_crash_ended(&enl_program_of_cce(cce)->crashes, cce, signal, core_file);
}

static int network_bell(void *owner)
{
    return enl_links_bell(&((struct enl_program *)owner)->links);
}

static bool on_outbox_made(void *owner, uint32_t index, bcri_ref outbox)
{
    return enl_links_outbox(&((struct enl_program *)owner)->links, index, outbox);
}

static void send_to_host(void *owner, uint32_t number, const struct bcri_control *message)
{
    enl_tree_send(owner, number, message);
}

static bool forget(void *owner, uint32_t index)
{
    return enl_links_forget(&((struct enl_program *)owner)->links, index);
}

static void abort_program(void *owner, int status)
{
    enl_program_abort(owner, status);
}

static void on_something_ended(void *owner)
{
    enl_program_check_end(owner);
}

static void on_pool_grown(void *owner, const struct bcri_heap_piece *piece, bool is_there)
{
    enl_links_grown(&((struct enl_program *)owner)->links, piece, is_there);
}

static const struct enl_here_ops here_ops = {.is_debugged = is_debugged,
                                             .dress = dress,
                                             .debugger_started = on_debugger_started,
                                             .network_bell = network_bell,
                                             .outbox_made = on_outbox_made,
                                             .send_to_host = send_to_host,
                                             .root_detector = root_detector,
                                             .root_ended = on_root_ended,
                                             .crashed = on_crashed,
                                             .crash_dropped = enl_crash_drop,
                                             .forget = forget,
                                             .abort = abort_program,
                                             .something_ended = on_something_ended,
                                             .pool_grown = on_pool_grown};

/* ---- what carries bytes to other hosts (carry/carry.h) ---- */

static bool control_link_send(void *owner, uint32_t host, unsigned row, const void *content, uint32_t bytes)
{
    return enl_links_control_link_send(&((struct enl_program *)owner)->links, host, row, content, bytes);
}

static uint32_t control_link_waits(void *owner, uint32_t host)
{
    return enl_links_control_link_waits(&((struct enl_program *)owner)->links, host);
}

static struct enl_conn *daemon_of(void *owner, uint32_t host)
{
    const struct enl_child *child = enl_tree_child(owner, host);
    return child != NULL && child->state == ENL_CHILD_UP ? child->conn : NULL;
}

static uint32_t host_numbers(void *owner)
{
    const struct enl_program *program = owner;
    return program->tree != NULL && !program->self.is_child ? program->tree->last_number + 1 : 1;
}

static void send_to_root(void *owner, const struct bcri_control *message)
{
    enl_parent_send_output(owner, message);
}

static void on_pane_wanted(void *owner, uint32_t host, uint32_t ordinal)
{
    enl_session_far_seen(&((struct enl_program *)owner)->session, host, ordinal);
}

static const struct enl_carry_ops carry_ops = {control_link_send, control_link_waits, daemon_of,
                                               host_numbers,      send_to_root,       on_pane_wanted};

/* ---- and its debuggers (debug/session.c) ---- */

static bool send_up(void *owner, const struct bcri_control *message)
{
    const struct enl_program *program = owner;
    if (program->parent == NULL)
        return false;
    enl_conn_send(program->parent, message, NULL, 0);
    return true;
}

static const struct enl_session_ops session_ops = {send_up, abort_program, on_something_ended};

/* ---- and reports of crashes (inspect/crash/crash.h) ---- */

static void on_end_due(void *owner)
{
    struct enl_program *program = owner;
    enl_program_abort(program, program->jobs.status);
}

static const struct enl_crash_ops crash_ops = {send_up, on_end_due};

/* ---- and who looks for deadlocks (inspect/deadlock/deadlock.h) ---- */

static bool is_quiet(void *owner)
{
    const struct enl_program *program = owner;
    return program->jobs.stop_signal == 0 && STAILQ_EMPTY(&program->jobs.queue);
}

static bool has_network(void *owner)
{
    return enl_links_run(&((struct enl_program *)owner)->links);
}

static bool ask_network(void *owner, uint32_t question)
{
    return enl_links_ask_quiet(&((struct enl_program *)owner)->links, question);
}

static bool is_roots(void *owner)
{
    return ((struct enl_program *)owner)->upward == NULL;
}

static void send_down(void *owner, const struct bcri_control *message, bool up_alone)
{
    const struct enl_program *program = owner;
    struct enl_child *child = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    for (; child != NULL; child = LIST_NEXT(child, entry))
        if (!up_alone || child->state == ENL_CHILD_UP)
            enl_child_send(child, message);
}

static size_t other_hosts(void *owner, uint32_t *numbers_out, size_t room)
{
    const struct enl_program *program = owner;
    size_t count = 0;
    const struct enl_child *child = program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
    for (; child != NULL; child = LIST_NEXT(child, entry), count++)
        if (count < room)
            numbers_out[count] = child->number;
    return count;
}

static const struct enl_deadlock_ops deadlock_ops = {.is_quiet = is_quiet,
                                                     .has_network = has_network,
                                                     .ask_network = ask_network,
                                                     .is_roots = is_roots,
                                                     .send_up = send_up,
                                                     .send_down = send_down,
                                                     .hosts = other_hosts};

/* ---- and its links (links/links.h) ---- */

static const char *host_name(void *owner, uint32_t number)
{
    return enl_introduce_name(owner, number);
}

static void on_link_wanted(void *owner, uint32_t number)
{
    enl_introduce_want(owner, number);
}

static void send_packet(void *owner, uint32_t host, const void *packet, uint32_t bytes)
{
    enl_tunnelled_send(owner, host, packet, bytes);
}

static void on_control_link(void *owner, uint32_t host, const uint8_t *content, uint32_t bytes)
{
    struct enl_program *program = owner;
    struct enl_child *child = enl_tree_child(program, host);
    if (program->self.is_child)
        enl_parent_control_link_came(program, content, bytes);
    else if (child != NULL)
        enl_child_control_link_came(child, content, bytes);
}

static void on_quiet(void *owner, uint32_t question, bool quiet, uint64_t messages)
{
    enl_deadlock_quiet(&((struct enl_program *)owner)->deadlock, question, quiet, messages);
}

static const struct enl_links_ops links_ops = {host_name, on_link_wanted, send_packet, on_control_link,
                                               on_quiet};

/* ---- and its jobs (job/job.h) ---- */

static bool turn(void *owner, uint32_t *turn_out)
{
    struct enl_program *program = owner;
    if (program->self.is_child || !enl_round_robin_is_shared(program))
        return false;
    *turn_out = enl_round_robin_next(program, NULL);
    return true;
}

static void on_counted(void *owner)
{
    struct enl_program *program = owner;
    if (program->upward != NULL)
        program->upward->alive(program);
}

static void pass_on(void *owner, int signal)
{
    enl_tree_signal(owner, signal);
}

static void on_others_stopped(struct enl_program *program)
{
    enl_signals_stopped(&program->jobs);
}

static void stop_others(void *owner)
{
    enl_tree_stop(owner, on_others_stopped);
}

static void others_go_on(void *owner)
{
    enl_tree_go_on(owner);
}

static void kill_others(void *owner)
{
    enl_session_cut(&((struct enl_program *)owner)->session);
    enl_tree_kill(owner);
}

static void cut_others(void *owner)
{
    enl_tree_cut(owner);
}

static bool on_reaped(void *owner, pid_t pid, int wait_status)
{
    struct enl_program *program = owner;
    enl_crash_reaped(&program->crashes, pid);
    return enl_tree_reaped(owner, pid, wait_status) || enl_branch_reaped(owner, pid, wait_status) ||
           enl_proxy_reaped(&program->carry, pid, wait_status) ||
           enl_session_reaped(&program->session, pid, wait_status);
}

static bool is_spared(void *owner, pid_t pid)
{
    return enl_branch_is_left(owner, pid);
}

static const struct enl_jobs_ops jobs_ops = {.way = enl_tree_enlist,
                                             .turn = turn,
                                             .counted = on_counted,
                                             .pass_on = pass_on,
                                             .stop = stop_others,
                                             .go_on = others_go_on,
                                             .kill = kill_others,
                                             .cut = cut_others,
                                             .reaped = on_reaped,
                                             .is_spared = is_spared,
                                             .abort = abort_program,
                                             .something_ended = on_something_ended};

/* ---- all of them ---- */

void enl_program_init(struct enl_program *program, const struct enl_options *options, char **argv)
{
    program->options = *options;
    program->self.is_child = options->child;
    program->self.log = (struct bcri_log)BCRI_LOG_INIT;
    enl_conns_init(&program->conns, &program->self, &enl_program_conn_ops, program);
    enl_here_init(&program->here, &program->self, &program->conns, &here_ops, program);
    program->carry = (struct enl_carry){.self = &program->self,
                                        .conns = &program->conns,
                                        .ops = &carry_ops,
                                        .owner = program,
                                        .logs_folder = -1};
    program->links = (struct enl_links){
        .self = &program->self, .here = &program->here, .ops = &links_ops, .owner = program};
    enl_jobs_init(&program->jobs, &program->self, &program->conns, &program->here, &jobs_ops, program);
    program->jobs.root_argv = argv;
    enl_crash_init(&program->crashes, &program->self, &program->here, &crash_ops, program);
    program->deadlock = (struct enl_deadlock){.self = &program->self,
                                              .here = &program->here,
                                              .wish = &program->options.debug,
                                              .ops = &deadlock_ops,
                                              .owner = program};
    enl_session_init(&program->session, &program->self, &program->here, &program->options.debug, &session_ops,
                     program);
}

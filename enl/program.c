/* SPDX-License-Identifier: MIT */
/* program.c -- from the command line to the exit status. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>

#include "base/names.h"
#include "base/writer.h"
#include "bcri/channel.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "bcri/signature.h"
#include "carry/logs/bring.h"
#include "carry/logs/collect.h"
#include "carry/push/push.h"
#include "carry/relay/far.h"
#include "carry/relay/relay.h"
#include "debug/session.h"
#include "host/audit.h"
#include "host/blocked_by.h"
#include "host/cce.h"
#include "host/lines.h"
#include "host/object.h"
#include "host/worker.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "inspect/look/metrics.h"
#include "job/enlist.h"
#include "job/meaning.h"
#include "job/scripts.h"
#include "job/signals.h"
#include "links/links.h"
#include "own_name.h"
#include "tree/branch.h"
#include "tree/carried.h"
#include "tree/introduce.h"
#include "tree/parent.h"
#include "tree/places.h"
#include "tree/tree.h"
#include "tree/turn.h"
#include "wire/conn.h"

static bool thread_left; /* a thread is stuck: the process must end by _exit */

/* Closes every handle, so that the loop ends. All processes have ended, the endscript is done, and
 * all messages are written. */
static void close_all(struct enl_program *program)
{
    enl_jobs_close(&program->jobs);
    enl_conns_close(&program->conns);
    enl_far_close(&program->carry);
    enl_introduce_end(program);
    enl_crash_close(&program->crashes);
    enl_deadlock_stop(&program->deadlock);
    enl_tree_close(program);
    enl_branches_close(program);
    enl_parent_close(program);
    enl_lines_stop(&program->here.lines);
    if (!enl_report_stop(&program->self))
        thread_left = true;
    if (!enl_links_stop(&program->links))
        thread_left = true;
    if (!enl_here_stop(&program->here))
        thread_left = true;
}

/* A child's last words go to its parent. */
static void flush_upward(void *owner)
{
    struct enl_program *program = owner;
    if (program->upward != NULL)
        program->upward->flush(program, close_all);
    else
        close_all(program);
}

/* And its log, to which nothing is added that anybody waits for. */
static void bring_log(void *owner)
{
    struct enl_program *program = owner;
    if (program->parent != NULL)
        enl_bring_log(&program->carry, flush_upward);
    else
        flush_upward(program);
}

static void endscript_done(void *owner)
{
    struct enl_program *program = owner;
    /* Processes that CCEs have left in the background may print for ever. */
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        enl_output_close(cce);
    if (program->self.log.lost_total != 0)
        enl_report(&program->self, BCRI_LOG_WARN, "%llu lines could not be written into the log on %s: %s",
                   (unsigned long long)program->self.log.lost_total, program->self.hostname,
                   strerror(program->self.log.lost_errno));
    enl_report_flush(&program->self, bring_log);
}

static void end(struct enl_program *program)
{
    program->self.phase = ENL_ENDED;
    program->self.report.is_over = true;
    uv_timer_stop(&program->jobs.grace);
    uv_timer_stop(&program->here.linger);
    enl_crash_flush(&program->crashes);
    enl_enlist_drop(&program->jobs);
    enl_conns_close_waiting(&program->conns);
    enl_script_run(&program->jobs, program->self.config.endscript, 1, endscript_done);
}

void enl_program_check_end(struct enl_program *program)
{
    /* Of CCEs that a signal to this daemon alone ends the parent is to say that they were here. */
    if (program->upward != NULL && program->self.phase == ENL_RUNNING)
        program->upward->alive(program);
    if (program->here.alive != 0 || !STAILQ_EMPTY(&program->jobs.queue) || program->self.phase == ENL_ENDED)
        return;
    if (program->self.phase == ENL_RUNNING && program->parent != NULL && !program->dismissed)
        return; /* it may enlist more */
    if (!enl_tree_over(program) || !enl_branches_over(program))
        return;
    if (program->self.phase == ENL_RUNNING && enl_session_busy(&program->session))
        return; /* a person looks at what is left */
    if (!enl_session_over(&program->session))
        return; /* its windows are being closed */
    if (program->self.phase == ENL_RUNNING) {
        end(program);
    } else if (program->self.phase == ENL_ENDING) {
        /* Processes that CCEs left have become children of the daemon, which is their subreaper.
         * SIGCHLD tells of the end of each. */
        const int others = enl_signals_kill_children(&program->jobs);
        if (others < 0 || (others == 0 && enl_branches_are_left(program)) ||
            (waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD))
            end(program);
    }
}

void enl_program_abort(struct enl_program *program, int status)
{
    if (program->self.phase == ENL_ENDED &&
        program->jobs.script != 0) { /* an endscript that hangs holds nobody */
        kill(-program->jobs.script, SIGTERM);
        enl_signals_start_grace(&program->jobs);
    }
    if (program->self.phase == ENL_ENDED)
        return;
    if (enl_crash_defers_end(&program->crashes)) {
        enl_jobs_decide(&program->jobs, status, true);
        return;
    }
    enl_crash_flush(&program->crashes);
    if (program->upward != NULL && program->self.phase != ENL_ENDING)
        program->upward->failed(program, status);
    program->self.phase = ENL_ENDING;
    enl_jobs_decide(&program->jobs, status, true);
    enl_enlist_drop(&program->jobs);
    enl_tree_kill(program);
    enl_session_kill(&program->session);
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        enl_cce_signal(cce, SIGKILL, true);
    enl_program_check_end(program);
}

/* ---- what this host asks (host/host.h) ---- */

static struct enl_outcome judge(void *owner, bool is_root, bool is_normal)
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
                                             .send_to_host = send_to_host,
                                             .judge = judge,
                                             .root_ended = on_root_ended,
                                             .crashed = on_crashed,
                                             .crash_dropped = enl_crash_drop,
                                             .forget = forget,
                                             .abort = abort_program,
                                             .something_ended = on_something_ended,
                                             .pool_grown = on_pool_grown};

/* ---- what carries bytes to other hosts (carry/carry.h) ---- */

static bool lane_send(void *owner, uint32_t host, unsigned row, const void *content, uint32_t bytes)
{
    return enl_links_lane_send(&((struct enl_program *)owner)->links, host, row, content, bytes);
}

static uint32_t lane_waits(void *owner, uint32_t host)
{
    return enl_links_lane_waits(&((struct enl_program *)owner)->links, host);
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

static const struct enl_carry_ops carry_ops = {lane_send,    lane_waits,   daemon_of,
                                               host_numbers, send_to_root, on_pane_wanted};

/* ---- and its debuggers (debug/session.h) ---- */

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
    enl_carried_send(owner, host, packet, bytes);
}

static void on_lane(void *owner, uint32_t host, const uint8_t *content, uint32_t bytes)
{
    struct enl_program *program = owner;
    struct enl_child *child = enl_tree_child(program, host);
    if (program->self.is_child)
        enl_parent_lane_came(program, content, bytes);
    else if (child != NULL)
        enl_child_lane_came(child, content, bytes);
}

static void on_quiet(void *owner, uint32_t question, bool quiet, uint64_t messages)
{
    enl_deadlock_quiet(&((struct enl_program *)owner)->deadlock, question, quiet, messages);
}

static const struct enl_links_ops links_ops = {host_name, on_link_wanted, send_packet, on_lane, on_quiet};

/* ---- and its jobs (job/job.h) ---- */

static bool turn(void *owner, uint32_t *turn_out)
{
    struct enl_program *program = owner;
    if (program->self.is_child || !enl_turn_is_shared(program))
        return false;
    *turn_out = enl_turn_next(program, NULL);
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
           enl_relay_reaped(&program->carry, pid, wait_status) ||
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

/* Once it can be told also by a child. */
static void tell_no_log(struct enl_program *program)
{
    if (program->self.no_log != NULL)
        enl_report(&program->self, BCRI_LOG_WARN,
                   "%s, or set log to stderr or none; this program runs without a log on %s",
                   program->self.no_log, program->self.hostname);
}

/* The startscript is done: starts the root, or begins to do what the parent says. */
static void start_root(void *owner)
{
    struct enl_program *program = owner;
    char reason[1024] = "no memory";
    if (program->self.phase != ENL_PREPARING)
        return;
    program->self.phase = ENL_RUNNING;
    if (program->self.is_child) {
        if (enl_parent_open(program))
            tell_no_log(program);
        else
            enl_program_abort(program, 1);
        return;
    }
    tell_no_log(program);
    if (enl_jobs_start_root(&program->jobs, program->options.root_pid, program->options.root_socket, reason,
                            sizeof reason)) {
        enl_tree_start_all(program);
        return;
    }
    enl_report(&program->self, BCRI_LOG_ERROR, "%s", reason);
    enl_program_abort(program, 126);
}

/* Open files: what the daemon and a root need, and what each further CCE needs, segments for its
 * cells and heap included. docs/man/enl.1 has the second number. */
enum { FILES_AT_LEAST = 32, FILES_PER_CCE = 10 };

/* Comes before anything is opened. */
static int raise_file_limit(const struct enl_program *program, char *error, size_t error_size)
{
    struct rlimit limit = program->self.inherited.files;
    if (getrlimit(RLIMIT_NOFILE, &(struct rlimit){0}) != 0)
        return bcri_refuse(error, error_size, 1, "the limit of open files is not known: getrlimit: %s",
                           strerror(errno));
    if (limit.rlim_max < FILES_AT_LEAST)
        return bcri_refuse(
            error, error_size, 1,
            "enl needs %d open files, and about %d more for each CCE; the limit here is %llu: raise it "
            "by ulimit -n, or as root in /etc/security/limits.conf",
            FILES_AT_LEAST, FILES_PER_CCE, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return bcri_refuse(error, error_size, 1, "the limit of open files cannot be raised: setrlimit: %s",
                           strerror(errno));
    return 0;
}

static int load_hosts(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_options *options = &program->options;
    const struct enl_hosts_options wish = {options->hostfile, options->host, options->local};
    return enl_hosts_load(&program->hosts, &program->self.config, &wish, error, error_size);
}

static int configure(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_options *options = &program->options;
    int failed = bcri_config_load(&program->self.config, NULL, error, error_size);
    if (failed == 0)
        failed = enl_options_apply(options, &program->self.config, error, error_size);
    if (failed == 0 && !options->child)
        failed = load_hosts(program, error, error_size);
    if (options->child) { /* unless the parent says otherwise */
        program->self.config.output = BCRI_OUTPUT_NONE;
        program->self.config.outputdir = NULL;
        program->self.config.logdir = NULL;
    }
    return failed;
}

/* Limits that shared memory may have met where the system has said this, as the end of a sentence. */
static const char *limits_here(int said)
{
    static char text[256];
    struct rlimit file, space;
    size_t used = 0;
    if (said == EFBIG && getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY)
        used =
            (size_t)snprintf(text, sizeof text,
                             "; files, and shared memory with them, are limited to %llu KiB: raise ulimit -f",
                             (unsigned long long)file.rlim_cur >> 10);
    if (said == ENOMEM && getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        snprintf(text + used, sizeof text - used, "; address space is limited to %llu KiB: raise ulimit -v",
                 (unsigned long long)space.rlim_cur >> 10);
    return text;
}

/* Why there is no thread, as the end of a sentence: memory for its stack or the number of
 * processes; pthread_create gives EAGAIN in both cases. */
static const char *why_no_thread(int said)
{
    struct rlimit processes;
    if (said == 0) /* no call: what it takes memory for beforehand */
        return limits_here(ENOMEM);
    if (said != EAGAIN)
        return "";
    pthread_attr_t attributes;
    size_t stack_bytes = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack_bytes);
        pthread_attr_destroy(&attributes);
    }
    void *stack = mmap(NULL, stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return limits_here(ENOMEM);
    munmap(stack, stack_bytes);
    return getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY
               ? "; this user may have no more processes and threads: raise ulimit -u"
               : "; there may be no more processes and threads here: see pids.max of the control group";
}

/* stdout or stderr has room again, or all is written. */
static void on_written(void *owner)
{
    struct enl_program *program = owner;
    enl_lines_resume(&program->here.lines);
    enl_tree_resume(program);
    enl_report_look(&program->self);
}

static void on_unwritten(void *owner, uint32_t ordinal, const char *bytes, size_t length, int error)
{
    struct enl_program *program = owner;
    enl_lines_unwritten(&program->here.lines, ordinal, bytes, length, error);
}

static int start_writers(struct enl_program *program)
{
    static const struct enl_writer_hooks hooks = {on_written, on_unwritten};
    program->self.report.hooks = &hooks;
    program->self.report.owner = program;
    const int failed =
        enl_report_start(&program->self, !program->self.is_child && enl_lines_wanted(&program->here.lines));
    return failed == 0 ? enl_lines_start(&program->here.lines) : failed;
}

/* The file of the root's program, also if bcr_init has started this daemon. */
static const char *root_file(const struct enl_program *program)
{
    static char path[PATH_MAX], place[64];
    snprintf(place, sizeof place, "/proc/%ld/exe", (long)program->options.root_pid);
    if (program->jobs.root_path[0] != '\0')
        return program->jobs.root_path;
    const ssize_t length = readlink(place, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

/* Prepares all that needs no loop. Returns 0, or the exit status with a sentence. */
static int prepare(struct enl_program *program, char *error, size_t error_size)
{
    extern char **environ;
    int status = raise_file_limit(program, error, error_size);
    if (status != 0)
        return status;
    if (configure(program, error, error_size) != 0)
        return 2;
    if (program->options.root_pid == 0 && !program->self.is_child)
        status = enl_object_find(program->jobs.root_argv[0], program->jobs.root_path, error, error_size);
    if (status == 127 && program->jobs.root_argv[0][0] != '\0' &&
        strchr(program->jobs.root_argv[0], '/') == NULL)
        snprintf(error + strlen(error), error_size - strlen(error),
                 ", nor has enl a command of that name; enl --help lists them");
    if (status == 0 && !program->self.is_child &&
        (enl_lines_open(&program->here.lines, error, error_size) != 0 ||
         enl_collect_open(&program->carry, error, error_size) != 0))
        status = 2;
    if (status != 0)
        return status;
    enl_host_name(program->self.hostname, sizeof program->self.hostname);
    enl_host_address(program->self.address, sizeof program->self.address);
    if (program->self.is_child && enl_parent_await(program, error, error_size) != 0)
        return 2;
    if (!program->self.is_child)
        enl_tree_take_own(program);
    if (enl_session_prepare(&program->session, error, error_size) != 0)
        return 2;
    unsetenv(BCRI_NAME_ENV); /* programs that CCEs start are others */
    program->self.environment = enl_environment_with(environ, BCRI_CONTROL_ENV, NULL);
    if (program->self.environment != NULL && !enl_pushed_use(&program->carry, &program->jobs.programs))
        return bcri_refuse(error, error_size, 1, "no memory, or what was pushed cannot be read");
    if (!program->self.is_child && program->self.config.push != 0 && program->hosts.count != 0 &&
        enl_push_begin(&program->carry, root_file(program), error, error_size) != 0)
        return 2;
    program->here.folder = getcwd(NULL, 0);
    if ((status = enl_own_name_take(program, error, error_size)) != 0)
        return status;
    error[0] = '\0'; /* it has said itself what is wrong */
    if (program->options.metrics != NULL &&
        (status = enl_metrics_start(program->options.metrics, program->self.name)) != 0)
        return status;
    enl_cores_init(&program->here.cores);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    bcri_failure_forget();
    if (program->self.environment == NULL ||
        bcri_host_init(program->self.name, program->self.host_number, bcri_layout_signature(),
                       &program->here.host) != 0) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        return bcri_refuse(error, error_size, 1, "the program's host segment cannot be made: %s%s",
                           bcri_failure_text("no memory", failure), limits_here(bcri_failure_errno()));
    }
    bcri_host_set_name(program->here.host, program->self.hostname);
    const bool alone = !program->self.is_child && program->hosts.count == 0;
    if (!alone && !enl_links_prepare(&program->links, error, error_size))
        return 1;
    return 0;
}

/* Opens the loop and its handles. Signals come first, since threads that are made later inherit
 * that they are blocked. */
static int open_all(struct enl_program *program, char *error, size_t error_size)
{
    uv_loop_t *loop = &program->self.loop;
    int pair[2]; /* uv_loop_init wants a pipe for signals, without which it aborts */
    int failed = pipe2(pair, O_CLOEXEC) == 0 ? 0 : -errno;
    if (failed == 0) {
        close(pair[0]);
        close(pair[1]);
        failed = uv_loop_init(loop);
    }
    if (failed != 0) {
        snprintf(error, error_size, "cannot start: no event loop (epoll_create1, eventfd, pipe2): %s%s",
                 strerror(-failed), limits_here(-failed));
        return 1;
    }
    bcri_failure_forget();
    failed = enl_jobs_start(&program->jobs);
    if (failed == 0)
        failed = enl_conns_listen(&program->conns);
    if (failed == 0)
        failed = enl_here_start(&program->here);
    if (failed == 0)
        failed = start_writers(program);
    if (failed == 0)
        enl_crash_start(&program->crashes);
    if (failed == 0)
        enl_deadlock_start(&program->deadlock);
    if (failed == 0)
        return enl_session_start(&program->session, program->jobs.root_path, error, error_size) == 0 ? 0 : 1;
    char failure[BCRI_FAILURE_TEXT_MAX];
    if (failed == -EAGAIN)
        snprintf(error, error_size, "cannot start: %s%s", bcri_failure_text("no memory", failure),
                 why_no_thread(bcri_failure_errno()));
    else
        snprintf(error, error_size, "cannot start: %s", bcri_failure_text(strerror(-failed), failure));
    return 1;
}

static void free_all(struct enl_program *program)
{
    struct enl_cce *cce;
    while ((cce = TAILQ_FIRST(&program->here.all)) != NULL) {
        TAILQ_REMOVE(&program->here.all, cce, entry);
        free(cce->object);
        free(cce);
    }
    free(program->here.cces);
    if (program->here.worker == NULL && program->links.agent == NULL) {
        uv_loop_close(&program->self.loop);
        bcri_host_fini(program->here.host);
    }
    enl_session_free(&program->session);
    bcri_log_close(&program->self.log);
    free(program->self.no_log);
    bcri_config_fini(&program->self.config);
    enl_hosts_free(&program->hosts);
    free(program->self.environment);
    free(program->here.folder);
    free(program->jobs.programs);
    enl_push_end(&program->carry);
}

int enl_program_run(const struct enl_options *options, char **argv)
{
    static struct enl_program program; /* static: the worker may outlive this routine */
    char error[2048];
    program.options = *options;
    program.self.is_child = options->child;
    program.self.log = (struct bcri_log)BCRI_LOG_INIT;
    enl_conns_init(&program.conns, &program.self, &enl_program_conn_ops, &program);
    enl_here_init(&program.here, &program.self, &program.conns, &here_ops, &program);
    program.carry = (struct enl_carry){.self = &program.self,
                                       .conns = &program.conns,
                                       .ops = &carry_ops,
                                       .owner = &program,
                                       .logs_folder = -1};
    program.links = (struct enl_links){
        .self = &program.self, .here = &program.here, .ops = &links_ops, .owner = &program};
    enl_jobs_init(&program.jobs, &program.self, &program.conns, &program.here, &jobs_ops, &program);
    program.jobs.root_argv = argv;
    enl_crash_init(&program.crashes, &program.self, &program.here, &crash_ops, &program);
    program.deadlock = (struct enl_deadlock){.self = &program.self,
                                             .here = &program.here,
                                             .wish = &program.options.debug,
                                             .ops = &deadlock_ops,
                                             .owner = &program};
    enl_session_init(&program.session, &program.self, &program.here, &program.options.debug, &session_ops,
                     &program);
    enl_inherited_take(&program.self.inherited);
    enl_signals_quieten();
    int status = prepare(&program, error, sizeof error);
    if (status == 0)
        status = open_all(&program, error, sizeof error);
    if (status != 0) {
        if (error[0] != '\0')
            enl_report(&program.self, BCRI_LOG_ERROR, "%s", error);
        return status;
    }
    if (options->child)
        bcri_log_write(&program.self.log, BCRI_LOG_INFO, "program %s: host %u, daemon %u of this machine",
                       program.self.name, program.self.host_number, program.self.daemon_number);
    else
        bcri_log_write(&program.self.log, BCRI_LOG_INFO, "program %s: %s", program.self.name, argv[0]);
    enl_script_run(&program.jobs, program.self.config.startscript, 0, start_root);
    uv_run(&program.self.loop, UV_RUN_DEFAULT);
    status = program.jobs.status == 0 && program.here.lines.is_lost ? 1 : program.jobs.status;
    bcri_log_write(&program.self.log, BCRI_LOG_INFO, "program %s has ended with status %d", program.self.name,
                   status);
    enl_collect_own(&program.carry);
    free_all(&program);
    if (thread_left)
        _exit(status);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* program.c -- from the command line to the exit status. */
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carry/carry.h"
#include "conductor/tree.h"
#include "debug/debug.h"
#include "host/host.h"
#include "host/output.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "job/job.h"
#include "links/links.h"
#include "wire/wire.h"

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
    enl_branches_close();
    enl_parent_close(program);
    enl_lines_stop(&program->here.lines);
    thread_left |= !enl_report_stop(&program->self);
    thread_left |= !enl_links_stop(&program->links);
    thread_left |= !enl_here_stop(&program->here);
}

/* A child's last words go to its parent. */
static void flush_upward(struct enl_program *program)
{
    if (program->self.upward != NULL)
        program->self.upward->flush(program, close_all);
    else
        close_all(program);
}

/* And its log, to which nothing is added that anybody waits for. */
static void bring_log(struct enl_program *program)
{
    if (program->parent != NULL)
        enl_bring_log(&program->carry, flush_upward);
    else
        flush_upward(program);
}

static void endscript_done(struct enl_program *program)
{
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
    enl_feed_stop(&program->jobs);
    enl_summary_print(&program->jobs);
    enl_conns_close_waiting(&program->conns);
    enl_script_run(&program->jobs, program->self.config.endscript, 1, endscript_done);
}

/* Processes that CCEs have left become children of the daemon, which is their subreaper, and are killed with all other children, if the
 * program is ended, or is a job. SIGCHLD tells of the end of each, by which the next ones may become children. Whether none is left but
 * those that are spared. */
static bool no_child_is_left(const struct enl_program *program)
{
    if (program->self.phase == ENL_RUNNING && !program->here.has_job)
        return true;
    const int others = enl_signals_kill_children(&program->jobs);
    const bool are_spared = enl_branches_are_left() || program->here.tempdir.keeper != 0;
    return others < 0 || (others == 0 && are_spared) ||
           (waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD);
}

void enl_program_check_end(struct enl_program *program)
{
    /* Of CCEs that a signal to this daemon alone ends the parent is to say that they were here. */
    if (program->self.upward != NULL && program->self.phase == ENL_RUNNING)
        program->self.upward->alive(program);
    if (program->self.phase != ENL_RUNNING && !program->here.lines_halted)
        enl_cell_lines_end(&program->here);
    if (program->here.alive != 0 || enl_cell_lines_are_awaited(&program->here) ||
        enl_enlist_is_busy(&program->jobs) || program->self.phase == ENL_ENDED ||
        enl_roster_go_on(&program->jobs))
        return;
    if (program->self.phase == ENL_RUNNING && program->parent != NULL && !program->dismissed)
        return; /* it may enlist more */
    if (!enl_tree_over(program) || !enl_branches_over(program))
        return;
    if (program->self.phase == ENL_RUNNING && enl_session_busy(&program->session))
        return; /* a person looks at what is left */
    if (!enl_session_over(&program->session))
        return; /* its windows are being closed */
    if ((program->self.phase == ENL_RUNNING || program->self.phase == ENL_ENDING) &&
        no_child_is_left(program) && enl_tempdir_over(&program->here))
        end(program);
}

/* They may be stopped, or wait in bcr_init. */
static void kill_cces(struct enl_program *program)
{
    struct enl_cce *cce;
    enl_await_none(&program->here);
    TAILQ_FOREACH (cce, &program->here.all, entry)
        enl_cce_signal(cce, SIGKILL, true);
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
    if (program->self.upward != NULL && program->self.phase != ENL_ENDING)
        program->self.upward->failed(program, status);
    program->self.phase = ENL_ENDING;
    enl_cell_lines_await_no_more(&program->here);
    enl_jobs_decide(&program->jobs, status, true);
    enl_enlist_drop(&program->jobs);
    enl_tree_kill(program);
    enl_session_kill(&program->session);
    kill_cces(program);
    enl_program_check_end(program);
}

/* No end is blamed from here on, and unlike an abort this does not give up hosts whose output is still being read. A
 * program that a signal has ended, and that heeds it in this way, may still say with which status. */
void enl_program_finish(struct enl_program *program, int status, const char *who)
{
    if ((program->self.phase != ENL_RUNNING && program->self.phase != ENL_ENDING) || program->jobs.is_set)
        return;
    bcri_log_write(&program->self.log, BCRI_LOG_INFO, "program %s is ended with status %d by %s (bcr_end)",
                   program->self.name, status, who);
    enl_signals_start_again(&program->jobs);
    enl_crash_flush(&program->crashes);
    program->self.phase = ENL_ENDING;
    program->jobs.is_quiet = true;
    enl_jobs_decide(&program->jobs, status, true);
    enl_enlist_drop(&program->jobs);
    enl_tree_finish(program, status);
    enl_session_kill(&program->session);
    kill_cces(program);
    enl_program_check_end(program);
}

/* Once it can be told also by a child. */
static void tell_no_log(struct enl_program *program)
{
    if (program->self.no_log != NULL)
        enl_report(&program->self, BCRI_LOG_WARN,
                   "%s, or set log to stderr or none; this program runs without a log on %s",
                   program->self.no_log, program->self.hostname);
}

/* The startscript is done: starts the root, or begins to do what the parent says. */
static void start_root(struct enl_program *program)
{
    char reason[1024] = "no memory";
    if (program->self.phase != ENL_PREPARING)
        return;
    program->self.phase = ENL_RUNNING;
    if (program->self.is_child) {
        if (!enl_parent_open(program)) {
            enl_program_abort(program, 1);
            return;
        }
        tell_no_log(program);
        enl_pushed_tell(&program->carry);
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
    enl_group_forget(&program->here);
    enl_group_close();
    enl_tempdir_free(&program->here);
    free(program->jobs.programs);
    enl_push_end(&program->carry);
}

int enl_program_run(const struct enl_options *options, const struct enl_roster *roster, char **argv)
{
    static struct enl_program program; /* static: the worker may outlive this routine */
    char error[2048];
    enl_program_init(&program, options, argv);
    program.jobs.roster = roster;
    getrlimit(RLIMIT_NOFILE, &program.self.inherited.files);
    enl_signals_quieten();
    int status = enl_program_prepare(&program, error, sizeof error);
    if (status == 0)
        status = enl_program_open(&program, error, sizeof error);
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

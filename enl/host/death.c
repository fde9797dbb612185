/* SPDX-License-Identifier: MIT */
/* death.c -- the end of a CCE: noticed, judged, repaired.
 *
 *   what tells                 of what
 *   wait (SIGCHLD)             the daemon's own children, and those that they left to it as
 *                              subreaper: with a status
 *   a pidfd                    a CCE under a wrapper, or one that joined: no status but what the
 *                              CCE recorded itself
 *   the private socket's end   an exec, or a connection that was ended: the process has a second
 *                              left if it is the daemon's child, none under a wrapper
 *
 * What a CCE sent to the daemon before its end is read and done before its end is judged, and before the
 * worker repairs, as if it had been read in time; what a request gave goes with the CCE. Only a crash is
 * traced no more. Other daemons' frames are read to the end of their pipe (conductor/child.c).
 *
 * The worker repairs what a dead CCE held, after the agent, if the CCE has ordered of it, has
 * forgotten the CCE. The loop stores DYING before that, so that CCEs that
 * wait for a lock of the dead see what they wait for. When the whole program is ending nothing is
 * repaired, since no CCE will need it. */
#include "host/host.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/program.h>

#include "base/status.h"
#include "base/watch.h"
#include "bcri/environment.h"
#include "bcri/eventfds.h"
#include "bcri/repair.h"
#include "host/worker.h"
#include "wire/wire.h"

/* How a process ended. */
struct end {
    bool known;
    bool signalled;
    bool exited; /* while a thread of it that had crashed was looked at: `number` is the crash's */
    int number;  /* status or signal */
};

void enl_cce_look_at_dead(struct enl_here *here, pid_t pid)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->process == pid)
            break;
    if (cce == NULL || cce->life != ENL_STARTED)
        return;
    char path[64], name[16] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    cce->ran_enl = read(fd, name, sizeof name - 1) > 0 && strcmp(name, "enl\n") == 0;
    close(fd);
}

/* What the root's daemon, if it wants to know, is told of the end. */
static void note_end(struct enl_cce *cce, struct end end)
{
    cce->how = (uint8_t)(!end.known ? bcr_UNKNOWN : end.signalled ? bcr_KILLED : bcr_EXITED);
    cce->number = (uint8_t)end.number;
}

/* Whether `signal` ends a process by a mistake of its own. */
static bool is_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGSYS;
}

static struct end end_of(const struct enl_cce *cce, bool waited, int wait_status)
{
    const uint32_t recorded = bcri_load_acquire(&cce->record->id.exit_status);
    const int number = (int)(recorded & 0xffu);
    const bool crashed = (recorded & BCRI_CRASHED) != 0 && is_crash(number);
    if (cce->has_status)
        return (struct end){.known = true, .number = cce->status};
    if (waited && WIFSIGNALED(wait_status))
        return (struct end){.known = true, .signalled = true, .number = WTERMSIG(wait_status)};
    if (crashed)
        return (struct end){.known = true, .signalled = true, .exited = waited, .number = number};
    if (waited && WIFEXITED(wait_status))
        return (struct end){.known = true, .number = WEXITSTATUS(wait_status)};
    if ((recorded & BCRI_EXITED) != 0)
        return (struct end){.known = true, .number = number};
    return (struct end){.known = false};
}

static enum enl_end kind_of_end(struct end end)
{
    if (!end.known || end.signalled)
        return ENL_END_ABNORMAL;
    return end.number == 0 ? ENL_END_GOOD : ENL_END_STATUS;
}

/* Of a member of a job. One that writes into another's input is ended by SIGPIPE when that one has ended, as in a shell. */
static enum enl_end kind_of_end_of(const struct enl_cce *cce, struct end end)
{
    return cce->writes_pipe && end.signalled && end.number == SIGPIPE ? ENL_END_STATUS : kind_of_end(end);
}

static int status_of(struct end end)
{
    return !end.known ? 1 : end.signalled ? 128 + end.number : end.number;
}

static const char *text_of_end(struct end end, char *buffer, size_t size)
{
    if (!end.known)
        snprintf(buffer, size, "ended without exit()");
    else if (end.exited)
        snprintf(buffer, size, "crashed by signal %d (%s), and another thread of it called _exit", end.number,
                 strsignal(end.number));
    else if (end.signalled)
        snprintf(buffer, size, "was killed by signal %d (%s)", end.number, strsignal(end.number));
    else
        snprintf(buffer, size, "exited with status %d", end.number);
    return buffer;
}

/* Finishes a CCE once both its processes are gone, and what they have printed is not behind. */
static void finish_life(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    if (cce->life != ENL_OVER || cce->process != 0 || cce->finished ||
        enl_cell_lines_behind(&cce->output.streams[0]) || enl_cell_lines_behind(&cce->output.streams[1]))
        return;
    cce->finished = true;
    here->alive--;
    if (enl_cce_is_isolated(cce))
        here->isolated--;
    enl_cores_give(&here->cores, cce->core);
    enl_cce_release(cce);
    here->self->ops->something_ended(here->self->program);
}

void enl_cce_lines_over(struct enl_cce *cce)
{
    if (cce->finished)
        enl_cce_release(cce);
    else
        finish_life(cce);
}

static void repair(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct enl_work work = {.kind = ENL_WORK_REPAIR, .index = cce->index};
    cce->repairing = enl_worker_add(here->worker, &work);
    if (!cce->repairing) {
        enl_report(here->self, BCRI_LOG_ERROR, "no memory to repair what %s held; locks may stay held",
                   enl_cce_text(cce));
        enl_starts_ended(cce);
    }
}

void enl_cce_forgotten(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    cce->repairing = false;
    if (here->self->phase == ENL_RUNNING)
        repair(cce);
    if (--here->forgetting == 0)
        enl_audit_go_on(here);
    enl_cce_release(cce);
}

static void finish_cce(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    cce->life = ENL_OVER;
    cce->pid = 0; /* another process may get this pid soon */
    if (cce->control != NULL)
        enl_conn_close(cce->control);
    if (cce->kill_socket >= 0)
        close(cce->kill_socket);
    cce->kill_socket = -1;
    enl_watch_stop(cce->pid_watch);
    cce->pid_watch = NULL;
    enl_await_stop(cce);
    enl_input_close(cce);
    here->ops->crash_dropped(cce);
    bcri_eventfds_drop(bcri_host_eventfds(here->host), cce->index);
    bcri_cce_dying(here->host, cce->index);
    enl_starts_forget(cce);
    if (cce->is_kept_of)
        here->ops->left(here->self->program, cce->record->id.identity);
    enl_members_over(cce);
    if (here->self->phase != ENL_RUNNING)
        return;
    /* The agent first: it passes on holds that the repair would drop. */
    if (cce->has_outbox && here->ops->forget(here->self->links, cce->index)) {
        cce->repairing = true;
        here->forgetting++;
    } else {
        repair(cce);
    }
}

void enl_cce_drop(struct enl_cce *cce)
{
    cce->never_up = true;
    finish_cce(cce);
    finish_life(cce);
}

/* The enlistor's host is told. */
static void tell_host(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code)
{
    const struct bcri_control message = {.type = BCRI_MSG_unstarted,
                                         .present = BCRI_HAS(enlistor) | BCRI_HAS(ordinal) | BCRI_HAS(status),
                                         .enlistor = {(const char *)origin->identity, BCRI_IDENTITY_BYTES},
                                         .ordinal = ordinal,
                                         .status = (uint32_t)code};
    here->ops->send_to_host(here->self->program, bcri_identity_host(origin->identity), &message);
}

void enl_cce_tell_failure(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code)
{
    if (bcri_identity_is_none(origin->identity))
        return;
    if (bcri_identity_host(origin->identity) != here->self->host_number) {
        tell_host(here, origin, ordinal, code);
        return;
    }
    const struct enl_cce *enlistor = enl_cce_of(here, origin->identity);
    if (enlistor == NULL || enlistor->life != ENL_ALIVE || (enlistor->flags & bcr_errors) == 0)
        return;
    struct enl_work work = {.kind = ENL_WORK_ERROR,
                            .index = enlistor->index,
                            .code = code,
                            .operation = bcr_op_enlist,
                            .ordinal = (int32_t)ordinal};
    enl_worker_add(here->worker, &work);
}

void enl_cce_fail(struct enl_cce *cce, int code, const char *format, ...)
{
    struct enl_here *here = cce->here;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    enl_output_drain(cce);
    const bool running = here->self->phase == ENL_RUNNING, is_member = running && cce->team.members != NULL;
    const int status = cce->wait_status != 0 ? status_of(end_of(cce, true, cce->wait_status)) : 1;
    const struct enl_outcome verdict = is_member
                                           ? here->ops->outcome_of_end(here->self->config.onfail, cce->flags,
                                                                       cce == here->root, ENL_END_ABNORMAL)
                                           : (struct enl_outcome){.says = ""};
    if (running) {
        enl_report(here->self, BCRI_LOG_ERROR, "%s did not start: %s%s%s", enl_cce_text(cce), text,
                   is_member ? "; " : "", verdict.says);
        enl_output_show_tail(cce);
        enl_cce_tell_failure(here, &cce->origin, cce->ordinal, code);
    }
    enl_cce_drop(cce);
    if (verdict.ends)
        here->self->ops->abort(here->self->program, status);
}

/* A member of a team, which may be any program, has ended well and was no CCE: with status 0, or, in a job, as it liked. */
static void finish_without_hello(struct enl_cce *cce, struct end end)
{
    struct enl_here *here = cce->here;
    const bool is_root = cce == here->root;
    const struct enl_outcome verdict =
        here->ops->outcome_of_end(here->self->config.onfail, cce->flags, is_root, kind_of_end_of(cce, end));
    char how[128];
    enl_output_drain(cce);
    note_end(cce, end);
    text_of_end(end, how, sizeof how);
    if (verdict.is_normal)
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "%s %s and never called bcr_init", enl_cce_text(cce),
                       how);
    else if (here->self->phase == ENL_RUNNING)
        enl_report(here->self, BCRI_LOG_ERROR, "%s %s; %s", enl_cce_text(cce), how, verdict.says);
    if (is_root)
        here->ops->root_ended(here->self->jobs, 0, false);
    enl_cce_drop(cce);
    if (verdict.ends && here->self->phase == ENL_RUNNING)
        here->self->ops->abort(here->self->program, status_of(end));
}

/* A process that the daemon started has ended, no process holds its socket any more, and no hello
 * has come. */
static void fail_without_hello(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct end end = end_of(cce, true, cce->wait_status);
    char how[128];
    text_of_end(end, how, sizeof how);
    if (cce->team.members != NULL && !cce->refused && cce->misheard == NULL && !cce->hello_late &&
        (kind_of_end(end) == ENL_END_GOOD || enl_cce_is_of_job(cce))) {
        finish_without_hello(cce, end);
        return;
    }
    if (cce == here->root)
        here->ops->root_ended(here->self->jobs, status_of(end) != 0 ? status_of(end) : 1, true);
    if (cce->refused)
        enl_cce_fail(cce, bcrE_ENLIST, "it was refused, and then %s", how);
    else if (cce->misheard != NULL)
        enl_cce_fail(cce, bcrE_ENLIST, "what it said by bcr_init was not understood: %s; it %s",
                     cce->misheard, how);
    else if (cce->hello_late)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s while it waited in bcr_init", how);
    else if (cce->debugged)
        enl_cce_fail(cce, bcrE_ENLIST, "its debugger %s before the program had called bcr_init", how);
    else if (cce->ran_enl)
        enl_cce_fail(cce, bcrE_ENLIST,
                     "it became an enl of its own, which %s: the variable " BCRI_CONTROL_ENV
                     " did not reach bcr_init (env -i, sudo and clearenv take it away), or it is enl itself",
                     how);
    else if (end.signalled)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s before it called bcr_init", how);
    else if (end.known && end.number == 127)
        enl_cce_fail(
            cce, bcrE_ENLIST,
            "it %s before bcr_init: something was not found, and what it printed says what: a shared library "
            "(ldd lists them, LD_LIBRARY_PATH or ldconfig say where to look), a script's command, an enl",
            how);
    else if (cce->team.members != NULL)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s and never called bcr_init", how);
    else if (here->self->config.wrap != NULL)
        enl_cce_fail(
            cce, bcrE_ENLIST,
            "it %s and never called bcr_init; the command before it (%s) must end by running it, and "
            "it must be a CCE",
            how, here->self->config.wrap);
    else
        enl_cce_fail(cce, bcrE_ENLIST,
                     "it %s and never called bcr_init; a program that is no CCE cannot be run by enl, start "
                     "it without",
                     how);
}

/* The CCE itself has ended. */
static void ended(struct enl_cce *cce, bool waited, int wait_status)
{
    struct enl_here *here = cce->here;
    struct end end = end_of(cce, waited, wait_status);
    char how[128];
    note_end(cce, end);
    if (cce->life == ENL_HELD) {
        if (cce == here->root)
            here->ops->root_ended(here->self->jobs, status_of(end) != 0 ? status_of(end) : 1, true);
        cce->wait_status = waited ? wait_status : 0;
        enl_cce_fail(cce, bcrE_ENLIST, "it %s while it waited in bcr_init",
                     text_of_end(end, how, sizeof how));
        return;
    }
    /* It has said all that it will, and a part may be unread: it may have rung another CCE and exited. */
    cce->has_ended = true;
    enl_conn_take_rest(&cce->control);
    enl_output_drain(cce);
    const char *who = enl_cce_text(cce);
    text_of_end(end, how, sizeof how);
    const bool running = here->self->phase == ENL_RUNNING;
    const enum enl_end kind = cce->has_status ? ENL_END_GOOD : kind_of_end_of(cce, end);
    const struct enl_outcome verdict =
        running ? here->ops->outcome_of_end(here->self->config.onfail, cce->flags, cce == here->root, kind)
                : (struct enl_outcome){.is_normal = true};
    const bool blamed = !verdict.is_normal;
    /* If a signal has ended the program, the signal's status is better than none. */
    if (cce == here->root && (end.known || running))
        here->ops->root_ended(here->self->jobs, status_of(end), false);
    if (blamed) {
        enl_report(here->self, BCRI_LOG_ERROR, "%s %s; %s", who, how, verdict.says);
    } else {
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "%s %s%s%s", who, how, verdict.ends ? "; " : "",
                       verdict.ends ? verdict.says : "");
    }
    if (running && here->self->config.crashreport != 0 && end.signalled && is_crash(end.number))
        here->ops->crashed(here->self->crashes, cce, end.number, waited && WCOREDUMP(wait_status));
    else if (blamed)
        enl_output_show_tail(cce);
    bcri_host_count_end(here->host, blamed, blamed && end.signalled && is_crash(end.number));
    if (end.known) /* for watches, and enl why, as long as no other CCE has the record */
        bcri_store(&cce->record->id.exit_status,
                   (end.signalled ? BCRI_CRASHED : BCRI_EXITED) | ((uint32_t)end.number & 0xffu));
    finish_cce(cce);
    if (verdict.ends)
        here->self->ops->abort(here->self->program, status_of(end));
    finish_life(cce);
}

void enl_death_of_pid(void *data)
{
    struct enl_cce *cce = data;
    int wait_status = 0;
    /* Its parent may have ended; then the daemon may be its parent now. */
    bool waited = waitpid(cce->pid, &wait_status, WNOHANG) == cce->pid;
    ended(cce, waited, wait_status);
}

/* The process of a job's member has ended. What it has left in the background may hold its socket for ever, and is no member. */
static void forget_handshake(struct enl_cce *cce)
{
    enl_conn_take_rest(&cce->handshake);
    if (cce->handshake != NULL)
        enl_conn_close(cce->handshake);
    enl_cce_handshake_closed(cce, NULL);
}

void enl_cce_reaped(struct enl_here *here, pid_t pid, int wait_status, const struct rusage *usage)
{
    struct enl_cce *cce;
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
        enl_limits_look_at_memory(here);
    TAILQ_FOREACH (cce, &here->all, entry) {
        if (cce->process != pid && cce->pid != pid)
            continue;
        bool was_cce = cce->pid == pid && cce->life != ENL_OVER;
        if (cce->process == pid) {
            cce->process = 0;
            cce->wait_status = wait_status;
            cce->cpu_us = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
                          (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
            cce->rss_kib = (uint64_t)usage->ru_maxrss;
            enl_limits_ended(&here->limits, cce->cpu_us);
        }
        if (!was_cce && cce->life == ENL_STARTED && cce->process == 0 && enl_cce_is_of_job(cce))
            forget_handshake(cce); /* which ends its life, unless it has said hello */
        else if (was_cce)
            ended(cce, true, wait_status);
        else if (cce->life == ENL_STARTED && cce->handshake == NULL)
            fail_without_hello(cce);
        else
            finish_life(cce);
        return;
    }
}

void enl_cce_handshake_closed(struct enl_cce *cce, const char *wrong)
{
    cce->misheard = wrong;
    if (enl_await_lost(cce))
        return;
    if (cce->life == ENL_STARTED && cce->process == 0)
        fail_without_hello(cce);
    else
        enl_cce_release(cce);
}

static void report_disconnected(struct enl_cce *cce)
{
    if (!cce->disconnect_reported)
        enl_report(cce->here->self, BCRI_LOG_ERROR,
                   "%s gave up its connection to enl and runs on (an exec, or it closed descriptors that are "
                   "not its own); it is killed",
                   enl_cce_text(cce));
    cce->disconnect_reported = true;
}

/* Whether the process has passed the point after which no signal can change how it ends: the kernel sets this flag
 * before it closes descriptors. Or is gone, or unknown: then it has the second that all have. */
static bool is_exiting(pid_t pid)
{
    enum { EXITING = 4 };
    const uint64_t flags = enl_process_stat(pid, ENL_STAT_FLAGS);
    return (flags & EXITING) != 0 || (flags == 0 && enl_process_stat(pid, ENL_STAT_START_TIME) == 0);
}

/* Kills a disconnected CCE that is under a wrapper or has joined: if the daemon were killed within
 * the second that others have, nothing else would end such a CCE. The signal goes by its pidfd,
 * since its parent may have reaped it, and its pid be another process's. */
static void kill_orphan(struct enl_cce *cce)
{
    if (cce->pid_watch == NULL || cce->life == ENL_OVER || is_exiting(cce->pid))
        return;
    report_disconnected(cce);
    syscall(SYS_pidfd_send_signal, cce->pid_watch->fd, SIGKILL, NULL, 0);
}

/* The time of those that are disconnected is up. */
static void on_linger(uv_timer_t *timer)
{
    struct enl_here *here = timer->data;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry) {
        if (!cce->disconnected || cce->life == ENL_OVER)
            continue;
        report_disconnected(cce);
        enl_cce_signal(cce, SIGKILL, false);
    }
}

void enl_cce_disconnected(struct enl_cce *cce)
{
    cce->disconnected = true;
    kill_orphan(cce);
    uv_timer_start(&cce->here->linger, on_linger, 1000, 0);
}

void enl_cce_repaired(struct enl_cce *cce, int code)
{
    if (code != 0)
        enl_report(cce->here->self, BCRI_LOG_ERROR,
                   "shared memory is corrupt: what %s held could not all be put right; enl audit says where",
                   enl_cce_text(cce));
    cce->repairing = false;
    enl_starts_ended(cce);
    enl_cce_release(cce);
}

void enl_cce_release(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    if (!cce->finished || cce->repairing || !enl_output_ended(cce) || cce->handshake != NULL ||
        cce == here->root)
        return;
    TAILQ_REMOVE(&here->all, cce, entry);
    if (here->cces[cce->index] == cce) /* the record may be another's by now */
        here->cces[cce->index] = NULL;
    enl_output_close(cce);
    free(cce->object);
    free(cce);
}

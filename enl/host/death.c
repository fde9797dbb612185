/* SPDX-License-Identifier: MIT */
/* death.c -- the end of a CCE: noticed, judged, repaired. Of a process that had not become one: unstarted.c.
 *
 *   what tells                 of what
 *   wait (SIGCHLD)             the daemon's own children, and those that they left to it as
 *                              subreaper: with a status
 *   a pidfd                    a CCE under a wrapper, or one that joined: no status but what the
 *                              CCE recorded itself
 *   the private socket's end   an exec, or a connection that was ended: the process has a second
 *                              left if it is the daemon's child, none under a wrapper (disconnected.c)
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

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/watch.h"
#include "bcri/eventfds.h"
#include "bcri/repair.h"
#include "host/how_ended.h"
#include "host/worker.h"
#include "wire/wire.h"

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

/* The CCE itself has ended. */
static void ended(struct enl_cce *cce, bool waited, int wait_status)
{
    struct enl_here *here = cce->here;
    struct enl_how end = enl_how_ended(cce, waited, wait_status);
    char how[128];
    enl_how_note(cce, end);
    if (cce->life == ENL_HELD) {
        if (cce == here->root)
            here->ops->root_ended(here->self->jobs, enl_how_status(end) != 0 ? enl_how_status(end) : 1, true);
        cce->wait_status = waited ? wait_status : 0;
        enl_cce_fail(cce, bcrE_ENLIST, "it %s while it waited in bcr_init",
                     enl_how_text(end, how, sizeof how));
        return;
    }
    /* It has said all that it will, and a part may be unread: it may have rung another CCE and exited. */
    cce->has_ended = true;
    enl_conn_take_rest(&cce->control);
    enl_output_drain(cce);
    const char *who = enl_cce_text(cce);
    enl_how_text(end, how, sizeof how);
    const bool running = here->self->phase == ENL_RUNNING;
    const enum enl_end kind = cce->has_status ? ENL_END_GOOD : enl_how_kind(cce, end);
    const struct enl_outcome verdict =
        running ? here->ops->outcome_of_end(here->self->config.onfail, cce->flags, cce == here->root, kind)
                : (struct enl_outcome){.is_normal = true};
    const bool blamed = !verdict.is_normal;
    /* If a signal has ended the program, the signal's status is better than none. */
    if (cce == here->root && (end.known || running))
        here->ops->root_ended(here->self->jobs, enl_how_status(end), false);
    if (blamed) {
        enl_report(here->self, BCRI_LOG_ERROR, "%s %s; %s", who, how, verdict.says);
    } else {
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "%s %s%s%s", who, how, verdict.ends ? "; " : "",
                       verdict.ends ? verdict.says : "");
    }
    if (running && here->self->config.crashreport != 0 && enl_how_crashed(end))
        here->ops->crashed(here->self->crashes, cce, end.number, waited && WCOREDUMP(wait_status));
    else if (blamed)
        enl_output_show_tail(cce);
    bcri_host_count_end(here->host, blamed, blamed && enl_how_crashed(end));
    if (end.known) /* for watches, and enl why, as long as no other CCE has the record */
        bcri_store(&cce->record->id.exit_status,
                   (end.signalled ? BCRI_CRASHED : BCRI_EXITED) | ((uint32_t)end.number & 0xffu));
    finish_cce(cce);
    if (verdict.ends)
        here->self->ops->abort(here->self->program, enl_how_status(end));
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
            enl_cce_fail_without_hello(cce);
        else
            finish_life(cce);
        return;
    }
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

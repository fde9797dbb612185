/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host/host.h"

#include <errno.h>
#include <stdio.h>

#include <bcr.h>

#include "bcri/log.h"
#include "bcri/stopped.h"
#include "host/worker.h"

enum { SAY_AGAIN_MSEC = 60000 };

/* The CCE at the end of the chain: the holder may itself wait for another CCE. */
static struct enl_cce *last_of(struct enl_here *here, uint32_t index)
{
    enum { HOPS = 16 };
    struct enl_cce *cce = enl_cce_at(here, index);
    for (unsigned hop = 0; hop < HOPS && cce != NULL; hop++) {
        uint32_t next = bcri_load_acquire(&cce->record->bell.waits_on);
        if (next == 0 || enl_cce_at(here, next - 1) == NULL)
            break;
        cce = enl_cce_at(here, next - 1);
    }
    return cce;
}

void enl_blocked_by(struct enl_here *here, uint32_t holder_index, uint32_t waiter_index)
{
    struct enl_cce *holder = last_of(here, holder_index);
    const struct enl_cce *waiter = enl_cce_at(here, waiter_index);
    if (holder == NULL || holder->life != ENL_ALIVE)
        return; /* its repair lets the others go on */
    const char *who = enl_cce_text(holder), *whom = waiter != NULL ? enl_cce_text(waiter) : "enl";
    const bool repair = waiter != NULL && waiter->life == ENL_OVER;
    const long pid = (long)holder->pid;
    char why[128] = "it is not stopped; it may be short of processor time";
    if (bcri_process_stopped((uint32_t)pid))
        snprintf(why, sizeof why,
                 "it is stopped, in the midst of a call (a debugger, or SIGSTOP: kill -CONT %ld)", pid);
    const uint64_t now = uv_now(&here->self->loop);
    if (holder->blocked_reported_ms != 0 && now - holder->blocked_reported_ms < SAY_AGAIN_MSEC) {
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "%s holds up %s too", who, whom);
        return;
    }
    holder->blocked_reported_ms = now != 0 ? now : 1;
    enl_report(here->self, BCRI_LOG_WARN, "%s holds up %s%s: %s", who,
               repair ? "the repair of what was left by " : "", whom, why);
}

static void on_work_done(struct enl_here *here, const struct enl_work *work)
{
    struct enl_cce *cce = enl_cce_at(here, work->index);
    if (work->kind == ENL_WORK_REPAIR && cce != NULL) {
        enl_cce_repaired(cce, work->code);
    } else if (work->kind == ENL_WORK_CELL0_INIT && cce != NULL) {
        enl_cce_cell0_ready(cce, work->code);
    } else if (work->kind == ENL_WORK_BLOCKED_BY) {
        enl_blocked_by(here, work->index, work->waiter);
    } else if (work->kind == ENL_WORK_POOL) {
        here->ops->pool_grown(here->self->links, &work->piece, work->code == 0);
    } else if (work->kind == ENL_WORK_ERROR && work->code != 0) {
        bcri_log_write(&here->self->log, BCRI_LOG_WARN,
                       "an error region about CCE %d could not be given to its enlistor: %s", work->ordinal,
                       bcr_strerror(work->code));
    }
}

void enl_here_init(struct enl_here *here, struct enl_self *self, struct enl_conns *conns,
                   const struct enl_here_ops *ops)
{
    *here = (struct enl_here){.self = self, .conns = conns, .ops = ops};
    TAILQ_INIT(&here->all);
    here->lines.here = here;
    here->lines.folder = -1;
}

int enl_here_start(struct enl_here *here)
{
    uv_timer_init(&here->self->loop, &here->linger);
    uv_timer_init(&here->self->loop, &here->audit_pause);
    uv_timer_init(&here->self->loop, &here->lines_limit);
    enl_drain_start(here);
    enl_limits_open(here);
    here->linger.data = here->audit_pause.data = here->lines_limit.data = here;
    here->worker = enl_worker_start(here, on_work_done);
    return here->worker != NULL ? 0 : -EAGAIN;
}

bool enl_here_stop(struct enl_here *here)
{
    const bool ended = enl_worker_stop(here->worker);
    if (ended)
        here->worker = NULL;
    uv_close((uv_handle_t *)&here->linger, NULL);
    uv_close((uv_handle_t *)&here->lines_limit, NULL);
    enl_drain_stop(here);
    enl_limits_close(here);
    enl_starts_stop(here);
    enl_members_stop(here);
    enl_job_files_close(here);
    if (ended)
        enl_cell_lines_stop(here);
    enl_audit_stop(here);
    return ended;
}

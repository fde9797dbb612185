/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host/host.h"

#include <errno.h>

#include <bcr.h>

#include "bcri/log.h"
#include "host/worker.h"

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
    here->linger.data = here->audit_pause.data = here;
    here->worker = enl_worker_start(here, on_work_done);
    return here->worker != NULL ? 0 : -EAGAIN;
}

bool enl_here_stop(struct enl_here *here)
{
    const bool ended = enl_worker_stop(here->worker);
    if (ended)
        here->worker = NULL;
    uv_close((uv_handle_t *)&here->linger, NULL);
    enl_audit_stop(here);
    return ended;
}

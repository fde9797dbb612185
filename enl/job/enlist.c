/* SPDX-License-Identifier: MIT */
/* enlist.c -- starting CCEs for a CCE, or for the parent in the name of a CCE elsewhere. How a
 * failure is told:
 *
 *   known at once   no such machine, core or program, not executable, another architecture: an
 *                   error to the caller
 *   later           one of several could not be started (no process, no memory), or ended before it
 *                   was a CCE: an error region to the caller, if it asked for error regions; a line
 *                   in the log and on stderr in any case */
#include "job/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "base/object.h"
#include "bcri/refuse.h"
#include "host/host.h"
#include "wire/wire.h"

static void answer_enlist(struct enl_jobs *jobs, struct enl_job *job)
{
    bool ok = job->started > 0;
    if (jobs->self->upward != NULL) /* the answer says that they are there */
        jobs->self->upward->alive(jobs->self->program);
    if (job->conn != NULL)
        enl_cce_reply(job->conn, job->id, ok ? 0 : job->code, ok ? NULL : job->reason);
    for (uint32_t i = 0; ok && i < job->failed_count; i++)
        enl_cce_tell_failure(jobs->here, &job->origin, job->failed[i].ordinal, job->failed[i].code);
    free(job->failed);
    free(job);
}

static void note_failure(struct enl_jobs *jobs, struct enl_job *job, uint32_t ordinal)
{
    enl_report(jobs->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", ordinal, job->object,
               jobs->self->hostname, job->reason);
    struct enl_failed *failed = realloc(job->failed, (job->failed_count + 1) * sizeof *failed);
    if (failed == NULL)
        return;
    failed[job->failed_count++] = (struct enl_failed){ordinal, job->code};
    job->failed = failed;
}

/* Starts one CCE of the job, or takes a process that waits for it. False: `reason` and `code` say
 * why not. */
static bool start_one(struct enl_jobs *jobs, struct enl_job *job)
{
    struct enl_conn *waiting;
    job->code = bcrE_NOMEM;
    struct enl_cce *cce =
        enl_cce_new(jobs->here, job->object, job->ordinal, &job->origin, job->reason, sizeof job->reason);
    if (cce == NULL)
        return false;
    if (!enl_cce_init_cell0(cce, job->birth.archtype, job->birth.is_there ? job->birth.bytes : NULL,
                            job->birth.length)) {
        bcri_refuse(job->reason, sizeof job->reason, 0, "no memory");
        enl_cce_drop(cce);
        return false;
    }
    while ((waiting = enl_conn_waiting(jobs->conns, job->object)) != NULL) {
        if (enl_cce_take(cce, waiting, job->core))
            return true;
        enl_conn_close(waiting);
    }
    job->code = job->has_path
                    ? enl_cce_start(cce, job->path, job->argv, job->core, job->reason, sizeof job->reason)
                    : bcrE_NOPROG;
    if (job->code == 0)
        return true;
    enl_cce_drop(cce);
    return false;
}

static void on_job_turn(uv_idle_t *idle)
{
    struct enl_jobs *jobs = idle->data;
    struct enl_job *job = STAILQ_FIRST(&jobs->queue);
    if (job == NULL) {
        uv_idle_stop(idle);
        return;
    }
    uint32_t ordinal = job->ordinal;
    if (job->has_turn && job->core < 0)
        enl_cores_turn(&jobs->here->cores, job->turn);
    job->has_turn = false;
    if (start_one(jobs, job))
        job->started++;
    else
        note_failure(jobs, job, ordinal);
    job->ordinal++;
    if (--job->left > 0)
        return;
    STAILQ_REMOVE_HEAD(&jobs->queue, entry);
    answer_enlist(jobs, job);
    jobs->self->ops->something_ended(jobs->self->program); /* this job may be all that was left */
}

void enl_enlist_refuse(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                       const char *host, int code, const char *reason)
{
    char object[PATH_MAX];
    bcri_view_copy(request->object, object, sizeof object);
    enl_report(jobs->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", request->ordinal, object,
               host, reason);
    enl_cce_reply(conn, request->id, code, reason);
}

/* Processes wait, but none under that name: their user may have expected that one is taken. */
static void report_others(struct enl_jobs *jobs, const struct bcri_control *request)
{
    char object[PATH_MAX];
    bcri_view_copy(request->object, object, sizeof object);
    const struct enl_conn *other = TAILQ_FIRST(&jobs->conns->waiting);
    if (other != NULL && enl_conn_waiting(jobs->conns, object) == NULL)
        enl_report(jobs->self, BCRI_LOG_INFO,
                   "no process waits to be enlisted as %s; pid %ld waits as %s (enl ps lists all)", object,
                   (long)other->pid, other->ccename);
}

void enl_enlist_here(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    char wrong[1024] = "no memory";
    const char *reason = wrong;
    int code = bcrE_NOMEM;
    const int core = request->core >= 0 ? enl_cores_nth(&jobs->here->cores, request->core) : -1;
    struct enl_job *job = NULL;
    if (jobs->self->phase != ENL_RUNNING) {
        code = bcrE_ENLIST;
        reason = "the program is ending";
    } else if (request->core >= 0 && core < 0) {
        code = bcrE_NOCORE;
        snprintf(wrong, sizeof wrong,
                 "there is no core %d that this program may use; they are counted from 0, and nproc says how "
                 "many there are",
                 request->core);
    } else {
        report_others(jobs, request);
        job = malloc(sizeof *job);
    }
    if (job != NULL) {
        *job = (struct enl_job){.conn = conn,
                                .id = request->id,
                                .left = request->count,
                                .ordinal = request->ordinal,
                                .core = core,
                                .has_turn = (request->present & BCRI_HAS(turn)) != 0,
                                .turn = request->turn,
                                .argv = {job->object},
                                .birth = {.is_there = (request->present & BCRI_HAS(data)) != 0,
                                          .archtype = request->archtype,
                                          .length = request->data.length}};
        memcpy(job->origin.identity, request->enlistor.bytes, BCRI_IDENTITY_BYTES);
        if (job->birth.length != 0)
            memcpy(job->birth.bytes, request->data.bytes, job->birth.length);
        bcri_view_copy(request->object, job->object, sizeof job->object);
        if (jobs->ops->turn(jobs->self->program, &job->turn))
            job->has_turn = true;
        job->has_path = enl_object_find_in(jobs->programs, jobs->self->config.home, job->object, job->path,
                                           job->reason, sizeof job->reason) == 0;
        if (job->has_path || enl_conn_waiting(jobs->conns, job->object) != NULL) {
            STAILQ_INSERT_TAIL(&jobs->queue, job, entry);
            uv_idle_start(&jobs->starter, on_job_turn);
            return;
        }
        code = bcrE_NOPROG;
        reason = job->reason;
    }
    enl_enlist_refuse(jobs, conn, request, jobs->self->hostname, code, reason);
    free(job);
}

const char *enl_enlist(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    struct bcri_control whole = *request;
    struct enl_origin own;
    char reason[4096], machine[256] = "";
    int code = bcrE_ENLIST;
    if (request->count == 0 || request->object.length == 0 ||
        request->ordinal > INT32_MAX - (request->count - 1))
        return "enlist: no program, or ordinals that are none";
    if (conn->cce != NULL ? request->enlistor.length != 0 : request->enlistor.length != BCRI_IDENTITY_BYTES)
        return "enlist in the name of nobody, or of another CCE";
    if (conn->cce != NULL) {
        own = enl_origin_of(conn->cce);
        whole.enlistor = (struct bcri_view){(const char *)own.identity, sizeof own.identity};
        whole.present |= BCRI_HAS(enlistor);
    }
    bcri_view_copy(request->machine, machine, sizeof machine);
    const char *host = machine[0] != '\0' ? machine : jobs->self->hostname;
    enum enl_way way = ENL_WAY_NONE;
    if (jobs->self->phase == ENL_RUNNING)
        way = jobs->ops->way(conn, &whole, &code, reason, sizeof reason);
    else
        snprintf(reason, sizeof reason, "the program is ending");
    if (way == ENL_WAY_HERE)
        enl_enlist_here(jobs, conn, &whole);
    else if (way == ENL_WAY_NONE)
        enl_enlist_refuse(jobs, conn, &whole, host, code, reason);
    return NULL;
}

uint32_t enl_enlist_left(const struct enl_jobs *jobs)
{
    uint32_t count = 0;
    const struct enl_job *job;
    STAILQ_FOREACH (job, &jobs->queue, entry)
        count += job->left;
    return count;
}

void enl_enlist_forget(struct enl_jobs *jobs, const struct enl_conn *conn)
{
    struct enl_job *job;
    STAILQ_FOREACH (job, &jobs->queue, entry)
        if (job->conn == conn)
            job->conn = NULL;
}

void enl_enlist_drop(struct enl_jobs *jobs)
{
    uv_idle_stop(&jobs->starter);
    while (!STAILQ_EMPTY(&jobs->queue)) {
        struct enl_job *job = STAILQ_FIRST(&jobs->queue);
        STAILQ_REMOVE_HEAD(&jobs->queue, entry);
        free(job->failed);
        free(job);
    }
}

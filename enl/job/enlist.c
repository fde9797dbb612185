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

#include "bcri/refuse.h"
#include "host/host.h"
#include "wire/wire.h"

static void tell_identities(struct enl_job *job)
{
    if (job->untold != 0)
        enl_attached_started(&job->attached, job->conn, job->id, job->untold_ordinal, job->identities,
                             job->untold);
    job->untold = 0;
}

/* They are told before the answer, the first ones first. */
static void note_started(struct enl_job *job, const struct enl_cce *cce)
{
    job->started++;
    if (!job->wants_ids)
        return;
    if (cce->ordinal != job->untold_ordinal + job->untold)
        tell_identities(job);
    if (job->untold == 0)
        job->untold_ordinal = cce->ordinal;
    memcpy(job->identities + job->untold * BCRI_IDENTITY_BYTES, cce->record->id.identity,
           BCRI_IDENTITY_BYTES);
    if (++job->untold == sizeof job->identities / BCRI_IDENTITY_BYTES)
        tell_identities(job);
}

static void answer_enlist(struct enl_jobs *jobs, struct enl_job *job)
{
    bool ok = job->started > 0;
    if (jobs->self->upward != NULL) /* the answer says that they are there */
        jobs->self->upward->alive(jobs->self->program);
    tell_identities(job);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count),
                                       .id = job->id,
                                       .count = job->started};
    if (job->conn != NULL && ok)
        enl_cce_answer(job->conn, &reply);
    else if (job->conn != NULL)
        enl_cce_reply(job->conn, job->id, job->code, job->reason);
    for (uint32_t i = 0; ok && i < job->failed_count; i++)
        enl_cce_tell_failure(jobs->here, &job->origin, job->failed[i].ordinal, job->failed[i].code);
    enl_job_free(job);
}

/* That member will never be started. */
static void tell_never(struct enl_jobs *jobs, uint32_t team, uint32_t rank)
{
    const struct bcri_control message = {.type = BCRI_MSG_member,
                                         .present = BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(state),
                                         .team = team,
                                         .rank = rank,
                                         .state = BCRI_MEMBER_NEVER};
    jobs->here->ops->tell_teams(jobs->self->program, &message);
}

/* What the root's daemon does about a member may end the program, and with it this job. */
static void note_failure(struct enl_jobs *jobs, struct enl_job *job, uint32_t ordinal)
{
    enl_report(jobs->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", ordinal, job->object,
               jobs->self->hostname, job->reason);
    struct enl_failed *failed = realloc(job->failed, (job->failed_count + 1) * sizeof *failed);
    if (failed != NULL) {
        failed[job->failed_count++] = (struct enl_failed){ordinal, job->code};
        job->failed = failed;
    }
    if (job->team != 0)
        tell_never(jobs, job->team, job->rank);
}

/* Starts its process, or has it come by itself. Returns 0, or a bcrE_ code with `reason`. */
static int start_process(struct enl_job *job, struct enl_cce *cce)
{
    struct enl_await_who who = {.key = job->await, .rank = job->rank};
    memcpy(who.nonce, job->nonce, sizeof who.nonce);
    if (job->await[0] != '\0')
        return enl_await_member(cce, &who, job->reason, sizeof job->reason);
    job->command.has_input = job->has_input && job->rank == 0;
    return job->has_path ? enl_cce_start(cce, &job->command, job->reason, sizeof job->reason) : bcrE_NOPROG;
}

/* Starts one CCE of the job, or takes a process that waits for it. NULL: `reason` and `code` say
 * why not. */
static struct enl_cce *start_one(struct enl_jobs *jobs, struct enl_job *job)
{
    struct enl_conn *waiting;
    job->code = bcrE_NOMEM;
    struct enl_cce *cce =
        enl_cce_new(jobs->here, job->object, job->ordinal, &job->origin, job->reason, sizeof job->reason);
    if (cce == NULL)
        return NULL;
    if (job->team != 0 && !enl_members_add(cce, job->team, job->rank)) {
        bcri_refuse(job->reason, sizeof job->reason, 0, "no memory");
        enl_cce_drop(cce);
        return NULL;
    }
    if (!enl_cce_init_cell0(cce, job->birth.archtype, job->birth.is_there ? job->birth.bytes : NULL,
                            job->birth.length)) {
        bcri_refuse(job->reason, sizeof job->reason, 0, "no memory");
        enl_cce_drop(cce);
        return NULL;
    }
    if (job->is_job)
        enl_cce_of_job(cce, job->is_score);
    cce->lines_cell = job->lines_cell;
    cce->tells_starter = job->tells_ends;
    while (job->attached.strings == NULL && job->team == 0 && job->lines_cell == 0 &&
           (waiting = enl_conn_waiting(jobs->conns, job->object)) != NULL) {
        if (enl_cce_take(cce, waiting, job->command.core))
            return cce;
        enl_conn_close(waiting);
    }
    job->code = start_process(job, cce);
    if (job->code == 0) {
        if (job->team != 0)
            enl_members_started(cce);
        return cce;
    }
    enl_cce_drop(cce);
    return NULL;
}

static void on_job_turn(uv_idle_t *idle)
{
    struct enl_jobs *jobs = idle->data;
    struct enl_job *job = STAILQ_FIRST(&jobs->queue);
    if (job == NULL) {
        uv_idle_stop(idle);
        return;
    }
    const uint32_t ordinal = job->ordinal;
    if (job->has_turn && job->command.core < 0)
        enl_cores_turn(&jobs->here->cores, job->turn);
    job->has_turn = false;
    const struct enl_cce *cce = start_one(jobs, job);
    if (cce == NULL)
        note_failure(jobs, job, ordinal);
    if (STAILQ_FIRST(&jobs->queue) != job)
        return; /* that has ended the program, and dropped all jobs */
    if (cce != NULL)
        note_started(job, cce);
    job->ordinal += job->team != 0 ? job->stride : 1;
    job->rank += job->stride;
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
    if (conn != NULL || jobs->self->phase == ENL_RUNNING) /* else nobody waits for it any more */
        enl_report(jobs->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", request->ordinal,
                   object, host, reason);
    if (conn != NULL)
        enl_cce_reply(conn, request->id, code, reason);
    if (request->team != 0 && !jobs->self->is_child)
        enl_teams_answered(jobs, request);
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

void enl_enlist_here(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                     struct enl_attached *attached)
{
    char reason[1024];
    int code;
    const int core = request->core >= 0 ? enl_cores_nth(&jobs->here->cores, request->core) : -1;
    struct enl_job *job = NULL;
    if (jobs->self->phase != ENL_RUNNING || jobs->here->is_frozen) {
        code = bcri_refuse(reason, sizeof reason, bcrE_ENLIST, "the program is ending");
    } else if (request->core >= 0 && core < 0) {
        code = bcri_refuse(
            reason, sizeof reason, bcrE_NOCORE,
            "there is no core %d that this program may use; they are counted from 0, and nproc says how "
            "many there are",
            request->core);
    } else {
        if (attached->strings == NULL && request->team == 0)
            report_others(jobs, request);
        job = enl_job_new(jobs, conn, request, core, attached, &code, reason, sizeof reason);
    }
    if (job == NULL) {
        enl_enlist_refuse(jobs, conn, request, jobs->self->hostname, code, reason);
        return;
    }
    if (jobs->ops->turn(jobs->self->program, &job->turn))
        job->has_turn = true;
    STAILQ_INSERT_TAIL(&jobs->queue, job, entry);
    uv_idle_start(&jobs->starter, on_job_turn);
}

/* Its start strings are here. Takes `attached` if it is of use. */
static void enlist_whole(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                         struct enl_attached *attached)
{
    struct bcri_control whole = *request;
    struct enl_origin own;
    char reason[4096], machine[256] = "";
    int code = bcrE_ENLIST;
    if (conn != NULL && conn->cce != NULL) {
        own = enl_origin_of(conn->cce);
        whole.enlistor = (struct bcri_view){(const char *)own.identity, sizeof own.identity};
        whole.present |= BCRI_HAS(enlistor) | BCRI_HAS(flags);
        whole.flags = (whole.flags & (uint32_t)BCRI_ENLIST_IDS) |
                      (enl_watches_wants_started(conn->cce) ? (uint32_t)BCRI_ENLIST_ENDS : 0);
    }
    bcri_view_copy(request->machine, machine, sizeof machine);
    const char *host = machine[0] != '\0' ? machine : jobs->self->hostname;
    enum enl_way way = ENL_WAY_NONE;
    if (jobs->self->phase != ENL_RUNNING || jobs->here->is_frozen)
        snprintf(reason, sizeof reason, "the program is ending");
    else if (whole.team != 0 && !jobs->self->is_child && !enl_teams_start(jobs, &whole)) {
        snprintf(reason, sizeof reason,
                 "the CCE that was starting its team has ended, or asks twice for the same member");
        whole.team = 0; /* which does not concern it */
    } else
        way = jobs->ops->way(jobs->self->program, conn, &whole, attached, &code, reason, sizeof reason);
    if (way == ENL_WAY_HERE)
        enl_enlist_here(jobs, conn, &whole, attached);
    else if (way == ENL_WAY_NONE)
        enl_enlist_refuse(jobs, conn, &whole, host, code, reason);
}

const char *enl_enlist(struct enl_jobs *jobs, struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *request = &in->message;
    const bool of_cce = conn->cce != NULL;
    struct enl_attached attached = ENL_ATTACHED_NONE;
    bool refused = false, waits = false;
    const char *wrong = NULL;
    if (request->count == 0 || request->object.length == 0 ||
        request->ordinal > INT32_MAX - (request->count - 1))
        return "enlist: no program, or ordinals that are none";
    if ((request->team != 0 &&
         (request->stride == 0 ||
          request->rank + (uint64_t)request->stride * (request->count - 1) >= BCRI_CCE_MAX ||
          request->ordinal + (uint64_t)request->stride * (request->count - 1) > INT32_MAX)) ||
        (request->team == 0 && request->stride != 0))
        return "enlist: members of a team that are none";
    if (!of_cce &&
        (request->flags &
         (BCRI_ENLIST_READS_PIPE | BCRI_ENLIST_WRITES_PIPE | BCRI_ENLIST_INPUT | BCRI_ENLIST_SCORE)) != 0 &&
        ((request->flags & BCRI_ENLIST_JOB) == 0 || request->team == 0))
        return "enlist: of a job that is none";
    char key[BCRI_AWAIT_KEY_MAX + 1];
    if ((request->present & (BCRI_HAS(text) | BCRI_HAS(random))) != 0 &&
        (of_cce || request->team == 0 || request->random.length != BCRI_NONCE_BYTES ||
         !bcri_view_copy(request->text, key, sizeof key) || !bcri_rendezvous_is_key(key)))
        return "enlist: members that come by themselves, under no key";
    if (of_cce ? request->enlistor.length != 0 : request->enlistor.length != BCRI_IDENTITY_BYTES)
        return "enlist in the name of nobody, or of another CCE";
    if (!of_cce && (request->present & BCRI_HAS(size)) != 0) {
        if (jobs->self->phase != ENL_RUNNING) {
            enl_enlist_refuse(jobs, conn, request, jobs->self->hostname, bcrE_ENLIST,
                              "the program is ending");
            return NULL;
        }
        waits = !(refused = !enl_arrival_begin(jobs, conn, request));
    } else {
        wrong = enl_attached_take(&attached, in, of_cce, &refused);
    }
    if (refused)
        enl_enlist_refuse(jobs, conn, request, jobs->self->hostname, bcrE_NOMEM,
                          "no memory for its arguments and environment, or too many of them wait");
    else if (wrong == NULL && !waits)
        enlist_whole(jobs, conn, request, &attached);
    enl_attached_close(&attached);
    return wrong;
}

const char *enl_enlist_strings(struct enl_jobs *jobs, struct enl_conn *conn,
                               const struct bcri_control *message)
{
    struct bcri_control request;
    struct enl_arrival *arrival;
    struct enl_attached attached = ENL_ATTACHED_NONE;
    if (jobs->self->phase != ENL_RUNNING)
        return NULL; /* they were on their way when all requests were dropped */
    const char *wrong = enl_arrival_take(jobs, conn, message, &arrival);
    if (arrival == NULL)
        return wrong;
    attached.strings = enl_strings_share(enl_arrival_read(arrival, &request));
    enlist_whole(jobs, conn, &request, &attached);
    enl_attached_close(&attached);
    enl_arrival_free(arrival);
    jobs->self->ops->something_ended(jobs->self->program); /* this request may be all that was left */
    return NULL;
}

void enl_enlist_own(struct enl_jobs *jobs, const struct bcri_control *request, struct enl_attached *attached)
{
    enlist_whole(jobs, NULL, request, attached);
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
    enl_arrivals_forget(jobs, conn);
}

bool enl_enlist_is_busy(const struct enl_jobs *jobs)
{
    return !STAILQ_EMPTY(&jobs->queue) || !STAILQ_EMPTY(&jobs->arrivals);
}

void enl_enlist_drop(struct enl_jobs *jobs)
{
    uv_idle_stop(&jobs->starter);
    while (!STAILQ_EMPTY(&jobs->queue)) {
        struct enl_job *job = STAILQ_FIRST(&jobs->queue);
        STAILQ_REMOVE_HEAD(&jobs->queue, entry);
        enl_job_free(job);
    }
    enl_arrivals_forget(jobs, NULL);
}

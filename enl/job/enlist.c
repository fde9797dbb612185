/* SPDX-License-Identifier: MIT */
/* enlist.c -- starting CCEs for a CCE, or for the parent in the name of a CCE elsewhere. How a
 * failure is told:
 *
 *   known at once   no such machine, core or program, not executable, another architecture: an
 *                   error to the caller
 *   later           one of several could not be started (no process, no memory), or ended before it
 *                   was a CCE: an error region to the caller, if it asked for error regions; a line
 *                   in the log and on stderr in any case */
#include "job/enlist.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "bcri/refuse.h"
#include "debug/session.h"
#include "host/cce.h"
#include "host/object.h"
#include "tree/tree.h"
#include "tree/turn.h"
#include "wire/conn.h"

struct enl_job {
    struct enl_job *next;
    struct enl_conn *conn; /* NULL: the asker is gone, no answer is due */
    uint32_t id;
    struct enl_origin origin;
    uint32_t left, ordinal, started;
    int core;
    bool has_turn; /* the cores of those that may run anywhere begin with `turn` */
    uint32_t turn;
    bool has_path; /* false: only waiting processes can be taken; `reason` says why */
    char path[PATH_MAX];
    char object[PATH_MAX];
    bool has_data;
    uint32_t archtype, length;
    uint8_t data[BCRI_BIRTH_BYTES_MAX];
    char reason[1024]; /* the last failure */
    int code;          /* and its bcrE_ code */
    uint32_t failed_count;
    struct failed {
        uint32_t ordinal;
        int code;
    } * failed; /* those of which the enlistor is told if others could be started */
};

static void fill_job(struct enl_job *job, const struct bcri_control *request)
{
    job->id = request->id;
    memcpy(job->origin.identity, request->enlistor.bytes, BCRI_IDENTITY_BYTES);
    job->left = request->count;
    job->ordinal = request->ordinal;
    job->has_data = (request->present & BCRI_HAS(data)) != 0;
    job->archtype = request->archtype;
    job->length = request->data.length;
    if (job->length != 0)
        memcpy(job->data, request->data.bytes, job->length);
    bcri_view_copy(request->object, job->object, sizeof job->object);
}

static void reply(struct enl_conn *conn, uint32_t id, int status, const char *text)
{
    struct bcri_control message = {.type = BCRI_MSG_reply,
                                   .present = BCRI_HAS(id) | BCRI_HAS(status),
                                   .id = id,
                                   .status = (uint32_t)status};
    if (text != NULL) {
        message.present |= BCRI_HAS(text);
        message.text = bcri_view_of(text);
        if (message.text.length > 1023)
            message.text.length = 1023;
    }
    enl_cce_answer(conn, &message);
}

static void answer(struct enl_program *program, struct enl_job *job)
{
    bool ok = job->started > 0;
    if (program->upward != NULL)
        program->upward->alive(program); /* the answer says that they are there */
    if (job->conn != NULL)
        reply(job->conn, job->id, ok ? 0 : job->code, ok ? NULL : job->reason);
    for (uint32_t i = 0; ok && i < job->failed_count; i++)
        enl_cce_tell_failure(&program->here, &job->origin, job->failed[i].ordinal, job->failed[i].code);
    free(job->failed);
    free(job);
}

static void note_failure(struct enl_program *program, struct enl_job *job, uint32_t ordinal)
{
    enl_report(&program->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", ordinal, job->object,
               program->self.hostname, job->reason);
    struct failed *failed = realloc(job->failed, (job->failed_count + 1) * sizeof *failed);
    if (failed == NULL)
        return;
    failed[job->failed_count++] = (struct failed){ordinal, job->code};
    job->failed = failed;
}

/* Starts one CCE of the job, or takes a process that waits for it. False: `reason` and `code` say
 * why not. */
static bool start_one(struct enl_program *program, struct enl_job *job)
{
    struct enl_conn *waiting;
    job->code = bcrE_NOMEM;
    struct enl_cce *cce =
        enl_cce_new(&program->here, job->object, job->ordinal, &job->origin, job->reason, sizeof job->reason);
    if (cce == NULL)
        return false;
    if (!enl_cce_init_cell0(cce, job->archtype, job->has_data ? job->data : NULL, job->length)) {
        bcri_refuse(job->reason, sizeof job->reason, 0, "no memory");
        enl_cce_drop(cce);
        return false;
    }
    while ((waiting = enl_conn_waiting(&program->conns, job->object)) != NULL) {
        if (enl_cce_take(cce, waiting, job->core))
            return true;
        enl_conn_close(waiting);
    }
    char *argv[] = {job->object, NULL};
    job->code = job->has_path
                    ? enl_cce_start(cce, job->path, argv, job->core, job->reason, sizeof job->reason)
                    : bcrE_NOPROG;
    if (job->code == 0)
        return true;
    enl_cce_drop(cce);
    return false;
}

static void on_turn(uv_idle_t *idle)
{
    struct enl_program *program = idle->data;
    struct enl_job *job = program->jobs;
    if (job == NULL) {
        uv_idle_stop(idle);
        return;
    }
    uint32_t ordinal = job->ordinal;
    if (job->has_turn && job->core < 0)
        enl_cores_turn(&program->here.cores, job->turn);
    job->has_turn = false;
    if (start_one(program, job))
        job->started++;
    else
        note_failure(program, job, ordinal);
    job->ordinal++;
    if (--job->left > 0)
        return;
    program->jobs = job->next;
    if (program->jobs == NULL)
        program->jobs_last = NULL;
    answer(program, job);
    enl_program_check_end(program); /* this job may be all that was left */
}

void enl_enlist_refuse(struct enl_conn *conn, const struct bcri_control *request, const char *host, int code,
                       const char *reason)
{
    struct enl_program *program = enl_program_of(conn);
    char object[PATH_MAX];
    bcri_view_copy(request->object, object, sizeof object);
    enl_report(&program->self, BCRI_LOG_ERROR, "CCE %u (%s) on %s was not started: %s", request->ordinal,
               object, host, reason);
    reply(conn, request->id, code, reason);
}

/* Processes wait, but none under that name: their user may have expected that one is taken. */
static void report_others(struct enl_program *program, const struct bcri_control *request)
{
    char object[PATH_MAX];
    bcri_view_copy(request->object, object, sizeof object);
    const struct enl_conn *other = TAILQ_FIRST(&program->conns.waiting);
    if (other != NULL && enl_conn_waiting(&program->conns, object) == NULL)
        enl_report(&program->self, BCRI_LOG_INFO,
                   "no process waits to be enlisted as %s; pid %ld waits as %s (enl ps lists all)", object,
                   (long)other->pid, other->ccename);
}

void enl_enlist_here(struct enl_conn *conn, const struct bcri_control *request)
{
    struct enl_program *program = enl_program_of(conn);
    char reason[1024];
    const int core = request->core >= 0 ? enl_cores_nth(&program->here.cores, request->core) : -1;
    if (program->self.phase != ENL_RUNNING) {
        enl_enlist_refuse(conn, request, program->self.hostname, bcrE_ENLIST, "the program is ending");
        return;
    }
    if (request->core >= 0 && core < 0) {
        snprintf(reason, sizeof reason,
                 "there is no core %d that this program may use; they are counted from 0, and nproc says how "
                 "many there are",
                 request->core);
        enl_enlist_refuse(conn, request, program->self.hostname, bcrE_NOCORE, reason);
        return;
    }
    report_others(program, request);
    struct enl_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        enl_enlist_refuse(conn, request, program->self.hostname, bcrE_NOMEM, "no memory");
        return;
    }
    fill_job(job, request);
    job->core = core;
    job->conn = conn;
    job->has_turn = (request->present & BCRI_HAS(turn)) != 0;
    job->turn = request->turn;
    if (!program->self.is_child && enl_turn_is_shared(program)) {
        job->has_turn = true;
        job->turn = enl_turn_next(program, NULL);
    }
    job->has_path = enl_object_find_in(program->programs, program->self.config.home, job->object, job->path,
                                       job->reason, sizeof job->reason) == 0;
    if (!job->has_path && enl_conn_waiting(&program->conns, job->object) == NULL) {
        enl_enlist_refuse(conn, request, program->self.hostname, bcrE_NOPROG, job->reason);
        free(job);
        return;
    }
    if (program->jobs_last != NULL)
        program->jobs_last->next = job;
    else
        program->jobs = job;
    program->jobs_last = job;
    program->starter.data = program;
    uv_idle_start(&program->starter, on_turn);
}

const char *enl_enlist(struct enl_conn *conn, const struct bcri_control *request)
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
    const char *host = machine[0] != '\0' ? machine : enl_program_of(conn)->self.hostname;
    if (enl_program_of(conn)->self.phase != ENL_RUNNING) {
        enl_enlist_refuse(conn, &whole, host, code, "the program is ending");
        return NULL;
    }
    switch (enl_tree_enlist(conn, &whole, &code, reason, sizeof reason)) {
    case ENL_WAY_HERE: enl_enlist_here(conn, &whole); break;
    case ENL_WAY_ELSEWHERE: break;
    case ENL_WAY_NONE: enl_enlist_refuse(conn, &whole, host, code, reason); break;
    }
    return NULL;
}

uint32_t enl_enlist_left(const struct enl_program *program)
{
    uint32_t count = 0;
    for (const struct enl_job *job = program->jobs; job != NULL; job = job->next)
        count += job->left;
    return count;
}

void enl_enlist_forget(struct enl_program *program, const struct enl_conn *conn)
{
    for (struct enl_job *job = program->jobs; job != NULL; job = job->next)
        if (job->conn == conn)
            job->conn = NULL;
}

void enl_enlist_drop(struct enl_program *program)
{
    uv_idle_stop(&program->starter);
    while (program->jobs != NULL) {
        struct enl_job *job = program->jobs;
        program->jobs = job->next;
        free(job->failed);
        free(job);
    }
    program->jobs_last = NULL;
}

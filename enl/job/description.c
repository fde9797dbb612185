/* SPDX-License-Identifier: MIT */
/* description.c -- a job: what a request to start CCEs asks for, as this host understands it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/object.h"
#include "base/spawn.h"
#include "bcri/environment.h"
#include "bcri/refuse.h"
#include "job/job.h"
#include "wire/wire.h"

/* Whether a process can start there. */
static bool check_folder(const char *folder, int *code_out, char *reason, size_t reason_size)
{
    struct stat status;
    int error = stat(folder, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    if (error == 0 && access(folder, X_OK) != 0)
        error = errno;
    *code_out = bcrE_NOPROG;
    return error == 0 || bcri_refuse(reason, reason_size, false, "directory %s, in which it is to start: %s",
                                     folder, strerror(error)) != 0;
}

/* Takes what is for the daemon out of the variables of a member of a job: its files, and the job's limits. */
static void take_variables(struct enl_jobs *jobs, struct enl_job *job, char **variables)
{
    static const char in[] = BCRI_STDIN_ENV "=", out[] = BCRI_STDOUT_ENV "=",
                      more[] = BCRI_STDOUT_MORE_ENV "=", limits[] = BCRI_LIMITS_ENV "=";
    char **kept = variables;
    for (; *variables != NULL; variables++) {
        if (strncmp(*variables, in, sizeof in - 1) == 0)
            job->command.in = *variables + sizeof in - 1;
        else if (strncmp(*variables, out, sizeof out - 1) == 0)
            job->command.out = *variables + sizeof out - 1;
        else if (strncmp(*variables, more, sizeof more - 1) == 0) {
            job->command.out = *variables + sizeof more - 1;
            job->command.appends = true;
        } else if (strncmp(*variables, limits, sizeof limits - 1) == 0)
            enl_limits_set(jobs->here, *variables + sizeof limits - 1);
        else
            *kept++ = *variables;
    }
    *kept = NULL;
}

/* The job's directory on this host, if that can be made, as one more variable, for which there is room. False: no memory, or a sentence
 * says why that directory, in which a file is to be, cannot be made. */
static bool tell_of_folder(struct enl_jobs *jobs, struct enl_job *job, char **variables, int *code_out,
                           char *reason, size_t reason_size)
{
    const char *const in = job->command.in, *const out = job->command.out;
    const char *const file = in != NULL && in[0] != '/' ? in : out != NULL && out[0] != '/' ? out : NULL;
    const char *why, *folder = enl_tempdir_path(jobs->here, &why);
    if (folder == NULL && file != NULL) {
        *code_out = bcrE_NODIR;
        return bcri_refuse(reason, reason_size, false,
                           "%s is a file of the job's directory, which cannot be made in %s: %s", file,
                           jobs->self->config.tempdir, why) != 0;
    }
    if (folder == NULL)
        return true;
    while (*variables != NULL)
        variables++;
    const size_t size = sizeof BCRI_JOB_DIR_ENV + 1 + strlen(folder);
    if ((variables[0] = job->folder = malloc(size)) == NULL)
        return false;
    snprintf(job->folder, size, BCRI_JOB_DIR_ENV "=%s", folder);
    variables[1] = NULL;
    return true;
}

/* Makes the command's arguments, variables and directory. */
static bool make_command(struct enl_jobs *jobs, struct enl_job *job, int *code_out, char *reason,
                         size_t reason_size)
{
    const struct enl_strings *strings = job->attached.strings;
    const uint32_t arguments = strings != NULL ? strings->arguments : 0,
                   variables = strings != NULL ? strings->variables : 0;
    *code_out = bcrE_NOMEM;
    snprintf(reason, reason_size, "no memory");
    job->list = malloc((arguments + variables + 4ul) * sizeof *job->list);
    if (job->list == NULL)
        return false;
    char **added = job->list + 1 + arguments + 1;
    job->list[0] = job->object;
    const char *folder = strings != NULL ? enl_strings_list(strings, job->list + 1) : "";
    memmove(added, job->list + 1 + arguments, variables * sizeof *added);
    job->list[1 + arguments] = added[variables] = NULL;
    if (job->is_job) {
        take_variables(jobs, job, added);
        enl_group_open(jobs->here);
    }
    if (job->is_score && !tell_of_folder(jobs, job, added, code_out, reason, reason_size))
        return false;
    job->command.argv = job->list;
    if (added[0] != NULL &&
        (job->environment = enl_environment_joined(jobs->self->environment, added)) == NULL)
        return false;
    job->command.environment = job->environment;
    if (folder[0] != '\0' && !check_folder(folder, code_out, reason, reason_size))
        return false;
    job->command.folder = folder[0] != '\0' ? folder : NULL;
    return true;
}

struct enl_job *enl_job_new(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request,
                            int core, struct enl_attached *attached, int *code_out, char *reason,
                            size_t reason_size)
{
    struct enl_job *job = malloc(sizeof *job);
    if (job == NULL) {
        *code_out = bcrE_NOMEM;
        return (void)snprintf(reason, reason_size, "no memory"), NULL;
    }
    *job = (struct enl_job){.conn = conn,
                            .id = request->id,
                            .left = request->count,
                            .ordinal = request->ordinal,
                            .has_turn = (request->present & BCRI_HAS(turn)) != 0,
                            .turn = request->turn,
                            .attached = enl_attached_move(attached),
                            .team = request->team,
                            .rank = request->rank,
                            .stride = request->stride,
                            .lines_cell = (int)request->cell,
                            .is_job = request->team != 0 && (request->flags & BCRI_ENLIST_JOB) != 0,
                            .has_input = (request->flags & BCRI_ENLIST_INPUT) != 0,
                            .is_score = (request->flags & BCRI_ENLIST_SCORE) != 0,
                            .wants_ids = (request->flags & (BCRI_ENLIST_IDS | BCRI_ENLIST_ENDS)) != 0,
                            .tells_ends = (request->flags & BCRI_ENLIST_ENDS) != 0,
                            .birth = {.is_there = (request->present & BCRI_HAS(data)) != 0,
                                      .archtype = request->archtype,
                                      .length = request->data.length}};
    job->command = (struct enl_cce_command){.path = job->path,
                                            .core = core,
                                            .reads_pipe = (request->flags & BCRI_ENLIST_READS_PIPE) != 0,
                                            .writes_pipe = (request->flags & BCRI_ENLIST_WRITES_PIPE) != 0};
    memcpy(job->origin.identity, request->enlistor.bytes, BCRI_IDENTITY_BYTES);
    if (job->birth.length != 0)
        memcpy(job->birth.bytes, request->data.bytes, job->birth.length);
    bcri_view_copy(request->object, job->object, sizeof job->object);
    if (request->text.length != 0) { /* enl_enlist has looked at both */
        bcri_view_copy(request->text, job->await, sizeof job->await);
        memcpy(job->nonce, request->random.bytes, sizeof job->nonce);
    }
    if (!make_command(jobs, job, code_out, reason, reason_size)) {
        enl_job_free(job);
        return NULL;
    }
    if (job->await[0] != '\0')
        return job;
    job->has_path = enl_object_find_in(jobs->programs, jobs->self->config.home, job->object, job->path,
                                       job->reason, sizeof job->reason) == 0;
    job->command.is_held = job->is_job && job->has_path && !enl_object_needs(job->path, "libbcr");
    if (job->has_path || (job->attached.strings == NULL && job->team == 0 && job->lines_cell == 0 &&
                          enl_conn_waiting(jobs->conns, job->object) != NULL))
        return job;
    *code_out = bcrE_NOPROG;
    snprintf(reason, reason_size, "%s", job->reason);
    enl_job_free(job);
    return NULL;
}

void enl_job_free(struct enl_job *job)
{
    enl_attached_close(&job->attached);
    free(job->list);
    free(job->environment);
    free(job->folder);
    free(job->failed);
    free(job);
}

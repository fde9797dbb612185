/* SPDX-License-Identifier: MIT */
/* See job.h. */
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/watch.h"

void enl_jobs_init(struct enl_jobs *jobs, struct enl_self *self, struct enl_conns *conns,
                   struct enl_here *here, const struct enl_jobs_ops *ops)
{
    *jobs = (struct enl_jobs){.self = self, .conns = conns, .here = here, .ops = ops};
    STAILQ_INIT(&jobs->queue);
    STAILQ_INIT(&jobs->arrivals);
}

int enl_jobs_start(struct enl_jobs *jobs)
{
    uv_idle_init(&jobs->self->loop, &jobs->starter);
    uv_timer_init(&jobs->self->loop, &jobs->grace);
    enl_names_open(&jobs->names, &jobs->self->loop);
    enl_outdone_open(&jobs->outdone, &jobs->self->loop);
    jobs->starter.data = jobs->grace.data = jobs;
    return enl_signals_start(jobs);
}

void enl_jobs_close(struct enl_jobs *jobs)
{
    enl_feed_close(jobs);
    free(jobs->spent.host_us);
    free(jobs->summary);
    jobs->summary = NULL;
    enl_watch_stop(jobs->signals);
    jobs->signals = NULL;
    uv_close((uv_handle_t *)&jobs->starter, NULL);
    uv_close((uv_handle_t *)&jobs->grace, NULL);
    enl_names_close(&jobs->names);
    enl_outdone_close(&jobs->outdone);
    enl_teams_close(jobs);
    enl_roster_plan_free(jobs->plan);
}

void enl_jobs_left(struct enl_jobs *jobs, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    enl_names_ended(&jobs->names, identity, false);
    enl_teams_left(jobs, identity);
}

bool enl_jobs_start_root(struct enl_jobs *jobs, pid_t pid, int socket, char *reason, size_t reason_size)
{
    struct enl_origin nobody = {{0}};
    if (enl_roster_is_job(jobs->roster)) {
        if (jobs->roster->front == ENL_FRONT_YOD)
            jobs->signal_row = ENL_SIGNALS_YOD;
        else
            enl_signals_row_passed(jobs, "SCore's scrun");
        snprintf(reason, reason_size, "no memory for the job");
        return enl_summary_begin(jobs) && enl_roster_job(jobs);
    }
    struct enl_cce *root = enl_cce_new(jobs->here, jobs->root_argv[0], 0, &nobody, reason, reason_size);
    if (root == NULL)
        return false;
    jobs->here->root = root;
    snprintf(reason, reason_size, "no memory");
    bool started = (jobs->roster == NULL || enl_roster_root(jobs, root, reason, reason_size)) &&
                   enl_cce_init_cell0(root, 0, NULL, 0);
    if (started && pid != 0)
        started = enl_cce_adopt_root(root, pid, socket);
    else if (started)
        started =
            enl_cce_start(
                root, &(struct enl_cce_command){.path = jobs->root_path, .argv = jobs->root_argv, .core = -1},
                reason, reason_size) == 0;
    if (started && jobs->roster != NULL) {
        enl_members_started(root);
        enl_roster_others(jobs);
    }
    if (started)
        return true;
    jobs->status = 126;
    jobs->is_set = true;
    enl_report(jobs->self, BCRI_LOG_ERROR, "%s", reason);
    enl_cce_drop(root); /* this ends the program */
    return true;
}

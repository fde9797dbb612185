/* SPDX-License-Identifier: MIT */
/* summary.c -- in the root's daemon: how the members of a job have ended; the job's exit status; what the user is told of both, and of
 * the steps of the launch. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/program.h>

#include "job/job.h"
#include "job/roster_plan.h"

struct enl_summary {
    int finished;              /* the status by which a member of the last team has ended it; -1: none has */
    uint64_t steps[ENL_STEPS]; /* when each was over, in nanoseconds of the loop's clock; 0: it is not */
    struct {
        bool is_told;
        struct enl_ended how;
    } ends[];
};

bool enl_summary_begin(struct enl_jobs *jobs)
{
    struct enl_summary *summary = calloc(1, sizeof *summary + jobs->plan->members * sizeof summary->ends[0]);
    if (summary == NULL)
        return false;
    summary->finished = -1;
    jobs->summary = summary;
    enl_summary_step(jobs, ENL_STEP_BEGUN);
    return true;
}

/* On how many hosts the first members run, and whether on each as many; without memory for that, as if each were on one of its own. */
static uint32_t hosts_of(const struct enl_roster_plan *plan, uint32_t members, bool *is_even_out)
{
    uint32_t *on_host = calloc(plan->hosts, sizeof *on_host);
    uint32_t hosts = on_host != NULL ? 0 : members;
    *is_even_out = true;
    for (uint32_t i = 0; i < members && on_host != NULL; i++)
        hosts += on_host[plan->host_of[i]]++ == 0;
    for (size_t i = 0; i < plan->hosts && on_host != NULL; i++)
        *is_even_out &= on_host[i] == 0 || on_host[i] * hosts == members;
    free(on_host);
    return hosts != 0 ? hosts : 1;
}

/* As SCore has it: how many nodes, on how many hosts. */
static void say_ready(struct enl_jobs *jobs)
{
    const struct enl_roster_plan *plan = jobs->plan;
    const uint32_t members = plan->teams[0].members;
    bool is_even;
    const uint32_t hosts = hosts_of(plan, members, &is_even);
    if (is_even)
        enl_report_shown(jobs->self, "SCORE: %u nodes (%ux%u) ready.\n", members, hosts, members / hosts);
    else
        enl_report_shown(jobs->self, "SCORE: %u nodes (%u hosts) ready.\n", members, hosts);
}

void enl_summary_step(struct enl_jobs *jobs, enum enl_step step)
{
    if (jobs->summary == NULL || jobs->summary->steps[step] != 0)
        return;
    jobs->summary->steps[step] = uv_hrtime();
    if (step == ENL_STEP_OPEN && jobs->roster->front == ENL_FRONT_SCRUN && !jobs->roster->is_quiet)
        say_ready(jobs);
}

void enl_summary_end(struct enl_jobs *jobs, uint32_t team, uint32_t rank, const struct enl_ended *ended)
{
    struct enl_summary *summary = jobs->summary;
    uint32_t member;
    if (summary == NULL || !enl_roster_member(jobs, team, rank, &member) || summary->ends[member].is_told)
        return;
    summary->ends[member].is_told = true;
    summary->ends[member].how = *ended;
}

static const struct enl_planned_team *last_team(const struct enl_jobs *jobs)
{
    return &jobs->plan->teams[jobs->roster->team_count - 1];
}

void enl_summary_finish(struct enl_jobs *jobs, uint32_t team, int status)
{
    if (jobs->summary != NULL && jobs->summary->finished < 0 && team == last_team(jobs)->number)
        jobs->summary->finished = status;
}

bool enl_summary_is_open(const struct enl_jobs *jobs)
{
    return jobs->summary != NULL && jobs->summary->steps[ENL_STEP_OPEN] != 0;
}

static int status_of(const struct enl_summary *summary, uint32_t rank)
{
    if (!summary->ends[rank].is_told)
        return 0; /* it was ended with the job, whose status tells */
    switch (summary->ends[rank].how.how) {
    case bcr_EXITED: return summary->ends[rank].how.number;
    case bcr_KILLED: return 128 + summary->ends[rank].how.number;
    default: return 1;
    }
}

static const char *text_of(const struct enl_summary *summary, uint32_t rank, char text[64])
{
    const int number = summary->ends[rank].how.number;
    const char *name = sigabbrev_np(number);
    if (!summary->ends[rank].is_told)
        return "ended with the job";
    switch (summary->ends[rank].how.how) {
    case bcr_EXITED: snprintf(text, 64, "exit code %d", number); return text;
    case bcr_KILLED:
        if (name != NULL)
            snprintf(text, 64, "SIG%s", name);
        else
            snprintf(text, 64, "signal %d", number);
        return text;
    case bcr_HOSTLOST: return "its host was lost";
    case bcr_NEVERUP: return "did not start";
    default: return "ended, nobody knows how";
    }
}

static void print_times(struct enl_jobs *jobs)
{
    static const char *const names[ENL_STEPS] = {[ENL_STEP_STARTED] = "all processes started",
                                                 [ENL_STEP_OPEN] = "all there, and let go",
                                                 [ENL_STEP_OVER] = "all ended"};
    const uint64_t *steps = jobs->summary->steps;
    for (int step = ENL_STEP_BEGUN + 1; step < ENL_STEPS; step++)
        if (steps[step] != 0)
            enl_report_shown(jobs->self, "yod: %9.3f ms  %s\n",
                             (double)(steps[step] - steps[ENL_STEP_BEGUN]) / 1e6, names[step]);
}

bool enl_summary_tells_ranks(const struct enl_jobs *jobs)
{
    return jobs->roster != NULL && jobs->roster->front == ENL_FRONT_YOD && !jobs->roster->is_quiet;
}

/* A line for each rank, and behind it how it has crashed; the status of the lowest that has failed. */
static int end_of_yod(struct enl_jobs *jobs)
{
    char text[64];
    int status = 0;
    for (uint32_t rank = 0; rank < jobs->plan->members; rank++) {
        if (!jobs->roster->is_quiet) {
            enl_report_shown(jobs->self, "yod: rank %u on %s: %s\n", rank, enl_roster_host(jobs, rank),
                             text_of(jobs->summary, rank, text));
            jobs->ops->show_crash(jobs->self->program, rank);
        }
        if (status == 0)
            status = status_of(jobs->summary, rank);
    }
    jobs->ops->show_crash(jobs->self->program, UINT32_MAX); /* of CCEs that members have enlisted */
    if (jobs->roster->tells_times)
        print_times(jobs);
    return status;
}

/* The status by which the last team was ended, else that of its rank 0. */
static int end_of_scrun(const struct enl_jobs *jobs)
{
    return jobs->summary->finished >= 0 ? jobs->summary->finished
                                        : status_of(jobs->summary, last_team(jobs)->first);
}

static struct enl_usage usage_of(const struct enl_jobs *jobs)
{
    struct enl_usage usage = {0};
    bool is_even;
    for (uint32_t member = 0; member < jobs->plan->members; member++) {
        const struct enl_ended *ended = &jobs->summary->ends[member].how;
        usage.cpu_us += ended->cpu_us;
        if (ended->rss_kib > usage.rss_kib)
            usage.rss_kib = ended->rss_kib;
    }
    usage.lasted_ns = jobs->summary->steps[ENL_STEP_OVER] - jobs->summary->steps[ENL_STEP_BEGUN];
    usage.hosts = hosts_of(jobs->plan, jobs->plan->members, &is_even);
    return usage;
}

/* SCore's stat: what all have used, and with `each` each node. */
static void say_usage(struct enl_jobs *jobs, const struct enl_usage *usage, bool each)
{
    for (uint32_t member = 0; each && member < jobs->plan->members; member++) {
        const struct enl_ended *ended = &jobs->summary->ends[member].how;
        enl_report_shown(jobs->self, "SCORE: process %u on %s: %.3f s of processors, %.1f MB\n", member,
                         enl_roster_host(jobs, member), (double)ended->cpu_us / 1e6,
                         (double)ended->rss_kib / 1024);
    }
    enl_report_shown(jobs->self,
                     "SCORE: %u processes in %.3f s: %.3f s of processors, at most %.1f MB each\n",
                     jobs->plan->members, (double)usage->lasted_ns / 1e9, (double)usage->cpu_us / 1e6,
                     (double)usage->rss_kib / 1024);
}

void enl_summary_print(struct enl_jobs *jobs)
{
    if (jobs->summary == NULL)
        return;
    enl_summary_step(jobs, ENL_STEP_OVER);
    enl_jobs_decide(jobs, jobs->roster->front == ENL_FRONT_YOD ? end_of_yod(jobs) : end_of_scrun(jobs), true);
    const struct enl_usage usage = usage_of(jobs);
    if (jobs->roster->tells_usage)
        say_usage(jobs, &usage, jobs->roster->tells_each);
    enl_usage_log(jobs, &usage, jobs->status);
    free(jobs->summary);
    jobs->summary = NULL;
}

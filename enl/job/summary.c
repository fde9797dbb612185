/* SPDX-License-Identifier: MIT */
/* summary.c -- in the root's daemon: how the members of a job have ended, a line for each at its end; the job's exit status; and how
 * long the steps of its launch took. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/program.h>

#include "job/job.h"

struct enl_summary {
    uint64_t steps[ENL_STEPS]; /* when each was over, in nanoseconds of the loop's clock; 0: it is not */
    struct {
        bool is_told;
        uint8_t how, number; /* enum bcr_how */
    } ends[];
};

bool enl_summary_begin(struct enl_jobs *jobs)
{
    struct enl_summary *summary =
        calloc(1, sizeof *summary + jobs->roster->members * sizeof summary->ends[0]);
    if (summary == NULL)
        return false;
    jobs->summary = summary;
    enl_summary_step(jobs, ENL_STEP_BEGUN);
    return true;
}

void enl_summary_step(struct enl_jobs *jobs, enum enl_step step)
{
    if (jobs->summary != NULL && jobs->summary->steps[step] == 0)
        jobs->summary->steps[step] = uv_hrtime();
}

void enl_summary_end(struct enl_jobs *jobs, uint32_t rank, int how, int number)
{
    struct enl_summary *summary = jobs->summary;
    if (summary == NULL || summary->ends[rank].is_told)
        return;
    summary->ends[rank].is_told = true;
    summary->ends[rank].how = (uint8_t)how;
    summary->ends[rank].number = (uint8_t)number;
}

bool enl_summary_is_open(const struct enl_jobs *jobs)
{
    return jobs->summary != NULL && jobs->summary->steps[ENL_STEP_OPEN] != 0;
}

static int status_of(const struct enl_summary *summary, uint32_t rank)
{
    if (!summary->ends[rank].is_told)
        return 0; /* it was ended with the job, whose status tells */
    switch (summary->ends[rank].how) {
    case bcr_EXITED: return summary->ends[rank].number;
    case bcr_KILLED: return 128 + summary->ends[rank].number;
    default: return 1;
    }
}

static const char *text_of(const struct enl_summary *summary, uint32_t rank, char text[64])
{
    const int number = summary->ends[rank].number;
    const char *name = sigabbrev_np(number);
    if (!summary->ends[rank].is_told)
        return "ended with the job";
    switch (summary->ends[rank].how) {
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

void enl_summary_print(struct enl_jobs *jobs)
{
    struct enl_summary *summary = jobs->summary;
    char text[64];
    int status = 0;
    if (summary == NULL)
        return;
    enl_summary_step(jobs, ENL_STEP_OVER);
    for (uint32_t rank = 0; rank < jobs->roster->members; rank++) {
        if (!jobs->roster->is_quiet)
            enl_report_shown(jobs->self, "yod: rank %u on %s: %s\n", rank, enl_roster_host(jobs, rank),
                             text_of(summary, rank, text));
        if (status == 0)
            status = status_of(summary, rank);
    }
    if (jobs->roster->tells_times)
        print_times(jobs);
    enl_jobs_decide(jobs, status, true);
    free(summary);
    jobs->summary = NULL;
}

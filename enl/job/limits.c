/* SPDX-License-Identifier: MIT */
/* limits.c -- in the root's daemon: a job that has used more than it may is ended, by one sentence with the host and what it was. Each host
 * tells each second how much of processors it has used in all, and that it is above a limit of its own (host/limits.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "job/job.h"

/* As that of a program that enl kill ends. */
enum { STATUS = 128 + 9 };

/* Returns whether that is more than the job may use. */
static bool add_cpu(struct enl_jobs *jobs, uint32_t number, const char *host, uint64_t used_us)
{
    struct enl_spent *spent = &jobs->spent;
    if (!enl_grow(&spent->host_us, &spent->host_room, number + 1ul, sizeof *spent->host_us) ||
        used_us <= spent->host_us[number])
        return false;
    spent->all_us += used_us - spent->host_us[number];
    spent->host_us[number] = used_us;
    if (used_us > spent->most_us) {
        spent->most_us = used_us;
        snprintf(spent->most_on, sizeof spent->most_on, "%s", host);
    }
    return spent->all_us >= jobs->roster->limits.cpu_s * UINT64_C(1000000);
}

/* What the ends of its processes say is not what has ended the job. */
static void end_job(struct enl_jobs *jobs, const char *what)
{
    enl_report(jobs->self, BCRI_LOG_ERROR, "the job is ended: %s", what);
    jobs->is_quiet = true;
    jobs->self->ops->abort(jobs->self->program, STATUS);
}

const char *enl_limits_take(struct enl_jobs *jobs, uint32_t number, const char *host,
                            const struct bcri_control *message)
{
    static const double mb = 1 << 20;
    char what[1024];
    if (!enl_roster_is_job(jobs->roster))
        return "what is used of a job that there is not";
    const struct enl_roster_limits *limits = &jobs->roster->limits;
    if (jobs->self->phase != ENL_RUNNING)
        return NULL;
    if (message->kind == BCRI_USED_CPU && limits->cpu_s != 0) {
        if (!add_cpu(jobs, number, host, message->size))
            return NULL;
        snprintf(what, sizeof what,
                 "its processes have used %.1f s of processors, %.1f s of them on %s, and cpulimit is %u s",
                 (double)jobs->spent.all_us / 1e6, (double)jobs->spent.most_us / 1e6, jobs->spent.most_on,
                 limits->cpu_s);
    } else if (message->kind == BCRI_USED_MEMORY && limits->memory_mb != 0) {
        /* The kernel gives no more than the limit: how much there would have been nobody knows. */
        const bool by_kernel = message->size == limits->memory_mb * ENL_LIMITS_MB;
        snprintf(what, sizeof what, "its processes on %s need %s%.1f MB of memory, and memorylimit is %u MB",
                 host, by_kernel ? "more than " : "", (double)message->size / mb, limits->memory_mb);
    } else if (message->kind == BCRI_USED_DISK && limits->disk_mb != 0) {
        snprintf(what, sizeof what, "its directory on %s has %.1f MB, and disklimit is %u MB", host,
                 (double)message->size / mb, limits->disk_mb);
    } else {
        return "what is used where there is no limit";
    }
    end_job(jobs, what);
    return NULL;
}

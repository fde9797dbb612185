/* SPDX-License-Identifier: MIT */
/* entering.c -- a process that makes itself a CCE of the program (bcr_enter). No CCE has asked for it: it has no enlistor,
 * and its abnormal end harms no other. From then on it is a CCE as one that waited is (enl --join): known by its pidfd,
 * without a process of the daemon's, and the program does not end before it has ended.
 *
 * Its ordinal is one that no CCE of this host has, so that sentences tell them apart, and the lowest, so that a program
 * that many enter and leave does not use up numbers, nor make what counts by ordinals (metrics) grow. */
#include <stdlib.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "host/host.h"
#include "job/job.h"
#include "wire/wire.h"

/* The lowest from 1 up that is free; 0: no memory. */
static uint32_t free_ordinal(const struct enl_here *here)
{
    const struct enl_cce *cce;
    uint32_t count = 0, ordinal = 1;
    TAILQ_FOREACH (cce, &here->all, entry)
        count++;
    bool *taken = calloc(count + 2ul, sizeof *taken); /* of 1 to count + 1 one is free */
    if (taken == NULL)
        return 0;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->ordinal <= count)
            taken[cce->ordinal] = true;
    while (taken[ordinal])
        ordinal++;
    free(taken);
    return ordinal;
}

/* NULL: `reason` says why not. */
static struct enl_cce *new_cce(struct enl_jobs *jobs, const struct bcri_control *hello, char *reason,
                               size_t reason_size)
{
    const struct enl_origin nobody = {{0}};
    const uint32_t ordinal = free_ordinal(jobs->here);
    char name[256] = "";
    bcri_view_copy(hello->ccename, name, sizeof name);
    snprintf(reason, reason_size, "enl has no memory");
    struct enl_cce *cce =
        ordinal != 0 ? enl_cce_new(jobs->here, name, ordinal, &nobody, reason, reason_size) : NULL;
    if (cce == NULL || enl_cce_init_cell0(cce, 0, NULL, 0))
        return cce;
    enl_cce_drop(cce);
    return NULL;
}

void enl_enter(struct enl_jobs *jobs, int fd, pid_t pid, const struct bcri_control *hello)
{
    char reason[1024];
    struct bcri_control as_hello = *hello;
    struct enl_cce *cce = new_cce(jobs, hello, reason, sizeof reason);
    if (cce == NULL) {
        enl_hello_refuse(fd, hello->id, bcrE_NOMEM, reason);
        return;
    }
    as_hello.flags |= bcr_isolate;
    enl_cce_hello(cce, pid, fd, &as_hello);
    if (cce->life == ENL_STARTED) /* it has ended, or cannot be watched, and has been told */
        enl_cce_drop(cce);
    else
        bcri_log_write(&jobs->self->log, BCRI_LOG_INFO, "%s has entered the program", enl_cce_text(cce));
}

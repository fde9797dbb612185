/* SPDX-License-Identifier: MIT */
/* select.c -- descriptors to wait for messages by.
 *
 * A cell's descriptor is readable from the next put on that comes after it was armed, or at once if the cell has a region. The
 * manual's loop arms once and then receives and waits by turns, so each pmReceive that finds nothing arms again: else a
 * descriptor that has told once would tell for ever. */
#include "pm_private.h"

/* ENOBUFS: done, as pmReceive says it. */
int pm_arm(pmContext *pmc)
{
    pmContext *const *members;
    const int count = pm_members_of(pmc, &members);
    for (int i = 0; i < count; i++)
        if (bcr_fd(pm_cell_of(members[i])) < 0)
            return ENOMEM;
    return ENOBUFS;
}

int pmGetFd(pmContext *pmc, int *fd, int *nfdp)
{
    if (pmc == NULL || nfdp == NULL)
        return pm_return("pmGetFd", EINVAL);
    pm_lock();
    pmContext *const *members;
    const int count = pm_members_of(pmc, &members), room = *nfdp;
    int code = room < 0 ? EINVAL : room < count || fd == NULL ? ENOSPC : PM_SUCCESS;
    for (int i = 0; i < count && code == PM_SUCCESS; i++)
        if ((fd[i] = bcr_fd(pm_cell_of(members[i]))) < 0)
            code = ENOMEM;
    *nfdp = count;
    pm_unlock();
    return pm_return("pmGetFd", code);
}

int pmBeforeSelect(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmBeforeSelect", EINVAL);
    pm_lock();
    const int code = pm_arm(pmc);
    pmc->is_armed = code == ENOBUFS;
    pm_unlock();
    return pm_return("pmBeforeSelect", code == ENOBUFS ? PM_SUCCESS : code);
}

int pmAfterSelect(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmAfterSelect", EINVAL);
    pm_lock();
    pmc->is_armed = false;
    pm_unlock();
    return pm_return("pmAfterSelect", PM_SUCCESS);
}

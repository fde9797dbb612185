/* SPDX-License-Identifier: MIT */
/* receive.c -- messages that come: pmReceive and pmReleaseReceiveBuffer. */
#include "pm_private.h"

/* The next region of one of its cells, by turns. */
static int take(pmContext *pmc)
{
    pmContext *const *members;
    const unsigned count = (unsigned)pm_members_of(pmc, &members);
    for (unsigned i = 0; i < count; i++) {
        const unsigned at = (pmc->turn + i) % count;
        pmc->received = bcr_deq(bcr_cce, pm_cell_of(members[at]), 0);
        if (pmc->received != NULL) {
            pmc->turn = at + 1;
            return PM_SUCCESS;
        }
        if (bcr_errno != bcrE_TIMEOUT)
            return EIO;
    }
    return pmc->is_armed ? pm_arm(pmc) : ENOBUFS;
}

int pmReceive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    if (pmc == NULL || bufp == NULL || lenp == NULL)
        return pm_return("pmReceive", EINVAL);
    pm_lock();
    int code = pmc->received == NULL ? take(pmc) : EBUSY;
    const bool serves = pm_self.is_served && (code == PM_SUCCESS || !pm_self.is_helped);
    if (code == PM_SUCCESS) {
        *bufp = *pmc->received;
        *lenp = (size_t)bcr_rglen(pmc->received, NULL);
    }
    pm_unlock();
    /* What the sender has written before is in the other cell: the message does not overtake it. Without a helper, no memory is
     * locked, and what others want is refused. */
    if (serves)
        pm_serve();
    return pm_return("pmReceive", code);
}

int pmReleaseReceiveBuffer(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmReleaseReceiveBuffer", EINVAL);
    pm_lock();
    const int code = pmc->received != NULL ? PM_SUCCESS : EIO;
    if (code == PM_SUCCESS)
        (void)bcr_rgfree(pmc->received);
    pmc->received = NULL;
    pm_unlock();
    return pm_return("pmReleaseReceiveBuffer", code);
}

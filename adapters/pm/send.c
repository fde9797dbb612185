/* SPDX-License-Identifier: MIT */
/* send.c -- from pmGetSendBuffer to pmSend and pmIsSendDone. */
#include <stdlib.h>
#include <string.h>

#include "pm_private.h"

/* Whether a message to another host may be ordered now. One may not overtake an earlier write, which goes into another cell:
 * so it waits until that is there, and the receiver looks at that cell first. */
static bool window_is_open(int more)
{
    if (!pm_self.write_ordered && pm_self.under_way + more <= PM_WINDOW)
        return true;
    return pm_all_arrived();
}

static int take_buffer(pmContext *pmc, struct pm_dest *const *dests, int count, int far, size_t length)
{
    if (pmc->buffer != NULL)
        return EBUSY;
    if (far != 0 && !window_is_open(far))
        return ENOBUFS;
    pmc->buffer = pm_buffer_take(dests, count, length);
    if (pmc->buffer == NULL)
        return ENOBUFS;
    pmc->length = length;
    return PM_SUCCESS;
}

int pmGetSendBuffer(pmContext *pmc, int dest, caddr_t *bufp, size_t len)
{
    if (pmc == NULL || bufp == NULL || len < 1 || len > PM_MTU)
        return pm_return("pmGetSendBuffer", EINVAL);
    pm_lock();
    struct pm_dest *to = pm_dest_of(pmc, dest);
    const int code = to != NULL ? take_buffer(pmc, &to, 1, !to->member->is_near, len) : EINVAL;
    if (code == PM_SUCCESS) {
        pmc->dest = to;
        *bufp = *pmc->buffer->rgid;
    }
    pm_unlock();
    return pm_return("pmGetSendBuffer", code);
}

/* Different nodes, at most PM_WINDOW of them elsewhere: as destinations. `*far_out` of them are. */
static bool find_dests(pmContext *pmc, const int *nodes, int count, struct pm_dest **dests, int *far_out)
{
    *far_out = 0;
    for (int i = 0; i < count; i++) {
        dests[i] = pm_dest_of(pmc, nodes[i]);
        if (dests[i] == NULL)
            return false;
        *far_out += !dests[i]->member->is_near;
        for (int before = 0; before < i; before++)
            if (dests[before] == dests[i])
                return false;
    }
    return *far_out <= PM_WINDOW;
}

int pmGetMulticastBuffer(pmContext *pmc, int *dest, int ndest, caddr_t *bufp, size_t len)
{
    if (pmc == NULL || dest == NULL || bufp == NULL || ndest < 1 || ndest > PM_MAX_NODE || len < 1 ||
        len > PM_MTU)
        return pm_return("pmGetMulticastBuffer", EINVAL);
    struct pm_dest **dests = malloc((size_t)ndest * sizeof(struct pm_dest *));
    if (dests == NULL)
        return pm_return("pmGetMulticastBuffer", ENOBUFS);
    int far;
    pm_lock();
    int code = find_dests(pmc, dest, ndest, dests, &far) ? take_buffer(pmc, dests, ndest, far, len) : EINVAL;
    if (code == PM_SUCCESS) {
        pmc->dests = dests;
        pmc->dest_count = ndest;
        *bufp = *pmc->buffer->rgid;
    }
    pm_unlock();
    if (code != PM_SUCCESS)
        free(dests);
    return pm_return("pmGetMulticastBuffer", code);
}

int pmTruncateBuffer(pmContext *pmc, size_t len)
{
    if (pmc == NULL)
        return pm_return("pmTruncateBuffer", EINVAL);
    pm_lock();
    const int code = pmc->buffer == NULL ? EIO : len < 1 || len > pmc->length ? EINVAL : PM_SUCCESS;
    if (code == PM_SUCCESS)
        pmc->length = len;
    pm_unlock();
    return pm_return("pmTruncateBuffer", code);
}

/* Within the host there is room: of all that this process has sent there, each is in a slot. */
static void put(pmContext *pmc, struct pm_dest *dest)
{
    struct pm_member *member = dest->member;
    if (bcr_put_within(1, pmc->buffer->rgid, member->cce, dest->cell, bcr_NOFREE,
                       member->is_near ? 0 : bcr_BLOCK) != 0) {
        pmc->send_failed = true;
        pm_say(1, "pmSend: node %d: %s", (int)(member - pm_self.members), bcr_strerror(bcr_errno));
    }
    pm_self.under_way += !member->is_near;
}

/* A multicast: those of this host one by one, the others in one operation, by which each host gets it once. */
static void put_all(pmContext *pmc)
{
    int *pairs = malloc(2 * (size_t)pmc->dest_count * sizeof *pairs), count = 0, putwait = bcr_BLOCK;
    for (int i = 0; i < pmc->dest_count; i++) {
        struct pm_dest *dest = pmc->dests[i];
        if (dest->member->is_near || pairs == NULL) {
            put(pmc, dest);
            continue;
        }
        pairs[2 * count] = dest->member->cce;
        pairs[2 * count++ + 1] = dest->cell;
    }
    if (count > 0) {
        (void)bcr_getputwait(&putwait);
        (void)bcr_putwait(bcr_BLOCK);
        if (bcr_enqm(pmc->buffer->rgid, count, pairs, bcr_NOFREE) != 0) {
            pmc->send_failed = true;
            pm_say(1, "pmSend: a multicast: %s", bcr_strerror(bcr_errno));
        }
        (void)bcr_putwait(putwait);
        pm_self.under_way += count;
    }
    free(pairs);
}

int pmSend(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmSend", EINVAL);
    pm_lock();
    struct pm_buffer *buffer = pmc->buffer;
    if (buffer == NULL) {
        pm_unlock();
        return pm_return("pmSend", EIO);
    }
    if (buffer->length != pmc->length && bcr_rgrealloc(buffer->rgid, (int)pmc->length) == 0)
        buffer->length = pmc->length;
    if (pmc->dests != NULL)
        put_all(pmc);
    else
        put(pmc, pmc->dest);
    pm_buffer_give(buffer);
    free(pmc->dests);
    pmc->dests = NULL;
    pmc->buffer = NULL;
    pm_unlock();
    return pm_return("pmSend", PM_SUCCESS);
}

int pmIsSendDone(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmIsSendDone", EINVAL);
    pm_lock();
    int code = pm_all_arrived() ? PM_SUCCESS : EBUSY;
    if (code == PM_SUCCESS && pmc->send_failed) {
        pmc->send_failed = false;
        code = EIO;
    }
    pm_unlock();
    return pm_return("pmIsSendDone", code);
}

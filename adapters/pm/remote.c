/* SPDX-License-Identifier: MIT */
/* remote.c -- pmWrite and pmRead: memory of another node.
 *
 *   node of this host    its table says where the memory lies; the caller copies, and the node takes no part: it may compute,
 *                        or be stopped
 *   elsewhere, and where the system lets this process not reach that one
 *                        a request, which the node's helper carries out (requests.c, serve.c) */
#include <unistd.h>

#include "pm_private.h"

/* What the table of a process of this host says. */
struct found {
    int64_t pid;
    uint64_t start, address;
    bool is_helped;
};

/* PM_SUCCESS; EIO: it has ended. EINVAL, ENOBUFS. */
static int look_up(const struct pm_member *member, pmAddrHandle handle, size_t length, struct found *found)
{
    bcr_region rgid = bcr_read(member->cce, PM_CELL_TABLE, 0);
    if (rgid == NULL)
        return bcr_errno == bcrE_TIMEOUT ? ENOBUFS : EIO;
    const struct pm_table *table = *rgid;
    const size_t bytes = (size_t)bcr_rglen(rgid, NULL);
    int code = EIO;
    if (bytes >= sizeof *table && (bytes - sizeof *table) / sizeof table->entries[0] >= table->count) {
        *found = (struct found){.pid = table->pid, .start = table->start, .is_helped = table->is_helped != 0};
        found->address = pm_entry_find(table->entries, table->count, handle, length);
        code = found->address != 0 ? PM_SUCCESS : EINVAL;
    }
    (void)bcr_rgfree(rgid);
    return code;
}

/* A descriptor of the process; -1: it cannot be had, -2: the process has ended. */
static int process_of(struct pm_member *member, const struct found *found)
{
    if (member->pidfd == 0) {
        member->pidfd = pm_process_open(found->pid, found->start);
        if (member->pidfd < 0)
            member->pidfd = errno == ESRCH ? -2 : -1;
    }
    return member->pidfd;
}

/* There is no memory at address 0: what may be tried there fails by EFAULT. */
bool pm_process_is_refused(void)
{
    bool is_refused = false;
    for (int i = 0; i < pm_self.count; i++) {
        struct pm_member *member = &pm_self.members[i];
        struct found found = {0};
        char byte = 0;
        if (i == pm_self.self || !member->is_near)
            continue;
        pm_lock();
        const int code = look_up(member, 0, 1, &found); /* EINVAL: there is a table, and no such handle */
        const int pidfd = code == EINVAL ? process_of(member, &found) : -2;
        pm_unlock();
        int error = pidfd == -1 ? EPERM : ESRCH;
        for (int is_write = 0; is_write < 2 && pidfd >= 0 && (is_write == 0 || error != EPERM); is_write++)
            error = pm_process_copy(pidfd, found.pid, 0, &byte, 1, is_write != 0);
        is_refused = error == EPERM;
        if (error != ESRCH)
            break;
    }
    return is_refused;
}

/* Tells an error later. */
static int fails(pmContext *pmc, bool is_write)
{
    pm_lock();
    if (is_write)
        pmc->write_failed = true;
    else
        pmc->read_failed = true;
    pm_unlock();
    return PM_SUCCESS;
}

static int transfer(pmContext *pmc, int node, pmAddrHandle there, pmAddrHandle here, size_t length,
                    bool is_write)
{
    struct found found = {0};
    int pidfd = -1;
    if (pmc == NULL || length < 1 || length > PM_RMA_MTU)
        return EINVAL;
    pm_lock();
    const struct pm_dest *dest = pm_dest_of(pmc, node);
    void *local = (void *)(uintptr_t)pm_address_of(here, length);
    int code = dest != NULL && local != NULL ? PM_SUCCESS : EINVAL;
    const bool is_near = code == PM_SUCCESS && dest->member->is_near;
    if (is_near) {
        code = look_up(dest->member, there, length, &found);
        if (code == PM_SUCCESS)
            pidfd = process_of(dest->member, &found);
    }
    pm_unlock();
    if (code == EIO || pidfd == -2)
        return fails(pmc, is_write);
    if (code != PM_SUCCESS)
        return code;
    if (pidfd >= 0) {
        const int error = pm_process_copy(pidfd, found.pid, found.address, local, length, is_write);
        if (error != EPERM)
            return error == 0 ? PM_SUCCESS : fails(pmc, is_write);
    }
    if (is_near && !found.is_helped)
        return ENOSYS;
    return pm_request(pmc, (int)(dest->member - pm_self.members), is_write, there, local, length);
}

int pmWrite(pmContext *pmc, int rmt_node, pmAddrHandle rmt_hndl, pmAddrHandle local_hndl, size_t len)
{
    return pm_return("pmWrite", transfer(pmc, rmt_node, rmt_hndl, local_hndl, len, true));
}

int pmRead(pmContext *pmc, int rmt_node, pmAddrHandle rmt_hndl, pmAddrHandle local_hndl, size_t len)
{
    return pm_return("pmRead", transfer(pmc, rmt_node, rmt_hndl, local_hndl, len, false));
}

static int tell(int waiting, bool *has_failed)
{
    const bool fails_now = waiting == 0 && *has_failed;
    if (fails_now)
        *has_failed = false;
    return waiting > 0 ? EBUSY : fails_now ? EIO : PM_SUCCESS;
}

int pmIsWriteDone(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmIsWriteDone", EINVAL);
    pm_answers_take();
    pm_lock();
    const int code = tell(pmc->writes, &pmc->write_failed);
    pm_unlock();
    return pm_return("pmIsWriteDone", code);
}

int pmIsReadDone(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmIsReadDone", EINVAL);
    pm_answers_take();
    pm_lock();
    const int code = tell(pmc->reads, &pmc->read_failed);
    pm_unlock();
    return pm_return("pmIsReadDone", code);
}

/* SPDX-License-Identifier: MIT */
/* context.c -- the network sets of a team, and what a context tells of itself.
 *
 * A network set is two receive cells of each member, one for messages of its own host and one for those of others: their
 * areas are separate, since a message within the host is sent only when there is certainly room for it, which messages from
 * elsewhere, that wait at the receiver, would take. */
#include <poll.h>
#include <stdlib.h>
#include <sys/single_threaded.h>

#include "pm_private.h"

struct pm pm_self = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const device_names[] = {"composite", "shmem", "agent-udp"};

void pm_lock(void)
{
    pthread_mutex_lock(&pm_self.lock);
}

void pm_unlock(void)
{
    pthread_mutex_unlock(&pm_self.lock);
}

/* ---- making them ---- */

static bool know_members(void)
{
    pm_self.self = bcr_teamrank();
    pm_self.count = bcr_teamsize();
    pm_self.members = calloc((size_t)pm_self.count, sizeof *pm_self.members);
    if (pm_self.members == NULL)
        return bcr_errno = bcrE_NOMEM, false;
    for (int i = 0; i < pm_self.count; i++) {
        struct pm_member *member = &pm_self.members[i];
        member->cce = bcr_teamcce(i);
        member->is_near = bcr_teamhost(i) == bcr_teamhost(pm_self.self);
        if (member->cce <= 0)
            return false;
        pm_self.has_far = pm_self.has_far || !member->is_near;
    }
    pm_self.is_served = pm_self.has_far;
    return true;
}

static bool grow(int cell, int is_out, int regions)
{
    const int made = bcr_cagrow(cell, 0, !is_out, is_out, 0, regions, 0);
    if (made >= 0 && made != cell)
        bcr_errno = bcrE_BUSY; /* the program has cells of that number */
    return made == cell;
}

static bool grow_cells(int nets)
{
    int near = 0;
    for (int i = 0; i < pm_self.count; i++)
        near += pm_self.members[i].is_near;
    if (!grow(PM_CELL_TABLE, 1, 1) || !grow(PM_CELL_REQUESTS, 0, PM_REQUESTS * near) ||
        !grow(PM_CELL_ANSWERS, 0, PM_REQUESTS))
        return false;
    for (int k = 0; k < nets; k++) {
        const int cell = PM_CELL_MESSAGES + 2 * k;
        if (!grow(cell, 0, PM_SLOTS * near) || (pm_self.has_far && !grow(cell + 1, 0, PM_WINDOW)))
            return false;
    }
    return true;
}

static struct pm_context *new_context(enum pm_device device, struct pm_net *net)
{
    struct pm_context *pmc = calloc(1, sizeof *pmc);
    if (pmc != NULL)
        *pmc = (struct pm_context){.device = device, .net = net, .number = net->number, .self = pm_self.self};
    return pmc;
}

/* The composite of a network set, with a context for each device that some member is reached by. */
static bool make(struct pm_net *net, int number, pmContext **pmc_out)
{
    net->number = number;
    net->dests = calloc((size_t)pm_self.count, sizeof *net->dests);
    *pmc_out = new_context(PM_COMPOSITE, net);
    if (*pmc_out == NULL || net->dests == NULL)
        return false;
    (*pmc_out)->net = NULL;
    for (int i = 0; i < pm_self.count; i++) {
        net->dests[i].member = &pm_self.members[i];
        net->dests[i].cell = PM_CELL_MESSAGES + 2 * number + !pm_self.members[i].is_near;
    }
    for (int device = PM_SHMEM; device <= (pm_self.has_far ? PM_AGENT_UDP : PM_SHMEM); device++) {
        pmContext *member = new_context((enum pm_device)device, net);
        if (member == NULL || pm_associate(*pmc_out, member) != PM_SUCCESS)
            return free(member), false;
    }
    return true;
}

static bool make_all(int count, pmContext **nets)
{
    pm_buffers_begin();
    if (!know_members() || !grow_cells(count) || pm_table_publish() != 0)
        return false;
    for (int k = 0; k < count; k++) {
        if (!make(&pm_self.nets[k], k, &nets[k])) {
            bcr_errno = bcrE_NOMEM;
            return false;
        }
    }
    return bcr_teamsync(bcr_BLOCK) == 0;
}

pmContext **pm_open(int count)
{
    if (count < 0 || pm_self.is_open) {
        bcr_errno = bcrE_ARG;
        return NULL;
    }
    if (bcr_teamsize() <= 1)
        count = 0;
    pm_debug_begin();
    pmContext **nets = calloc((size_t)count + 1, sizeof(pmContext *));
    pm_self.nets = calloc((size_t)count + 1, sizeof *pm_self.nets);
    if (nets == NULL || pm_self.nets == NULL) {
        free(nets);
        bcr_errno = bcrE_NOMEM;
        return NULL;
    }
    if (count > 0 && !make_all(count, nets)) {
        free(nets);
        return NULL;
    }
    pm_self.is_open = true;
    return nets;
}

/* No other thread may be in BCR while this one waits there. So where there are any, it begins the wait and sleeps on the descriptor
 * that tells of changes, outside of BCR. There is one such descriptor, and looking at it takes away what it has told: one thread
 * sleeps on it, and others by a condition, until that one has seen a change. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_watched;
enum { AGAIN_MSEC = 10 }; /* without memory for the descriptor */

static int wait_outside(struct pm_wait *wait)
{
    for (;;) {
        struct pollfd change = {.fd = is_watched ? -1 : bcr_wakefd(), .events = POLLIN};
        const int code = wait->call(bcr_PENDING) == 0 ? 0 : bcr_errno;
        if (code != bcrE_TIMEOUT)
            return code;
        if (is_watched) {
            pthread_cond_wait(&changed, &pm_self.lock);
            continue;
        }
        is_watched = true;
        pm_unlock();
        (void)poll(&change, 1, change.fd >= 0 ? -1 : AGAIN_MSEC);
        pm_lock();
        is_watched = false;
        pthread_cond_broadcast(&changed);
    }
}

int pm_wait(struct pm_wait *wait)
{
    int code = 0;
    pthread_mutex_lock(&wait->turn);
    pm_lock();
    if (!__libc_single_threaded)
        code = wait_outside(wait);
    else if (wait->call(bcr_BLOCK) != 0)
        code = bcr_errno;
    pm_unlock();
    pthread_mutex_unlock(&wait->turn);
    return code;
}

/* ---- what they are ---- */

struct pm_dest *pm_dest_of(pmContext *pmc, int node)
{
    if (pmc->device == PM_COMPOSITE) {
        if (node < 0 || node >= pmc->route_count || pmc->routes[node].member == NULL)
            return NULL;
        const struct pm_route route = pmc->routes[node];
        return &route.member->net->dests[route.node];
    }
    if (node < 0 || node >= pm_self.count || node == pm_self.self ||
        pm_self.members[node].is_near != (pmc->device == PM_SHMEM))
        return NULL;
    return &pmc->net->dests[node];
}

int pm_cell_of(const pmContext *member)
{
    return PM_CELL_MESSAGES + 2 * member->net->number + (member->device == PM_AGENT_UDP);
}

int pm_members_of(pmContext *pmc, pmContext *const **members_out)
{
    static _Thread_local pmContext *alone;
    if (pmc->device == PM_COMPOSITE) {
        *members_out = pmc->members;
        return pmc->member_count;
    }
    alone = pmc;
    *members_out = &alone;
    return 1;
}

bool pm_all_arrived(void)
{
    if (pm_self.under_way != 0 && bcr_putdone(0) != 0) {
        pm_self.under_way = 0;
        pm_self.write_ordered = false;
    }
    return pm_self.under_way == 0;
}

int pmGetSelf(pmContext *pmc, int *selfp)
{
    if (pmc == NULL || selfp == NULL)
        return pm_return("pmGetSelf", EINVAL);
    pm_lock();
    const int self = pmc->self;
    pm_unlock();
    if (self >= 0)
        *selfp = self;
    return pm_return("pmGetSelf", self >= 0 ? PM_SUCCESS : EINVAL);
}

int pmGetMtu(pmContext *pmc, int node, size_t *mtup)
{
    if (pmc == NULL || mtup == NULL)
        return pm_return("pmGetMtu", EINVAL);
    pm_lock();
    const bool is_node = pm_dest_of(pmc, node) != NULL;
    pm_unlock();
    if (is_node)
        *mtup = PM_MTU;
    return pm_return("pmGetMtu", is_node ? PM_SUCCESS : EINVAL);
}

int pmGetContextConfig(pmContext *pmc, pmContextConfig *config)
{
    if (pmc == NULL || config == NULL)
        return pm_return("pmGetContextConfig", EINVAL);
    pm_lock();
    *config = (pmContextConfig){.type = device_names[pmc->device],
                                .number = pmc->number,
                                .nodes = pm_self.count,
                                .mtu = PM_MTU,
                                .size = sizeof *pmc + (size_t)pmc->route_count * sizeof pmc->routes[0],
                                .option = PM_OPT_REMOTE_WRITE | PM_OPT_REMOTE_READ};
    if (pmc->device == PM_COMPOSITE)
        config->nodes = pmc->self >= pmc->route_count ? pmc->self + 1 : pmc->route_count;
    pm_unlock();
    return pm_return("pmGetContextConfig", PM_SUCCESS);
}

int pmGetMessageQueueStatus(pmContext *pmc, pmMessageQueueStatus *statp)
{
    if (pmc == NULL || statp == NULL)
        return pm_return("pmGetMessageQueueStatus", EINVAL);
    *statp = (pmMessageQueueStatus){0, 0, 0};
    pm_answers_take();
    pm_lock();
    pmContext *const *members;
    const int count = pm_members_of(pmc, &members);
    for (int i = 0; i < count; i++) {
        const int length = bcr_celllen(bcr_cce, pm_cell_of(members[i]));
        statp->receive += length > 0 ? length : 0;
        if (members[i]->device == PM_AGENT_UDP && !pm_all_arrived())
            statp->send = pm_self.under_way;
    }
    statp->read = pmc->reads;
    pm_unlock();
    return pm_return("pmGetMessageQueueStatus", PM_SUCCESS);
}

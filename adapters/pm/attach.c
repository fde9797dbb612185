/* SPDX-License-Identifier: MIT */
/* attach.c -- further contexts, their end, and routines that there is nothing for here.
 *
 * What a descriptor of pmCreateAttachFd stands for is written in it, with the process: it is of use there alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm_private.h"

static const struct {
    const char *type;
    enum pm_device device;
} types[] = {{"composite", PM_COMPOSITE}, {"shmem", PM_SHMEM},
             {"agent-udp", PM_AGENT_UDP}, {"myrinet", PM_AGENT_UDP},
             {"ethernet", PM_AGENT_UDP},  {"ethernet-hxb", PM_AGENT_UDP},
             {"ib-ts", PM_AGENT_UDP},     {"infiniband-fj", PM_AGENT_UDP},
             {"sci", PM_AGENT_UDP}};

struct ticket {
    char mark[16];
    int64_t pid;
    int32_t device, net;
};
static const char ticket_mark[16] = "bcr pm context";

int pmCreateAttachFd(pmContext *pmc, int *fdp)
{
    if (pmc == NULL || fdp == NULL || pmc->device == PM_COMPOSITE)
        return pm_return("pmCreateAttachFd", EINVAL);
    struct ticket ticket = {.pid = getpid(), .device = (int32_t)pmc->device, .net = pmc->net->number};
    memcpy(ticket.mark, ticket_mark, sizeof ticket_mark);
    const int fd = memfd_create("pm-context", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, &ticket, sizeof ticket, 0) != (ssize_t)sizeof ticket) {
        if (fd >= 0)
            close(fd);
        return pm_return("pmCreateAttachFd", ENOMEM);
    }
    *fdp = fd;
    return pm_return("pmCreateAttachFd", PM_SUCCESS);
}

/* The network set of the descriptor; NULL: it stands for none of that device here. */
static struct pm_net *net_of(int fd, enum pm_device device)
{
    struct ticket ticket;
    if (pread(fd, &ticket, sizeof ticket, 0) != (ssize_t)sizeof ticket ||
        memcmp(ticket.mark, ticket_mark, sizeof ticket_mark) != 0 || ticket.pid != getpid() ||
        ticket.device != (int32_t)device)
        return NULL;
    return &pm_self.nets[ticket.net];
}

int pmAttachContext(char *type, int fd, pmContext **pmcp)
{
    const size_t count = sizeof types / sizeof types[0];
    size_t i = 0;
    if (type == NULL || pmcp == NULL)
        return pm_return("pmAttachContext", EINVAL);
    while (i < count && strcmp(types[i].type, type) != 0)
        i++;
    if (i == count)
        return pm_return("pmAttachContext", ENODEV);
    const enum pm_device device = types[i].device;
    struct pm_net *net = device != PM_COMPOSITE ? net_of(fd, device) : NULL;
    if (device == PM_COMPOSITE ? fd != -1 : net == NULL)
        return pm_return("pmAttachContext", EINVAL);
    if (device == PM_AGENT_UDP && strcmp(type, "agent-udp") != 0)
        pm_say(2, "pmAttachContext: agent-udp takes the place of %s", type);
    pmContext *pmc = calloc(1, sizeof *pmc);
    if (pmc == NULL)
        return pm_return("pmAttachContext", ENOMEM);
    *pmc = (struct pm_context){.device = device,
                               .net = net,
                               .number = net != NULL ? net->number : -1,
                               .self = net != NULL ? pm_self.self : -1};
    *pmcp = pmc;
    return pm_return("pmAttachContext", PM_SUCCESS);
}

int pmDetachContext(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmDetachContext", EINVAL);
    pm_answers_take();
    pm_lock();
    const bool is_used = pmc->buffer != NULL || pmc->received != NULL || pmc->writes + pmc->reads > 0 ||
                         pmc->composite != NULL;
    if (!is_used) {
        pm_remove_nodes(pmc);
        free(pmc->routes);
        free(pmc->members);
        free(pmc);
    }
    pm_unlock();
    return pm_return("pmDetachContext", is_used ? EBUSY : PM_SUCCESS);
}

int pmResetContext(pmContext *pmc)
{
    if (pmc == NULL)
        return pm_return("pmResetContext", EINVAL);
    pm_lock();
    pmContext *const *members;
    const int count = pm_members_of(pmc, &members);
    for (int i = 0; i < count; i++)
        (void)bcr_zap(bcr_cce, pm_cell_of(members[i]));
    if (pmc->received != NULL)
        (void)bcr_rgfree(pmc->received);
    if (pmc->buffer != NULL)
        pm_buffer_give(pmc->buffer);
    free(pmc->dests);
    pmc->dests = NULL;
    pmc->buffer = NULL;
    pmc->received = NULL;
    pmc->send_failed = false;
    pm_unlock();
    return pm_return("pmResetContext", PM_SUCCESS);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as pmReceive */
int pmControlReceive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    return pm_return("pmControlReceive", pmc == NULL || bufp == NULL || lenp == NULL ? EINVAL : ENOBUFS);
}

int pmDumpContext(pmContext *pmc, int fd)
{
    pmContextConfig config;
    pmMessageQueueStatus status;
    if (pmc == NULL)
        return pm_return("pmDumpContext", EINVAL);
    (void)pmGetContextConfig(pmc, &config);
    (void)pmGetMessageQueueStatus(pmc, &status);
    pm_lock();
    int written = dprintf(fd,
                          "%s context of network set %d, node %d: %d nodes\n"
                          "  %s for sending, %s for receiving; %d messages have come, %d are under way\n"
                          "  %d writes and %d reads are not done\n",
                          config.type, config.number, pmc->self, config.nodes,
                          pmc->buffer != NULL ? "locked" : "free", pmc->received != NULL ? "locked" : "free",
                          status.receive, status.send, pmc->writes, pmc->reads);
    for (int node = 0; node < pmc->route_count && written >= 0; node++)
        if (pmc->routes[node].member != NULL)
            written = dprintf(fd, "  node %d: %s, node %d\n", node,
                              pmc->routes[node].member->device == PM_SHMEM ? "shmem" : "agent-udp",
                              pmc->routes[node].node);
    pm_unlock();
    return pm_return("pmDumpContext", written >= 0 ? PM_SUCCESS : EIO);
}

int pmCheckpoint(pmContext *pmc)
{
    (void)pmc;
    return pm_return("pmCheckpoint", ENOSYS);
}

int pmGetMmapInfo(pmContext *pmc)
{
    (void)pmc;
    return pm_return("pmGetMmapInfo", ENOSYS);
}

int pmMigrateUser(pmContext *pmc)
{
    (void)pmc;
    return pm_return("pmMigrateUser", ENOSYS);
}

int pmRestartUser(pmContext *pmc)
{
    (void)pmc;
    return pm_return("pmRestartUser", ENOSYS);
}

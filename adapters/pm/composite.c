/* SPDX-License-Identifier: MIT */
/* composite.c -- which member context a composite uses for which node. */
#include <stdlib.h>

#include "pm_private.h"

static bool grow_routes(pmContext *pmc, int count)
{
    if (count <= pmc->route_room)
        return true;
    int room = 2 * pmc->route_room > count ? 2 * pmc->route_room : count;
    if (room > PM_MAX_NODE)
        room = PM_MAX_NODE;
    struct pm_route *routes = realloc(pmc->routes, (size_t)room * sizeof *routes);
    if (routes == NULL)
        return false;
    for (int i = pmc->route_room; i < room; i++)
        routes[i] = (struct pm_route){NULL, 0};
    pmc->routes = routes;
    pmc->route_room = room;
    return true;
}

static bool add_member(pmContext *pmc, pmContext *member)
{
    if (member->composite != NULL)
        return true;
    pmContext **members = realloc(pmc->members, ((size_t)pmc->member_count + 1) * sizeof(pmContext *));
    if (members == NULL)
        return false;
    pmc->members = members;
    members[pmc->member_count++] = member;
    member->composite = pmc;
    return true;
}

int pm_add_node(pmContext *pmc, int node, pmContext *member, int member_node)
{
    if (pmc->device != PM_COMPOSITE)
        return ENOSYS;
    if (member->device == PM_COMPOSITE || node < 0 || node >= PM_MAX_NODE ||
        pm_dest_of(member, member_node) == NULL)
        return EINVAL;
    if ((member->composite != NULL && member->composite != pmc) || pm_dest_of(pmc, node) != NULL)
        return EBUSY;
    if (!grow_routes(pmc, node + 1) || !add_member(pmc, member))
        return ENOMEM;
    if (node >= pmc->route_count)
        pmc->route_count = node + 1;
    pmc->routes[node] = (struct pm_route){member, member_node};
    member->node_count++;
    if (pmc->self < 0)
        pmc->self = member->self;
    return PM_SUCCESS;
}

int pm_associate(pmContext *pmc, pmContext *member)
{
    if (pmc->device != PM_COMPOSITE)
        return ENOSYS;
    if (member->device == PM_COMPOSITE)
        return EINVAL;
    for (int node = 0; node < pm_self.count; node++)
        if (pm_dest_of(member, node) != NULL && pm_dest_of(pmc, node) != NULL)
            return EBUSY;
    for (int node = 0; node < pm_self.count; node++) {
        const int code = pm_dest_of(member, node) != NULL ? pm_add_node(pmc, node, member, node) : PM_SUCCESS;
        if (code != PM_SUCCESS)
            return code;
    }
    return PM_SUCCESS;
}

static int remove_node(pmContext *pmc, int node)
{
    if (pmc->device != PM_COMPOSITE)
        return ENOSYS;
    if (pm_dest_of(pmc, node) == NULL)
        return EINVAL;
    pmContext *member = pmc->routes[node].member;
    pmc->routes[node].member = NULL;
    if (--member->node_count > 0)
        return PM_SUCCESS;
    member->composite = NULL;
    int at = 0;
    while (pmc->members[at] != member)
        at++;
    pmc->members[at] = pmc->members[--pmc->member_count];
    return PM_SUCCESS;
}

void pm_remove_nodes(pmContext *pmc)
{
    for (int node = 0; node < pmc->route_count; node++)
        (void)remove_node(pmc, node);
}

int pmAddNode(pmContext *pmc, int node, pmContext *member_pmc, int member_node)
{
    if (pmc == NULL || member_pmc == NULL)
        return pm_return("pmAddNode", EINVAL);
    pm_lock();
    const int code = pm_add_node(pmc, node, member_pmc, member_node);
    pm_unlock();
    return pm_return("pmAddNode", code);
}

int pmRemoveNode(pmContext *pmc, int node)
{
    if (pmc == NULL)
        return pm_return("pmRemoveNode", EINVAL);
    pm_lock();
    const int code = remove_node(pmc, node);
    pm_unlock();
    return pm_return("pmRemoveNode", code);
}

int pmExtractNode(pmContext *pmc, int node, pmContext **member_pmcp, int *member_nodep)
{
    if (pmc == NULL || member_pmcp == NULL || member_nodep == NULL)
        return pm_return("pmExtractNode", EINVAL);
    pm_lock();
    const int code = pmc->device != PM_COMPOSITE     ? ENOSYS
                     : pm_dest_of(pmc, node) == NULL ? EINVAL
                                                     : PM_SUCCESS;
    if (code == PM_SUCCESS) {
        *member_pmcp = pmc->routes[node].member;
        *member_nodep = pmc->routes[node].node;
    }
    pm_unlock();
    return pm_return("pmExtractNode", code);
}

int pmAssociateNodes(pmContext *pmc, pmContext *member_pmc)
{
    if (pmc == NULL || member_pmc == NULL)
        return pm_return("pmAssociateNodes", EINVAL);
    pm_lock();
    const int code = pm_associate(pmc, member_pmc);
    pm_unlock();
    return pm_return("pmAssociateNodes", code);
}

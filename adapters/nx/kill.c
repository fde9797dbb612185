/* SPDX-License-Identifier: MIT */
/* kill.c -- killproc, killcube. */
#include "nx_private.h"

static long kill_at(long node, long ptype, bool any_type)
{
    const int at = nxi_low(node), type = nxi_low(ptype);
    nxi_need();
    if (!nxi_process.has_cube)
        return nxi_bad(EQCUBE, "the nodes of enl -n end together: there is no cube that was loaded");
    if (at < -1 || at >= nxi_process.count)
        return nxi_bad(EQNODE, "there is no node %d: they are 0 to %d", at, nxi_process.count - 1);
    if (type < (any_type ? -1 : 0))
        return nxi_bad(EQPID, "%d is no process type: they are 0 or more", type);
    const int killed = earl_cube_kill(at, type);
    return killed < 0 ? nxi_result(killed) : 0;
}

static long nxi_killproc(long node, long ptype)
{
    return kill_at(node, ptype, false);
}

static long nxi_killcube(long node, long ptype)
{
    return kill_at(node, ptype, true);
}

NX_VOID_FORMS(killproc, (long node, long ptype), (node, ptype))
NX_VOID_FORMS(killcube, (long node, long ptype), (node, ptype))

/* SPDX-License-Identifier: MIT */
/* places.c -- nodes and process types of Earl's processes.
 *
 * In a team a node is a process, and all know all process types. In a cube, which a host program or commands have loaded, a node may have
 * several processes, some of which are yet to be loaded: who sends to one waits until it is. */
#include <stdlib.h>

#include "nx_private.h"

int nxi_process_at(int node, int ptype)
{
    if (!nxi_process.has_cube)
        return node;
    return earl_cube_process(node, ptype, nxi_in_handler ? -1 : 1);
}

void nxi_place_of(int process, int *node, int *ptype)
{
    *node = process;
    *ptype = -1;
    if (nxi_process.has_cube)
        (void)earl_cube_place(process, !nxi_in_handler, node, ptype);
    else if (process < nxi_process.count)
        *ptype = nxi_process.ptypes[process];
}

/* No routine that waits: it is asked while a message is looked for. */
bool nxi_is_at(int process, int node, int ptype)
{
    int own_node = process, own_ptype;
    if (!nxi_process.has_cube)
        own_ptype = nxi_process.ptypes[process];
    else if (earl_cube_place(process, 0, &own_node, &own_ptype) != EARL_OK)
        return false;
    return (node == -1 || node == own_node) && (ptype == -1 || ptype == own_ptype);
}

/* The nodes' processes of this one's type; in a team, all. Another type's group has another context. */
long nxi_group(const struct earl_group **group_out)
{
    static struct earl_group group;
    static int of_cube; /* the one that it is of */
    nxi_need();
    *group_out = NULL;
    if (!nxi_process.has_cube)
        return 0;
    if (nxi_process.self >= nxi_process.count)
        return nxi_bad(EQNODE, "this is the host, which is no node");
    *group_out = &group;
    if (of_cube == nxi_process.cubes)
        return 0;
    int *processes = malloc(sizeof *processes * (size_t)nxi_process.count);
    if (processes == NULL)
        return nxi_bad(EQMEM, "no memory for %d nodes", nxi_process.count);
    for (int node = 0; node < nxi_process.count; node++) {
        processes[node] = nxi_process_at(node, nxi_process.ptype);
        if (processes[node] < 0) {
            const long error = nxi_result(processes[node]);
            free(processes);
            return error;
        }
    }
    free((void *)(uintptr_t)group.processes);
    of_cube = nxi_process.cubes;
    group = (struct earl_group){nxi_process.count, processes, (unsigned)nxi_process.ptype % EARL_CONTEXTS};
    return 0;
}

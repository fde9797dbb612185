/* SPDX-License-Identifier: MIT */
/* environment.c -- Generic_who and its kin: this process, the others, and how many there are. */
#include <string.h>

#include "generic.h"

static int living(const char *component)
{
    struct generic_to to;
    const int code = earl_generic_find(&to, component, EARL_ANY, 0, 0, true);
    const int count = to.count;
    earl_generic_to_free(&to);
    return code == EARL_E_NONE ? 0
           : code != EARL_OK   ? code
                               : count + (strcmp(component, earl_generic.component) == 0);
}

long Generic_cubesize(void)
{
    struct earl_cube cube;
    const int code = earl_generic_need();
    if (code != EARL_OK || earl_generic.is_team)
        return code != EARL_OK ? code : earl_generic.count;
    if (earl_generic.component[0] != '\0')
        return living(earl_generic.component);
    const int has_cube = earl_generic_cube(&cube);
    return has_cube < 0 ? has_cube : has_cube > 0 ? cube.size : 1;
}

int Generic_groupstatus(const char *component, int instance)
{
    struct generic_to to;
    int code = earl_generic_need();
    if (code != EARL_OK || !generic_has_name(component))
        return code != EARL_OK ? code : EARL_E_ARG;
    if (instance == EARL_ANY && !earl_generic.is_team) {
        code = living(component);
        return code < 0 ? code : code > 0;
    }
    code = earl_generic_find(&to, component, instance, 0, 0, true);
    return code == EARL_OK ? 1 : code == EARL_E_NONE ? 0 : code;
}

long Generic_mynode(void)
{
    long node, pid;
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    earl_generic_place(earl_generic.self, &node, &pid);
    return node;
}

long Generic_mypid(void)
{
    long node, pid;
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    earl_generic_place(earl_generic.self, &node, &pid);
    return pid;
}

long Generic_myhost(void)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    struct earl_cube cube;
    if (earl_generic.is_team)
        return earl_generic.count;
    const int has_cube = earl_generic_cube(&cube);
    return has_cube < 0 ? has_cube : has_cube > 0 ? cube.size : earl_exec_parent();
}

long Generic_nodedim(void)
{
    const long size = Generic_cubesize();
    if (size < 0)
        return size;
    long exponent = 0;
    while (2L << exponent <= size)
        exponent++;
    return exponent;
}

static int count_hosts(void)
{
    struct earl_exec_machine host;
    int count = 0, code;
    for (int k = 0; (code = earl_exec_machine(k, &host)) == EARL_OK; k++)
        count += host.is_there;
    return code == EARL_E_NONE ? count : code;
}

/* In a team, those where its processes are. */
static int count_team_hosts(void)
{
    int count = 0;
    for (int i = 0; i < earl_generic.count; i++) {
        int before = 0;
        while (before < i && earl_host(before) != earl_host(i))
            before++;
        count += before == i;
    }
    return count;
}

long Generic_numnodes(int *nnodes, int *nformats)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    const int hosts = earl_generic.is_team ? count_team_hosts() : count_hosts();
    if (hosts < 0)
        return hosts;
    const int nodes = earl_generic.is_team ? earl_generic.count : hosts;
    if (nnodes != NULL)
        *nnodes = nodes;
    if (nformats != NULL)
        *nformats = hosts > 1 ? 2 : 1;
    return nodes;
}

long Generic_who(char *component, int *pid, int *numproc, int *instance, int *host)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (component != NULL)
        strcpy(component, earl_generic.component);
    if (pid != NULL)
        *pid = (int)Generic_mypid();
    if (numproc != NULL)
        *numproc = (int)Generic_cubesize();
    if (instance != NULL)
        *instance = earl_generic.instance;
    if (host != NULL)
        *host = (int)Generic_myhost();
    return earl_generic.component[0] != '\0' || earl_generic.is_team ? EARL_OK : EARL_E_NONE;
}

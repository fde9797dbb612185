/* SPDX-License-Identifier: MIT */
/* cubes.c -- Generic_allocproc and its kin: cubes of nodes, and waits for what was loaded on them. */
#include <stdio.h>
#include <stdlib.h>

#include "generic.h"

int Generic_allocproc(long *numproc, const char *name, const char *type, const char *srmname, long keep,
                      long *me, long *host, long pid)
{
    (void)type;
    (void)srmname;
    int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (numproc == NULL || name == NULL || !generic_is_int(*numproc) || !generic_is_int(pid))
        return EARL_E_ARG;
    code = earl_cube_pid((int)pid);
    if (code == EARL_OK)
        code = earl_cube_make(name, (int)*numproc, keep != 0);
    if (code != EARL_OK)
        return code;
    *numproc = Generic_cubesize();
    if (me != NULL)
        *me = Generic_mynode();
    if (host != NULL)
        *host = Generic_myhost();
    return (int)pid;
}

void Generic_attachprocs(const char *cname)
{
    int code = earl_generic_need();
    if (code == EARL_OK)
        code = cname == NULL ? EARL_E_ARG : earl_cube_attach(cname);
    earl_generic_must("Generic_attachprocs", code);
}

void Generic_relcube(const char *cname)
{
    int code = earl_generic_need();
    if (code == EARL_OK)
        code = earl_cube_drop(generic_has_name(cname) ? cname : NULL);
    earl_generic_must("Generic_relcube", code);
}

void Generic_setpid(long pid)
{
    int code = earl_generic_need();
    if (code == EARL_OK)
        code = generic_is_int(pid) ? earl_cube_pid((int)pid) : EARL_E_ARG;
    earl_generic_must("Generic_setpid", code);
}

long Generic_cubeinfo(struct cubetable *ct, long numslots, long global)
{
    (void)global;
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (numslots < 0 || !generic_is_int(numslots) || (numslots > 0 && ct == NULL))
        return EARL_E_ARG;
    struct earl_cube *cubes = calloc((size_t)numslots + 1, sizeof *cubes);
    if (cubes == NULL)
        return EARL_E_MEMORY;
    const int count = earl_cube_list(cubes, (int)numslots);
    for (int i = 0; i < count && i < numslots; i++) {
        ct[i] = (struct cubetable){.numnodes = cubes[i].size,
                                   .host = cubes[i].host,
                                   .hostpid = cubes[i].host_pid,
                                   .keep = cubes[i].is_kept};
        snprintf(ct[i].name, sizeof ct[i].name, "%s", cubes[i].name);
    }
    free(cubes);
    return count;
}

/* Waits for one; what it tells may be NULL. */
static int wait_one(long node, long pid, long *cnode, long *cpid, long *ccode)
{
    struct earl_exec_process told;
    if (!generic_is_int(node) || !generic_is_int(pid))
        return EARL_E_ARG;
    int at[2] = {(int)node, (int)pid};
    const int code = earl_cube_await(&at[0], &at[1], &told);
    if (code != EARL_OK)
        return code;
    if (cnode != NULL)
        *cnode = at[0];
    if (cpid != NULL)
        *cpid = at[1];
    if (ccode != NULL)
        *ccode = told.how == EARL_HOW_EXITED ? told.status : told.how == EARL_HOW_KILLED ? -told.status : -1;
    return EARL_OK;
}

void Generic_wait_one_cmplt(long node, long pid, long *cnode, long *cpid, long *ccode)
{
    int code = earl_generic_need();
    if (code == EARL_OK)
        code = wait_one(node, pid, cnode, cpid, ccode);
    earl_generic_must("Generic_wait_one_cmplt", code);
}

void Generic_wait_all_cmplt(long node, long pid)
{
    int code = earl_generic_need(), count = 0;
    while (code == EARL_OK) {
        code = wait_one(node, pid, NULL, NULL, NULL);
        count += code == EARL_OK;
    }
    /* None is left: that is what was waited for, if there was one. */
    earl_generic_must("Generic_wait_all_cmplt", code == EARL_E_PROCESS && count > 0 ? EARL_OK : code);
}

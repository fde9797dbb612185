/* SPDX-License-Identifier: MIT */
/* fortran.c -- what Fortran programs call: names end in _, arguments come by reference, INTEGER has 32 bits, the lengths of strings
 * follow behind all arguments. Each is the C routine of its name; results come in the last argument but for what fpvm3.inc says. */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

/* ---- tasks ---- */

void pvmfmytid_(int *tid)
{
    *tid = pvm_mytid();
}

void pvmfexit_(int *info)
{
    *info = pvm_exit();
}

void pvmfparent_(int *tid)
{
    *tid = pvm_parent();
}

void pvmfsiblings_(int *ntids, integer *index, int *sibling)
{
    int *tids;
    *ntids = pvm_siblings(&tids);
    if (*ntids < 0 || *index == -1)
        return;
    if (*index < 0 || *index >= *ntids)
        *ntids = pvmi_told("siblings", PvmNoTask);
    else
        *sibling = tids[*index];
}

void pvmftidtohost_(integer *tid, int *dtid)
{
    *dtid = pvm_tidtohost(*tid);
}

void pvmftidtoh_(integer *tid, int *dtid)
{
    *dtid = pvm_tidtohost(*tid);
}

/* Each call tells of the next one, and the last of a round begins anew; so does a count of -1. */
void pvmfconfig_(int *nhost, int *narch, int *dtid, char *name, char *arch, int *speed, int *info,
                 size_t name_room, size_t arch_room)
{
    static int next;
    struct pvmhostinfo *hosts;
    if (*nhost == -1)
        next = 0;
    *info = pvm_config(nhost, narch, &hosts);
    if (*info < 0)
        return;
    *dtid = hosts[next].hi_tid;
    *speed = hosts[next].hi_speed;
    pvmi_blank_padded(name, name_room, hosts[next].hi_name, strlen(hosts[next].hi_name));
    pvmi_blank_padded(arch, arch_room, hosts[next].hi_arch, strlen(hosts[next].hi_arch));
    next = (next + 1) % *nhost;
}

void pvmftasks_(integer *where, int *ntask, int *tid, int *ptid, int *dtid, int *flag, char *aout, int *info,
                size_t room)
{
    static int next, of_where;
    struct pvmtaskinfo *tasks;
    if (*ntask == -1 || *where != of_where)
        next = 0;
    of_where = *where;
    *info = pvm_tasks(*where, ntask, &tasks);
    if (*info < 0)
        return;
    if (next >= *ntask)
        next = 0;
    *tid = tasks[next].ti_tid;
    *ptid = tasks[next].ti_ptid;
    *dtid = tasks[next].ti_host;
    *flag = tasks[next].ti_flag;
    pvmi_blank_padded(aout, room, tasks[next].ti_a_out, strlen(tasks[next].ti_a_out));
    next = (next + 1) % *ntask;
}

void pvmfarchcode_(const char *arch, int *code, size_t length)
{
    char *name = pvmi_trimmed(arch, length);
    *code = name == NULL ? pvmi_told("archcode", PvmNoMem) : pvm_archcode(name);
    free(name);
}

void pvmfhostsync_(integer *host, int *clksec, int *clkusec, int *deltasec, int *deltausec, int *info)
{
    struct timeval clock, delta;
    *info = pvm_hostsync(*host, &clock, &delta);
    if (*info < 0)
        return;
    *clksec = (int)clock.tv_sec;
    *clkusec = (int)clock.tv_usec;
    *deltasec = (int)delta.tv_sec;
    *deltausec = (int)delta.tv_usec;
}

void pvmfexport_(const char *name, int *info, size_t length)
{
    char *trimmed = pvmi_trimmed(name, length);
    *info = trimmed == NULL ? pvmi_told("export", PvmNoMem) : pvm_export(trimmed);
    free(trimmed);
}

void pvmfunexport_(const char *name, int *info, size_t length)
{
    char *trimmed = pvmi_trimmed(name, length);
    *info = trimmed == NULL ? pvmi_told("unexport", PvmNoMem) : pvm_unexport(trimmed);
    free(trimmed);
}

/* ---- contexts, options and errors ---- */

void pvmfnewcontext_(int *context)
{
    *context = pvm_newcontext();
}

void pvmfsetcontext_(integer *context, int *former)
{
    *former = pvm_setcontext(*context);
}

void pvmffreecontext_(integer *context, int *info)
{
    *info = pvm_freecontext(*context);
}

void pvmfgetcontext_(int *context)
{
    *context = pvm_getcontext();
}

void pvmfsetopt_(integer *what, integer *value, int *former)
{
    *former = pvm_setopt(*what, *value);
}

void pvmfgetopt_(integer *what, int *value)
{
    *value = pvm_getopt(*what);
}

void pvmfperror_(const char *message, int *info, size_t length)
{
    char *trimmed = pvmi_trimmed(message, length);
    *info = pvm_perror(trimmed);
    free(trimmed);
}

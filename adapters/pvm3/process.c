/* SPDX-License-Identifier: MIT */
/* process.c -- which task this process is, and those that were started with it. */
#include <stdlib.h>

#include "pvm_private.h"

struct pvmi_process pvmi_process;

static int *siblings;

int pvmi_begin(void)
{
    if (earl_begin("pvm") < 0)
        return PvmSysErr;
    (void)earl_words("tag", "task");
    pvmi_process.self = earl_process();
    pvmi_process.count = earl_processes();
    siblings = malloc(sizeof *siblings * (size_t)pvmi_process.count);
    if (siblings == NULL)
        return PvmNoMem;
    for (int i = 0; i < pvmi_process.count; i++)
        siblings[i] = pvmi_tid(i);
    const int code = pvmi_machine_begin();
    pvmi_process.has_begun = code == PvmOk;
    return code;
}

int pvmi_process_of(int tid)
{
    const int process = tid - PVMI_TASKS;
    return tid >= PVMI_TASKS && process < pvmi_process.count ? process : -1;
}

int pvm_mytid(void)
{
    const int code = pvmi_need();
    return pvmi_told("mytid", code < 0 ? code : pvmi_tid(pvmi_process.self));
}

int pvm_exit(void)
{
    const int code = pvmi_need();
    if (code == PvmOk) {
        (void)earl_end();
        pvmi_process.has_begun = false;
    }
    return pvmi_told("exit", code);
}

int pvm_parent(void)
{
    const int code = pvmi_need();
    return pvmi_told("parent", code < 0 ? code : PvmNoParent);
}

int pvm_siblings(int **tids)
{
    const int code = pvmi_need();
    if (code < 0)
        return pvmi_told("siblings", code);
    if (tids != NULL)
        *tids = siblings;
    return pvmi_process.count;
}

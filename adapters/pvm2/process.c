/* SPDX-License-Identifier: MIT */
/* process.c -- enroll and leave, initiate and terminate, and who is there. */
#include <stdio.h>
#include <string.h>

#include "pvm2_private.h"

int pvm2_result(long result)
{
    if (result >= 0)
        return (int)result;
    switch (result) {
    case EARL_E_ARG:
    case EARL_E_RANGE: return PvmBadParam;
    case EARL_E_BUSY: return PvmMismatch;
    case EARL_E_END: return PvmNoData;
    case EARL_E_HOST: return PvmNoHost;
    case EARL_E_FILE: return PvmNoFile;
    case EARL_E_NONE:
    case EARL_E_PROCESS:
    case EARL_E_ENDED: return PvmNoComp;
    case EARL_E_MEMORY: return PvmNoMem;
    default: return PvmSysErr;
    }
}

static int check_name(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return PvmBadParam;
    return strlen(name) > PvmMaxUserProcNameLen ? PvmTooLong : PvmOk;
}

int pvm2_need(void)
{
    return Generic_mynode() < 0 ? PvmSysErr : PvmOk;
}

int pvm2_need_name(const char *name)
{
    const int code = pvm2_need();
    return code != PvmOk ? code : check_name(name);
}

void pvm2_tell_name(char *component, const char *name)
{
    if (component != NULL)
        snprintf(component, PvmMaxUserProcNameLen + 1, "%.*s", PvmMaxUserProcNameLen, name);
}

PVM2_WEAK int enroll(const char *component_name)
{
    const int code = check_name(component_name);
    if (code != PvmOk)
        return code;
    const int instance = Generic_FirstCall(component_name, NULL, NULL, NULL);
    return instance == EARL_E_BUSY ? PvmAlready : pvm2_result(instance);
}

PVM2_WEAK int leave(void)
{
    const int code = pvm2_need();
    if (code == PvmOk)
        Generic_LastCall(0);
    return code;
}

/* What is started is a component of that name. */
static int file_name(const char *file)
{
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    return pvm2_need_name(slash == NULL ? file : slash + 1);
}

PVM2_WEAK int initiate(const char *object_file, const char *arch)
{
    const int code = file_name(object_file);
    return code != PvmOk ? code : pvm2_result(Generic_load(object_file, arch, -1, -1));
}

static int start_there(const char *file, const char *machine)
{
    const int code = file_name(file);
    return code != PvmOk ? code : pvm2_result(Generic_loadm(file, machine, -1, -1));
}

PVM2_WEAK int initiatem(const char *object_file, const char *machine)
{
    return start_there(object_file, machine);
}

PVM2_WEAK int initiateM(const char *object_file, const char *machine)
{
    return start_there(object_file, machine);
}

PVM2_WEAK int terminate(const char *component, int instance)
{
    const int code = pvm2_need_name(component);
    if (code != PvmOk)
        return code;
    const int killed = Generic_termproc(component, instance, 0, 0);
    return killed < 0 ? pvm2_result(killed) : PvmOk;
}

PVM2_WEAK int status(const char *component, int instance)
{
    const int code = pvm2_need_name(component);
    return code != PvmOk ? code : pvm2_result(Generic_groupstatus(component, instance));
}

PVM2_WEAK int whoami(char *component, int *instance)
{
    char name[EARL_COMPONENT];
    const int code = pvm2_result(Generic_who(name, NULL, NULL, instance, NULL));
    if (code == PvmOk)
        pvm2_tell_name(component, name);
    return code;
}

PVM2_WEAK int pstatus(int *ncpu, int *nformats)
{
    const long hosts = Generic_numnodes(ncpu, nformats);
    return hosts < 0 ? pvm2_result(hosts) : PvmOk;
}

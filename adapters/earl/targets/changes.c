/* SPDX-License-Identifier: MIT */
/* changes.c -- a process adds a host to its program, or takes one away. What comes for it meanwhile waits in its inbox. */
#include <bcr/program.h>

#include "earl.h"
#include "targets.h"

static int code_of(int result)
{
    if (result == 0)
        return EARL_OK;
    switch (bcr_errno) {
    case bcrE_ARG: return EARL_E_ARG;
    case bcrE_BUSY: return EARL_E_BUSY;
    case bcrE_NOHOST: return EARL_E_HOST;
    case bcrE_NOMEM: return EARL_E_MEMORY;
    default: return EARL_E_SYSTEM;
    }
}

int earl_world_host_add(const char *line)
{
    return code_of(bcr_hostadd(line));
}

int earl_world_host_del(const char *name)
{
    return code_of(bcr_hostdel(name));
}

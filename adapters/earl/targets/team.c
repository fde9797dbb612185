/* SPDX-License-Identifier: MIT */
/* team.c -- numbers in a team: its ranks. Without one there is one process, 0. */
#include "earl.h"
#include "who.h"

static int begin(int *process, int *count)
{
    const bool has_team = bcr_teamsize() > 0;
    *process = has_team ? bcr_teamrank() : 0;
    *count = has_team ? bcr_teamsize() : 1;
    return has_team && bcr_teamsync(bcr_BLOCK) != 0 ? EARL_E_SYSTEM : EARL_OK;
}

static bcr_cce_id cce(int process, int *host)
{
    if (bcr_teamsize() == 0) {
        *host = 0;
        return bcr_cce;
    }
    *host = bcr_teamhost(process);
    return bcr_teamcce(process);
}

const struct earl_who earl_who_team = {.begin = begin, .cce = cce};

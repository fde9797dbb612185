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

static struct earl_known find(int process, bool waits)
{
    (void)waits;
    if (bcr_teamsize() == 0)
        return (struct earl_known){bcr_cce, 0, true};
    return (struct earl_known){bcr_teamcce(process), bcr_teamhost(process), true};
}

const struct earl_who earl_who_team = {.begin = begin, .find = find};

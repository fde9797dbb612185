/* SPDX-License-Identifier: MIT */
/* Where the members of what is launched run. */
#ifndef ENL_ROSTER_PLAN_H
#define ENL_ROSTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enl_roster_plan {
    size_t hosts;
    const char **machines; /* "": this one, the first unless it is a job */
    uint32_t *slots;
    uint32_t members;  /* of all teams */
    uint32_t *host_of; /* of each member, in the order of teams and ranks */
    uint32_t *of_line; /* how many each line has */
    struct enl_planned_team {
        uint32_t first, members; /* among all */
        uint32_t number;         /* of the team that was made of it; 0: none yet */
    } * teams;
    bool is_unlisted; /* this machine is not in the list of hosts */
};

#endif

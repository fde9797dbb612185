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
    uint32_t *slots, *host_of;
    bool is_unlisted; /* this machine is not in the list of hosts */
};

#endif

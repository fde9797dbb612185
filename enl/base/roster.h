/* SPDX-License-Identifier: MIT */
/* What the command line says of a team (enl -n): its command lines, which : separates, and where its members run. */
#ifndef ENL_ROSTER_H
#define ENL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enl_roster_line {
    uint32_t members;
    char **argv;
};

struct enl_roster {
    uint32_t members;  /* of all lines */
    uint32_t per_host; /* 0: as many as a host has slots */
    bool is_cyclic;
    const char *await; /* the key under which the members come by themselves; NULL: they are started */
    size_t count;
    struct enl_roster_line lines[];
};

#endif

/* SPDX-License-Identifier: MIT */
/* cores.c -- cores in turn. Why, and what it costs: docs/adr/0008-cores-in-turn.md. */
#include "host/host.h"

void enl_cores_init(struct enl_cores *cores)
{
    *cores = (struct enl_cores){.first = -1, .turn = -1};
    if (sched_getaffinity(0, sizeof cores->allowed, &cores->allowed) != 0)
        CPU_ZERO(&cores->allowed);
}

void enl_cores_begin(struct enl_cores *cores, int core)
{
    if (!cores->begun && enl_cores_has(cores, core))
        cores->first = cores->turn = core;
    cores->begun = true;
}

void enl_cores_turn(struct enl_cores *cores, uint32_t number)
{
    const uint32_t count = (uint32_t)CPU_COUNT(&cores->allowed);
    if (count == 0)
        return;
    cores->turn = enl_cores_nth(cores, (int)(number % count)) - 1;
    cores->begun = true;
}

int enl_cores_first(const struct enl_cores *cores)
{
    int number = -1;
    for (int core = 0; core <= cores->first; core++)
        number += enl_cores_has(cores, core);
    return number;
}

bool enl_cores_has(const struct enl_cores *cores, int core)
{
    return core >= 0 && core < CPU_SETSIZE && CPU_ISSET((size_t)core, &cores->allowed);
}

int enl_cores_nth(const struct enl_cores *cores, int number)
{
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (enl_cores_has(cores, core) && number-- == 0)
            return core;
    return -1;
}

int enl_cores_choose(const struct enl_cores *cores)
{
    int best = -1;
    if (CPU_COUNT(&cores->allowed) < 2)
        return -1;
    for (int step = 1; step <= CPU_SETSIZE; step++) {
        int core = (cores->turn + step) % CPU_SETSIZE;
        if (enl_cores_has(cores, core) && (best < 0 || cores->pinned[core] < cores->pinned[best]))
            best = core;
    }
    return best;
}

void enl_cores_take(struct enl_cores *cores, int core)
{
    if (core < 0)
        return;
    cores->pinned[core]++;
    cores->turn = core;
    cores->begun = true;
}

void enl_cores_give(struct enl_cores *cores, int core)
{
    if (core >= 0)
        cores->pinned[core]--;
}

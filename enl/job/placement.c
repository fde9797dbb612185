/* SPDX-License-Identifier: MIT */
/* placement.c -- which host each member of a team runs on. */
#include <stdlib.h>
#include <string.h>

#include "job/job.h"

void enl_placement(const uint32_t *slots, size_t hosts, uint32_t members, bool is_cyclic, uint32_t *host_out)
{
    uint32_t placed = 0;
    for (size_t i = 0; i < hosts && !is_cyclic; i++)
        for (uint32_t n = 0; n < slots[i] && placed < members; n++)
            host_out[placed++] = (uint32_t)i;
    for (uint32_t round = 0; placed < members; round++)
        for (size_t i = 0; i < hosts && placed < members; i++)
            if (round < slots[i])
                host_out[placed++] = (uint32_t)i;
}

struct enl_run *enl_placement_runs(const uint32_t *host_of, size_t hosts, uint32_t from, uint32_t to,
                                   size_t *count_out)
{
    struct enl_run *runs = calloc(to - from, sizeof *runs);
    size_t *last = calloc(hosts, sizeof *last), count = 0; /* each host's latest run, counted from 1 */
    for (uint32_t member = from; runs != NULL && last != NULL && member < to; member++) {
        const uint32_t host = host_of[member];
        struct enl_run *run = last[host] != 0 ? &runs[last[host] - 1] : NULL;
        if (run != NULL && run->count == 1)
            run->stride = member - run->first;
        if (run != NULL && member == run->first + run->count * run->stride) {
            run->count++;
            continue;
        }
        runs[count] = (struct enl_run){.host = host, .first = member, .count = 1, .stride = 1};
        last[host] = ++count;
    }
    if (last == NULL) {
        free(runs);
        runs = NULL;
    }
    free(last);
    *count_out = count;
    return runs;
}
